// Kernels that put values into ordered bins: histogram, bincount, searchsorted.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/reduction/calls.h"
#include "runtime/kernels/cpu/ops/reduction/lines.h"

namespace dtranspile::kernels {

// X; bins, min, max -> Out (int64): equal bins over [min, max], or over the values' own range where
// both are 0; others do not count
int32_t Histogram(OpCall& call) {
  using A = args::dt_histogram;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t bins = call.Int(A::bins);
  if (bins < 1) return call.Fail("%lld bins", static_cast<long long>(bins));
  if (call.Int(A::max) < call.Int(A::min))
    return call.Fail("the range ends at %lld, before its start %lld",
                     static_cast<long long>(call.Int(A::max)),
                     static_cast<long long>(call.Int(A::min)));
  if (!call.Resize(out, {bins})) return 1;
  std::vector<int64_t> counts(static_cast<size_t>(bins), 0);
  const int32_t done = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = Data<T>(x), *end = from + Elements(x);
    T low = static_cast<T>(call.Int(A::min)), high = static_cast<T>(call.Int(A::max));
    if (low == high && from != end)
      low = *std::min_element(from, end), high = *std::max_element(from, end);
    if (low == high && std::is_integral_v<T>) {
      counts[static_cast<size_t>(bins / 2)] += std::count(from, end, low);
      return 0;
    }
    if (low == high) low -= 1, high += 1;
    if (!std::isfinite(static_cast<double>(low)) || !std::isfinite(static_cast<double>(high)))
      return call.Fail("'%s' has no finite range", x.name);
    for (; from != end; ++from) {
      if (!(*from >= low && *from <= high)) continue;
      // The range of integers need not fit into their type.
      using Wide = std::conditional_t<std::is_integral_v<T>, __int128, T>;
      const Wide place = static_cast<Wide>(*from) - low, range = static_cast<Wide>(high) - low;
      const auto bin = static_cast<int64_t>(place * static_cast<Wide>(bins) / range);
      ++counts[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))];
    }
    return 0;
  });
  return done != 0 ? done : WriteIndices(call, out, counts);
}

// SortedSequence, Values; right -> Out: where each value would stand in the line of its row, or in
// the only one
int32_t SearchSorted(OpCall& call) {
  using A = args::dt_search_sorted;
  const DtBuffer &sorted = call.Arg(A::SortedSequence), &values = call.Arg(A::Values);
  DtBuffer& out = call.Arg(A::Out);
  if (sorted.rank < 1 || TypeOf(sorted) != TypeOf(values))
    return call.Fail("'%s' has no dim or another element type than '%s'", sorted.name, values.name);
  const int64_t length = sorted.dims[sorted.rank - 1],
                rows = sorted.rank == 1 ? 1 : Elements(sorted, 0, sorted.rank - 1);
  const int64_t width = sorted.rank == 1   ? Elements(values)
                        : values.rank == 0 ? 1
                                           : values.dims[values.rank - 1];
  if (rows * width != Elements(values) || (sorted.rank > 1 && values.rank != sorted.rank))
    return call.Fail("'%s' has not the rows of '%s'", values.name, sorted.name);
  if (!call.Resize(out, values)) return 1;
  std::vector<int64_t> places(static_cast<size_t>(Elements(values)));
  const bool right = call.Bool(A::right);
  const int32_t done = VisitNumber(call.context(), values, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), rows * width, GrainFor(256), [&](int64_t lo, int64_t n) {
      for (int64_t i = lo; i < lo + n; ++i) {
        const T *line = Data<T>(sorted) + i / width * length, value = Data<T>(values)[i];
        if (value - value != 0) {  // infinite, whatever its sign, or NaN: after all
          places[static_cast<size_t>(i)] = length;
          continue;
        }
        places[static_cast<size_t>(i)] = (right ? std::upper_bound(line, line + length, value)
                                                : std::lower_bound(line, line + length, value)) -
                                         line;
      }
    });
    return 0;
  });
  return done != 0 ? done : WriteIndices(call, out, places);
}

// X, Weights; minlength -> Out: how often each number below the largest one comes, or the sum of
// the weights of its places; at least `minlength` of them, none of no X at all
int32_t BinCount(OpCall& call) {
  using A = args::dt_bin_count;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  constexpr int64_t kMost = int64_t{1} << 32;  // numbers
  std::vector<int64_t> values;
  if (call.Int(A::minlength) < 0)
    return call.Fail("a length of at least %lld", static_cast<long long>(call.Int(A::minlength)));
  if (x.rank != 1) return call.Fail("'%s' has %d dims, expected one", x.name, x.rank);
  if (!IntegersOf(call, x, values)) return 1;
  int64_t length = values.empty() ? 0 : call.Int(A::minlength);
  for (int64_t value : values) {
    if (value < 0 || value >= kMost)
      return call.Fail("'%s' has the number %lld, which is not counted", x.name,
                       static_cast<long long>(value));
    length = std::max(length, value + 1);
  }
  const bool weighed = call.Has(A::Weights);
  if (weighed && !SameShape(call.Arg(A::Weights), x))
    return call.Fail("'%s' has not the extents of '%s'", call.Arg(A::Weights).name, x.name);
  if (!call.Resize(out, {length})) return 1;
  std::memset(out.data, 0, static_cast<size_t>(length * ElementSize(out)));
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = Data<T>(out);
    if (!weighed) {
      for (int64_t value : values) to[value] = Plus(to[value], T{1});
      return 0;
    }
    return VisitNumber(call.context(), call.Arg(A::Weights), [&](auto weight) {
      using W = typename decltype(weight)::type;
      const W* from = Data<const W>(call.Arg(A::Weights));
      for (int64_t value : values) to[value] = Plus(to[value], static_cast<T>(*from++));
      return 0;
    });
  });
}

}  // namespace dtranspile::kernels
