// The programs of several ranks of one group. Asked by `transpile`, of which one is the program
// that is lifted.
#pragma once

#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

struct RankProgram {
  std::string file;
  mlir::ModuleOp module;
};

// Reports and fails where @main of these say different things, but for the rank that each is of;
// where two are of one rank; and where an attribute does not fit a group of `degree` ranks.
mlir::LogicalResult checkRanksAgree(llvm::ArrayRef<RankProgram> programs, int64_t degree);

}  // namespace dtranspile::passes
