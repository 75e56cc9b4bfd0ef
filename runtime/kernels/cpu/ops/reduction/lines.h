// A tensor as lines along one axis, for the kernels of this folder.
#pragma once

#include <cmath>
#include <type_traits>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// [outer, length, inner] around an axis; line `i` of outer * inner starts at offset(i) and steps by
// `inner`.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;

  int64_t count() const { return outer * inner; }
  int64_t offset(int64_t line) const { return line / inner * length * inner + line % inner; }
};

// A tensor of rank 0 is one line of one element.
inline bool LinesOf(OpCall& call, const DtBuffer& x, int64_t axis, Lines& lines) {
  if (x.rank == 0 && (axis == 0 || axis == -1)) return true;
  if (!NormalAxis(call, x, axis)) return false;
  const auto at = static_cast<int32_t>(axis);
  lines = {Elements(x, 0, at), x.dims[at], Elements(x, at + 1, x.rank)};
  return true;
}

// Whether element a of a line stands before b: larger (or smaller) first, equal ones by place; NaN
// counts as the largest.
template <typename T>
struct Before {
  const T* line;
  int64_t step;
  bool largest;

  bool operator()(int64_t a, int64_t b) const {
    const T x = line[a * step], y = line[b * step];
    if constexpr (std::is_floating_point_v<T>) {
      const bool nan_x = std::isnan(x), nan_y = std::isnan(y);
      if (nan_x != nan_y) return nan_x == largest;
      if (nan_x) return a < b;
    }
    if (x != y) return largest ? x > y : x < y;
    return a < b;
  }
};

// One int64 index per place of each thread's line, 0 … length-1 not yet written; null (with a
// message) without memory.
inline int64_t* OrderScratch(OpCall& call, int64_t length) {
  auto* scratch = static_cast<int64_t*>(
      dt_scratch(call.context(), dt_threads(call.context()) * std::max<int64_t>(length, 1) *
                                     static_cast<int64_t>(sizeof(int64_t))));
  if (scratch == nullptr)
    call.Fail("no memory for lines of %lld elements", static_cast<long long>(length));
  return scratch;
}

// Numbers to an int32 or int64 output.
template <typename Values>
int32_t WriteIndices(OpCall& call, const DtBuffer& out, const Values& values) {
  return VisitIndex(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < values.size(); ++i) Data<T>(out)[i] = static_cast<T>(values[i]);
    return 0;
  });
}

}  // namespace dtranspile::kernels
