// Largest and smallest values along a line up to every place: cummax, cummin and their gradients
// (phi cum_maxmin_kernel.cc).
#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/ops/reduction/calls.h"
#include "runtime/kernels/cpu/ops/reduction/lines.h"

namespace dtranspile::kernels {
namespace {

template <typename T>
bool IsNan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

}  // namespace

// X; axis, @type -> Out, Indices: of equal values the last place counts, and once there was a NaN
// the last NaN.
int32_t CumulativeExtreme(OpCall& call) {
  using A = args::dt_cumulative_extreme;
  const DtBuffer& x = call.Arg(A::X);
  const bool largest = call.Text(A::type) == "cummax";
  Lines lines;
  if (!LinesOf(call, x, call.Int(A::axis), lines)) return 1;
  const bool values = call.Has(A::Out), places = call.Has(A::Indices);
  if ((values && !call.Resize(call.Arg(A::Out), x)) ||
      (places && !call.Resize(call.Arg(A::Indices), x)))
    return 1;
  std::vector<int64_t> at(static_cast<size_t>(places ? Elements(x) : 0));
  const int32_t bad = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    Parallel(call.context(), lines.count(), GrainFor(32 * lines.length),
             [&](int64_t lo, int64_t n) {
               for (int64_t i = lo; i < lo + n; ++i) {
                 T best = {};
                 int64_t place = 0;
                 for (int64_t k = 0; k < lines.length; ++k) {
                   const int64_t e = lines.offset(i) + k * lines.inner;
                   const T value = from[e];
                   const bool follows = largest ? value >= best : value <= best;
                   if (k == 0 || IsNan(value) || (!IsNan(best) && follows)) best = value, place = k;
                   if (values) Data<T>(call.Arg(A::Out))[e] = best;
                   if (places) at[static_cast<size_t>(e)] = place;
                 }
               }
             });
    return 0;
  });
  return bad != 0 || !places ? bad : WriteIndices(call, call.Arg(A::Indices), at);
}

// X, Indices, Out@GRAD; axis -> X@GRAD: every place's gradient goes to where its value came from.
int32_t CumulativeExtremeGrad(OpCall& call) {
  using A = args::dt_cumulative_extreme_grad;
  const DtBuffer &x = call.Arg(A::X), &indices = call.Arg(A::Indices),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Lines lines;
  std::vector<int64_t> places;
  if (!LinesOf(call, x, call.Int(A::axis), lines) || !IntegersOf(call, indices, places) ||
      !call.Resize(dx, x))
    return 1;
  if (!SameShape(x, indices) || !SameShape(x, gradient))
    return call.Fail("'%s' and '%s' do not fit '%s'", indices.name, gradient.name, x.name);
  for (int64_t place : places)
    if (place < 0 || place >= lines.length)
      return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", indices.name,
                       static_cast<long long>(place), static_cast<long long>(lines.length));
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(
        call.context(), lines.count(), GrainFor(32 * lines.length), [&](int64_t lo, int64_t n) {
          for (int64_t i = lo; i < lo + n; ++i)
            for (int64_t k = 0; k < lines.length; ++k) {
              const int64_t e = lines.offset(i) + k * lines.inner;
              T& to = Data<T>(dx)[lines.offset(i) + places[static_cast<size_t>(e)] * lines.inner];
              to = Plus(to, Data<T>(gradient)[e]);
            }
        });
    return 0;
  });
}

}  // namespace dtranspile::kernels
