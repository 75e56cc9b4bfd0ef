// center_loss (Wen 2016; the framework's center_loss op): half the squared distance to the centre
// of the label's class, and the centres moved towards their samples. Slots and attributes:
// runtime/kernels/signatures/loss.calls.
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/loss/calls.h"

namespace dtranspile::kernels {

// A centre moves by rate · (sum of the differences of its samples) / (1 + their number).
int32_t CenterLoss(OpCall& call) {
  using A = args::dt_center_loss;
  const DtBuffer &x = call.Arg(A::X), &label = call.Arg(A::Label), &centers = call.Arg(A::Centers),
                 &rate = call.Arg(A::CenterUpdateRate);
  const int64_t batch = x.rank > 0 ? x.dims[0] : 0, width = x.rank > 0 ? Elements(x, 1, x.rank) : 0,
                clusters = centers.rank > 0 ? centers.dims[0] : 0;
  std::vector<int64_t> labels;
  if (!IntegersOf(call, label, labels)) return 1;
  if (static_cast<int64_t>(labels.size()) != batch || Elements(centers) != clusters * width ||
      Elements(rate) != 1 || clusters != call.Int(A::cluster_num) || TypeOf(x) != TypeOf(centers) ||
      TypeOf(x) != TypeOf(rate))
    return call.Fail("'%s', '%s' and '%s' do not belong together", x.name, label.name,
                     centers.name);
  for (const int64_t one : labels) {
    if (one < 0 || one >= clusters)
      return call.Fail("'%s' has the label %lld, out of range for %lld clusters", label.name,
                       static_cast<long long>(one), static_cast<long long>(clusters));
  }
  const int64_t column[] = {batch, 1};
  if ((call.Has(A::CentersOut) && !call.Resize(call.Arg(A::CentersOut), centers)) ||
      (call.Has(A::SampleCenterDiff) && !call.Resize(call.Arg(A::SampleCenterDiff), x)) ||
      (call.Has(A::Loss) && !call.Resize(call.Arg(A::Loss), column)))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> moves(static_cast<size_t>(clusters * width), T(0));
    std::vector<int64_t> counts(static_cast<size_t>(clusters), 1);
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t at = labels[static_cast<size_t>(i)];
      T loss = 0;
      ++counts[static_cast<size_t>(at)];
      for (int64_t k = 0; k < width; ++k) {
        const T d = Data<T>(x)[i * width + k] - Data<T>(centers)[at * width + k];
        if (call.Has(A::SampleCenterDiff))
          Data<T>(call.Arg(A::SampleCenterDiff))[i * width + k] = d;
        moves[static_cast<size_t>(at * width + k)] += d;
        loss += d * d;
      }
      if (call.Has(A::Loss)) Data<T>(call.Arg(A::Loss))[i] = loss / 2;
    }
    if (!call.Has(A::CentersOut)) return 0;
    const T alpha = call.Bool(A::need_update) ? *Data<T>(rate) : T(0);
    for (int64_t i = 0; i < clusters * width; ++i)
      Data<T>(call.Arg(A::CentersOut))[i] =
          Data<T>(centers)[i] +
          moves[static_cast<size_t>(i)] *
              (alpha / static_cast<T>(counts[static_cast<size_t>(i / width)]));
    return 0;
  });
}

}  // namespace dtranspile::kernels
