// PIR JSON (Paddle 3.x) to a ProgramDesc: the ops of the framework's 2.x releases over named
// variables, which the importer takes from there. By table (op_mapping.h). Called by
// compiler/import/load.cc.
//
// Names: parameters and persistables have those of the file, feeds those of their `data` op,
// everything else is `#N.R`, result R of the op at position N of the file (`p` entries count). The
// seed of the backward part is LOSS@GRAD.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/pir/json.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

namespace dtranspile::pir {

struct NormalProgram {
  std::string bytes;  // of the ProgramDesc
  std::vector<std::vector<int>>
      positions;  // per block, per op: the position of the op of the file that it comes from
};

// Errors are diagnostics with file, block, op index and op name.
mlir::FailureOr<NormalProgram> normalize(mlir::MLIRContext* context, llvm::StringRef bytes,
                                         llvm::StringRef file, const Budget& budget = {});

}  // namespace dtranspile::pir
