// What the body of a compressed momentum update computes, and whether that is deep gradient
// compression: terms that are compared with the formula (docs/passes/dgc.md).
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/relations/compression.h"

namespace dtranspile::verify {

struct CompressedUpdate {
  std::string parameter, velocity;  // variables that the composite reads and its body sets
  std::string residual;             // what has not been sent yet; empty where nothing is compressed
  std::vector<SentUpTo> stages;
  mlir::FlatSymbolRefAttr comm;
  // What differs from the formula, at which op; null: nothing.
  mlir::Operation* wrong = nullptr;
  std::string why;
};

CompressedUpdate readCompressedUpdate(dist::CompositeOp composite);

// The operand of a composite in a slot; null where it has none.
mlir::Value operandIn(dist::CompositeOp composite, llvm::StringRef slot);

// Joins all ranks of the role: what it sums is the sum over the whole batch.
bool joinsAllRanks(mlir::Operation* at, mlir::FlatSymbolRefAttr comm);

}  // namespace dtranspile::verify
