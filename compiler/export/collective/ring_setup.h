// Operators that set up the rings of a rank. Not for users outside of this folder.
#pragma once

#include <string>

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

// `c_gen_nccl_id` and `c_comm_init` for every ring of the rank, in front of the first communication
// of the block; `endpoints` are those of all ranks.
void makeRings(Emitter& emitter, mlir::Block& block, llvm::ArrayRef<std::string> endpoints);

}  // namespace dtranspile
