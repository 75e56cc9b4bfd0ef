// Functions that kernels have no instruction or polynomial for: lgamma, digamma, erfinv, and the
// gradients of the first two. Computed in double whatever the element type is. Rows:
// runtime/kernels/signatures/activation.calls.
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

double InverseErf(double x) { return random::Erfinv<double>(x, random::Tails::kOwnFormulas); }

struct Function {
  std::string_view op;
  double (*value)(double);
};
constexpr Function kFunctions[] = {{"lgamma", LogGamma},
                                   {"lgamma_grad", Digamma},
                                   {"digamma", Digamma},
                                   {"digamma_grad", Trigamma},
                                   {"erfinv", InverseErf}};

// out = f(x), or f(x) * factor where there is one.
int32_t Apply(OpCall& call, const DtBuffer& x, const DtBuffer* factor, DtBuffer& out) {
  using A = args::dt_special;
  static_assert(A::type == args::dt_special_grad::type);
  const std::string op(call.Text(A::type));
  double (*function)(double) = nullptr;
  for (const Function& row : kFunctions) {
    if (row.op == op) function = row.value;
  }
  if (function == nullptr) return call.Fail("no function of the name %s", op.c_str());
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

}  // namespace

int32_t Special(OpCall& call) {
  using A = args::dt_special;
  return Apply(call, call.Arg(A::X), nullptr, call.Arg(A::Out));
}

int32_t SpecialGrad(OpCall& call) {
  using A = args::dt_special_grad;
  return Apply(call, call.Arg(A::X), &call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD));
}

}  // namespace dtranspile::kernels
