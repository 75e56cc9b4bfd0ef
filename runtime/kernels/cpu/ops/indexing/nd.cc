// gather_nd, scatter_nd_add, scatter and their gradients: rows of a tensor by coordinates of its
// leading dims (phi gather_nd, scatter, scatter_nd_add). Sums are in the order of the indices,
// whatever the number of threads.
#include <cstring>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

struct RowsAt {
  std::vector<int64_t> at;  // first element of each row
  int64_t inner = 1;        // elements of a row
};

// Coordinates along the last dim of `index` to rows of a tensor with extents `dims`.
bool RowsOf(OpCall& call, const DtBuffer& index, absl::Span<const int64_t> dims, RowsAt& rows) {
  if (index.rank == 0 || index.dims[index.rank - 1] > static_cast<int64_t>(dims.size()))
    return call.Fail("'%s' does not index a tensor of %zu dims", index.name, dims.size()), false;
  const auto depth = static_cast<size_t>(index.dims[index.rank - 1]);
  std::vector<int64_t> values;
  if (!IntegersOf(call, index, values)) return false;
  for (size_t d = depth; d < dims.size(); ++d) rows.inner *= dims[d];
  const int64_t count = Elements(index, 0, index.rank - 1);
  rows.at.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t d = 0; d < depth; ++d) {
      const int64_t value = values[static_cast<size_t>(i) * depth + d];
      if (value < 0 || value >= dims[d])
        return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", index.name,
                         static_cast<long long>(value), static_cast<long long>(dims[d])),
               false;
      at = at * dims[d] + value;
    }
    rows.at.push_back(at * rows.inner);
  }
  return true;
}

// Positions in dim 0, given as [n] or [n, 1].
bool RowsOfDim0(OpCall& call, const DtBuffer& ids, absl::Span<const int64_t> dims, RowsAt& rows) {
  if (dims.empty() || ids.rank > 2 || (ids.rank == 2 && ids.dims[1] != 1))
    return call.Fail("'%s' is no list of positions of dim 0", ids.name), false;
  const int64_t column[] = {Elements(ids), 1};
  DtBuffer as_column = ids;
  as_column.dims = column;
  as_column.rank = 2;
  return RowsOf(call, as_column, dims, rows);
}

// to[k] = from[at[k]]
void TakeRows(OpCall& call, const RowsAt& rows, const DtBuffer& from, DtBuffer& to) {
  const int64_t size = ElementSize(from), bytes = rows.inner * size;
  Parallel(call.context(), static_cast<int64_t>(rows.at.size()), GrainFor(2 * bytes),
           [&](int64_t lo, int64_t n) {
             for (int64_t k = lo; k < lo + n; ++k)
               std::memcpy(Data<char>(to) + k * bytes,
                           Data<char>(from) + rows.at[static_cast<size_t>(k)] * size,
                           static_cast<size_t>(bytes));
           });
}

// to[at[k]] += from[k]; threads share the columns.
int32_t AddRows(OpCall& call, const RowsAt& rows, const DtBuffer& from, DtBuffer& to) {
  return VisitNumber(call.context(), to, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto count = static_cast<int64_t>(rows.at.size());
    Parallel(call.context(), rows.inner, GrainFor(3 * count * ElementSize(to)),
             [&](int64_t lo, int64_t n) {
               for (int64_t k = 0; k < count; ++k) {
                 T* target = Data<T>(to) + rows.at[static_cast<size_t>(k)];
                 const T* source = Data<T>(from) + k * rows.inner;
                 for (int64_t c = lo; c < lo + n; ++c) target[c] = Plus(target[c], source[c]);
               }
             });
    return 0;
  });
}

void Copy(const DtBuffer& from, DtBuffer& to) {
  std::memcpy(to.data, from.data, static_cast<size_t>(Elements(from) * ElementSize(from)));
}

void ZeroRows(const RowsAt& rows, DtBuffer& x) {
  const int64_t size = ElementSize(x);
  for (int64_t at : rows.at)
    std::memset(Data<char>(x) + at * size, 0, static_cast<size_t>(rows.inner * size));
}

bool HasRows(OpCall& call, const DtBuffer& updates, const RowsAt& rows) {
  if (Elements(updates) == static_cast<int64_t>(rows.at.size()) * rows.inner) return true;
  return call.Fail("'%s' has %lld elements, expected %zu rows of %lld", updates.name,
                   static_cast<long long>(Elements(updates)), rows.at.size(),
                   static_cast<long long>(rows.inner)),
         false;
}

}  // namespace

// X, Index -> Out
int32_t GatherNd(OpCall& call) {
  using A = args::dt_gather_nd;
  const DtBuffer &x = call.Arg(A::X), &index = call.Arg(A::Index);
  DtBuffer& out = call.Arg(A::Out);
  RowsAt rows;
  if (!SameType(call, x, out) || !RowsOf(call, index, OpCall::Dims(x), rows)) return 1;
  std::vector<int64_t> dims(index.dims, index.dims + index.rank - 1);
  dims.insert(dims.end(), x.dims + index.dims[index.rank - 1], x.dims + x.rank);
  if (!call.Resize(out, dims)) return 1;
  TakeRows(call, rows, x, out);
  return 0;
}

// X, Index, Out@GRAD -> X@GRAD
int32_t GatherNdGrad(OpCall& call) {
  using A = args::dt_gather_nd_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  RowsAt rows;
  if (!SameType(call, gradient, dx) || !RowsOf(call, call.Arg(A::Index), OpCall::Dims(x), rows) ||
      !HasRows(call, gradient, rows) || !call.Resize(dx, x))
    return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return AddRows(call, rows, gradient, dx);
}

// X, Index, Updates -> Out
int32_t ScatterNdAdd(OpCall& call) {
  using A = args::dt_scatter_nd_add;
  const DtBuffer &x = call.Arg(A::X), &updates = call.Arg(A::Updates);
  DtBuffer& out = call.Arg(A::Out);
  RowsAt rows;
  if (!SameType(call, x, out) || !SameType(call, x, updates) ||
      !RowsOf(call, call.Arg(A::Index), OpCall::Dims(x), rows) || !HasRows(call, updates, rows) ||
      !call.Resize(out, x))
    return 1;
  Copy(x, out);
  return AddRows(call, rows, updates, out);
}

// Index, Updates, Out@GRAD -> X@GRAD, Updates@GRAD
int32_t ScatterNdAddGrad(OpCall& call) {
  using A = args::dt_scatter_nd_add_grad;
  const DtBuffer &updates = call.Arg(A::Updates), &gradient = call.Arg(A::Out_GRAD);
  if (call.Has(A::X_GRAD)) {
    DtBuffer& dx = call.Arg(A::X_GRAD);
    if (!SameType(call, gradient, dx) || !call.Resize(dx, gradient)) return 1;
    Copy(gradient, dx);
  }
  if (!call.Has(A::Updates_GRAD)) return 0;
  DtBuffer& du = call.Arg(A::Updates_GRAD);
  RowsAt rows;
  if (!SameType(call, gradient, du) ||
      !RowsOf(call, call.Arg(A::Index), OpCall::Dims(gradient), rows) ||
      !HasRows(call, updates, rows) || !call.Resize(du, updates))
    return 1;
  TakeRows(call, rows, gradient, du);
  return 0;
}

// X, Ids, Updates; overwrite -> Out. Without overwrite the rows that are named are zero before the
// updates are added.
int32_t Scatter(OpCall& call) {
  using A = args::dt_scatter;
  const DtBuffer &x = call.Arg(A::X), &updates = call.Arg(A::Updates);
  DtBuffer& out = call.Arg(A::Out);
  const Lod& lod = OpCall::LodOf(x);
  RowsAt rows;
  if (!SameType(call, x, out) || !SameType(call, x, updates) ||
      !RowsOfDim0(call, call.Arg(A::Ids), OpCall::Dims(x), rows) || !HasRows(call, updates, rows) ||
      !call.Resize(out, x))
    return 1;
  OpCall::SetLod(out, lod);
  Copy(x, out);
  if (!call.Bool(A::overwrite)) {
    ZeroRows(rows, out);
    return AddRows(call, rows, updates, out);
  }
  const int64_t size = ElementSize(x), bytes = rows.inner * size;
  for (size_t k = 0; k < rows.at.size(); ++k)
    std::memcpy(Data<char>(out) + rows.at[k] * size,
                Data<char>(updates) + static_cast<int64_t>(k) * bytes, static_cast<size_t>(bytes));
  return 0;
}

// Ids, Updates, Out@GRAD; @version -> X@GRAD, Updates@GRAD. In 1.x X@GRAD is Out@GRAD, later the
// rows that were written have none.
int32_t ScatterGrad(OpCall& call) {
  using A = args::dt_scatter_grad;
  const DtBuffer &updates = call.Arg(A::Updates), &gradient = call.Arg(A::Out_GRAD);
  RowsAt rows;
  if (!RowsOfDim0(call, call.Arg(A::Ids), OpCall::Dims(gradient), rows) ||
      !HasRows(call, updates, rows))
    return 1;
  if (call.Has(A::X_GRAD)) {
    DtBuffer& dx = call.Arg(A::X_GRAD);
    if (!SameType(call, gradient, dx) || !call.Resize(dx, gradient)) return 1;
    Copy(gradient, dx);
    if (call.Int(A::version) >= 2000000) ZeroRows(rows, dx);
  }
  if (!call.Has(A::Updates_GRAD)) return 0;
  DtBuffer& du = call.Arg(A::Updates_GRAD);
  if (!SameType(call, gradient, du) || !call.Resize(du, updates)) return 1;
  TakeRows(call, rows, gradient, du);
  return 0;
}

}  // namespace dtranspile::kernels
