// auc (the framework's auc op): the area under the curve of true over false positives, from
// histograms of the scores that are kept from step to step. With slide_steps = n, a ring of n
// histograms, their sum after them, and the number of steps at the end. Row:
// runtime/kernels/signatures/metric.calls.
#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/ops/metric/calls.h"

namespace dtranspile::kernels {
namespace {

// Trapezoids from the highest score down.
double Area(const int64_t* positive, const int64_t* negative, int64_t buckets) {
  double area = 0, positives = 0, negatives = 0;
  for (int64_t i = buckets; i-- > 0;) {
    const double before = positives;
    positives += static_cast<double>(positive[i]);
    negatives += static_cast<double>(negative[i]);
    area += static_cast<double>(negative[i]) * (positives + before) / 2;
  }
  return positives > 0 && negatives > 0 ? area / positives / negatives : area;
}

// Histograms of the batch, added to what is there.
template <typename T>
int32_t Count(OpCall& call, const DtBuffer& predict, const std::vector<int64_t>& labels,
              int64_t thresholds, int64_t* positive, int64_t* negative) {
  const int64_t width = predict.dims[1];
  for (size_t i = 0; i < labels.size(); ++i) {
    const T score = Data<T>(predict)[static_cast<int64_t>(i) * width + width - 1];
    if (!(score >= 0 && score <= 1))
      return call.Fail("'%s' has the score %g of sample %zu, expected a number from 0 to 1",
                       predict.name, static_cast<double>(score), i);
    const auto bucket = static_cast<int64_t>(score * static_cast<T>(thresholds));
    if (labels[i] > 0) ++positive[bucket];
    else if (labels[i] == 0) ++negative[bucket];
  }
  return 0;
}

}  // namespace

// The step's counts replace those of n steps ago in the ring (which are taken off the sum first),
// and the area is that of the sum. Without a ring all steps are added up.
int32_t Auc(OpCall& call) {
  using A = args::dt_auc;
  const DtBuffer &predict = call.Arg(A::Predict), &label = call.Arg(A::Label);
  const int64_t thresholds = call.Int(A::num_thresholds), slides = call.Int(A::slide_steps),
                buckets = thresholds + 1;
  if (thresholds < 1 || thresholds > (1 << 24) || slides < 0 || slides > (1 << 20))
    return call.Fail("num_thresholds %lld, slide_steps %lld", static_cast<long long>(thresholds),
                     static_cast<long long>(slides));
  const int64_t expected = (slides + 1) * buckets + (slides > 0);
  std::vector<int64_t> labels;
  if (predict.rank != 2 || predict.dims[1] < 1)
    return call.Fail("'%s' is no matrix of scores", predict.name);
  if (!IntegersOf(call, label, labels)) return 1;
  if (static_cast<int64_t>(labels.size()) != predict.dims[0])
    return call.Fail("'%s' and '%s' differ in samples", predict.name, label.name);
  std::vector<int64_t> stats[2];
  for (int k = 0; k < 2; ++k) {
    const DtBuffer& state = call.Arg(A::StatPos + k);
    if (TypeOf(state) != DType::kInt64 || Elements(state) != expected)
      return call.Fail("'%s' has %lld elements of %s, expected %lld of int64", state.name,
                       static_cast<long long>(Elements(state)), TypeName(state),
                       static_cast<long long>(expected));
    stats[k].assign(Data<int64_t>(state), Data<int64_t>(state) + expected);
  }
  const int64_t turn = slides > 0 ? (stats[0].back() % slides + slides) % slides : 0,
                begin = turn * buckets, sum = slides * buckets;
  if (slides > 0) {
    for (auto& stat : stats)
      for (int64_t i = 0; i < buckets; ++i) {
        stat[static_cast<size_t>(sum + i)] -= stat[static_cast<size_t>(begin + i)];
        stat[static_cast<size_t>(begin + i)] = 0;
      }
  }
  const int32_t failed = VisitFloat(call.context(), predict, [&](auto tag) {
    return Count<typename decltype(tag)::type>(call, predict, labels, thresholds,
                                               stats[0].data() + begin, stats[1].data() + begin);
  });
  if (failed != 0) return failed;
  if (slides > 0) {
    for (auto& stat : stats) {
      for (int64_t i = 0; i < buckets; ++i)
        stat[static_cast<size_t>(sum + i)] += stat[static_cast<size_t>(begin + i)];
      ++stat.back();
    }
  }
  if (!PutNumber(call, A::AUC, DType::kFloat64,
                 Area(stats[0].data() + sum, stats[1].data() + sum, buckets)))
    return 1;
  for (int k = 0; k < 2; ++k) {
    if (!call.Has(A::StatPosOut + k)) continue;
    if (!call.Resize(call.Arg(A::StatPosOut + k), call.Arg(A::StatPos + k))) return 1;
    std::memcpy(call.Arg(A::StatPosOut + k).data, stats[k].data(),
                static_cast<size_t>(expected) * sizeof(int64_t));
  }
  return 0;
}

}  // namespace dtranspile::kernels
