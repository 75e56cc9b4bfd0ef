#include "runtime/kernels/cpu/indexing.h"

#include <algorithm>
#include <string>

#include "runtime/kernels/args/loss.h"
#include "runtime/kernels/args/metric.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

// What ids have to satisfy.
struct Range {
  int64_t lower, upper;
  bool has_ignore;
  int64_t ignore;
};

// The first element out of range; -1 when there is none.
template <typename Id>
int64_t FirstOutside(const Id* ids, int64_t count, const Range& range) {
  for (int64_t i = 0; i < count; ++i)
    if ((ids[i] < range.lower || ids[i] >= range.upper) &&
        !(range.has_ignore && ids[i] == range.ignore))
      return i;
  return -1;
}

template <typename Label>
int64_t CountHits(const DtBuffer& indices, const DtBuffer& labels, int64_t rows, int64_t k) {
  const auto* index = Data<const int64_t>(indices);
  const Label* label = Data<const Label>(labels);
  int64_t hits = 0;
  for (int64_t i = 0; i < rows; ++i)
    hits += std::find(index + i * k, index + (i + 1) * k, label[i]) != index + (i + 1) * k;
  return hits;
}

}  // namespace

int32_t CheckRange(OpCall& call) {
  using A = args::dt_check_range;
  const DtBuffer& ids = call.Arg(A::Ids);
  const bool ignores = call.Given(A::ignore);
  const Range range{call.Int(A::lower), call.Int(A::upper), ignores,
                    ignores ? call.Int(A::ignore) : 0};
  return VisitIndex(call.context(), ids, [&](auto tag) {
    const auto* values = Data<const typename decltype(tag)::type>(ids);
    const int64_t at = FirstOutside(values, Elements(ids), range);
    if (at < 0) return 0;
    return call.Fail("element %lld of '%s' is %lld, expected at least %lld and below %lld",
                     static_cast<long long>(at), std::string(call.Text(A::name)).c_str(),
                     static_cast<long long>(values[at]), static_cast<long long>(range.lower),
                     static_cast<long long>(range.upper));
  });
}

int32_t Accuracy(OpCall& call) {
  using A = args::dt_accuracy;
  const DtBuffer &indices = call.Arg(A::Indices), &label = call.Arg(A::Label);
  const int64_t rows = indices.dims[0];
  if (Elements(label) != rows)
    return call.Fail("%lld labels for %lld rows", static_cast<long long>(Elements(label)),
                     static_cast<long long>(rows));
  int64_t hits = 0;
  const int32_t status = VisitIndex(call.context(), label, [&](auto tag) {
    hits = CountHits<typename decltype(tag)::type>(indices, label, rows, indices.dims[1]);
    return 0;
  });
  if (status != 0) return status;
  const double share = rows == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(rows);
  const auto give = [&](int slot, double value) {
    if (!call.Has(slot)) return true;
    DtBuffer& out = call.Arg(slot);
    if (Elements(out) != 1) return call.Fail("'%s' must have one element", out.name), false;
    return VisitNumber(call.context(), out, [&](auto tag) {
             using T = typename decltype(tag)::type;
             *Data<T>(out) = static_cast<T>(value);
             return 0;
           }) == 0;
  };
  return give(A::Accuracy, share) && give(A::Correct, static_cast<double>(hits)) &&
                 give(A::Total, static_cast<double>(rows))
             ? 0
             : 1;
}

}  // namespace dtranspile::kernels
