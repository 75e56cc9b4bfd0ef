// Selectors and layouts of a plan: which ranks, and which part of a tensor each of them has.
#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "runtime/exec/plan_check_body.h"

namespace dtranspile::exec {

// Sets of coordinates are half-open ranges [lo, hi) in one list of bounds: rising bounds mean
// ranges that are not empty, in order, and apart from each other.
void CheckSelector(PlanCheck& check, const Selector& selector, const std::string& where) {
  for (const auto& [axis, bounds] : selector.sets)
    if (bounds.empty() || bounds.size() % 2 != 0 ||
        std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) != bounds.end())
      check.Add(where, "axis '", axis.substr(0, 80), "': expected rising bounds lo, hi, …");
}

// `extent` is what is cut: the extent of dim `dim` of the whole tensor, or for dim -1 the number of
// its elements. The product of the extents may overflow in a file that somebody wrote by hand.
void CheckLayout(PlanCheck& check, const Layout& layout, const std::string& where) {
  if (layout.axes.empty()) return check.Add(where + ".axes", "expected an axis");
  if (layout.dim >= static_cast<int>(layout.whole.size()))
    return check.Add(where + ".dim", "dimension ", layout.dim, " of ", layout.whole.size());
  int64_t extent = 1;
  if (layout.dim >= 0) extent = layout.whole[static_cast<size_t>(layout.dim)];
  else
    for (int64_t d : layout.whole)
      if (__builtin_mul_overflow(extent, d, &extent))
        return check.Add(where + ".whole", "is too large");
  if (extent != layout.extent)
    return check.Add(where + ".extent", "the tensor has ", extent, " there, not ", layout.extent);
  // Parts that differ in size lie in one piece only where they are rows or elements.
  if (layout.kind != LayoutKind::kEven && layout.dim > 0)
    check.Add(where + ".dim",
              "blocks and cyclic parts are of dimension 0 or of the flattened tensor");
  if (layout.also.size() != layout.also_parts.size() ||
      (!layout.also.empty() && (layout.kind != LayoutKind::kEven || layout.dim < 0)))
    return check.Add(where + ".also", "further dims are cut evenly, each into a number of parts");
  for (size_t i = 0; i < layout.also.size(); ++i)
    if (layout.also[i] <= (i > 0 ? layout.also[i - 1] : layout.dim) ||
        layout.also[i] >= static_cast<int>(layout.whole.size()))
      check.Add(where + ".also", "dimension ", layout.also[i], " after another one, of ",
                layout.whole.size());
  if (layout.flat_parts != 1 && (layout.kind != LayoutKind::kEven || layout.dim < 0))
    return check.Add(where + ".flat_parts", "what is cut flat as well is cut evenly along a dim");
  if (layout.kind != LayoutKind::kBlocks && layout.kind != LayoutKind::kHashed) return;
  if (layout.per < 1) return check.Add(where + ".per", "expected an extent of at least 1");
  if (layout.extent / layout.per >= kMostBlocks)
    check.Add(where + ".per", "more than ", kMostBlocks, " blocks");
}

}  // namespace dtranspile::exec
