// center_loss (Wen 2016; the framework's center_loss op): half the squared distance to the centre
// of the label's class, and the centres moved towards their samples. Slots and attributes:
// compiler/lower/rules/loss.cc.
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/loss/calls.h"

namespace dtranspile::kernels {

int32_t CenterLoss(OpCall& call) {
  const DtBuffer &x = call.Arg(0), &label = call.Arg(1), &centers = call.Arg(2),
                 &rate = call.Arg(3);
  const int64_t batch = x.rank > 0 ? x.dims[0] : 0, width = x.rank > 0 ? Elements(x, 1, x.rank) : 0,
                clusters = centers.rank > 0 ? centers.dims[0] : 0;
  std::vector<int64_t> labels;
  if (!IntegersOf(call, label, labels)) return 1;
  if (static_cast<int64_t>(labels.size()) != batch || Elements(centers) != clusters * width ||
      Elements(rate) != 1 || clusters != call.Int(0) || TypeOf(x) != TypeOf(centers) ||
      TypeOf(x) != TypeOf(rate))
    return call.Fail("'%s', '%s' and '%s' do not belong together", x.name, label.name,
                     centers.name);
  for (const int64_t one : labels) {
    if (one < 0 || one >= clusters)
      return call.Fail("'%s' has the label %lld, out of range for %lld clusters", label.name,
                       static_cast<long long>(one), static_cast<long long>(clusters));
  }
  const int64_t column[] = {batch, 1};
  if ((call.Has(4) && !call.Resize(call.Arg(4), centers)) ||
      (call.Has(5) && !call.Resize(call.Arg(5), x)) ||
      (call.Has(6) && !call.Resize(call.Arg(6), column)))
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
        if (call.Has(5)) Data<T>(call.Arg(5))[i * width + k] = d;
        moves[static_cast<size_t>(at * width + k)] += d;
        loss += d * d;
      }
      if (call.Has(6)) Data<T>(call.Arg(6))[i] = loss / 2;
    }
    if (!call.Has(4)) return 0;
    const T alpha = call.Bool(1) ? *Data<T>(rate) : T(0);
    for (int64_t i = 0; i < clusters * width; ++i)
      Data<T>(call.Arg(4))[i] =
          Data<T>(centers)[i] +
          moves[static_cast<size_t>(i)] *
              (alpha / static_cast<T>(counts[static_cast<size_t>(i / width)]));
    return 0;
  });
}

}  // namespace dtranspile::kernels
