// sample_logits (sampled softmax; Jean et al., "On using very large target vocabulary", 2015) and
// its gradient: of every row the logits of its labels and of classes that are drawn once for all
// rows, each less the logarithm of how often its class is expected among the samples.
#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/sampler.h"

namespace dtranspile::kernels {
namespace {

constexpr double kHuge = 1e20;  // stands for infinity

// Samples without repetition, the same ones for every row after its labels, and how often each is
// expected (Q of the paper).
template <typename T>
bool DrawSamples(OpCall& call, const std::vector<int64_t>& labels, int64_t rows, int64_t trues,
                 int64_t wanted, int64_t classes, std::vector<int64_t>& samples,
                 std::vector<T>& expected) {
  using A = args::dt_sample_logits;
  if (wanted > classes)
    return call.Fail("%lld different samples of %lld classes", static_cast<long long>(wanted),
                     static_cast<long long>(classes)),
           false;
  Sampler sampler(SamplerKind::kLogUniform, classes,
                  SamplerEngine(call.Int(A::seed), call.Int(A::version)));
  std::unordered_set<int64_t> seen;
  std::vector<int64_t> drawn;
  int64_t tries = 0;
  for (; static_cast<int64_t>(drawn.size()) < wanted; ++tries) {
    const int64_t value = sampler.Draw();
    if (seen.insert(value).second) drawn.push_back(value);
  }
  for (int64_t i = 0; i < rows; ++i) {
    samples.insert(samples.end(), labels.begin() + i * trues, labels.begin() + (i + 1) * trues);
    samples.insert(samples.end(), drawn.begin(), drawn.end());
  }
  for (int64_t sample : samples) {
    const double p = sampler.Probability(sample);
    expected.push_back(
        static_cast<T>(tries == wanted ? p * static_cast<double>(wanted)
                                       : -std::expm1(static_cast<double>(tries) * std::log1p(-p))));
  }
  return true;
}

}  // namespace

// Logits, Labels, CustomizedSamples, CustomizedProbabilities; use_customized_samples,
// remove_accidental_hits, num_samples, seed, @version
// -> Samples, Probabilities, LogitsDim, SampledLogits, SampledLabels
int32_t SampleLogits(OpCall& call) {
  using A = args::dt_sample_logits;
  const DtBuffer &logits = call.Arg(A::Logits), &label_buffer = call.Arg(A::Labels);
  if (logits.rank != 2 || label_buffer.rank != 2 || logits.dims[0] != label_buffer.dims[0])
    return call.Fail("'%s' and '%s' are no matrices of as many rows", logits.name,
                     label_buffer.name);
  const int64_t rows = logits.dims[0], classes = logits.dims[1], trues = label_buffer.dims[1],
                each = trues + call.Int(A::num_samples);
  std::vector<int64_t> labels, samples;
  if (call.Int(A::num_samples) < 0 || call.Int(A::num_samples) > INT32_MAX)
    return call.Fail("%lld samples", static_cast<long long>(call.Int(A::num_samples)));
  if (!IntegersOf(call, label_buffer, labels) ||
      !ClassesInRange(call, label_buffer.name, labels, classes))
    return 1;
  return VisitFloat(call.context(), logits, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> expected;
    if (call.Bool(A::use_customized_samples)) {
      const DtBuffer &given = call.Arg(A::CustomizedSamples),
                     &probabilities = call.Arg(A::CustomizedProbabilities);
      if (Elements(given) != rows * each || Elements(probabilities) != rows * each ||
          TypeOf(probabilities) != TypeOf(logits))
        return call.Fail("'%s' and '%s' have not %lld elements per row", given.name,
                         probabilities.name, static_cast<long long>(each));
      if (!IntegersOf(call, given, samples) || !ClassesInRange(call, given.name, samples, classes))
        return 1;
      expected.assign(Data<T>(probabilities), Data<T>(probabilities) + rows * each);
    } else if (!DrawSamples(call, labels, rows, trues, call.Int(A::num_samples), classes, samples,
                            expected)) {
      return 1;
    }
    if (call.Has(A::Samples)) {
      if (!call.Resize(call.Arg(A::Samples), {rows, each}) ||
          TypeOf(call.Arg(A::Samples)) != DType::kInt64)
        return 1;
      std::copy(samples.begin(), samples.end(), Data<int64_t>(call.Arg(A::Samples)));
    }
    if (call.Has(A::Probabilities)) {
      if (!call.Resize(call.Arg(A::Probabilities), {rows, each})) return 1;
      std::copy(expected.begin(), expected.end(), Data<T>(call.Arg(A::Probabilities)));
    }
    if (call.Has(A::LogitsDim) && !call.Resize(call.Arg(A::LogitsDim), {rows, classes, 0}))
      return 1;
    if (call.Has(A::SampledLabels)) {
      if (!call.Resize(call.Arg(A::SampledLabels), {rows, trues}) ||
          TypeOf(call.Arg(A::SampledLabels)) != DType::kInt64)
        return 1;
      for (int64_t i = 0; i < rows * trues; ++i)
        Data<int64_t>(call.Arg(A::SampledLabels))[i] = i % trues;
    }
    if (!call.Has(A::SampledLogits)) return 0;
    if (!call.Resize(call.Arg(A::SampledLogits), {rows, each})) return 1;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < each; ++k) {
        const auto at = static_cast<size_t>(i * each + k);
        T value = Data<T>(logits)[i * classes + samples[at]];
        const auto first = labels.begin() + i * trues;
        if (call.Bool(A::remove_accidental_hits) && k >= trues &&
            std::find(first, first + trues, samples[at]) != first + trues)
          value -= static_cast<T>(kHuge);
        value -= std::log(expected[at]);
        Data<T>(call.Arg(A::SampledLogits))[at] =
            std::isinf(value) ? static_cast<T>(value < 0 ? -kHuge : kHuge) : value;
      }
    return 0;
  });
}

// LogitsDim, Samples, SampledLogits@GRAD -> Logits@GRAD
int32_t SampleLogitsGrad(OpCall& call) {
  using A = args::dt_sample_logits_grad;
  const DtBuffer &like = call.Arg(A::LogitsDim), &samples = call.Arg(A::Samples),
                 &gradient = call.Arg(A::SampledLogits_GRAD);
  DtBuffer& out = call.Arg(A::Logits_GRAD);
  if (like.rank != 3 || samples.rank != 2 || like.dims[0] != samples.dims[0] ||
      !SameShape(samples, gradient))
    return call.Fail("'%s' and '%s' do not fit", samples.name, gradient.name);
  const int64_t rows = like.dims[0], classes = like.dims[1], each = samples.dims[1];
  std::vector<int64_t> chosen;
  if (!call.Resize(out, {rows, classes}) || !IntegersOf(call, samples, chosen) ||
      !ClassesInRange(call, samples.name, chosen, classes))
    return 1;
  return VisitFloat(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(out), Elements(out), T{0});
    for (int64_t i = 0; i < rows * each; ++i)
      Data<T>(out)[i / each * classes + chosen[static_cast<size_t>(i)]] += Data<T>(gradient)[i];
    return 0;
  });
}

}  // namespace dtranspile::kernels
