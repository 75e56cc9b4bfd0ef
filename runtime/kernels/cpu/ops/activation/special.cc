// Functions that kernels have no instruction or polynomial for: lgamma, digamma, polygamma, erfinv,
// the modified Bessel functions, the neighbours of a float, and gradients. Computed in double
// whatever the element type is. Rows: runtime/kernels/signatures/activation.calls.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "runtime/kernels/cpu/ops/activation/calls.h"
#include "runtime/kernels/cpu/random/erfinv.h"

namespace dtranspile::kernels {
namespace {

constexpr double kPi = 3.14159265358979323846;

double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// psi(x): reflected where x is negative, raised to 10 by psi(x) = psi(x + 1) - 1/x, and there by
// the asymptotic series (Abramowitz and Stegun 6.3.7, 6.3.5, 6.3.18). NaN at the poles, as the
// framework has it.
double Digamma(double x) {
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    return Digamma(1 - x) - kPi / std::tan(kPi * (x - std::floor(x)));
  }
  double below = 0;
  for (; x < 10; x += 1) below -= 1 / x;
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 -
                           y * (1.0 / 252 -
                                y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return below + std::log(x) - 0.5 / x - series;
}

// psi'(x) (6.4.7, 6.4.6, 6.4.12).
double Trigamma(double x) {
  if (std::isnan(x)) return x;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::infinity();
    const double sine = std::sin(kPi * (x - std::floor(x)));
    return kPi * kPi / (sine * sine) - Trigamma(1 - x);
  }
  double below = 0;
  for (; x < 10; x += 1) below += 1 / (x * x);
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 6 -
           y * (1.0 / 30 -
                y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730 - y * 7 / 6))))));
  return below + 1 / x + 0.5 * y + series / x;
}

// The sum of (x + k)^-s over k >= 0, s > 1: nine terms and those up to 10, the rest by Euler and
// Maclaurin (Abramowitz and Stegun 23.1.4 and 23.2.3). Infinite at the poles 0, -1, ….
double HurwitzZeta(double s, double x) {
  if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (int k = 0; k < 9 || x < 10; ++k, x += 1) sum += std::pow(x, -s);
  // B(2i) / (2i)!
  constexpr double kBernoulli[] = {1.0 / 12,          -1.0 / 720,
                                   1.0 / 30240,       -1.0 / 1209600,
                                   1.0 / 47900160,    -691.0 / 1307674368000,
                                   1.0 / 74724249600, -3617.0 / 10670622842880000};
  double power = std::pow(x, -s), rest = power * x / (s - 1) + power / 2;
  double factor = s * power / x;  // s (s + 1) … x^(-s - 2i + 1)
  for (int i = 0; i < 8; ++i) {
    rest += kBernoulli[i] * factor;
    factor *= (s + 2 * i + 1) * (s + 2 * i + 2) / (x * x);
  }
  return sum + rest;
}

// The n-th derivative of digamma (6.4.10).
double Polygamma(int64_t n, double x) {
  if (n == 0) return Digamma(x);
  const auto order = static_cast<double>(n);
  return (n % 2 == 1 ? 1 : -1) * std::tgamma(order + 1) * HurwitzZeta(order + 1, x);
}

// e^-|x| I_v(x) of order v = 0 or 1: the series (9.6.10) up to 30, whose terms all have one sign,
// and beyond it the asymptotic one (9.7.1).
double ScaledBessel(int v, double x) {
  if (std::isnan(x)) return x;
  const double size = std::fabs(x), sign = v == 1 && x < 0 ? -1 : 1;
  if (size <= 30) {
    const double quarter = size * size / 4;
    double term = v == 1 ? size / 2 : 1, sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= quarter / (k * (k + v));
    return sign * std::exp(-size) * sum;
  }
  if (std::isinf(size)) return 0;
  double term = 1, sum = 1;
  for (int k = 1; k < 20; ++k) {
    const double odd = 2 * k - 1;
    sum += term *= (odd * odd - 4 * v) / (8 * k * size);
  }
  return sign * sum / std::sqrt(2 * kPi * size);
}

double I0e(double x) { return ScaledBessel(0, x); }
double I1e(double x) { return ScaledBessel(1, x); }
// 1 at 0: the slope of I0e is not one there, and the framework takes that of the right.
double Sign(double x) { return std::copysign(1.0, x); }
// Half of the exponential at a time: I(x) is finite a little longer than e^x.
double Grown(double scaled, double x) {
  if (scaled == 0) return x == 0 ? 0 : std::isinf(x) ? x : scaled;
  const double half = std::exp(std::fabs(x) / 2);
  return scaled * half * half;
}
double I0(double x) { return std::isinf(x) ? std::fabs(x) : Grown(I0e(x), x); }
double I1(double x) { return Grown(I1e(x), x); }
double I0eSlope(double x) { return I1e(x) - Sign(x) * I0e(x); }
double I1Slope(double x) { return x == 0 ? 0.5 : I0(x) - I1(x) / x; }
double I1eSlope(double x) { return x == 0 ? 0.5 : I0e(x) - I1e(x) * (Sign(x) + 1 / x); }

double InverseErf(double x) { return random::Erfinv<double>(x, random::Tails::kOwnFormulas); }

struct Function {
  std::string_view op;
  double (*value)(double);
};
constexpr Function kFunctions[] = {{"lgamma", LogGamma},   {"lgamma_grad", Digamma},
                                   {"digamma", Digamma},   {"digamma_grad", Trigamma},
                                   {"erfinv", InverseErf}, {"i0", I0},
                                   {"i0_grad", I1},        {"i0e", I0e},
                                   {"i0e_grad", I0eSlope}, {"i1", I1},
                                   {"i1_grad", I1Slope},   {"i1e", I1e},
                                   {"i1e_grad", I1eSlope}};

// out = f(x), or f(x) * factor where there is one.
template <typename F>
int32_t Apply(OpCall& call, const DtBuffer& x, const DtBuffer* factor, DtBuffer& out, F function) {
  if (factor != nullptr && Elements(*factor) != Elements(x))
    return call.Fail("'%s' has not the extents of '%s'", factor->name, x.name);
  if (!call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), Elements(x), 256, [&](int64_t lo, int64_t n) {
      for (int64_t i = lo; i < lo + n; ++i) {
        const double value = function(Data<T>(x)[i]);
        Data<T>(out)[i] = static_cast<T>(factor == nullptr ? value : value * Data<T>(*factor)[i]);
      }
    });
    return 0;
  });
}

int32_t ApplyNamed(OpCall& call, const DtBuffer& x, const DtBuffer* factor, DtBuffer& out) {
  using A = args::dt_special;
  static_assert(A::type == args::dt_special_grad::type);
  const std::string op(call.Text(A::type));
  for (const Function& row : kFunctions) {
    if (row.op == op) return Apply(call, x, factor, out, row.value);
  }
  return call.Fail("no function of the name %s", op.c_str());
}

bool OrderOf(OpCall& call, int64_t n) {
  if (n >= 0) return true;
  return call.Fail("the derivative of order %lld", static_cast<long long>(n)), false;
}

}  // namespace

int32_t Special(OpCall& call) {
  using A = args::dt_special;
  return ApplyNamed(call, call.Arg(A::X), nullptr, call.Arg(A::Out));
}

int32_t SpecialGrad(OpCall& call) {
  using A = args::dt_special_grad;
  return ApplyNamed(call, call.Arg(A::X), &call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD));
}

// X; n -> Out: the n-th derivative of digamma
int32_t PolygammaOf(OpCall& call) {
  using A = args::dt_polygamma;
  const int64_t n = call.Int(A::n);
  if (!OrderOf(call, n)) return 1;
  return Apply(call, call.Arg(A::X), nullptr, call.Arg(A::Out),
               [n](double x) { return Polygamma(n, x); });
}

int32_t PolygammaGrad(OpCall& call) {
  using A = args::dt_polygamma_grad;
  const int64_t n = call.Int(A::n);
  if (!OrderOf(call, n)) return 1;
  return Apply(call, call.Arg(A::X), &call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD),
               [n](double x) { return Polygamma(n + 1, x); });
}

// X, Y -> Out: the float next to X on the way to Y
int32_t NextAfter(OpCall& call) {
  using A = args::dt_nextafter;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  if (!SameShape(x, y)) return call.Fail("'%s' has not the extents of '%s'", y.name, x.name);
  if (!call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(x); ++i)
      Data<T>(out)[i] = std::nextafter(Data<T>(x)[i], Data<T>(y)[i]);
    return 0;
  });
}

}  // namespace dtranspile::kernels
