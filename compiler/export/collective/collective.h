// Communication of a specialised module in the framework's own operators, for one rank: the form
// that compiler/export/program.h writes as a ProgramDesc. Called by the command `export`.
//
// Every dist.comm of more than one rank is a ring; ring ids count from 0 in the order of creation.
// Set-up (c_gen_nccl_id, c_comm_init) stands before the first communication of the start-up
// program. A bucket becomes coalesce_tensor and one operation on the flat buffer.
#pragma once

#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// Rewrites `module` (from specialize() without inlined composites) in place. `endpoints` has one
// HOST:PORT per rank of the mesh. What the framework has no operator for is an error that names it:
// reductions of SelectedRows, boolean reductions to one rank, barriers, a reduce_scatter on its
// own. A sum in levels is written as one sum over all its ranks.
mlir::LogicalResult exportCollective(mlir::ModuleOp module, int64_t rank,
                                     llvm::ArrayRef<std::string> endpoints);

// Members (ranks of the mesh) of every group of every ring, rings in the order of their ids. Grows
// with the number of ranks.
std::vector<std::vector<std::vector<int64_t>>> ringsOf(mlir::ModuleOp module);

}  // namespace dtranspile
