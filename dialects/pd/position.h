// Where an op of a saved program stands, as every message says it: verify, run, diff and the
// diagnostics of passes. Positions come from the location that the importer gives and from the call
// stack that the framework keeps with an op.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/Operation.h"

namespace dtranspile::pd {

struct Position {
  std::string type;      // of the op, without `pd.`
  std::string variable;  // the first that it computes; of an op without results, that it takes
  std::string place;     // "block 0, op 12"
  std::string source;    // "train.py:88", the user's own line
  std::string file;      // of the program; empty where the op was not read from one
  int64_t block = -1, index = -1;  // in that file

  // "mul of `fc_0.tmp_0` (block 0, op 12; train.py:88)"; what is not known is left out. So says
  // pd::describe(op).
  std::string text() const;
};

Position positionOf(mlir::Operation* op);

// The line of the user's own source among the frames of an attribute `op_callstack`: "train.py:88";
// empty where there is none.
std::string sourceLine(llvm::ArrayRef<std::string> frames);

}  // namespace dtranspile::pd
