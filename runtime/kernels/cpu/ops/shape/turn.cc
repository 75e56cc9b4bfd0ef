// flip (reverse) and roll: every dim read backwards, or from another position on (phi flip, roll).
#include <algorithm>
#include <numeric>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {

// X; axis, dims: the second is the name of early files
bool FlipMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_flip;
  for (int64_t axis : call.Ints(A::axis).empty() ? call.Ints(A::dims) : call.Ints(A::axis)) {
    if (!NormalAxis(call, x, axis)) return false;
    std::vector<int64_t>& at = map.at[static_cast<size_t>(axis)];
    std::iota(at.rbegin(), at.rend(), 0);
  }
  return true;
}

// X, ShiftsTensor; shifts, axis, dims: without axes the elements in memory order are one dim
bool RollMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_roll;
  static_assert(A::ShiftsTensor == args::dt_roll_grad::ShiftsTensor &&
                A::axis == args::dt_roll_grad::axis && A::dims == args::dt_roll_grad::dims &&
                A::shifts == args::dt_roll_grad::shifts);
  std::vector<int64_t> shifts;
  if (!NumbersFrom(call, -1, A::ShiftsTensor, call.Ints(A::shifts), shifts)) return false;
  const auto given = call.Ints(A::axis).empty() ? call.Ints(A::dims) : call.Ints(A::axis);
  std::vector<int64_t> axes(given.begin(), given.end());
  if (axes.empty()) {
    const int64_t all = Elements(x);
    const int64_t flat[] = {all};
    map = AxisMap(flat);
    map.SetOut({x.dims, x.dims + x.rank});
    axes = {0};
  }
  if (axes.size() != shifts.size())
    return call.Fail("'%s' is rolled along %zu axes by %zu shifts", x.name, axes.size(),
                     shifts.size()),
           false;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!given.empty() && !NormalAxis(call, x, axes[k])) return false;
    std::vector<int64_t>& at = map.at[static_cast<size_t>(axes[k])];
    const auto n = static_cast<int64_t>(at.size());
    if (n > 0) std::rotate(at.begin(), at.begin() + ((-(shifts[k] % n)) % n + n) % n, at.end());
  }
  return true;
}

}  // namespace dtranspile::kernels
