// tril_triu, diag, diag_v2, diag_embed, fill_diagonal, fill_diagonal_tensor: parts of matrices
// beside a diagonal, vectors as diagonals, and what is written onto them (phi tril_triu, diag,
// diag_embed, fill_diagonal, fill_diagonal_tensor).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 31;  // diagonal

// First element of diagonal `offset` of a row-major matrix, and where it is at most `room` long.
struct Diagonal {
  int64_t first, length;
};

Diagonal DiagonalOf(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  return {row * columns + column, std::max<int64_t>(0, std::min(rows - row, columns - column))};
}

bool OffsetIs(OpCall& call, int64_t offset) {
  if (offset > -kFarthest && offset < kFarthest) return true;
  return call.Fail("diagonal %lld is out of range", static_cast<long long>(offset)), false;
}

void FillWith(DtBuffer& out, const char* element) {
  const auto size = static_cast<size_t>(ElementSize(out));
  for (int64_t i = 0; i < Elements(out); ++i)
    std::memcpy(Data<char>(out) + static_cast<size_t>(i) * size, element, size);
}

}  // namespace

// X; diagonal, lower -> Out. The gradient alike.
int32_t TrilTriu(OpCall& call) {
  using A = args::dt_tril_triu;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t diagonal = call.Int(A::diagonal);
  const bool lower = call.Bool(A::lower);
  if (x.rank < 2) return call.Fail("'%s' has %d dims, expected 2 or more", x.name, x.rank);
  if (!OffsetIs(call, diagonal) || !SameType(call, x, out) || !call.Resize(out, x)) return 1;
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1], size = ElementSize(x);
  Parallel(call.context(), Elements(x, 0, x.rank - 1), GrainFor(2 * columns * size),
           [&](int64_t lo, int64_t n) {
             for (int64_t r = lo; r < lo + n; ++r) {
               // Columns before `edge` belong to the lower part.
               const int64_t edge =
                   std::clamp<int64_t>(r % rows + diagonal + (lower ? 1 : 0), 0, columns);
               const int64_t begin = lower ? 0 : edge, end = lower ? edge : columns;
               char* to = Data<char>(out) + r * columns * size;
               std::memset(to, 0, static_cast<size_t>(columns * size));
               std::memcpy(to + begin * size, Data<char>(x) + (r * columns + begin) * size,
                           static_cast<size_t>((end - begin) * size));
             }
           });
  return 0;
}

// X; offset, padding_value (0 and 0 where there are none) -> Out: a vector to a matrix, a matrix to
// its diagonal
int32_t Diag(OpCall& call) {
  using A = args::dt_diag;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool second = call.Given(A::offset);
  const int64_t offset = second ? call.Int(A::offset) : 0, size = ElementSize(x);
  if (x.rank > 2 || x.rank < 1)
    return call.Fail("'%s' of %d dims is neither a vector nor a matrix", x.name, x.rank);
  if (!SameType(call, x, out) || !OffsetIs(call, offset)) return 1;
  if (x.rank == 2) {
    const Diagonal d = DiagonalOf(x.dims[0], x.dims[1], offset);
    const int64_t dims[] = {d.length};
    if (!call.Resize(out, dims)) return 1;
    for (int64_t i = 0; i < d.length; ++i)
      std::memcpy(Data<char>(out) + i * size,
                  Data<char>(x) + (d.first + i * (x.dims[1] + 1)) * size,
                  static_cast<size_t>(size));
    return 0;
  }
  const int64_t side = x.dims[0] + std::abs(offset), dims[] = {side, side};
  char padding[16];
  if (!NumberTo(call, x, second ? call.Real(A::padding_value) : 0, padding) ||
      !call.Resize(out, dims))
    return 1;
  FillWith(out, padding);
  const Diagonal d = DiagonalOf(side, side, offset);
  for (int64_t i = 0; i < d.length; ++i)
    std::memcpy(Data<char>(out) + (d.first + i * (side + 1)) * size, Data<char>(x) + i * size,
                static_cast<size_t>(size));
  return 0;
}

// X, Out@GRAD; offset -> X@GRAD: what stands on the diagonal of one, in the extents of the other.
int32_t DiagGrad(OpCall& call) {
  using A = args::dt_diag_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const int64_t offset = call.Int(A::offset), size = ElementSize(dx);
  const bool vector = x.rank == 1;
  if (x.rank > 2 || x.rank < 1 || gradient.rank != (vector ? 2 : 1))
    return call.Fail("'%s' of %d dims has no gradient of %d dims", x.name, x.rank, gradient.rank);
  if (!SameType(call, gradient, dx) || !OffsetIs(call, offset) || !call.Resize(dx, x)) return 1;
  const DtBuffer& matrix = vector ? gradient : dx;
  const Diagonal d = DiagonalOf(matrix.dims[0], matrix.dims[1], offset);
  if (d.length != Elements(vector ? dx : gradient))
    return call.Fail("'%s' has %lld elements, the diagonal has %lld", gradient.name,
                     static_cast<long long>(Elements(gradient)), static_cast<long long>(d.length));
  if (!vector) std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * size));
  for (int64_t i = 0; i < d.length; ++i) {
    const int64_t there = (d.first + i * (matrix.dims[1] + 1)) * size;
    const int64_t to = vector ? i * size : there, from = vector ? there : i * size;
    std::memcpy(Data<char>(dx) + to, Data<char>(gradient) + from, static_cast<size_t>(size));
  }
  return 0;
}

// Input; offset, dim1, dim2 -> Out: the last dim of Input is the diagonal of dims dim1 and dim2 of
// Out
int32_t DiagEmbed(OpCall& call) {
  using A = args::dt_diag_embed;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t offset = call.Int(A::offset), rank = x.rank + 1;
  int64_t row_dim = call.Int(A::dim1), column_dim = call.Int(A::dim2);
  if (row_dim < 0) row_dim += rank;
  if (column_dim < 0) column_dim += rank;
  if (x.rank < 1 || row_dim < 0 || row_dim >= rank || column_dim < 0 || column_dim >= rank ||
      row_dim == column_dim)
    return call.Fail("dims %lld and %lld of a result of %lld dims",
                     static_cast<long long>(call.Int(A::dim1)),
                     static_cast<long long>(call.Int(A::dim2)), static_cast<long long>(rank));
  if (!OffsetIs(call, offset)) return 1;
  const int64_t n = x.dims[x.rank - 1], side = n + std::abs(offset);
  std::vector<int64_t> dims;
  for (int64_t d = 0, from = 0; d < rank; ++d)
    dims.push_back(d == row_dim || d == column_dim ? side : x.dims[from++]);
  if (!SameType(call, x, out) || !call.Resize(out, dims)) return 1;
  std::memset(out.data, 0, static_cast<size_t>(Elements(out) * ElementSize(out)));
  // Where each element of Input goes: strides of Out for its dims, and the sum of both for the last
  // one.
  std::vector<int64_t> strides(static_cast<size_t>(rank), 1), walked;
  for (size_t d = static_cast<size_t>(rank) - 1; d-- > 0;)
    strides[d] = strides[d + 1] * dims[d + 1];
  for (int64_t d = 0; d < rank; ++d)
    if (d != row_dim && d != column_dim) walked.push_back(strides[static_cast<size_t>(d)]);
  const int64_t rows = strides[static_cast<size_t>(row_dim)],
                columns = strides[static_cast<size_t>(column_dim)], size = ElementSize(x);
  walked.push_back(rows + columns);
  const int64_t first = offset < 0 ? -offset * rows : offset * columns;
  for (int64_t i = 0; i < Elements(x); ++i) {
    int64_t at = first, rest = i;
    for (int32_t d = x.rank; d-- > 0; rest /= x.dims[d])
      at += rest % x.dims[d] * walked[static_cast<size_t>(d)];
    std::memcpy(Data<char>(out) + at * size, Data<char>(x) + i * size, static_cast<size_t>(size));
  }
  return 0;
}

namespace {

// body(element) for the elements that fill_diagonal writes: of every row that the walk
// over the diagonal meets, the one `offset` beside it. Of more than two dims the framework walks
// over as many elements as a square of the extents has, which meets the diagonal's first ones
// only (docs/operators/defects.md).
template <typename Body>
bool ForEachFilled(OpCall& call, const DtBuffer& x, int64_t offset, bool wrap, bool defects,
                   Body&& body) {
  if (x.rank < 2) return call.Fail("'%s' has %d dims, expected 2 or more", x.name, x.rank), false;
  for (int32_t d = 1; x.rank > 2 && d < x.rank; ++d)
    if (x.dims[d] != x.dims[0])
      return call.Fail("'%s' has more than two dims, which are not of one extent", x.name), false;
  if (!OffsetIs(call, offset)) return false;
  const int64_t width = x.dims[1];
  int64_t step = 1, end = Elements(x);
  for (int32_t d = x.rank; d-- > 1;) step += Elements(x, d, x.rank);
  if (!wrap && (defects || x.rank == 2)) end = std::min(end, width * width);
  for (int64_t e = 0; e < end; e += step) {
    const int64_t column = e % width + offset;
    if (column >= 0 && column < width) body(e + offset);
  }
  return true;
}

// Elements of the diagonals of dims `dim1` and `dim2` of x, diagonal by diagonal in the order of
// the other dims; `dims` are the extents of what stands there.
bool DiagonalsOf(OpCall& call, const DtBuffer& x, int64_t offset, int64_t dim1, int64_t dim2,
                 std::vector<int64_t>& dims, std::vector<int64_t>& at) {
  if (dim1 < 0) dim1 += x.rank;
  if (dim2 < 0) dim2 += x.rank;
  if (dim1 < 0 || dim1 >= x.rank || dim2 < 0 || dim2 >= x.rank || dim1 == dim2)
    return call.Fail("dims %lld and %lld of '%s' of %d dims", static_cast<long long>(dim1),
                     static_cast<long long>(dim2), x.name, x.rank),
           false;
  if (!OffsetIs(call, offset)) return false;
  const int64_t rows = x.dims[dim1], columns = x.dims[dim2];
  const int64_t row = Elements(x, static_cast<int32_t>(dim1) + 1, x.rank),
                column = Elements(x, static_cast<int32_t>(dim2) + 1, x.rank);
  const int64_t top = offset < 0 ? -offset : 0, left = offset > 0 ? offset : 0,
                length = std::max<int64_t>(0, std::min(rows - top, columns - left));
  std::vector<int64_t> starts = {top * row + left * column};
  for (int32_t d = 0; d < x.rank; ++d) {
    if (d == dim1 || d == dim2) continue;
    dims.push_back(x.dims[d]);
    std::vector<int64_t> more;
    for (int64_t start : starts)
      for (int64_t i = 0; i < x.dims[d]; ++i)
        more.push_back(start + i * Elements(x, d + 1, x.rank));
    starts = std::move(more);
  }
  dims.push_back(length);
  for (int64_t start : starts)
    for (int64_t i = 0; i < length; ++i) at.push_back(start + i * (row + column));
  return true;
}

void CopyAll(const DtBuffer& from, DtBuffer& to) {
  std::memcpy(to.data, from.data, static_cast<size_t>(Elements(from) * ElementSize(from)));
}

}  // namespace

// X; value, offset, wrap -> Out
int32_t FillDiagonal(OpCall& call) {
  using A = args::dt_fill_diagonal;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  char value[16];
  if (!NumberTo(call, x, call.Real(A::value), value) || !call.Resize(out, x)) return 1;
  CopyAll(x, out);
  const int64_t size = ElementSize(x);
  return ForEachFilled(call, x, call.Int(A::offset), call.Bool(A::wrap), call.Bool(A::defects),
                       [&](int64_t e) {
                         std::memcpy(Data<char>(out) + e * size, value, static_cast<size_t>(size));
                       })
             ? 0
             : 1;
}

// Out@GRAD; offset, wrap -> X@GRAD: none where it was filled
int32_t FillDiagonalGrad(OpCall& call) {
  using A = args::dt_fill_diagonal_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!call.Resize(dx, gradient)) return 1;
  CopyAll(gradient, dx);
  const int64_t size = ElementSize(dx);
  return ForEachFilled(call, gradient, call.Int(A::offset), call.Bool(A::wrap),
                       call.Bool(A::defects),
                       [&](int64_t e) {
                         std::memset(Data<char>(dx) + e * size, 0, static_cast<size_t>(size));
                       })
             ? 0
             : 1;
}

// X, Y; offset, dim1, dim2 -> Out: X with Y on its diagonals
int32_t FillDiagonalTensor(OpCall& call) {
  using A = args::dt_fill_diagonal_tensor;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims, at;
  if (!DiagonalsOf(call, x, call.Int(A::offset), call.Int(A::dim1), call.Int(A::dim2), dims, at))
    return 1;
  // Only how many diagonals there are, and how long they are, is looked at in the framework too.
  if (y.rank < 1 || y.dims[y.rank - 1] != dims.back() ||
      Elements(y) != static_cast<int64_t>(at.size()))
    return call.Fail("'%s' has not the extents of the diagonals of '%s'", y.name, x.name);
  if (!call.Resize(out, x)) return 1;
  CopyAll(x, out);
  const int64_t size = ElementSize(x);
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(Data<char>(out) + at[i] * size, Data<char>(y) + static_cast<int64_t>(i) * size,
                static_cast<size_t>(size));
  return 0;
}

// Out@GRAD; offset, dim1, dim2 -> X@GRAD: none on the diagonals. The framework has no gradient of
// Y.
int32_t FillDiagonalTensorGrad(OpCall& call) {
  using A = args::dt_fill_diagonal_tensor_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  std::vector<int64_t> dims, at;
  if (!DiagonalsOf(call, gradient, call.Int(A::offset), call.Int(A::dim1), call.Int(A::dim2), dims,
                   at) ||
      !call.Resize(dx, gradient))
    return 1;
  CopyAll(gradient, dx);
  const int64_t size = ElementSize(dx);
  for (int64_t e : at) std::memset(Data<char>(dx) + e * size, 0, static_cast<size_t>(size));
  return 0;
}

}  // namespace dtranspile::kernels
