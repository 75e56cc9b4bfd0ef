// Whole numbers and samples with the framework's generators: randint, randperm, bernoulli,
// multinomial, sampling_id. In 2.x the first two take no notice of their seed. Rows:
// runtime/kernels/signatures/random.calls.
#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/kernels/cpu/ops/random/calls.h"

namespace dtranspile::kernels {
namespace {

bool IsLegacy(OpCall& call, int version) {
  return ReleaseOf(call, version) == random::Release::kFluid1;
}

}  // namespace

// Uniform from [low, high): the engine's draw includes both ends, hence high − 1.
int32_t Randint(OpCall& call) {
  using A = args::dt_randint;
  DtBuffer& out = call.Arg(A::Out);
  const int64_t low = call.Int(A::low), high = call.Int(A::high);
  std::vector<int64_t> dims;
  if (low >= high)
    return call.Fail("no whole number from %lld to below %lld", static_cast<long long>(low),
                     static_cast<long long>(high));
  if (!ShapeOf(call, A::ShapeTensor, A::ShapeTensorList, A::shape, dims) || !call.Resize(out, dims))
    return 1;
  random::Engine& engine =
      EngineOf(call, A::version, IsLegacy(call, A::version) ? call.Int(A::seed) : 0);
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(out); ++i)
      Data<T>(out)[i] = static_cast<T>(engine.Integer(low, high - 1));
    return 0;
  });
}

// 0..n−1 in an order by chance. 1.x shuffled with the C library's rand() from a seed (the
// attribute's, or a drawn one), 2.x with std::shuffle over the engine; both sequences are kept,
// since a job trained with one framework is compared with it element by element.
int32_t Randperm(OpCall& call) {
  using A = args::dt_randperm;
  DtBuffer& out = call.Arg(A::Out);
  const int64_t n = call.Int(A::n), dims[] = {n};
  if (n < 0 || !call.Resize(out, dims))
    return call.Fail("no permutation of %lld numbers", static_cast<long long>(n));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (IsLegacy(call, A::version)) {
    const int64_t seed = call.Int(A::seed) != 0
                             ? call.Int(A::seed)
                             : static_cast<int64_t>(EngineOf(call, A::version, 0).Next());
    random::ShuffleByRand(static_cast<uint32_t>(seed), order.data(), n);
  } else {
    EngineOf(call, A::version, 0).Shuffle(order.data(), n);
  }
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::transform(order.begin(), order.end(), Data<T>(out),
                   [](int64_t value) { return static_cast<T>(value); });
    return 0;
  });
}

// 1 where a uniform number from [0, 1) is below the probability: p = 0 never gives 1, and p = 1
// always does. One number is drawn per element, in order, whatever the probability.
int32_t Bernoulli(OpCall& call) {
  using A = args::dt_bernoulli;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, x)) return 1;
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(x); ++i) {
      const T probability = Data<T>(x)[i];
      if (!(probability >= 0 && probability <= 1))
        return call.Fail("'%s' has the probability %g of element %lld", x.name,
                         static_cast<double>(probability), static_cast<long long>(i));
      Data<T>(out)[i] = engine.Canonical<T>() < probability ? T(1) : T(0);
    }
    return 0;
  });
}

namespace {

// Draws from one row by its cumulative probabilities; without replacement the drawn class is taken
// out and the rest scaled up, as phi does it.
// Inversion: the drawn class is the first whose cumulative probability is not below a uniform
// number. The last one is set to 1 before each draw, as rounding may leave it short of that. Taking
// out class d of probability p: P'(c) = P(c) / (1 − p) before d and (P(c) − p) / (1 − p) from d on,
// after which d has width 0. O(classes) per sample.
template <typename T>
int32_t DrawRow(OpCall& call, random::Engine& engine, const T* weights, int64_t classes,
                int64_t samples, bool replace, int64_t* out) {
  using A = args::dt_multinomial;
  std::vector<T> cumulative(static_cast<size_t>(classes));
  T sum = 0;
  int64_t possible = 0;
  for (int64_t c = 0; c < classes; ++c) {
    if (!(weights[c] >= 0 && weights[c] <= std::numeric_limits<T>::max()))
      return call.Fail("'%s' has the weight %g", call.Arg(A::X).name,
                       static_cast<double>(weights[c]));
    possible += weights[c] > 0;
    cumulative[static_cast<size_t>(c)] = sum += weights[c];
  }
  if (!(sum > 0)) return call.Fail("'%s' has a row without a weight above 0", call.Arg(A::X).name);
  if (!replace && possible < samples)
    return call.Fail("'%s' has a row of %lld classes with a weight, too few for %lld samples",
                     call.Arg(A::X).name, static_cast<long long>(possible),
                     static_cast<long long>(samples));
  for (T& value : cumulative) value /= sum;
  for (int64_t s = 0; s < samples; ++s) {
    const T drawn = engine.Canonical<T>();
    cumulative.back() = 1;
    const auto found = std::lower_bound(cumulative.begin(), cumulative.end(), drawn);
    const auto id = std::min<int64_t>(found - cumulative.begin(), classes - 1);
    out[s] = id;
    if (replace) continue;
    const T probability = cumulative[static_cast<size_t>(id)] -
                          (id > 0 ? cumulative[static_cast<size_t>(id - 1)] : T(0)),
            rest = T(1) - probability;
    for (int64_t c = 0; c < classes; ++c)
      cumulative[static_cast<size_t>(c)] =
          (cumulative[static_cast<size_t>(c)] - (c >= id ? probability : T(0))) / rest;
  }
  return 0;
}

}  // namespace

// X: weights [..., classes], of any sum above 0; Out: [..., samples] int64. All rows share one
// engine and are drawn in order.
int32_t Multinomial(OpCall& call) {
  using A = args::dt_multinomial;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t samples = call.Int(A::num_samples);
  if (x.rank < 1 || x.dims[x.rank - 1] < 1 || samples < 1)
    return call.Fail("%lld samples from '%s'", static_cast<long long>(samples), x.name);
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  const int64_t classes = dims.back();
  dims.back() = samples;
  if (!call.Resize(out, dims)) return 1;
  if (TypeOf(out) != DType::kInt64) return call.Fail("output '%s' is no int64", out.name);
  random::Engine& engine = EngineOf(call, A::version, 0);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t row = 0; row < Elements(x) / classes; ++row) {
      if (DrawRow(call, engine, Data<T>(x) + row * classes, classes, samples,
                  call.Bool(A::replacement), Data<int64_t>(out) + row * samples) != 0)
        return 1;
    }
    return 0;
  });
}

// The first class at which the sum of the row exceeds a number from min to max.
int32_t SamplingId(OpCall& call) {
  using A = args::dt_sampling_id;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (x.rank != 2 || x.dims[1] < 1) return call.Fail("'%s' is no matrix of probabilities", x.name);
  const int64_t dims[] = {x.dims[0]}, classes = x.dims[1];
  if (!call.Resize(out, dims)) return 1;
  if (TypeOf(out) != DType::kInt64) return call.Fail("output '%s' is no int64", out.name);
  random::Engine& engine = EngineOf(call, A::version, call.Int(A::seed));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T low = static_cast<T>(call.Real(A::min)), high = static_cast<T>(call.Real(A::max));
    for (int64_t i = 0; i < x.dims[0]; ++i) {
      T rest = engine.Canonical<T>() * (high - low) + low;
      int64_t id = classes - 1;
      for (int64_t c = 0; c < classes; ++c) {
        if ((rest -= Data<T>(x)[i * classes + c]) < 0) {
          id = c;
          break;
        }
      }
      Data<int64_t>(out)[i] = id;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
