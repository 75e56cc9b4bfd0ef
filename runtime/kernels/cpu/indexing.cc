#include "runtime/kernels/cpu/indexing.h"

#include <algorithm>

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

int32_t CheckIds(DtContext* context, const DtBuffer& buffer, const char* name, const Range& range) {
  return VisitIndex(context, buffer, [&](auto tag) {
    const auto* ids = Data<const typename decltype(tag)::type>(buffer);
    const int64_t at = FirstOutside(ids, Elements(buffer), range);
    if (at < 0) return 0;
    return dt_fail(context, "element %lld of '%s' is %lld, expected at least %lld and below %lld",
                   static_cast<long long>(at), name, static_cast<long long>(ids[at]),
                   static_cast<long long>(range.lower), static_cast<long long>(range.upper));
  });
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
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;
using dtranspile::DType;

extern "C" int32_t dt_check_range(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {1, 4, 0, 1})) return 1;
  return CheckIds(context, call->args[0], call->strings[0],
                  {call->ints[0], call->ints[1], call->ints[2] != 0, call->ints[3]});
}

extern "C" int32_t dt_accuracy(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {6, 0, 0, 0})) return 1;
  const DtBuffer &indices = call->args[1], &label = call->args[2], &accuracy = call->args[3];
  if (indices.rank != 2 || TypeOf(indices) != DType::kInt64)
    return dt_fail(context, "Indices must be int64 of two dimensions");
  const int64_t rows = indices.dims[0];
  if (Elements(label) != rows)
    return dt_fail(context, "%lld labels for %lld rows", static_cast<long long>(Elements(label)),
                   static_cast<long long>(rows));
  for (int i = 3; i < 6; ++i)
    if (Elements(call->args[i]) != 1)
      return dt_fail(context, "argument %d must have one element", i);
  if (TypeOf(call->args[4]) != DType::kInt32 || TypeOf(call->args[5]) != DType::kInt32)
    return dt_fail(context, "Correct and Total must be int32");
  int64_t hits = 0;
  const int32_t status = VisitIndex(context, label, [&](auto tag) {
    hits = CountHits<typename decltype(tag)::type>(indices, label, rows, indices.dims[1]);
    return 0;
  });
  if (status != 0) return status;
  *Data<int32_t>(call->args[4]) = static_cast<int32_t>(hits);
  *Data<int32_t>(call->args[5]) = static_cast<int32_t>(rows);
  return VisitFloat(context, accuracy, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *Data<T>(accuracy) = rows == 0 ? T{0} : static_cast<T>(hits) / static_cast<T>(rows);
    return 0;
  });
}
