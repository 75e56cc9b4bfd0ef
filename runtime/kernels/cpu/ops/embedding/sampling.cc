// Losses over a sample of the classes: nce (Gutmann, Hyvärinen, "Noise-contrastive estimation",
// 2010) and sample_logits (sampled softmax; Jean et al., "On using very large target vocabulary",
// 2015), with their gradients. Samplers are the framework's (sampler.cc): a 64-bit Mersenne Twister
// seeded with the attribute, uniform, log-uniform or by an alias table; what it takes from the
// hardware with seed 0 comes from the process's generator here.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <unordered_set>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/rows.h"
#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {
namespace {

std::mt19937_64 EngineFor(int64_t seed, int64_t version) {
  if (seed != 0) return std::mt19937_64(static_cast<uint64_t>(seed));
  const auto release =
      version > 0 && version < 2000000 ? random::Release::kFluid1 : random::Release::kPaddle2;
  return std::mt19937_64(static_cast<uint64_t>(
      random::Generator::Process().ForOp(release, 0).Canonical<double>() * 9007199254740992.0));
}

enum class Kind : int64_t { kUniform = 0, kLogUniform = 1, kCustom = 2 };

// Classes 0 … range, by the probabilities of `kind`.
class Sampler {
 public:
  Sampler(Kind kind, int64_t range, std::mt19937_64 engine)
      : kind_(kind),
        range_(range),
        log_range_(std::log(static_cast<double>(range + 1))),
        engine_(engine) {}

  // The tables of kCustom: probability, alias, probability of not taking the alias.
  void SetTables(const float* probability, const int32_t* alias, const float* own) {
    probability_ = probability, alias_ = alias, own_ = own;
  }

  int64_t Draw() {
    if (kind_ == Kind::kUniform) return Integer();
    if (kind_ == Kind::kLogUniform)
      return (static_cast<int64_t>(std::exp(Real() * log_range_)) - 1) %
             std::max<int64_t>(range_, 1);
    const int64_t place = Integer();
    const int64_t alias = alias_[place];
    return Real() > static_cast<double>(own_[place]) && alias >= 0 ? alias : place;
  }

  double Probability(int64_t value) const {
    if (kind_ == Kind::kUniform) return 1.0 / static_cast<double>(range_ + 1);
    if (kind_ == Kind::kLogUniform)
      return std::log((static_cast<double>(value) + 2) / (static_cast<double>(value) + 1)) /
             log_range_;
    return static_cast<double>(probability_[value]);
  }

 private:
  int64_t Integer() {
    return std::uniform_int_distribution<int>(0, static_cast<int>(range_))(engine_);
  }
  double Real() { return std::uniform_real_distribution<>(0, 1)(engine_); }

  Kind kind_;
  int64_t range_;
  double log_range_;
  std::mt19937_64 engine_;
  const float* probability_ = nullptr;
  const int32_t* alias_ = nullptr;
  const float* own_ = nullptr;
};

struct NceShape {
  int64_t samples = 0, width = 0, classes = 0, trues = 0, negatives = 0;
};

// Attributes: num_total_classes, num_neg_samples, sampler, seed, custom_neg_classes, @version.
bool NceOf(OpCall& call, NceShape& s) {
  using A = args::dt_nce;
  static_assert(A::Bias == args::dt_nce_grad::Bias && A::Input == args::dt_nce_grad::Input &&
                A::Label == args::dt_nce_grad::Label &&
                A::SampleWeight == args::dt_nce_grad::SampleWeight &&
                A::Weight == args::dt_nce_grad::Weight);
  static_assert(A::custom_neg_classes == args::dt_nce_grad::custom_neg_classes &&
                A::num_neg_samples == args::dt_nce_grad::num_neg_samples &&
                A::num_total_classes == args::dt_nce_grad::num_total_classes);
  const DtBuffer &x = call.Arg(A::Input), &label = call.Arg(A::Label), &w = call.Arg(A::Weight);
  s.classes = call.Int(A::num_total_classes), s.negatives = call.Int(A::num_neg_samples);
  if (!call.Ints(A::custom_neg_classes).empty() &&
      static_cast<int64_t>(call.Ints(A::custom_neg_classes).size()) != s.negatives)
    return call.Fail("%zu given classes for %lld samples", call.Ints(A::custom_neg_classes).size(),
                     static_cast<long long>(s.negatives)),
           false;
  if (x.rank != 2 || w.rank != 2 || x.dims[1] != w.dims[1] || TypeOf(x) != TypeOf(w) ||
      w.dims[0] != s.classes)
    return call.Fail(
               "'%s' and '%s' are no matrices of one width with a row for each of %lld classes",
               x.name, w.name, static_cast<long long>(s.classes)),
           false;
  if (s.classes < 1 || s.classes > INT32_MAX || s.negatives < 0 || s.negatives > INT32_MAX)
    return call.Fail("%lld samples of %lld classes", static_cast<long long>(s.negatives),
                     static_cast<long long>(s.classes)),
           false;
  s.samples = x.dims[0], s.width = x.dims[1];
  s.trues = s.samples == 0 ? 1 : Elements(label) / s.samples;
  if (s.trues * s.samples != Elements(label))
    return call.Fail("'%s' has not the rows of '%s'", label.name, x.name), false;
  if (call.Has(A::Bias) &&
      (Elements(call.Arg(A::Bias)) != s.classes || TypeOf(call.Arg(A::Bias)) != TypeOf(x)))
    return call.Fail("'%s' has not one element per class", call.Arg(A::Bias).name), false;
  if (call.Has(A::SampleWeight) && (Elements(call.Arg(A::SampleWeight)) != s.samples ||
                                    TypeOf(call.Arg(A::SampleWeight)) != TypeOf(x)))
    return call.Fail("'%s' has not one element per sample", call.Arg(A::SampleWeight).name), false;
  return true;
}

bool SamplerOf(OpCall& call, const NceShape& s, std::unique_ptr<Sampler>& sampler) {
  using A = args::dt_nce;
  static_assert(A::CustomDistAlias == args::dt_nce_grad::CustomDistAlias &&
                A::CustomDistAliasProbs == args::dt_nce_grad::CustomDistAliasProbs &&
                A::CustomDistProbs == args::dt_nce_grad::CustomDistProbs);
  static_assert(A::sampler == args::dt_nce_grad::sampler && A::seed == args::dt_nce_grad::seed &&
                A::version == args::dt_nce_grad::version);
  const int64_t kind = call.Int(A::sampler);
  if (kind < 0 || kind > 2) return call.Fail("sampler %lld", static_cast<long long>(kind)), false;
  sampler = std::make_unique<Sampler>(static_cast<Kind>(kind), s.classes - 1,
                                      EngineFor(call.Int(A::seed), call.Int(A::version)));
  if (kind != 2) return true;
  for (int slot : {A::CustomDistProbs, A::CustomDistAlias, A::CustomDistAliasProbs}) {
    const DType expected = slot == A::CustomDistAlias ? DType::kInt32 : DType::kFloat32;
    if (Elements(call.Arg(slot)) != s.classes || TypeOf(call.Arg(slot)) != expected)
      return call.Fail("'%s' has not one %s per class", call.Arg(slot).name, NameOf(expected)),
             false;
  }
  for (int64_t i = 0; i < s.classes; ++i)
    if (Data<int32_t>(call.Arg(A::CustomDistAlias))[i] >= s.classes)
      return call.Fail("'%s' has the alias %d of %lld classes", call.Arg(A::CustomDistAlias).name,
                       Data<int32_t>(call.Arg(A::CustomDistAlias))[i],
                       static_cast<long long>(s.classes)),
             false;
  sampler->SetTables(Data<float>(call.Arg(A::CustomDistProbs)),
                     Data<int32_t>(call.Arg(A::CustomDistAlias)),
                     Data<float>(call.Arg(A::CustomDistAliasProbs)));
  return true;
}

bool InRange(OpCall& call, const char* name, const std::vector<int64_t>& values, int64_t classes) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    return call.Fail("element %zu of '%s' is %lld, expected at least 0 and below %lld", i, name,
                     static_cast<long long>(values[i]), static_cast<long long>(classes)),
           false;
  }
  return true;
}

}  // namespace

// ... -> Cost, SampleLogits, SampleLabels. SampleLogits holds the sigmoids of the scores.
int32_t Nce(OpCall& call) {
  using A = args::dt_nce;
  NceShape s;
  std::unique_ptr<Sampler> sampler;
  std::vector<int64_t> labels, classes;
  if (!NceOf(call, s) || !SamplerOf(call, s, sampler) ||
      !IntegersOf(call, call.Arg(A::Label), labels))
    return 1;
  for (int64_t i = 0; i < s.samples; ++i) {
    classes.insert(classes.end(), labels.begin() + i * s.trues, labels.begin() + (i + 1) * s.trues);
    for (int64_t k = 0; k < s.negatives; ++k)
      classes.push_back(call.Ints(A::custom_neg_classes).empty()
                            ? sampler->Draw()
                            : call.Ints(A::custom_neg_classes)[static_cast<size_t>(k)]);
  }
  if (!InRange(call, call.Arg(A::Label).name, classes, s.classes)) return 1;
  const int64_t each = s.trues + s.negatives;
  if (call.Has(A::Cost) && !call.Resize(call.Arg(A::Cost), {s.samples, 1})) return 1;
  for (int slot = A::SampleLogits; slot <= A::SampleLabels; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), {s.samples, each})) return 1;
  if (call.Has(A::SampleLabels)) {
    if (TypeOf(call.Arg(A::SampleLabels)) != DType::kInt64)
      return call.Fail("'%s' is %s, expected int64", call.Arg(A::SampleLabels).name,
                       TypeName(call.Arg(A::SampleLabels)));
    std::copy(classes.begin(), classes.end(), Data<int64_t>(call.Arg(A::SampleLabels)));
  }
  const DtBuffer &x = call.Arg(A::Input), &w = call.Arg(A::Weight);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < s.samples; ++i) {
      T cost = 0;
      for (int64_t k = 0; k < each; ++k) {
        const int64_t c = classes[static_cast<size_t>(i * each + k)];
        T score = call.Has(A::Bias) ? Data<T>(call.Arg(A::Bias))[c] : T{0};
        for (int64_t j = 0; j < s.width; ++j)
          score += Data<T>(x)[i * s.width + j] * Data<T>(w)[c * s.width + j];
        const T o = 1 / (1 + std::exp(-score)),
                b = static_cast<T>(sampler->Probability(c) * static_cast<double>(s.negatives));
        const T part = k < s.trues ? -std::log(o / (o + b)) : -std::log(b / (o + b));
        cost += part * (call.Has(A::SampleWeight) ? Data<T>(call.Arg(A::SampleWeight))[i] : T{1});
        if (call.Has(A::SampleLogits)) Data<T>(call.Arg(A::SampleLogits))[i * each + k] = o;
      }
      if (call.Has(A::Cost)) Data<T>(call.Arg(A::Cost))[i] = cost;
    }
    return 0;
  });
}

// ..., SampleLogits, SampleLabels, Cost@GRAD -> Input@GRAD, Weight@GRAD, Bias@GRAD
int32_t NceGrad(OpCall& call) {
  using A = args::dt_nce_grad;
  NceShape s;
  std::unique_ptr<Sampler> sampler;
  std::vector<int64_t> classes;
  const DtBuffer &x = call.Arg(A::Input), &w = call.Arg(A::Weight),
                 &sigmoids = call.Arg(A::SampleLogits), &gradient = call.Arg(A::Cost_GRAD);
  if (!NceOf(call, s) || !SamplerOf(call, s, sampler) ||
      !IntegersOf(call, call.Arg(A::SampleLabels), classes) ||
      !InRange(call, call.Arg(A::SampleLabels).name, classes, s.classes))
    return 1;
  const int64_t each = s.trues + s.negatives;
  if (static_cast<int64_t>(classes.size()) != s.samples * each ||
      Elements(sigmoids) != s.samples * each || Elements(gradient) != s.samples ||
      TypeOf(sigmoids) != TypeOf(x) || TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s' and '%s' do not fit '%s'", sigmoids.name, gradient.name, x.name);
  constexpr int kDx = A::Input_GRAD, kDw = A::Weight_GRAD, kDb = A::Bias_GRAD;
  std::vector<int64_t> rows;
  if (call.Has(kDx) && !call.Resize(call.Arg(kDx), x)) return 1;
  if (call.Has(kDb) && call.Has(A::Bias) && !call.Resize(call.Arg(kDb), call.Arg(A::Bias)))
    return 1;
  if (call.Has(kDw)) {
    DtBuffer& dw = call.Arg(kDw);
    if (dw.value != nullptr && OpCall::ValueOf(dw)->kind == exec::Value::Kind::kRows) {
      rows = classes;
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      if (!call.ResizeRows(dw, static_cast<int64_t>(rows.size()), s.classes, {s.width})) return 1;
      OpCall::ValueOf(dw)->rows = rows;
    } else if (!call.Resize(dw, w)) {
      return 1;
    }
  }
  for (int slot = kDx; slot <= kDb; ++slot)
    if (call.Has(slot) && Elements(call.Arg(slot)) > 0)
      std::memset(call.Arg(slot).data, 0,
                  static_cast<size_t>(Elements(call.Arg(slot)) * ElementSize(x)));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < s.samples; ++i)
      for (int64_t k = 0; k < each; ++k) {
        const int64_t c = classes[static_cast<size_t>(i * each + k)];
        const T o = Data<T>(sigmoids)[i * each + k],
                b = static_cast<T>(sampler->Probability(c) * static_cast<double>(s.negatives));
        const T weight = call.Has(A::SampleWeight) ? Data<T>(call.Arg(A::SampleWeight))[i] : T{1};
        const T g = weight * (k < s.trues ? (b / (o + b)) * (o - 1) : o * (1 - o) / (o + b)) *
                    Data<T>(gradient)[i];
        if (call.Has(kDb)) Data<T>(call.Arg(kDb))[c] += g;
        const int64_t place =
            rows.empty() ? c : std::lower_bound(rows.begin(), rows.end(), c) - rows.begin();
        for (int64_t j = 0; j < s.width; ++j) {
          if (call.Has(kDw))
            Data<T>(call.Arg(kDw))[place * s.width + j] += g * Data<T>(x)[i * s.width + j];
          if (call.Has(kDx))
            Data<T>(call.Arg(kDx))[i * s.width + j] += g * Data<T>(w)[c * s.width + j];
        }
      }
    return 0;
  });
}

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
  Sampler sampler(Kind::kLogUniform, classes, EngineFor(call.Int(A::seed), call.Int(A::version)));
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
  if (!IntegersOf(call, label_buffer, labels) || !InRange(call, label_buffer.name, labels, classes))
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
      if (!IntegersOf(call, given, samples) || !InRange(call, given.name, samples, classes))
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
      !InRange(call, samples.name, chosen, classes))
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
