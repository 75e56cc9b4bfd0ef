// Rows that are gathered into others: index_add (phi index_add), segment_pool (phi segment_pool)
// and graph_send_recv (phi send_u_recv), with their gradients.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/indexing/calls.h"
#include "runtime/kernels/cpu/ops/indexing/pools.h"

namespace dtranspile::kernels {
namespace {

bool Within(OpCall& call, const DtBuffer& index, const std::vector<int64_t>& values, int64_t n) {
  for (int64_t value : values)
    if (value < 0 || value >= n)
      return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", index.name,
                       static_cast<long long>(value), static_cast<long long>(n)),
             false;
  return true;
}

void Clear(DtBuffer& buffer) {
  std::memset(buffer.data, 0, static_cast<size_t>(Elements(buffer) * ElementSize(buffer)));
}

// Rows `from[i]` of x into rows `to[i]` of out, which has been cleared. A row that none comes to
// stays 0; `counts` gets how many came.
template <typename T>
void PoolRows(Pool pool, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
              int64_t width, const T* x, T* out, std::vector<int64_t>& counts) {
  for (size_t i = 0; i < from.size(); ++i) {
    const T* row = x + from[i] * width;
    T* into = out + to[i] * width;
    const bool first = counts[static_cast<size_t>(to[i])]++ == 0;
    for (int64_t j = 0; j < width; ++j) {
      if (pool == Pool::kSum || pool == Pool::kMean) into[j] = Plus(into[j], row[j]);
      else if (first || (pool == Pool::kMax ? row[j] > into[j] : row[j] < into[j]))
        into[j] = row[j];
    }
  }
  if (pool != Pool::kMean) return;
  for (size_t r = 0; r < counts.size(); ++r)
    for (int64_t j = 0; counts[r] > 1 && j < width; ++j)
      out[static_cast<int64_t>(r) * width + j] /= static_cast<T>(counts[r]);
}

// The gradient of PoolRows, added to dx. Every value that equals an extreme has its gradient.
template <typename T>
void PoolRowsGrad(Pool pool, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                  int64_t width, const T* x, const T* out, const T* gradient, T* dx) {
  std::vector<int64_t> counts;
  for (size_t i = 0; pool == Pool::kMean && i < to.size(); ++i) {
    counts.resize(std::max(counts.size(), static_cast<size_t>(to[i]) + 1));
    ++counts[static_cast<size_t>(to[i])];
  }
  for (size_t i = 0; i < from.size(); ++i)
    for (int64_t j = 0; j < width; ++j) {
      const int64_t in = from[i] * width + j, at = to[i] * width + j;
      T value = gradient[at];
      if (pool == Pool::kMean) value /= static_cast<T>(counts[static_cast<size_t>(to[i])]);
      else if (pool != Pool::kSum && x[in] != out[at]) continue;
      dx[in] = Plus(dx[in], value);
    }
}

std::vector<int64_t> Upwards(size_t n) {
  std::vector<int64_t> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<int64_t>(i);
  return values;
}

// Ids are in order, so that the last one says how many segments there are.
bool SegmentsOf(OpCall& call, const DtBuffer& x, const DtBuffer& ids,
                std::vector<int64_t>& values) {
  if (!IntegersOf(call, ids, values)) return false;
  if (x.rank < 1 || static_cast<int64_t>(values.size()) != x.dims[0])
    return call.Fail("'%s' has not one id for each row of '%s'", ids.name, x.name), false;
  if (values.empty()) return call.Fail("'%s' has no rows", x.name), false;
  if (std::is_sorted(values.begin(), values.end()) && values[0] >= 0 && values.back() < INT32_MAX)
    return true;
  return call.Fail("'%s' must be in order, from 0 on", ids.name), false;
}

// The places that an op of index_add's adds at, along an axis of `x`.
struct Places {
  int64_t axis = 0, outer = 1, n = 0, inner = 1;  // `n` places, in so many lines of `inner`
  std::vector<int64_t> index;
  std::vector<int64_t> dims;  // of what is added: `x` with the indices in the place of the axis

  int64_t count() const { return static_cast<int64_t>(index.size()); }
};
bool PlacesOf(OpCall& call, const DtBuffer& x, const DtBuffer& index, int64_t axis,
              Places& places) {
  if (!NormalAxis(call, x, axis) || !IntegersOf(call, index, places.index) ||
      !Within(call, index, places.index, x.dims[axis]))
    return false;
  const auto at = static_cast<int32_t>(axis);
  places.axis = axis;
  places.outer = Elements(x, 0, at);
  places.n = x.dims[axis];
  places.inner = Elements(x, at + 1, x.rank);
  places.dims.assign(x.dims, x.dims + x.rank);
  places.dims[static_cast<size_t>(axis)] = places.count();
  return true;
}

}  // namespace

// X, Index, AddValue; axis -> Out
int32_t IndexAdd(OpCall& call) {
  using A = args::dt_index_add;
  const DtBuffer &x = call.Arg(A::X), &value = call.Arg(A::AddValue);
  DtBuffer& out = call.Arg(A::Out);
  Places at;
  if (!PlacesOf(call, x, call.Arg(A::Index), call.Int(A::axis), at)) return 1;
  if (OpCall::Dims(value) != absl::MakeConstSpan(at.dims))
    return call.Fail("'%s' has not the extents of '%s' with those of '%s' in place of axis %lld",
                     value.name, x.name, call.Arg(A::Index).name, static_cast<long long>(at.axis));
  if (!call.Resize(out, x)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = Data<T>(out);
    std::memmove(to, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
    for (int64_t o = 0; o < at.outer; ++o)
      for (int64_t i = 0; i < at.count(); ++i)
        for (int64_t j = 0; j < at.inner; ++j) {
          T& sum = to[(o * at.n + at.index[static_cast<size_t>(i)]) * at.inner + j];
          sum = Plus(sum, Data<T>(value)[(o * at.count() + i) * at.inner + j]);
        }
    return 0;
  });
}

// Index, Out@GRAD; axis -> X@GRAD, AddValue@GRAD: the gradient itself, and its rows at the indices.
int32_t IndexAddGrad(OpCall& call) {
  using A = args::dt_index_add_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  Places at;
  if (!PlacesOf(call, gradient, call.Arg(A::Index), call.Int(A::axis), at)) return 1;
  if (call.Has(A::X_GRAD)) {
    DtBuffer& dx = call.Arg(A::X_GRAD);
    if (!call.Resize(dx, gradient)) return 1;
    std::memmove(dx.data, gradient.data, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  }
  if (!call.Has(A::AddValue_GRAD)) return 0;
  DtBuffer& dv = call.Arg(A::AddValue_GRAD);
  if (!call.Resize(dv, at.dims)) return 1;
  const int64_t bytes = at.inner * ElementSize(gradient);
  for (int64_t o = 0; o < at.outer; ++o)
    for (int64_t i = 0; i < at.count(); ++i)
      std::memcpy(Data<char>(dv) + (o * at.count() + i) * bytes,
                  Data<char>(gradient) + (o * at.n + at.index[static_cast<size_t>(i)]) * bytes,
                  static_cast<size_t>(bytes));
  return 0;
}

// X, SegmentIds; pooltype -> Out, SummedIds (of means: how many rows each segment has)
int32_t SegmentPool(OpCall& call) {
  using A = args::dt_segment_pool;
  const DtBuffer& x = call.Arg(A::X);
  std::vector<int64_t> ids;
  Pool pool = Pool::kSum;
  if (!PoolOf(call, call.Text(A::pooltype), pool) ||
      !SegmentsOf(call, x, call.Arg(A::SegmentIds), ids))
    return 1;
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  dims[0] = ids.back() + 1;
  std::vector<int64_t> counts(static_cast<size_t>(dims[0]), 0);
  if (!call.Has(A::Out)) return call.Fail("the result is not read");
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, dims)) return 1;
  Clear(out);
  const int64_t width = Elements(x, 1, x.rank);
  const int32_t bad = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRows(pool, Upwards(ids.size()), ids, width, Data<T>(x), Data<T>(out), counts);
    return 0;
  });
  if (bad != 0 || !call.Has(A::SummedIds)) return bad;
  DtBuffer& summed = call.Arg(A::SummedIds);
  // Of means only: the framework leaves it as it is declared otherwise, without extents.
  if (pool != Pool::kMean)
    return call.Resize(summed, absl::Span<const int64_t>()) ? (Clear(summed), 0) : 1;
  if (!call.Resize(summed, {dims[0], 1})) return 1;
  return VisitNumber(call.context(), summed, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < counts.size(); ++i) Data<T>(summed)[i] = static_cast<T>(counts[i]);
    return 0;
  });
}

// X, SegmentIds, Out, Out@GRAD; pooltype -> X@GRAD
int32_t SegmentPoolGrad(OpCall& call) {
  using A = args::dt_segment_pool_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  std::vector<int64_t> ids;
  Pool pool = Pool::kSum;
  if (!PoolOf(call, call.Text(A::pooltype), pool) ||
      !SegmentsOf(call, x, call.Arg(A::SegmentIds), ids) || !call.Resize(dx, x))
    return 1;
  const int64_t width = Elements(x, 1, x.rank), rows = ids.back() + 1;
  if (Elements(out) != rows * width || Elements(gradient) != rows * width)
    return call.Fail("'%s' and '%s' do not fit '%s'", out.name, gradient.name, x.name);
  Clear(dx);
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRowsGrad(pool, Upwards(ids.size()), ids, width, Data<T>(x), Data<T>(out), Data<T>(gradient),
                 Data<T>(dx));
    return 0;
  });
}

namespace {

// Edges from rows of x to rows of the result.
bool EdgesOf(OpCall& call, const DtBuffer& source, const DtBuffer& target, int64_t rows,
             int64_t results, std::vector<int64_t>& from, std::vector<int64_t>& to) {
  if (!IntegersOf(call, source, from) || !IntegersOf(call, target, to) ||
      !Within(call, source, from, rows) || !Within(call, target, to, results))
    return false;
  if (from.size() == to.size()) return true;
  return call.Fail("'%s' and '%s' differ in extent", source.name, target.name), false;
}

}  // namespace

// X, Src_index, Dst_index, Out_size; reduce_op, out_size -> Out, Dst_count
int32_t SendReceive(OpCall& call) {
  using A = args::dt_send_receive;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Pool pool = Pool::kSum;
  std::vector<int64_t> from, to, size;
  if (!PoolOf(call, call.Text(A::reduce_op), pool)) return 1;
  if (x.rank < 1) return call.Fail("'%s' has no rows", x.name);
  const absl::Span<const int64_t> given = call.Ints(A::out_size);
  size.assign(given.begin(), given.end());
  if (call.Has(A::Out_size) && !IntegersOf(call, call.Arg(A::Out_size), size)) return 1;
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  if (!size.empty() && size[0] > 0) dims[0] = size[0];
  if (!EdgesOf(call, call.Arg(A::Src_index), call.Arg(A::Dst_index), x.dims[0], dims[0], from,
               to) ||
      !call.Resize(out, dims))
    return 1;
  Clear(out);
  std::vector<int64_t> counts(static_cast<size_t>(dims[0]), 0);
  const int32_t bad = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRows(pool, from, to, Elements(x, 1, x.rank), Data<T>(x), Data<T>(out), counts);
    return 0;
  });
  if (bad != 0 || !call.Has(A::Dst_count)) return bad;
  DtBuffer& count = call.Arg(A::Dst_count);
  // The framework counts for means only, and leaves one number without a value else.
  if (pool != Pool::kMean) counts.assign(1, 0);
  if (!call.Resize(count,
                   pool == Pool::kMean ? std::vector<int64_t>{dims[0]} : std::vector<int64_t>{}))
    return 1;
  for (size_t i = 0; i < counts.size(); ++i)
    Data<int32_t>(count)[i] = static_cast<int32_t>(counts[i]);
  return 0;
}

// X, Src_index, Dst_index, Out, Out@GRAD; reduce_op -> X@GRAD
int32_t SendReceiveGrad(OpCall& call) {
  using A = args::dt_send_receive_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Pool pool = Pool::kSum;
  std::vector<int64_t> from, to;
  if (!PoolOf(call, call.Text(A::reduce_op), pool)) return 1;
  const bool extreme = pool == Pool::kMax || pool == Pool::kMin;
  if (x.rank < 1 || gradient.rank != x.rank || (extreme && !SameShape(out, gradient)) ||
      Elements(x, 1, x.rank) != Elements(gradient, 1, gradient.rank))
    return call.Fail("'%s' does not fit '%s'", gradient.name, x.name);
  if (!EdgesOf(call, call.Arg(A::Src_index), call.Arg(A::Dst_index), x.dims[0], gradient.dims[0],
               from, to) ||
      !call.Resize(dx, x))
    return 1;
  Clear(dx);
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRowsGrad(pool, from, to, Elements(x, 1, x.rank), Data<T>(x),
                 extreme ? Data<T>(out) : nullptr, Data<T>(gradient), Data<T>(dx));
    return 0;
  });
}

}  // namespace dtranspile::kernels
