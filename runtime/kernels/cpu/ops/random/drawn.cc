// Numbers drawn for the elements of a tensor: exponential, poisson, dirichlet, gumbel_softmax,
// rrelu. One after the other in memory order, by the distributions of the C++ library, which the
// framework takes too (phi exponential_kernel, poisson_kernel, dirichlet_kernel,
// gumbel_softmax_kernel, rrelu_kernel). Rows: runtime/kernels/signatures/random.calls.
#include <cmath>
#include <random>
#include <vector>

#include "runtime/kernels/cpu/ops/random/calls.h"

namespace dtranspile::kernels {
namespace {

// The engine as the distributions of the library take it: 64 bits at a time, as that of 2.x gives
// them.
class Bits {
 public:
  using result_type = uint64_t;
  explicit Bits(random::Engine& engine) : engine_(engine) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return engine_.Next(); }

 private:
  random::Engine& engine_;
};

// A number between the bounds.
template <typename T>
T Between(random::Engine& engine, T low, T high) {
  return engine.Canonical<T>() * (high - low) + low;
}

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000); below 1 the shape
// is one higher, and the number is scaled by a power of a uniform one.
template <typename T>
T Gamma(random::Engine& engine, std::normal_distribution<T>& normal, T shape) {
  T scale = 1;
  if (shape == 0) return 0;
  if (shape < 1) {
    scale = std::pow(1 - engine.Canonical<T>(), 1 / shape);
    shape += 1;
  }
  const T d = shape - T{1} / 3, c = 1 / std::sqrt(9 * d);
  Bits bits(engine);
  for (;;) {
    T x, y;
    do {
      x = normal(bits);
      y = 1 + c * x;
    } while (y <= 0);
    const T v = y * y * y, u = 1 - engine.Canonical<T>(), xx = x * x;
    if (u < 1 - static_cast<T>(0.0331f) * xx * xx ||
        std::log(u) < T{0.5} * xx + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

}  // namespace

// X; lambda, @version -> Out: of the extents of X, whatever it holds
int32_t Exponential(OpCall& call) {
  using A = args::dt_exponential;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (!(call.Real(A::lambda) > 0))
    return call.Fail("lambda %g, expected more than 0", call.Real(A::lambda));
  if (!call.Resize(out, x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto lambda = static_cast<T>(call.Real(A::lambda));
    for (int64_t i = 0, n = Elements(x); i < n; ++i)
      Data<T>(out)[i] = -1 / lambda * std::log(1 - engine.Canonical<T>());
    return 0;
  });
}

// X; @version -> Out: numbers whose means are those of X
int32_t Poisson(OpCall& call) {
  using A = args::dt_poisson;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Bits bits(engine);
    for (int64_t i = 0, n = Elements(x); i < n; ++i) {
      const T mean = Data<T>(x)[i];
      if (!(mean >= 0 && mean < static_cast<T>(1e9)))
        return call.Fail("'%s' has the mean %g at %lld, expected 0 to 1e9", x.name,
                         static_cast<double>(mean), static_cast<long long>(i));
      if (mean == 0) {
        Data<T>(out)[i] = 0;
        continue;
      }
      std::poisson_distribution<> draw(mean);
      Data<T>(out)[i] = static_cast<T>(draw(bits));
    }
    return 0;
  });
}

// X; @version -> Out: numbers of one sum along the last dim
int32_t Dirichlet(OpCall& call) {
  using A = args::dt_dirichlet;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (x.rank < 1) return call.Fail("'%s' has no dim", x.name);
  if (!call.Resize(out, x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = x.dims[x.rank - 1], n = Elements(x);
    std::normal_distribution<T> normal(0, 1);
    for (int64_t i = 0; i < n; ++i) {
      const T shape = Data<T>(x)[i];
      if (!(shape >= 0))
        return call.Fail("'%s' has %g at %lld, expected 0 or more", x.name,
                         static_cast<double>(shape), static_cast<long long>(i));
      Data<T>(out)[i] = Gamma(engine, normal, shape);
    }
    for (int64_t row = 0; width > 0 && row < n / width; ++row) {
      T* line = Data<T>(out) + row * width;
      double sum = 0;
      for (int64_t j = 0; j < width; ++j) sum += static_cast<double>(line[j]);
      for (int64_t j = 0; j < width; ++j) line[j] /= static_cast<T>(sum);
    }
    return 0;
  });
}

// X; temperature, hard, axis, @version -> Out: the softmax of X and noise (Jang et al. 2017), or a
// one at its largest number
int32_t GumbelSoftmax(OpCall& call) {
  using A = args::dt_gumbel_softmax;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  int64_t axis = call.Int(A::axis);
  if (!(call.Real(A::temperature) > 0))
    return call.Fail("temperature %g, expected more than 0", call.Real(A::temperature));
  if (x.rank > 0 && !NormalAxis(call, x, axis)) return 1;
  if (!call.Resize(out, x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  const bool hard = call.Bool(A::hard);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto temperature = static_cast<T>(call.Real(A::temperature));
    T* to = Data<T>(out);
    if (x.rank == 0) return *to = 1, 0;
    for (int64_t i = 0, n = Elements(x); i < n; ++i)
      to[i] = (Data<T>(x)[i] - std::log(-std::log(Between<T>(engine, static_cast<T>(1e-5), 1)))) /
              temperature;
    const auto at = static_cast<int32_t>(axis);
    const int64_t extent = x.dims[at], inner = Elements(x, at + 1, x.rank),
                  lines = Elements(x, 0, at) * inner;
    for (int64_t line = 0; extent > 0 && line < lines; ++line) {
      T* first = to + line / inner * extent * inner + line % inner;
      int64_t best = 0;
      for (int64_t k = 1; k < extent; ++k)
        if (first[k * inner] > first[best * inner]) best = k;
      const T most = first[best * inner];
      double sum = 0;
      for (int64_t k = 0; k < extent; ++k) {
        T& one = first[k * inner];
        one = hard ? static_cast<T>(k == best) : std::exp(one - most);
        sum += static_cast<double>(one);
      }
      for (int64_t k = 0; k < extent; ++k) first[k * inner] /= static_cast<T>(sum);
    }
    return 0;
  });
}

// X; lower, upper, @version -> Out, Noise: a slope for each number below 0
int32_t Rrelu(OpCall& call) {
  using A = args::dt_rrelu;
  const DtBuffer& x = call.Arg(A::X);
  const double lower = call.Real(A::lower), upper = call.Real(A::upper);
  if (!(lower >= 0 && lower <= upper && upper <= 1))
    return call.Fail("slopes from %g to %g, expected bounds from 0 to 1", lower, upper);
  for (int slot : {A::Out, A::Noise})
    if (call.Has(slot) && !call.Resize(call.Arg(slot), x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0, n = Elements(x); i < n; ++i) {
      const T value = Data<T>(x)[i];
      const T slope =
          value < 0 ? Between<T>(engine, static_cast<T>(lower), static_cast<T>(upper)) : T{1};
      if (call.Has(A::Out)) Data<T>(call.Arg(A::Out))[i] = value * slope;
      if (call.Has(A::Noise)) Data<T>(call.Arg(A::Noise))[i] = slope;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
