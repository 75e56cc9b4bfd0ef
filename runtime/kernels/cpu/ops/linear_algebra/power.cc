// matrix_power and its gradient: products of a matrix with itself, by squaring.
#include <algorithm>
#include <utility>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"
#include "runtime/kernels/cpu/ops/linear_algebra/square.h"

namespace dtranspile::kernels {
namespace {

// The unit matrix.
template <typename T>
Matrix<T> Unit(int64_t n) {
  Matrix<T> unit(static_cast<size_t>(n * n), T{0});
  for (int64_t i = 0; i < n; ++i) unit[static_cast<size_t>(i * (n + 1))] = 1;
  return unit;
}

// What is multiplied with itself: the matrix, or its inverse where the exponent is negative.
template <typename T>
bool BaseOf(const DtBuffer& x, const Square& s, int64_t m, int64_t exponent, Matrix<T>& base) {
  base = Copy<T>(x, s, m);
  if (exponent >= 0) return true;
  Matrix<T> inverse(base.size());
  if (!Invert(std::move(base), s.n, inverse.data())) return false;
  base = std::move(inverse);
  return true;
}

// Exponents below this keep a step busy for minutes; the signature says the other bound.
constexpr int64_t kLeastExponent = -(1 << 16);

int64_t Magnitude(int64_t exponent) { return exponent < 0 ? -exponent : exponent; }

bool ExponentFits(OpCall& call, int64_t exponent) {
  if (exponent >= kLeastExponent) return true;
  return call.Fail("the power %lld is below %lld", static_cast<long long>(exponent),
                   static_cast<long long>(kLeastExponent)),
         false;
}

}  // namespace

// X; n -> Out
int32_t MatrixPower(OpCall& call) {
  using A = args::dt_matrix_power;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t exponent = call.Int(A::n);
  Square s;
  if (!ExponentFits(call, exponent) || !SquareOf(call, x, s) || !call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      Matrix<T> base, power = Unit<T>(s.n);
      if (!BaseOf(x, s, m, exponent, base)) return false;
      for (int64_t left = Magnitude(exponent); left > 0; left /= 2) {
        if (left % 2) power = Times(power.data(), false, base.data(), false, s.n);
        base = Times(base.data(), false, base.data(), false, s.n);
      }
      std::copy(power.begin(), power.end(), Data<T>(out) + m * s.n * s.n);
      return true;
    });
    return bad < 0
               ? 0
               : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(bad), x.name);
  });
}

// X, Out@GRAD; n -> X@GRAD: the sum over i of (Bᵀ)ⁱ dOut (Bᵀ)ⁿ⁻¹⁻ⁱ, by Horner's rule; with B the
// inverse of X, the gradient of that follows.
int32_t MatrixPowerGrad(OpCall& call) {
  using A = args::dt_matrix_power_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const int64_t exponent = call.Int(A::n);
  Square s;
  if (!ExponentFits(call, exponent) || !SquareOf(call, x, s) || !call.Resize(dx, x)) return 1;
  if (!SameShape(x, gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      const T* g = Data<T>(gradient) + m * s.n * s.n;
      Matrix<T> base, power = Unit<T>(s.n), sum(static_cast<size_t>(s.n * s.n), T{0});
      if (!BaseOf(x, s, m, exponent, base)) return false;
      for (int64_t i = 0; i < Magnitude(exponent); ++i) {
        // sum · Bᵀ + (Bᵀ)ⁱ · dOut
        sum = Times(sum.data(), false, base.data(), true, s.n);
        const Matrix<T> term = Times(power.data(), true, g, false, s.n);
        for (size_t e = 0; e < sum.size(); ++e) sum[e] += term[e];
        power = Times(power.data(), false, base.data(), false, s.n);
      }
      if (exponent < 0) {
        const Matrix<T> left = Times(base.data(), true, sum.data(), false, s.n);
        sum = Times(left.data(), false, base.data(), true, s.n);
        for (T& value : sum) value = -value;
      }
      std::copy(sum.begin(), sum.end(), Data<T>(dx) + m * s.n * s.n);
      return true;
    });
    return bad < 0
               ? 0
               : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(bad), x.name);
  });
}

}  // namespace dtranspile::kernels
