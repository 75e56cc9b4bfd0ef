// Convolutions along one axis: conv_shift, the circular convolution of rows, and row_conv, the
// look-ahead convolution of sequences (Amodei et al. 2015), each with its gradient.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/convolution/calls.h"

namespace dtranspile::kernels {
namespace {

void Zero(const DtBuffer& buffer) {
  std::memset(buffer.data, 0, static_cast<size_t>(Elements(buffer) * ElementSize(buffer)));
}

// X [B, M] and Y [B, N] with an odd N of at most M.
bool ShiftFits(OpCall& call, const DtBuffer& x, const DtBuffer& y) {
  if (x.rank != 2 || y.rank != 2 || x.dims[0] != y.dims[0] || x.dtype != y.dtype)
    return call.Fail("'%s' and '%s' must be matrices of one element type with as many rows", x.name,
                     y.name),
           false;
  if (y.dims[1] % 2 == 1 && y.dims[1] <= x.dims[1]) return true;
  return call.Fail("'%s' has %lld columns, expected an odd number of at most the %lld of '%s'",
                   y.name, static_cast<long long>(y.dims[1]), static_cast<long long>(x.dims[1]),
                   x.name),
         false;
}

// visit(element of X, element of Y, element of Out) for every product of  Out[b,i] = Σ_j X[b, (i +
// j − (N−1)/2) mod M] · Y[b,j].
template <typename Visit>
void ForShifts(const DtBuffer& x, const DtBuffer& y, Visit&& visit) {
  const int64_t m = x.dims[1], n = y.dims[1], half = (n - 1) / 2;
  for (int64_t b = 0; b < x.dims[0]; ++b)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) visit(b * m + (i + j - half + m) % m, b * n + j, b * m + i);
}

// Rows [begin, end) of a look-ahead convolution.
struct Rows {
  int64_t begin, end;
};

// The sequences of X: by LoD, or of a padded batch [B, T, D] the samples.
bool SequencesOf(OpCall& call, const DtBuffer& x, const DtBuffer& filter,
                 std::vector<Rows>& sequences) {
  if (filter.rank != 2 || x.rank < 2 || x.rank > 3 || x.dims[x.rank - 1] != filter.dims[1] ||
      x.dtype != filter.dtype)
    return call.Fail(
               "'%s' must be [rows, D] or [batch, rows, D] and '%s' [context, D], of one element "
               "type",
               x.name, filter.name),
           false;
  if (x.rank == 3) {
    for (int64_t b = 0; b < x.dims[0]; ++b)
      sequences.push_back({b * x.dims[1], (b + 1) * x.dims[1]});
    return true;
  }
  const Lod& lod = OpCall::LodOf(x);
  if (lod.empty()) return sequences.push_back({0, x.dims[0]}), true;
  const auto& offsets = lod.back();
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = static_cast<int64_t>(offsets[i]), end = static_cast<int64_t>(offsets[i + 1]);
    if (begin < 0 || end < begin || end > x.dims[0])
      return call.Fail("'%s' has a LoD that does not fit its %lld rows", x.name,
                       static_cast<long long>(x.dims[0])),
             false;
    sequences.push_back({begin, end});
  }
  return true;
}

// visit(row of X, row of the filter, row of Out) for  Out[t] = Σ_k X[t + k] · F[k].
template <typename Visit>
void ForContext(const std::vector<Rows>& sequences, int64_t context, Visit&& visit) {
  for (const Rows& s : sequences)
    for (int64_t t = s.begin; t < s.end; ++t)
      for (int64_t k = 0; k < context && t + k < s.end; ++k) visit(t + k, k, t);
}

}  // namespace

// X, Y -> Out
int32_t ConvShift(OpCall& call) {
  using A = args::dt_conv_shift;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  if (!ShiftFits(call, x, y) || !call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Zero(out);
    ForShifts(x, y, [&](int64_t i, int64_t j, int64_t o) {
      Data<T>(out)[o] += Data<T>(x)[i] * Data<T>(y)[j];
    });
    return 0;
  });
}

// X, Y, Out@GRAD -> X@GRAD, Y@GRAD
int32_t ConvShiftGrad(OpCall& call) {
  using A = args::dt_conv_shift_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &gradient = call.Arg(A::Out_GRAD);
  if (!ShiftFits(call, x, y)) return 1;
  if (!SameShape(gradient, x) || gradient.dtype != x.dtype)
    return call.Fail("'%s' has not the extents and type of '%s'", gradient.name, x.name);
  for (int slot : {3, 4})
    if (call.Has(slot) && !call.Resize(call.Arg(slot), call.Arg(slot - 3))) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int slot : {3, 4}) {
      if (!call.Has(slot)) continue;
      Zero(call.Arg(slot));
      T* to = Data<T>(call.Arg(slot));
      const T* g = Data<T>(gradient);
      if (slot == 3)
        ForShifts(x, y, [&](int64_t i, int64_t j, int64_t o) { to[i] += g[o] * Data<T>(y)[j]; });
      else ForShifts(x, y, [&](int64_t i, int64_t j, int64_t o) { to[j] += g[o] * Data<T>(x)[i]; });
    }
    return 0;
  });
}

// X, Filter -> Out
int32_t RowConv(OpCall& call) {
  using A = args::dt_row_conv;
  const DtBuffer &x = call.Arg(A::X), &filter = call.Arg(A::Filter);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<Rows> sequences;
  if (!SequencesOf(call, x, filter, sequences) || !call.Resize(out, x)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = filter.dims[1];
    Zero(out);
    ForContext(sequences, filter.dims[0], [&](int64_t row, int64_t k, int64_t to) {
      for (int64_t d = 0; d < width; ++d)
        Data<T>(out)[to * width + d] +=
            Data<T>(x)[row * width + d] * Data<T>(filter)[k * width + d];
    });
    return 0;
  });
}

// X, Filter, Out@GRAD -> X@GRAD, Filter@GRAD
int32_t RowConvGrad(OpCall& call) {
  using A = args::dt_row_conv_grad;
  const DtBuffer &x = call.Arg(A::X), &filter = call.Arg(A::Filter),
                 &gradient = call.Arg(A::Out_GRAD);
  std::vector<Rows> sequences;
  if (!SequencesOf(call, x, filter, sequences)) return 1;
  if (!SameShape(gradient, x) || gradient.dtype != x.dtype)
    return call.Fail("'%s' has not the extents and type of '%s'", gradient.name, x.name);
  for (int slot : {3, 4})
    if (call.Has(slot) && !call.Resize(call.Arg(slot), call.Arg(slot - 3))) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = filter.dims[1];
    for (int slot : {3, 4}) {
      if (!call.Has(slot)) continue;
      Zero(call.Arg(slot));
      if (slot == 3) OpCall::SetLod(call.Arg(slot), OpCall::LodOf(x));
      T* to = Data<T>(call.Arg(slot));
      const T* other = Data<T>(slot == 3 ? filter : x);
      ForContext(sequences, filter.dims[0], [&](int64_t row, int64_t k, int64_t at) {
        const int64_t target = slot == 3 ? row : k, factor = slot == 3 ? k : row;
        for (int64_t d = 0; d < width; ++d)
          to[target * width + d] += Data<T>(gradient)[at * width + d] * other[factor * width + d];
      });
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
