// Integers that a program computes from extents and literals alone: what `shape`, `fill_constant`,
// `slice` … hand to ops that take a shape, an axis or bounds from a tensor. Inference asks for them
// (InferContext::constant), so that such programs keep extents known while compiling.
#pragma once

#include <optional>

#include "dialects/pd/infer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtranspile::lower {

using InfoOf = llvm::function_ref<const pd::TensorInfo*(mlir::Value)>;

// Elements of an integer tensor in memory order; nothing where they depend on data, or are more
// than a few.
std::optional<llvm::SmallVector<int64_t>> constantOf(mlir::Value value, InfoOf info);

}  // namespace dtranspile::lower
