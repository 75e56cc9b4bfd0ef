// Sums and products along a line up to every place: cumsum, cumprod, logcumsumexp and their
// gradients.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/ops/reduction/calls.h"
#include "runtime/kernels/cpu/ops/reduction/lines.h"

namespace dtranspile::kernels {
namespace {

// Sums of up to 64 neighbouring lines at once, so that memory is read in order.
template <typename T>
void SumLines(DtContext* context, const Lines& s, bool exclusive, bool reverse, const T* x, T* y) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (s.inner + kBlock - 1) / kBlock;
  const int64_t bytes = 2 * s.length * std::min(s.inner, kBlock) * static_cast<int64_t>(sizeof(T));
  Parallel(context, s.outer * blocks, GrainFor(bytes), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      Total<T> sums[kBlock] = {};
      const int64_t column = i % blocks * kBlock, width = std::min(kBlock, s.inner - column);
      for (int64_t k = 0; k < s.length; ++k) {
        const int64_t at =
            (i / blocks * s.length + (reverse ? s.length - 1 - k : k)) * s.inner + column;
        for (int64_t j = 0; j < width; ++j) {
          const Total<T> before = sums[j];
          sums[j] = Plus<Total<T>>(before, x[at + j]);
          y[at + j] = static_cast<T>(exclusive ? before : sums[j]);
        }
      }
    }
  });
}

// Of a sum of integers that wrap too: the divisor is not 0, and the smallest number by -1 wraps.
template <typename T>
T Quotient(Total<T> sum, T x) {
  if constexpr (std::is_integral_v<T>) {
    if (x == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(sum));
  }
  return static_cast<T>(sum / x);
}

// body(line number) on all threads.
template <typename Body>
void ForEachLine(OpCall& call, const Lines& lines, Body&& body) {
  Parallel(call.context(), lines.count(), GrainFor(32 * lines.length), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) body(lines.offset(i));
  });
}

}  // namespace

// X; axis, flatten, exclusive, reverse[, @type] -> Out. The gradient is the same sum of Out@GRAD
// from the other end.
int32_t CumulativeSum(OpCall& call) {
  using A = args::dt_cumsum;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool gradient = call.Given(A::type) && call.Text(A::type) == "cumsum_grad",
             flatten = call.Bool(A::flatten);
  Lines lines{1, Elements(x), 1};
  if (!flatten && !LinesOf(call, x, call.Int(A::axis), lines)) return 1;
  // The gradient of a flattened sum has the extents of the forward input, which are those of the
  // output.
  const bool resized = gradient  ? Elements(out) == Elements(x) || call.Resize(out, x)
                       : flatten ? call.Resize(out, {Elements(x)})
                                 : call.Resize(out, x);
  if (!resized) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (lines.count() > 0)
      SumLines(call.context(), lines, call.Bool(A::exclusive), call.Bool(A::reverse) != gradient,
               Data<const T>(x), Data<T>(out));
    return 0;
  });
}

// X; dim -> Out
int32_t CumulativeProduct(OpCall& call) {
  using A = args::dt_cumprod;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Lines lines;
  if (!LinesOf(call, x, call.Int(A::dim), lines) || !call.Resize(out, x)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachLine(call, lines, [&](int64_t at) {
      T product = 1;
      for (int64_t k = 0; k < lines.length; ++k)
        Data<T>(out)[at + k * lines.inner] = product *= Data<T>(x)[at + k * lines.inner];
    });
    return 0;
  });
}

// X, Out, Out@GRAD; dim -> X@GRAD: the sum over later places of dOut · Out / X. At the first zero
// the quotient is formed without it; after it everything is zero.
int32_t CumulativeProductGrad(OpCall& call) {
  using A = args::dt_cumprod_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Lines lines;
  if (!LinesOf(call, x, call.Int(A::dim), lines) || !call.Resize(dx, x)) return 1;
  if (!SameShape(x, out) || !SameShape(x, gradient) || TypeOf(x) != TypeOf(out) ||
      TypeOf(x) != TypeOf(gradient))
    return call.Fail("'%s' and '%s' do not fit '%s'", out.name, gradient.name, x.name);
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *xs = Data<T>(x), *ys = Data<T>(out), *gs = Data<T>(gradient);
    T* to = Data<T>(dx);
    ForEachLine(call, lines, [&](int64_t at) {
      auto place = [&](int64_t k) { return at + k * lines.inner; };
      int64_t zero = 0;
      while (zero < lines.length && xs[place(zero)] != 0) ++zero;
      Total<T> sum = 0;
      for (int64_t k = zero; k-- > 0;) {
        sum += static_cast<Total<T>>(gs[place(k)]) * ys[place(k)];
        to[place(k)] = Quotient<T>(sum, xs[place(k)]);
      }
      if (zero == lines.length) return;
      T product = zero == 0 ? T{1} : ys[place(zero - 1)];
      Total<T> without = 0;
      for (int64_t k = zero; k < lines.length; ++k) {
        if (k > zero) product *= xs[place(k)], to[place(k)] = 0;
        without += static_cast<Total<T>>(gs[place(k)]) * product;
      }
      to[place(zero)] = static_cast<T>(without);
    });
    return 0;
  });
}

namespace {

// The line, or all elements as one.
bool LinesFor(OpCall& call, const DtBuffer& x, bool flatten, int64_t axis, Lines& lines) {
  lines = {1, Elements(x), 1};
  return flatten || LinesOf(call, x, axis, lines);
}

}  // namespace

// X; axis, flatten, exclusive, reverse -> Out: log of the sum of exp. Of no terms (exclusive) it is
// the lowest number, as in the framework.
int32_t LogCumulativeSum(OpCall& call) {
  using A = args::dt_log_cumsum;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool flatten = call.Bool(A::flatten), exclusive = call.Bool(A::exclusive),
             reverse = call.Bool(A::reverse);
  Lines lines;
  if (!LinesFor(call, x, flatten, call.Int(A::axis), lines)) return 1;
  if (!(flatten ? call.Resize(out, {Elements(x)}) : call.Resize(out, x))) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachLine(call, lines, [&](int64_t at) {
      T sum = std::numeric_limits<T>::lowest();
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t i = at + (reverse ? lines.length - 1 - k : k) * lines.inner;
        const T before = sum, value = Data<T>(x)[i];
        const T high = std::max(before, value), low = std::min(before, value);
        sum = std::log1p(std::exp(low - high)) + high;
        Data<T>(out)[i] = exclusive ? before : sum;
      }
    });
    return 0;
  });
}

// X, Out, Out@GRAD; axis, flatten, exclusive, reverse -> X@GRAD: the sum over the places k that X
// is counted in of dOut_k · exp(X - Out_k). With R_k = dOut_k + exp(Out_k - Out_k+1) · R_k+1, whose
// exponents are at most 0, it is exp(X - Out_k) · R_k for the first such k.
int32_t LogCumulativeSumGrad(OpCall& call) {
  using A = args::dt_log_cumsum_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const bool exclusive = call.Bool(A::exclusive), reverse = call.Bool(A::reverse);
  Lines lines;
  if (!LinesFor(call, x, call.Bool(A::flatten), call.Int(A::axis), lines) || !call.Resize(dx, x))
    return 1;
  if (Elements(out) != Elements(x) || Elements(gradient) != Elements(x))
    return call.Fail("'%s' and '%s' do not fit '%s'", out.name, gradient.name, x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *xs = Data<T>(x), *ys = Data<T>(out), *gs = Data<T>(gradient);
    ForEachLine(call, lines, [&](int64_t at) {
      T rest = 0, next = 0;  // R and Out of the place after this one
      for (int64_t k = lines.length; k-- > 0;) {
        const int64_t i = at + (reverse ? lines.length - 1 - k : k) * lines.inner;
        const bool last = k == lines.length - 1;
        const T own = gs[i] + (last ? 0 : std::exp(ys[i] - next) * rest);
        if (exclusive) Data<T>(dx)[i] = last ? 0 : std::exp(xs[i] - next) * rest;
        else Data<T>(dx)[i] = std::exp(xs[i] - ys[i]) * own;
        rest = own;
        next = ys[i];
      }
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels
