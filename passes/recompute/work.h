// What ops cost, for choosing what is computed again: estimates from declared extents.
#pragma once

#include "dialects/pd/op_view.h"

namespace dtranspile::passes {

// Stands for an extent that the declaration leaves open. Activations grow with the batch alike, so
// that what is chosen hardly depends on it.
inline constexpr int64_t kOpenExtent = 16;

// Bytes of a tensor; 0 for what is no tensor.
int64_t estimatedBytes(mlir::Type type);

// Multiplications and additions of products; of what else is read or written, kPerElement each.
double estimatedWork(pd::OpView op);

}  // namespace dtranspile::passes
