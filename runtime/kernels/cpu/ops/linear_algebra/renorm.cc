// Slices along an axis whose p-norm is above a bound are scaled down to it (renorm), and the
// gradient, which the framework gives to the whole slice through its norm. Sums in double.
#include <cmath>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// Slices of a tensor: element e belongs to slice e / inner % slices.
struct Slices {
  int64_t inner = 1, slices = 1;
  size_t operator()(int64_t e) const { return static_cast<size_t>(e / inner % slices); }
};

bool SlicesOf(OpCall& call, const DtBuffer& x, int64_t axis, Slices& s) {
  const int64_t at = axis < 0 ? axis + x.rank : axis;
  if (at < 0 || at >= x.rank)
    return call.Fail("axis %lld of '%s' of rank %d", static_cast<long long>(axis), x.name, x.rank),
           false;
  s.slices = x.dims[at];
  for (int64_t d = at + 1; d < x.rank; ++d) s.inner *= x.dims[d];
  return true;
}

template <typename T>
std::vector<double> PowerSums(const DtBuffer& x, const Slices& s, double p) {
  std::vector<double> sums(static_cast<size_t>(s.slices), 0.0);
  for (int64_t e = 0; e < Elements(x); ++e)
    sums[s(e)] += std::pow(std::fabs(static_cast<double>(Data<T>(x)[e])), p);
  return sums;
}

}  // namespace

// X; p, axis, max_norm -> Out
int32_t Renorm(OpCall& call) {
  using A = args::dt_renorm;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const double p = call.Real(A::p), bound = call.Real(A::max_norm);
  Slices s;
  if (!SlicesOf(call, x, call.Int(A::axis), s) || !call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<double> factors = PowerSums<T>(x, s, p);
    for (double& sum : factors) {
      const double norm = std::pow(sum, 1 / p);
      sum = norm > bound ? bound / norm : 1;
    }
    for (int64_t e = 0; e < Elements(x); ++e)
      Data<T>(out)[e] = static_cast<T>(factors[s(e)] * static_cast<double>(Data<T>(x)[e]));
    return 0;
  });
}

// X, Out@GRAD; p, axis, max_norm -> X@GRAD. A slice of norm n above the bound b has
// b/n dOut − b n^(−1−p) (Σ X dOut) |X|^(p−1) sign(X), the sign of 0 being 1.
int32_t RenormGrad(OpCall& call) {
  using A = args::dt_renorm_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const double p = call.Real(A::p), bound = call.Real(A::max_norm);
  Slices s;
  if (!SameShape(x, gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  if (!SlicesOf(call, x, call.Int(A::axis), s) || !call.Resize(dx, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<double> factors = PowerSums<T>(x, s, p), through(factors.size(), 0.0);
    for (int64_t e = 0; e < Elements(x); ++e)
      through[s(e)] +=
          static_cast<double>(Data<T>(x)[e]) * static_cast<double>(Data<T>(gradient)[e]);
    for (size_t i = 0; i < factors.size(); ++i) {
      const double norm = std::pow(factors[i], 1 / p);
      through[i] *= norm > bound ? -bound * std::pow(norm, -1 - p) : 0;
      factors[i] = norm > bound ? bound / norm : 1;
    }
    for (int64_t e = 0; e < Elements(x); ++e) {
      const double value = static_cast<double>(Data<T>(x)[e]);
      double result = factors[s(e)] * static_cast<double>(Data<T>(gradient)[e]);
      if (through[s(e)] != 0)
        result += through[s(e)] * std::pow(std::fabs(value), p - 1) * (value >= 0 ? 1 : -1);
      Data<T>(dx)[e] = static_cast<T>(result);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
