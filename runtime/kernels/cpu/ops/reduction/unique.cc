// unique (2.x: sorted, along an axis; 1.x: by first appearance), unique_with_counts,
// unique_consecutive: one kernel that groups equal slices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/ops/reduction/calls.h"
#include "runtime/kernels/cpu/ops/reduction/lines.h"

namespace dtranspile::kernels {
namespace {

enum class GroupOrder { kSorted, kAppearance, kConsecutive };

struct Groups {
  std::vector<int64_t> first;  // a slice of each group
  std::vector<int64_t> counts;
  std::vector<int64_t> inverse;  // of every slice, its group
};

// Slices `length` of [outer, length, inner], compared element by element in the order of memory.
// NaN stands after all.
template <typename T>
struct Slices {
  const T* data;
  Lines lines;

  int Compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < lines.outer; ++o)
      for (int64_t i = 0; i < lines.inner; ++i) {
        const T x = data[(o * lines.length + a) * lines.inner + i],
                y = data[(o * lines.length + b) * lines.inner + i];
        if (x == y || (x != x && y != y)) continue;
        if (x != x || y != y) return x != x ? 1 : -1;
        return x < y ? -1 : 1;
      }
    return 0;
  }
};

// Neighbours in `order` that are equal are one group: its first member, its size, and for every
// slice the number of its group.
template <typename T>
Groups GroupRuns(const Slices<T>& slices, const std::vector<int64_t>& order) {
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.Compare(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

// The same groups, numbered by their first slice.
Groups ByAppearance(const Groups& sorted) {
  std::vector<int64_t> order(sorted.first.size()), rank(order.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return sorted.first[static_cast<size_t>(a)] < sorted.first[static_cast<size_t>(b)];
  });
  Groups groups;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    rank[from] = static_cast<int64_t>(i);
    groups.first.push_back(sorted.first[from]);
    groups.counts.push_back(sorted.counts[from]);
  }
  for (int64_t group : sorted.inverse) groups.inverse.push_back(rank[static_cast<size_t>(group)]);
  return groups;
}

// Sorted by value, and by place among equal ones, so that the first member of a group is the first
// in memory.
template <typename T>
Groups GroupsOf(const Slices<T>& slices, GroupOrder how) {
  std::vector<int64_t> order(static_cast<size_t>(slices.lines.length));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (how != GroupOrder::kConsecutive) {
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int difference = slices.Compare(a, b);
      return difference != 0 ? difference < 0 : a < b;
    });
  }
  Groups groups = GroupRuns(slices, order);
  return how == GroupOrder::kAppearance ? ByAppearance(groups) : groups;
}

int32_t WriteNumbers(OpCall& call, int slot, const std::vector<int64_t>& values) {
  if (!call.Has(slot)) return 0;
  if (!call.Resize(call.Arg(slot), {static_cast<int64_t>(values.size())})) return 1;
  return WriteIndices(call, call.Arg(slot), values);
}

}  // namespace

// X; @type[, axis[, is_sorted]] -> Out, Indices (first places), Index (group of every slice),
// Counts
int32_t Unique(OpCall& call) {
  using A = args::dt_unique;
  const DtBuffer& x = call.Arg(A::X);
  const auto axes = call.Given(A::axis) ? call.Ints(A::axis) : absl::Span<const int64_t>();
  const bool consecutive = call.Text(A::type) == "unique_consecutive",
             sorted = call.Given(A::is_sorted) && call.Bool(A::is_sorted);
  const GroupOrder how = consecutive ? GroupOrder::kConsecutive
                         : sorted    ? GroupOrder::kSorted
                                     : GroupOrder::kAppearance;
  if (axes.size() > 1) return call.Fail("%zu axes, expected one", axes.size());
  Lines lines{1, Elements(x), 1};
  if (!axes.empty() && !LinesOf(call, x, axes[0], lines)) return 1;
  Groups groups;
  const int32_t done = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    groups = GroupsOf(Slices<T>{Data<T>(x), lines}, how);
    return 0;
  });
  if (done != 0 || WriteNumbers(call, A::Indices, groups.first) != 0 ||
      WriteNumbers(call, A::Index, groups.inverse) != 0 ||
      WriteNumbers(call, A::Counts, groups.counts) != 0)
    return 1;
  if (!call.Has(A::Out)) return 0;
  DtBuffer& out = call.Arg(A::Out);
  const auto count = static_cast<int64_t>(groups.first.size());
  std::vector<int64_t> dims = {count};
  if (!axes.empty() && x.rank > 0) {
    dims.assign(x.dims, x.dims + x.rank);
    dims[static_cast<size_t>(axes[0] < 0 ? axes[0] + x.rank : axes[0])] = count;
  }
  if (!call.Resize(out, dims)) return 1;
  const int64_t bytes = lines.inner * ElementSize(x);
  for (int64_t o = 0; o < lines.outer; ++o)
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(Data<char>(out) + (o * count + i) * bytes,
                  Data<char>(x) + (o * lines.length + groups.first[static_cast<size_t>(i)]) * bytes,
                  static_cast<size_t>(bytes));
  return 0;
}

}  // namespace dtranspile::kernels
