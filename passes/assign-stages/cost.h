// What ops cost, and where a list of them is best cut. For assign-stages.
#pragma once

#include <cstdint>
#include <vector>

#include "dialects/pd/op_view.h"

namespace dtranspile::passes {

// Floating-point operations of a forward op, from the extents of its types; an unknown extent
// counts as `kNominal`.
inline constexpr int64_t kNominal = 16;
double operationsOf(pd::OpView op);
double bytesOnWire(mlir::Type type);

// One op: what it costs, and what goes from it and those before it to those behind it.
struct Weighed {
  double cost = 0;
  double crossing = 0;
};

// How many ops each of `parts` consecutive parts has, so that the dearest one (its ops, and what
// crosses its two cuts) is as cheap as can be, and among such cuts least crosses them all. Empty
// where there are fewer ops than parts.
std::vector<size_t> cutEvenly(const std::vector<Weighed>& ops, size_t parts);

}  // namespace dtranspile::passes
