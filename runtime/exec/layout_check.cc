#include "runtime/exec/layout_check.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

template <typename... Parts>
void Add(JsonErrors& errors, const std::string& where, const Parts&... parts) {
  errors.Add(where, absl::StrCat(parts...));
}

}  // namespace

void CheckSelector(const Selector& selector, const std::string& where, JsonErrors& errors) {
  for (const auto& [axis, bounds] : selector.sets)
    if (bounds.empty() || bounds.size() % 2 != 0 ||
        std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) != bounds.end())
      Add(errors, where, "axis '", axis.substr(0, 80), "': expected rising bounds lo, hi, …");
}

void CheckLayout(const Layout& layout, const std::string& where, JsonErrors& errors) {
  if (layout.axes.empty()) return Add(errors, where + ".axes", "expected an axis");
  if (layout.dim >= static_cast<int>(layout.whole.size()))
    return Add(errors, where + ".dim", "dimension ", layout.dim, " of ", layout.whole.size());
  int64_t extent = 1;
  if (layout.dim >= 0) extent = layout.whole[static_cast<size_t>(layout.dim)];
  else
    for (int64_t d : layout.whole)
      if (__builtin_mul_overflow(extent, d, &extent))
        return Add(errors, where + ".whole", "is too large");
  if (extent != layout.extent)
    return Add(errors, where + ".extent", "the tensor has ", extent, " there, not ", layout.extent);
  // Parts that differ in size lie in one piece only where they are rows or elements.
  if (layout.kind != LayoutKind::kEven && layout.dim > 0)
    Add(errors, where + ".dim",
        "blocks and cyclic parts are of dimension 0 or of the flattened tensor");
  if (layout.kind != LayoutKind::kBlocks && layout.kind != LayoutKind::kHashed) return;
  if (layout.per < 1) return Add(errors, where + ".per", "expected an extent of at least 1");
  if (layout.extent / layout.per >= kMostBlocks)
    Add(errors, where + ".per", "more than ", kMostBlocks, " blocks");
}

}  // namespace dtranspile::exec
