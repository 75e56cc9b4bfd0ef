// Counts over classes: precision_recall, mean_iou, positive_negative_pair (the framework's ops of
// these names). Rows: runtime/kernels/signatures/metric.calls.
#include <algorithm>
#include <map>
#include <type_traits>

#include "runtime/kernels/cpu/ops/metric/calls.h"

namespace dtranspile::kernels {
namespace {

// The integers of an argument, each a class; false with a message otherwise.
bool ClassesOf(OpCall& call, int slot, int64_t classes, std::vector<int64_t>& values) {
  if (!IntegersOf(call, call.Arg(slot), values)) return false;
  for (const int64_t value : values) {
    if (value < 0 || value >= classes)
      return call.Fail("'%s' has the class %lld, out of range for %lld classes",
                       call.Arg(slot).name, static_cast<long long>(value),
                       static_cast<long long>(classes)),
             false;
  }
  return true;
}

// Columns of the table of states: for each class how many samples (by weight) were rightly given
// it, wrongly given it, rightly not given it, and should have been given it. The order is the
// framework's, since StatesInfo carries the table from one batch to the next.
enum State { kTruePositive, kFalsePositive, kTrueNegative, kFalseNegative, kStates };

// Macro (mean over classes) and micro (of the sums) precision, recall and F1.
template <typename T>
void Metrics(const std::vector<T>& states, DtBuffer& metrics) {
  T out[6];
  auto share = [](T hit, T missed) { return hit > 0 || missed > 0 ? hit / (hit + missed) : T(1); };
  auto f1 = [](T precision, T recall) {
    return precision > 0 || recall > 0 ? 2 * precision * recall / (precision + recall) : T(0);
  };
  const size_t classes = states.size() / kStates;
  T sums[kStates] = {}, precision = 0, recall = 0;
  for (size_t c = 0; c < classes; ++c) {
    const T* of = states.data() + c * kStates;
    for (int s = 0; s < kStates; ++s) sums[s] += of[s];
    precision += share(of[kTruePositive], of[kFalsePositive]);
    recall += share(of[kTruePositive], of[kFalseNegative]);
  }
  out[0] = precision / static_cast<T>(classes);
  out[1] = recall / static_cast<T>(classes);
  out[2] = f1(out[0], out[1]);
  out[3] = share(sums[kTruePositive], sums[kFalsePositive]);
  out[4] = share(sums[kTruePositive], sums[kFalseNegative]);
  out[5] = f1(out[3], out[4]);
  std::copy(std::begin(out), std::end(out), Data<double>(metrics));
}

}  // namespace

// Slots: MaxProbs, Indices, Labels, Weights, StatesInfo -> BatchMetrics, AccumMetrics,
// AccumStatesInfo.
// A sample found in its own class is a true positive there; otherwise it is a false positive of the
// class found and a false negative of the one it has. In all other classes it is a true negative.
// BatchMetrics are of this batch alone; the others of it and what StatesInfo counted before.
int32_t PrecisionRecall(OpCall& call) {
  using A = args::dt_precision_recall;
  const int64_t classes = call.Int(A::class_number);
  std::vector<int64_t> found, labels;
  if (classes < 1 || classes > INT32_MAX)
    return call.Fail("class_number %lld", static_cast<long long>(classes));
  if (!ClassesOf(call, A::Indices, classes, found) || !ClassesOf(call, A::Labels, classes, labels))
    return 1;
  if (found.size() != labels.size() ||
      (call.Has(A::Weights) &&
       Elements(call.Arg(A::Weights)) != static_cast<int64_t>(labels.size())) ||
      (call.Has(A::StatesInfo) && Elements(call.Arg(A::StatesInfo)) != classes * kStates))
    return call.Fail("'%s' and what comes with it differ in samples or classes",
                     call.Arg(A::Indices).name);
  const int64_t six[] = {6}, table[] = {classes, kStates};
  for (int slot : {5, 6, 7}) {
    if (call.Has(slot) && !call.Resize(call.Arg(slot), slot == 7 ? absl::MakeConstSpan(table)
                                                                 : absl::MakeConstSpan(six)))
      return 1;
  }
  for (int slot : {A::BatchMetrics, A::AccumMetrics})
    if (call.Has(slot) && TypeOf(call.Arg(slot)) != DType::kFloat64)
      return call.Fail("'%s' is %s, expected float64", call.Arg(slot).name,
                       TypeName(call.Arg(slot)));
  return VisitFloat(call.context(), call.Arg(A::MaxProbs), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> states(static_cast<size_t>(classes * kStates), T(0));
    auto at = [&](int64_t c, State s) -> T& {
      return states[static_cast<size_t>(c * kStates + s)];
    };
    for (size_t i = 0; i < labels.size(); ++i) {
      const T weight = call.Has(A::Weights) ? Data<T>(call.Arg(A::Weights))[i] : T(1);
      for (int64_t c = 0; c < classes; ++c) {
        if (c != found[i] && c != labels[i]) at(c, kTrueNegative) += weight;
      }
      if (found[i] == labels[i]) {
        at(found[i], kTruePositive) += weight;
      } else {
        at(found[i], kFalsePositive) += weight;
        at(labels[i], kFalseNegative) += weight;
      }
    }
    if (call.Has(A::BatchMetrics)) Metrics(states, call.Arg(A::BatchMetrics));
    for (size_t i = 0; call.Has(A::StatesInfo) && i < states.size(); ++i)
      states[i] += Data<T>(call.Arg(A::StatesInfo))[i];
    if (call.Has(A::AccumMetrics)) Metrics(states, call.Arg(A::AccumMetrics));
    if (call.Has(A::AccumStatesInfo))
      std::copy(states.begin(), states.end(), Data<T>(call.Arg(A::AccumStatesInfo)));
    return 0;
  });
}

// Slots: Predictions, Labels, InWrongs, InCorrects, InMeanIou -> OutMeanIou, OutWrong, OutCorrect.
// Intersection over union of a class: samples rightly given it over all that have it, were given
// it, or both. A wrong sample is in the union of two classes, thus counted in both. Classes without
// a sample do not take part in the mean. Earlier means are added, not averaged: so does the
// framework, whose caller divides.
int32_t MeanIou(OpCall& call) {
  using A = args::dt_mean_iou;
  const int64_t classes = call.Int(A::num_classes);
  std::vector<int64_t> found, labels;
  if (classes < 1 || classes > INT32_MAX)
    return call.Fail("num_classes %lld", static_cast<long long>(classes));
  if (!ClassesOf(call, A::Predictions, classes, found) ||
      !ClassesOf(call, A::Labels, classes, labels))
    return 1;
  if (found.size() != labels.size())
    return call.Fail("'%s' and '%s' differ in elements", call.Arg(A::Predictions).name,
                     call.Arg(A::Labels).name);
  std::vector<int32_t> wrong(static_cast<size_t>(classes)), correct(wrong.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto a = static_cast<size_t>(found[i]), b = static_cast<size_t>(labels[i]);
    if (a == b) ++correct[a];
    else ++wrong[a], ++wrong[b];
  }
  for (int slot : {2, 3})
    for (int k = 0; k < call.Count(slot); ++k) {
      std::vector<int64_t> more;
      if (!IntegersOf(call, call.Arg(slot, k), more)) return 1;
      if (static_cast<int64_t>(more.size()) != classes)
        return call.Fail("'%s' has %zu elements, expected one per class", call.Arg(slot, k).name,
                         more.size());
      for (size_t c = 0; c < more.size(); ++c)
        (slot == 2 ? wrong : correct)[c] += static_cast<int32_t>(more[c]);
    }
  float sum = 0;
  int64_t seen = 0;
  for (size_t c = 0; c < wrong.size(); ++c) {
    const int32_t all = wrong[c] + correct[c];
    if (all == 0) continue;
    sum += static_cast<float>(correct[c]) / static_cast<float>(all);
    ++seen;
  }
  float mean = seen == 0 ? 0.0f : sum / static_cast<float>(seen);
  for (int k = 0; k < call.Count(A::InMeanIou); ++k) {
    const DtBuffer& earlier = call.Arg(A::InMeanIou, k);
    if (TypeOf(earlier) != DType::kFloat32 || Elements(earlier) != 1)
      return call.Fail("'%s' is no float32 of one element", earlier.name);
    mean += *Data<float>(earlier);
  }
  if (!PutNumber(call, A::OutMeanIou, DType::kFloat32, mean)) return 1;
  const int64_t extents[] = {classes};
  for (int slot : {6, 7}) {
    if (!call.Has(slot)) continue;
    if (!call.Resize(call.Arg(slot), extents)) return 1;
    std::copy_n((slot == 6 ? wrong : correct).data(), wrong.size(), Data<int32_t>(call.Arg(slot)));
  }
  return 0;
}

// Pairs of samples of one query whose labels differ: positive where the scores are in the same
// order, else negative; neutral besides where the scores are equal. Slots: Score, Label, QueryID,
// three sums to go on from, Weight -> PositivePair, NegativePair, NeutralPair.
// A pair with equal scores is counted as neutral and, since 0 is not above 0, as negative too, as
// in the framework's kernel. O(samples²) within a query.
int32_t PositiveNegativePair(OpCall& call) {
  using A = args::dt_positive_negative_pair;
  const DtBuffer &score = call.Arg(A::Score), &label = call.Arg(A::Label),
                 &query = call.Arg(A::QueryID);
  std::vector<int64_t> queries;
  if (!IntegersOf(call, query, queries)) return 1;
  const auto samples = static_cast<int64_t>(queries.size());
  const int64_t width = score.rank == 2 ? score.dims[1] : 1;
  int64_t column = call.Int(A::column);
  if (column < 0) column += width;
  if (column < 0 || column >= width)
    return call.Fail("column %lld of '%s', which has %lld",
                     static_cast<long long>(call.Int(A::column)), score.name,
                     static_cast<long long>(width));
  if (Elements(score) != samples * width || Elements(label) != samples ||
      (call.Has(A::Weight) && Elements(call.Arg(A::Weight)) != samples) ||
      TypeOf(score) != TypeOf(label))
    return call.Fail("'%s', '%s' and '%s' do not belong together", score.name, label.name,
                     query.name);
  return VisitFloat(call.context(), score, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T sums[3] = {0, 0, 0};
    for (int k = 0; k < 3 && call.Has(A::AccumulatePositivePair) &&
                    call.Has(A::AccumulateNegativePair) && call.Has(A::AccumulateNeutralPair);
         ++k) {
      if (TypeOf(call.Arg(A::AccumulatePositivePair + k)) != TypeOf(score) ||
          Elements(call.Arg(A::AccumulatePositivePair + k)) != 1)
        return call.Fail("'%s' is no sum of pairs", call.Arg(A::AccumulatePositivePair + k).name);
      sums[k] = *Data<T>(call.Arg(A::AccumulatePositivePair + k));
    }
    std::map<int64_t, std::vector<int64_t>> groups;
    for (int64_t i = 0; i < samples; ++i) groups[queries[static_cast<size_t>(i)]].push_back(i);
    for (const auto& [id, members] : groups)
      for (size_t i = 0; i < members.size(); ++i)
        for (size_t j = i + 1; j < members.size(); ++j) {
          const int64_t a = members[i], b = members[j];
          const T by_label = Data<T>(label)[a] - Data<T>(label)[b],
                  by_score =
                      Data<T>(score)[a * width + column] - Data<T>(score)[b * width + column];
          if (Data<T>(label)[a] == Data<T>(label)[b]) continue;
          const T weight =
              call.Has(A::Weight)
                  ? (Data<T>(call.Arg(A::Weight))[a] + Data<T>(call.Arg(A::Weight))[b]) / 2
                  : T(1);
          if (by_score == 0) sums[2] += weight;
          sums[by_score * by_label > 0 ? 0 : 1] += weight;
        }
    const DType type = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64;
    for (int k = 0; k < 3; ++k) {
      if (!PutNumber(call, 7 + k, type, sums[k])) return 1;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
