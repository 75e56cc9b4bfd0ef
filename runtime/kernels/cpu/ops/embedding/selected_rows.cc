// Ops on SelectedRows as the framework defines them: merge_selected_rows,
// get_tensor_from_selected_rows, sum, scale, elementwise_mul by a number, clip_by_norm; and the
// dense tensor that rows stand for, which optimizers that touch every row read.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/rows.h"

namespace dtranspile::kernels {
namespace {

std::vector<int64_t> InnerDims(const DtBuffer& x) { return {x.dims + 1, x.dims + x.rank}; }

// The output with the rows of `x`, values not yet set.
bool ResizeLike(OpCall& call, DtBuffer& out, const DtBuffer& x, const exec::Value& value) {
  const std::vector<int64_t> rows = value.rows;  // `out` may be `x`
  const int64_t height = value.height;
  if (!call.ResizeRows(out, static_cast<int64_t>(rows.size()), height, InnerDims(x))) return false;
  OpCall::ValueOf(out)->rows = rows;
  return true;
}

// Adds rows to a dense tensor.
template <typename T>
bool AddRows(OpCall& call, const DtBuffer& x, const std::vector<int64_t>& rows,
             const DtBuffer& out) {
  const int64_t height = out.rank == 0 ? 0 : out.dims[0];
  return RowAdder<T>(call, rows, RowWidth(x), height).Add(Data<const T>(x), Data<T>(out));
}

// What a bisection of rows that are listed once each, in any order, comes to: those that it misses
// are left out. Repeated rows are merged first, which sorts them.
std::vector<int64_t> FoundByBisection(const std::vector<int64_t>& rows, int64_t height) {
  std::vector<int64_t> sorted = rows, found(rows.size(), height);
  std::sort(sorted.begin(), sorted.end());
  if (sorted == rows || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return rows;
  for (const int64_t row : rows) {
    for (size_t begin = 0, end = rows.size(); begin < end;) {
      // The middle of the closed interval.
      const size_t middle = begin + (end - 1 - begin) / 2;
      if (rows[middle] == row) {
        found[middle] = row;
        break;
      }
      if (rows[middle] < row) begin = middle + 1;
      else end = middle;
    }
  }
  return found;
}

}  // namespace

// X -> Out
int32_t MergeSelectedRows(OpCall& call) {
  using A = args::dt_clip_rows_by_norm;
  static_assert(A::Out == args::dt_merge_selected_rows::Out &&
                A::X == args::dt_merge_selected_rows::X);
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const exec::Value* value = RowsOf(call, x);
  if (value == nullptr) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    RowGroups groups = GroupRows(value->rows, value->height);
    if (!call.ResizeRows(out, groups.size(), value->height, InnerDims(x))) return 1;
    const int64_t width = RowWidth(x);
    for (int64_t i = 0; i < groups.size(); ++i) {
      T* to = Data<T>(out) + i * width;
      const T* from = GroupValue(groups, i, Data<const T>(x), width, to);
      if (from != to) std::copy_n(from, width, to);
    }
    OpCall::ValueOf(out)->rows = std::move(groups.rows);
    return 0;
  });
}

// X -> Out: the values, one row for every row number
int32_t ValuesOfRows(OpCall& call) {
  using A = args::dt_values_of_rows;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (RowsOf(call, x) == nullptr || !call.Resize(out, x)) return 1;
  std::memcpy(out.data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  return 0;
}

// X -> Out: the dense tensor that the rows stand for, repeated ones summed; with `search` those
// that a bisection finds.
int32_t RowsToDense(OpCall& call) {
  using A = args::dt_rows_to_dense;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const exec::Value* value = RowsOf(call, x);
  if (value == nullptr) return 1;
  std::vector<int64_t> dims = InnerDims(x);
  dims.insert(dims.begin(), value->height);
  if (!call.Resize(out, dims)) return 1;
  std::memset(out.data, 0, static_cast<size_t>(Elements(out) * ElementSize(out)));
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (!call.Given(A::search) || !call.Bool(A::search))
      return AddRows<T>(call, x, value->rows, out) ? 0 : 1;
    const std::vector<int64_t> found = FoundByBisection(value->rows, value->height);
    const int64_t width = RowWidth(x);
    if (found == value->rows) return AddRows<T>(call, x, found, out) ? 0 : 1;
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i] >= 0 && found[i] < value->height)
        std::copy_n(Data<const T>(x) + static_cast<int64_t>(i) * width, width,
                    Data<T>(out) + found[i] * width);
    return 0;
  });
}

namespace {

bool IsRows(const DtBuffer& buffer) {
  return buffer.value != nullptr && OpCall::ValueOf(buffer)->kind == exec::Value::Kind::kRows;
}

// Rows of all inputs one after the other.
int32_t JoinRows(OpCall& call, DtBuffer& out) {
  using A = args::dt_sum_rows;
  std::vector<int64_t> rows, inner;
  std::vector<char> values;
  int64_t height = -1;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    const exec::Value* value = RowsOf(call, x);
    if (value == nullptr) return 1;
    if (height < 0) height = value->height, inner = InnerDims(x);
    if (value->height != height || InnerDims(x) != inner || TypeOf(x) != TypeOf(out))
      return call.Fail("'%s' differs in height, width or element type", x.name);
    rows.insert(rows.end(), value->rows.begin(), value->rows.end());
    values.insert(values.end(), Data<char>(x), Data<char>(x) + Elements(x) * ElementSize(x));
  }
  if (!call.ResizeRows(out, static_cast<int64_t>(rows.size()), height, inner)) return 1;
  if (!values.empty()) std::memcpy(out.data, values.data(), values.size());
  OpCall::ValueOf(out)->rows = std::move(rows);
  return 0;
}

}  // namespace

// X* -> Out: rows one after the other where all are rows, else the dense sum
namespace {

// Adds an item of a list to that of the sum; items that nobody has written count as nothing.
bool AddItem(OpCall& call, exec::Value& sum, const exec::Value& item, const char* name) {
  if (item.count() == 0) return true;
  if (sum.count() == 0) {
    const absl::Status status = sum.Assign(item);
    return status.ok() ||
           (call.Fail("'%s': %s", name, std::string(status.message()).c_str()), false);
  }
  if (sum.dims != item.dims || sum.dtype != item.dtype)
    return call.Fail("items of '%s' differ in extents or element type", name), false;
  const DtBuffer typed = {sum.data(),
                          sum.dims.data(),
                          static_cast<int32_t>(sum.dims.size()),
                          static_cast<int32_t>(sum.dtype),
                          DT_HOST,
                          name,
                          &sum};
  return VisitNumber(call.context(), typed, [&](auto tag) {
           using T = typename decltype(tag)::type;
           for (int64_t k = 0; k < sum.count(); ++k) sum.as<T>()[k] += item.as<T>()[k];
           return 0;
         }) == 0;
}

// Lists item by item, as long as the longest.
int32_t SumLists(OpCall& call, exec::Value& out) {
  using A = args::dt_sum_rows;
  std::vector<exec::Value> items;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    const exec::Value* list = OpCall::ValueOf(x);
    if (list == nullptr || list->kind != exec::Value::Kind::kList)
      return call.Fail("'%s' is no list as the others are", x.name);
    if (list->items.size() > items.size()) items.resize(list->items.size());
    for (size_t k = 0; k < list->items.size(); ++k)
      if (!AddItem(call, items[k], list->items[k], x.name)) return 1;
  }
  out.items = std::move(items);
  return 0;
}

}  // namespace

// The extents of a dense sum are those of the first input that has any: a dense one's own, or the
// height of rows before their width. Rows are added after the dense inputs have been, since they
// need the whole of the output; the LoD is that of the last dense input that has one.
int32_t SumRows(OpCall& call) {
  using A = args::dt_sum_rows;
  DtBuffer& out = call.Arg(A::Out);
  if (call.Count(A::X) == 0) return call.Fail("nothing to sum");
  if (exec::Value* value = OpCall::ValueOf(out);
      value != nullptr && value->kind == exec::Value::Kind::kList)
    return SumLists(call, *value);
  if (IsRows(out)) return JoinRows(call, out);
  std::vector<int64_t> dims;
  for (int i = 0; i < call.Count(A::X) && dims.empty(); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    if (IsRows(x)) dims = InnerDims(x), dims.insert(dims.begin(), OpCall::ValueOf(x)->height);
    else dims.assign(x.dims, x.dims + x.rank);
  }
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    // A dense input may be the output itself.
    std::vector<T> sum;
    for (int i = 0; i < call.Count(A::X); ++i) {
      const DtBuffer& x = call.Arg(A::X, i);
      if (TypeOf(x) != TypeOf(out)) return call.Fail("'%s' differs in element type", x.name);
      if (IsRows(x)) continue;
      if (OpCall::Dims(x) != absl::MakeConstSpan(dims))
        return call.Fail("'%s' differs in extents", x.name);
      sum.resize(static_cast<size_t>(Elements(x)), T{0});
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += Data<T>(x)[k];
    }
    if (!call.Resize(out, dims)) return 1;
    for (int i = 0; i < call.Count(A::X); ++i)
      if (!IsRows(call.Arg(A::X, i)) && !OpCall::LodOf(call.Arg(A::X, i)).empty())
        OpCall::SetLod(out, Lod(OpCall::LodOf(call.Arg(A::X, i))));
    if (sum.empty()) std::memset(out.data, 0, static_cast<size_t>(Elements(out)) * sizeof(T));
    else std::memcpy(out.data, sum.data(), sum.size() * sizeof(T));
    for (int i = 0; i < call.Count(A::X); ++i) {
      const DtBuffer& x = call.Arg(A::X, i);
      if (!IsRows(x)) continue;
      const exec::Value* value = RowsOf(call, x);
      if (value == nullptr) return 1;
      if (value->height != dims[0] || RowWidth(x) != Elements(out, 1, out.rank))
        return call.Fail("'%s' differs in height or width", x.name);
      if (!AddRows<T>(call, x, value->rows, out)) return 1;
    }
    return 0;
  });
}

// X; scale, bias, bias_after_scale -> Out
int32_t ScaleRows(OpCall& call) {
  using A = args::dt_scale_rows;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const exec::Value* value = RowsOf(call, x);
  if (value == nullptr || !ResizeLike(call, out, x, *value)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto scale = static_cast<T>(call.Real(A::scale)),
               bias = static_cast<T>(call.Real(A::bias));
    for (int64_t i = 0; i < Elements(x); ++i)
      Data<T>(out)[i] = call.Bool(A::bias_after_scale) ? Data<T>(x)[i] * scale + bias
                                                       : (Data<T>(x)[i] + bias) * scale;
    return 0;
  });
}

// X, Y -> Out: every value times the one element of Y
int32_t MultiplyRows(OpCall& call) {
  using A = args::dt_multiply_rows;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  const exec::Value* value = RowsOf(call, x);
  if (value == nullptr) return 1;
  if (Elements(y) != 1 || TypeOf(y) != TypeOf(x))
    return call.Fail("'%s' is no single %s, by which SelectedRows are multiplied", y.name,
                     TypeName(x));
  if (!ResizeLike(call, out, x, *value)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T factor = Data<T>(y)[0];
    for (int64_t i = 0; i < Elements(x); ++i) Data<T>(out)[i] = Data<T>(x)[i] * factor;
    return 0;
  });
}

// X; min, max -> Out: merged rows within the bounds
int32_t ClipRows(OpCall& call) {
  using A = args::dt_clip_rows;
  static_assert(A::Out == args::dt_merge_selected_rows::Out &&
                A::X == args::dt_merge_selected_rows::X);
  DtBuffer& out = call.Arg(A::Out);
  const double least = call.Real(A::min), most = call.Real(A::max);
  if (MergeSelectedRows(call) != 0) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(out); ++i) {
      T& x = Data<T>(out)[i];
      x = std::min(std::max(x, static_cast<T>(least)), static_cast<T>(most));
    }
    return 0;
  });
}

// X; max_norm -> Out: merged rows, scaled down to the norm
int32_t ClipRowsByNorm(OpCall& call) {
  using A = args::dt_clip_rows_by_norm;
  DtBuffer& out = call.Arg(A::Out);
  const double limit = call.Real(A::max_norm);
  if (MergeSelectedRows(call) != 0) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double sum = 0;
    for (int64_t i = 0; i < Elements(out); ++i)
      sum += static_cast<double>(Data<T>(out)[i]) * Data<T>(out)[i];
    const T norm = static_cast<T>(std::sqrt(sum));
    if (norm <= static_cast<T>(limit)) return 0;
    for (int64_t i = 0; i < Elements(out); ++i) Data<T>(out)[i] *= static_cast<T>(limit) / norm;
    return 0;
  });
}

}  // namespace dtranspile::kernels
