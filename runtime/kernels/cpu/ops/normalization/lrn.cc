// lrn (Krizhevsky 2012; the framework's lrn op): each element over a power of the sum of squares of
// the n channels around it. Rows: runtime/kernels/signatures/normalization.calls.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/normalization/calls.h"

namespace dtranspile::kernels {
namespace {

// X as [outer, channels, inner].
struct Cut {
  int64_t outer, channels, inner;
};

bool CutOf(OpCall& call, const DtBuffer& x, bool last, Cut& cut) {
  if (x.rank < 2) return call.Fail("'%s' has no channels", x.name), false;
  cut = last ? Cut{Elements(x, 0, x.rank - 1), x.dims[x.rank - 1], 1}
             : Cut{x.dims[0], x.dims[1], Elements(x, 2, x.rank)};
  return true;
}

// body(element, first of the window, one past its last, step from channel to channel) for every
// element of X.
template <typename Body>
void ForWindows(DtContext* context, const Cut& cut, int64_t n, Body&& body) {
  Parallel(
      context, cut.outer, GrainFor(cut.channels * cut.inner * 4), [&](int64_t lo, int64_t count) {
        for (int64_t o = lo; o < lo + count; ++o)
          for (int64_t c = 0; c < cut.channels; ++c) {
            const int64_t from = std::max<int64_t>(0, c - (n - 1) / 2),
                          to = std::min(cut.channels, c - (n - 1) / 2 + n);
            for (int64_t i = 0; i < cut.inner; ++i) {
              const int64_t base = o * cut.channels * cut.inner + i;
              body(base + c * cut.inner, base + from * cut.inner, base + to * cut.inner, cut.inner);
            }
          }
      });
}

}  // namespace

// MidOut = k + alpha · Σ x² over the window, Out = x · MidOut^(-beta).
int32_t Lrn(OpCall& call) {
  using A = args::dt_lrn;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer *out = call.Has(A::Out) ? &call.Arg(A::Out) : nullptr,
           *mid = call.Has(A::MidOut) ? &call.Arg(A::MidOut) : nullptr;
  Cut cut = {};
  const int64_t n = call.Int(A::n);
  const double k = call.Real(A::k), alpha = call.Real(A::alpha), beta = call.Real(A::beta);
  if (n < 1) return call.Fail("a window of %lld channels", static_cast<long long>(n));
  if (!CutOf(call, x, call.Text(A::data_format) == "NHWC", cut) ||
      (out != nullptr && !call.Resize(*out, x)) || (mid != nullptr && !call.Resize(*mid, x)))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    ForWindows(call.context(), cut, n, [&](int64_t at, int64_t first, int64_t last, int64_t step) {
      T squares = 0;
      for (int64_t j = first; j < last; j += step) squares += from[j] * from[j];
      const T m = static_cast<T>(k) + static_cast<T>(alpha) * squares;
      if (mid != nullptr) Data<T>(*mid)[at] = m;
      if (out != nullptr) Data<T>(*out)[at] = from[at] * std::pow(m, static_cast<T>(-beta));
    });
    return 0;
  });
}

// dx = MidOut^(-beta) · dOut - 2 alpha beta · x · Σ dOut · Out / MidOut, over the same window: it
// is symmetric but for its ends, and the framework uses it as it is.
int32_t LrnGrad(OpCall& call) {
  using A = args::dt_lrn_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &mid = call.Arg(A::MidOut),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Cut cut = {};
  const int64_t n = call.Int(A::n);
  if (n < 1) return call.Fail("a window of %lld channels", static_cast<long long>(n));
  if (!SameShape(x, out) || !SameShape(x, mid) || !SameShape(x, gradient))
    return call.Fail("'%s' and '%s' differ in extents", x.name, gradient.name);
  if (!CutOf(call, x, call.Text(A::data_format) == "NHWC", cut) || !call.Resize(dx, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T beta = static_cast<T>(call.Real(A::beta)),
            ratio = T(-2) * static_cast<T>(call.Real(A::alpha)) * beta;
    ForWindows(call.context(), cut, n, [&](int64_t at, int64_t first, int64_t last, int64_t step) {
      T sum = 0;
      for (int64_t j = first; j < last; j += step)
        sum += Data<T>(gradient)[j] * Data<T>(out)[j] / Data<T>(mid)[j];
      Data<T>(dx)[at] =
          std::pow(Data<T>(mid)[at], -beta) * Data<T>(gradient)[at] + ratio * Data<T>(x)[at] * sum;
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels
