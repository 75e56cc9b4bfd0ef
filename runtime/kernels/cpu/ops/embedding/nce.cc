// nce (Gutmann, Hyvärinen, "Noise-contrastive estimation", 2010) and its gradient: the score of
// every label against those of `num_neg_samples` drawn classes. With o the sigmoid of a score and b
// the number of times that noise is expected to draw the class, a label costs −log(o/(o + b)) and a
// drawn class −log(b/(o + b)).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/sampler.h"
#include "runtime/kernels/cpu/ops/rows.h"

namespace dtranspile::kernels {
namespace {

// Rows of Input, their width, classes, labels per row (`trues`) and drawn classes per row.
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

// Noise: uniform, log-uniform, or a distribution of the program's own, given as tables of the alias
// method (Walker 1977). The aliases are checked, since they index classes.
bool SamplerOf(OpCall& call, const NceShape& s, std::unique_ptr<Sampler>& sampler) {
  using A = args::dt_nce;
  static_assert(A::CustomDistAlias == args::dt_nce_grad::CustomDistAlias &&
                A::CustomDistAliasProbs == args::dt_nce_grad::CustomDistAliasProbs &&
                A::CustomDistProbs == args::dt_nce_grad::CustomDistProbs);
  static_assert(A::sampler == args::dt_nce_grad::sampler && A::seed == args::dt_nce_grad::seed &&
                A::version == args::dt_nce_grad::version);
  const int64_t kind = call.Int(A::sampler);
  if (kind < 0 || kind > 2) return call.Fail("sampler %lld", static_cast<long long>(kind)), false;
  sampler = std::make_unique<Sampler>(static_cast<SamplerKind>(kind), s.classes - 1,
                                      SamplerEngine(call.Int(A::seed), call.Int(A::version)));
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

}  // namespace

// ... -> Cost, SampleLogits, SampleLabels. SampleLogits holds the sigmoids of the scores.
// Classes of row i are its labels, then its noise; SampleLabels and SampleLogits keep both for the
// gradient, which must not draw again.
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
  if (!ClassesInRange(call, call.Arg(A::Label).name, classes, s.classes)) return 1;
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
// By the score, of which o is the sigmoid: a label gives b / (o + b) · (o - 1), noise o (1 - o) /
// (o + b). With a sparse gradient only the classes that occur have rows, in rising order; they are
// found by binary search.
int32_t NceGrad(OpCall& call) {
  using A = args::dt_nce_grad;
  NceShape s;
  std::unique_ptr<Sampler> sampler;
  std::vector<int64_t> classes;
  const DtBuffer &x = call.Arg(A::Input), &w = call.Arg(A::Weight),
                 &sigmoids = call.Arg(A::SampleLogits), &gradient = call.Arg(A::Cost_GRAD);
  if (!NceOf(call, s) || !SamplerOf(call, s, sampler) ||
      !IntegersOf(call, call.Arg(A::SampleLabels), classes) ||
      !ClassesInRange(call, call.Arg(A::SampleLabels).name, classes, s.classes))
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

}  // namespace dtranspile::kernels
