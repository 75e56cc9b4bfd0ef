#include "runtime/kernels/cpu/indexing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

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
    if ((ids[i] < range.lower || ids[i] >= range.upper) && !(range.has_ignore && ids[i] == range.ignore)) return i;
  return -1;
}

int32_t CheckIds(DtContext* context, const DtBuffer& buffer, const char* name, const Range& range) {
  return VisitIndex(context, buffer, [&](auto tag) {
    const auto* ids = Data<const typename decltype(tag)::type>(buffer);
    const int64_t at = FirstOutside(ids, Elements(buffer), range);
    if (at < 0) return 0;
    return dt_fail(context, "element %lld of '%s' is %lld, expected at least %lld and below %lld", static_cast<long long>(at), name,
                   static_cast<long long>(ids[at]), static_cast<long long>(range.lower), static_cast<long long>(range.upper));
  });
}

// [V, D], ids and [.., D] of the two lookup calls; false with a message if they do not fit.
bool CheckLookup(DtContext* context, const DtBuffer& table, const DtBuffer& ids, const DtBuffer& rows) {
  if (table.rank != 2) return dt_fail(context, "the table has %d dimensions, expected 2", table.rank), false;
  if (table.dtype != rows.dtype) return dt_fail(context, "the table is %s, the rows are %s", TypeName(table), TypeName(rows)), false;
  if (Elements(rows) != Elements(ids) * table.dims[1])
    return dt_fail(context, "%lld ids of %lld columns do not make %lld elements", static_cast<long long>(Elements(ids)), static_cast<long long>(table.dims[1]),
                   static_cast<long long>(Elements(rows))),
           false;
  return CheckIds(context, ids, "Ids", {0, table.dims[0], false, 0}) == 0;
}

// Where the extents of Ids are known only now, Out gets its own.
bool SizeRows(DtContext* context, const DtCall* call) {
  if (call->args[2].value == nullptr) return true;
  const DtBuffer &table = call->args[0], &ids = call->args[1];
  std::vector<int64_t> dims(ids.dims, ids.dims + ids.rank);
  if (call->ints[1] != 0 && !dims.empty()) dims.pop_back();
  if (table.rank > 1) dims.push_back(table.dims[1]);
  return dt_resize(context, &call->args[2], dims.data(), static_cast<int32_t>(dims.size())) == 0;
}

template <typename Id>
void GatherRows(DtContext* context, const DtCall* call) {
  const int64_t row_bytes = call->args[0].dims[1] * ElementSize(call->args[0]);
  const char* table = Data<const char>(call->args[0]);
  const Id* ids = Data<const Id>(call->args[1]);
  char* out = Data<char>(call->args[2]);
  const int64_t padding = call->ints[0];
  Parallel(context, Elements(call->args[1]), GrainFor(2 * row_bytes), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      if (ids[i] == padding) std::memset(out + i * row_bytes, 0, static_cast<size_t>(row_bytes));
      else std::memcpy(out + i * row_bytes, table + ids[i] * row_bytes, static_cast<size_t>(row_bytes));
    }
  });
}

// Every thread owns a range of the table's rows and walks over all ids: no races, and the order of additions is that of the ids.
template <typename Id, typename T>
void ScatterRows(DtContext* context, const DtCall* call) {
  const Id* ids = Data<const Id>(call->args[0]);
  const T* grad = Data<const T>(call->args[1]);
  T* table = Data<T>(call->args[2]);
  const int64_t count = Elements(call->args[0]), width = call->args[2].dims[1], padding = call->ints[0];
  Parallel(context, call->args[2].dims[0], GrainFor(width * static_cast<int64_t>(sizeof(T))), [&](int64_t lo, int64_t n) {
    std::memset(table + lo * width, 0, static_cast<size_t>(n * width) * sizeof(T));
    for (int64_t i = 0; i < count; ++i) {
      if (ids[i] < lo || ids[i] >= lo + n || ids[i] == padding) continue;
      T* __restrict to = table + ids[i] * width;
      const T* __restrict from = grad + i * width;
      for (int64_t j = 0; j < width; ++j) to[j] += from[j];
    }
  });
}

// Whether a stands before b: larger first, NaN before all, equal ones by index.
template <typename T>
struct Before {
  const T* row;
  bool largest;
  bool operator()(int64_t a, int64_t b) const {
    const T x = row[a], y = row[b];
    if constexpr (std::is_floating_point_v<T>) {
      const bool nan_x = std::isnan(x), nan_y = std::isnan(y);
      if (nan_x != nan_y) return nan_x == largest;
      if (nan_x) return a < b;
    }
    if (x != y) return largest ? x > y : x < y;
    return a < b;
  }
};

template <typename T>
int32_t TopK(DtContext* context, const DtCall* call, int64_t width, int64_t k) {
  const T* x = Data<const T>(call->args[0]);
  T* values = Data<T>(call->args[1]);
  auto* indices = Data<int64_t>(call->args[2]);
  const bool largest = call->ints[0] != 0;
  auto* orders = static_cast<int64_t*>(dt_scratch(context, dt_threads(context) * width * static_cast<int64_t>(sizeof(int64_t))));
  if (orders == nullptr) return dt_fail(context, "no memory for rows of %lld elements", static_cast<long long>(width));
  Parallel(context, Elements(call->args[0]) / width, GrainFor(8 * width), [&](int64_t lo, int64_t n) {
    int64_t* order = orders + dt_thread(context) * width;
    for (int64_t i = lo; i < lo + n; ++i) {
      const T* row = x + i * width;
      for (int64_t j = 0; j < width; ++j) order[j] = j;
      std::partial_sort(order, order + k, order + width, Before<T>{row, largest});
      for (int64_t j = 0; j < k; ++j) values[i * k + j] = row[order[j]], indices[i * k + j] = order[j];
    }
  });
  return 0;
}

template <typename Label>
int64_t CountHits(const DtBuffer& indices, const DtBuffer& labels, int64_t rows, int64_t k) {
  const auto* index = Data<const int64_t>(indices);
  const Label* label = Data<const Label>(labels);
  int64_t hits = 0;
  for (int64_t i = 0; i < rows; ++i) hits += std::find(index + i * k, index + (i + 1) * k, label[i]) != index + (i + 1) * k;
  return hits;
}

}  // namespace
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;
using dtranspile::DType;

extern "C" int32_t dt_check_range(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {1, 4, 0, 1})) return 1;
  return CheckIds(context, call->args[0], call->strings[0], {call->ints[0], call->ints[1], call->ints[2] != 0, call->ints[3]});
}

extern "C" int32_t dt_lookup_table(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {3, 2, 0, 0}) || !SizeRows(context, call) || !CheckLookup(context, call->args[0], call->args[1], call->args[2])) return 1;
  return VisitIndex(context, call->args[1], [&](auto id) {
    GatherRows<typename decltype(id)::type>(context, call);
    return 0;
  });
}

extern "C" int32_t dt_lookup_table_grad(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {3, 1, 0, 0}) || !CheckLookup(context, call->args[2], call->args[0], call->args[1])) return 1;
  return VisitIndex(context, call->args[0], [&](auto id) {
    return VisitFloat(context, call->args[2], [&](auto type) {
      ScatterRows<typename decltype(id)::type, typename decltype(type)::type>(context, call);
      return 0;
    });
  });
}

extern "C" int32_t dt_top_k(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {3, 2, 0, 0}) || !CheckSameType(context, call, 0, 2)) return 1;
  const DtBuffer &x = call->args[0], &values = call->args[1], &indices = call->args[2];
  if (TypeOf(indices) != DType::kInt64) return dt_fail(context, "indices are %s, expected int64", TypeName(indices));
  if (values.value != nullptr || indices.value != nullptr) {
    std::vector<int64_t> dims(x.dims, x.dims + x.rank);
    if (!dims.empty()) dims.back() = call->ints[1];
    for (int i : {1, 2})
      if (dt_resize(context, &call->args[i], dims.data(), x.rank) != 0) return 1;
  }
  if (x.rank < 1 || values.rank != x.rank || !SameShape(values, indices))
    return dt_fail(context, "X, Values and Indices have %d, %d and %d dimensions", x.rank, values.rank, indices.rank);
  const int64_t width = x.dims[x.rank - 1], k = values.dims[x.rank - 1];
  if (k > width || Elements(x, 0, x.rank - 1) != Elements(values, 0, x.rank - 1))
    return dt_fail(context, "%lld of rows of %lld elements asked for", static_cast<long long>(k), static_cast<long long>(width));
  if (Elements(values) == 0) return 0;
  return VisitNumber(context, x, [&](auto tag) { return TopK<typename decltype(tag)::type>(context, call, width, k); });
}

extern "C" int32_t dt_accuracy(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {6, 0, 0, 0})) return 1;
  const DtBuffer &indices = call->args[1], &label = call->args[2], &accuracy = call->args[3];
  if (indices.rank != 2 || TypeOf(indices) != DType::kInt64) return dt_fail(context, "Indices must be int64 of two dimensions");
  const int64_t rows = indices.dims[0];
  if (Elements(label) != rows) return dt_fail(context, "%lld labels for %lld rows", static_cast<long long>(Elements(label)), static_cast<long long>(rows));
  for (int i = 3; i < 6; ++i)
    if (Elements(call->args[i]) != 1) return dt_fail(context, "argument %d must have one element", i);
  if (TypeOf(call->args[4]) != DType::kInt32 || TypeOf(call->args[5]) != DType::kInt32) return dt_fail(context, "Correct and Total must be int32");
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
