#include "runtime/kernels/cpu/shape.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/kernels/args/shape.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

constexpr int32_t kMostDims = 8;

// Transposition as loops over Y in row order: extents of Y and the strides (in elements) that X has
// for them. Neighbouring dimensions that stay neighbours are merged.
struct Permutation {
  int32_t rank = 0;
  int64_t extent[kMostDims];
  int64_t stride[kMostDims];
};

// Dims of one element are dropped. A dim joins the one before where stepping that one is the same
// as going through this one: stride before = stride · extent. [B, S, H, D] with S and H exchanged
// keeps four dims; [B, C, H, W] to [B, H, W, C] becomes [B, HW, C].
Permutation MakePermutation(const DtBuffer& x, const int64_t* perm) {
  int64_t strides[kMostDims];
  for (int64_t i = x.rank - 1, stride = 1; i >= 0; --i) strides[i] = stride, stride *= x.dims[i];
  Permutation p;
  for (int32_t i = 0; i < x.rank; ++i) {
    const int64_t extent = x.dims[perm[i]], stride = strides[perm[i]];
    if (extent == 1) continue;
    if (p.rank > 0 && p.stride[p.rank - 1] == stride * extent) {
      p.extent[p.rank - 1] *= extent;
      p.stride[p.rank - 1] = stride;
    } else {
      p.extent[p.rank] = extent;
      p.stride[p.rank++] = stride;
    }
  }
  return p;
}

// Where the rows of Y (all dimensions but the last two) start in X.
int64_t Offset(const Permutation& p, int32_t dims, int64_t index) {
  int64_t offset = 0;
  for (int32_t i = dims - 1; i >= 0; --i) {
    offset += index % p.extent[i] * p.stride[i];
    index /= p.extent[i];
  }
  return offset;
}

// rows×cols elements of Y from X, where X steps by `row_stride` and `col_stride`.
template <typename T>
void StridedPlane(const T* __restrict x, int64_t row_stride, int64_t col_stride, T* __restrict y,
                  int64_t cols, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) y[i * cols + j] = x[i * row_stride + j * col_stride];
}

// The same where X is contiguous along the rows of Y: a transposition. Squares go through a buffer
// in registers and the first cache, so that both sides see whole lines once; strides of powers of
// two would throw lines out of the cache before they are used up.
template <typename T>
void TransposedPlane(const T* __restrict x, int64_t col_stride, T* __restrict y, int64_t cols,
                     int64_t rows) {
  constexpr int64_t kSide = 16;
  T square[kSide][kSide];
  for (int64_t i0 = 0; i0 < rows; i0 += kSide) {
    const int64_t height = std::min(kSide, rows - i0);
    for (int64_t j0 = 0; j0 < cols; j0 += kSide) {
      const int64_t width = std::min(kSide, cols - j0);
      for (int64_t j = 0; j < width; ++j)
        std::memcpy(square[j], x + (j0 + j) * col_stride + i0,
                    static_cast<size_t>(height) * sizeof(T));
      for (int64_t i = 0; i < height; ++i) {
        T* to = y + (i0 + i) * cols + j0;
        for (int64_t j = 0; j < width; ++j) to[j] = square[j][i];
      }
    }
  }
}

// Y plane by plane (its last two dims) and each in blocks of rows, which are the unit of work: rows
// of X that stay rows are copied, rows that were columns transposed in squares, and what is neither
// walked by its strides.
template <typename T>
void Permute(DtContext* context, const Permutation& p, const T* x, T* y) {
  const int64_t cols = p.extent[p.rank - 1], col_stride = p.stride[p.rank - 1];
  const bool has_rows = p.rank > 1;
  const int64_t rows = has_rows ? p.extent[p.rank - 2] : 1,
                row_stride = has_rows ? p.stride[p.rank - 2] : 0;
  constexpr int64_t kRowBlock = 64;
  const int64_t blocks = (rows + kRowBlock - 1) / kRowBlock;
  int64_t planes = 1;
  for (int32_t i = 0; i < p.rank - 2; ++i) planes *= p.extent[i];
  const int64_t bytes = 2 * cols * std::min(rows, kRowBlock) * static_cast<int64_t>(sizeof(T));
  Parallel(context, planes * blocks, GrainFor(bytes), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      const int64_t plane = i / blocks, row = i % blocks * kRowBlock,
                    count = std::min(kRowBlock, rows - row);
      const T* from = x + Offset(p, p.rank - 2, plane);
      T* to = y + plane * rows * cols;
      if (col_stride == 1)
        for (int64_t r = row; r < row + count; ++r)
          std::memcpy(to + r * cols, from + r * row_stride, static_cast<size_t>(cols) * sizeof(T));
      else if (row_stride == 1)
        TransposedPlane(from + row, col_stride, to + row * cols, cols, count);
      else
        StridedPlane(from + row * row_stride, row_stride, col_stride, to + row * cols, cols, count);
    }
  });
}

struct Wide {
  uint64_t words[2];
};

// visit(TypeTag<unsigned of that size>).
template <typename Visit>
int32_t VisitSize(DtContext* context, int64_t size, Visit&& visit) {
  switch (size) {
    case 1: return visit(TypeTag<uint8_t>());
    case 2: return visit(TypeTag<uint16_t>());
    case 4: return visit(TypeTag<uint32_t>());
    case 8: return visit(TypeTag<uint64_t>());
    case 16: return visit(TypeTag<Wide>());
    default: return dt_fail(context, "elements of %lld bytes", static_cast<long long>(size));
  }
}

// Each axis exactly once, and no more dims than the fixed arrays hold.
bool IsPermutation(OpCall& call, absl::Span<const int64_t> axes, int32_t rank) {
  if (rank > kMostDims)
    return call.Fail("%d dimensions, at most %d are known", rank, kMostDims), false;
  if (static_cast<int32_t>(axes.size()) != rank)
    return call.Fail("a permutation of %zu for %d dimensions", axes.size(), rank), false;
  bool seen[kMostDims] = {};
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank || seen[axes[i]])
      return call.Fail("axis[%zu] = %lld makes no permutation", i, static_cast<long long>(axes[i])),
             false;
    seen[axes[i]] = true;
  }
  return true;
}

// out[i] has extent x[perm[i]].
int32_t Permute(OpCall& call, const DtBuffer& x, DtBuffer& out,
                absl::Span<const int64_t> permutation) {
  if (!SameType(call, x, out)) return 1;
  absl::InlinedVector<int64_t, kMostDims> dims;  // no memory is allocated in a step
  for (int64_t from : permutation) dims.push_back(x.dims[from]);
  if (!call.Resize(out, dims)) return 1;
  if (Elements(x) == 0) return 0;
  Permutation p = MakePermutation(x, permutation.data());
  if (p.rank == 0) p = {1, {1}, {1}};
  return VisitSize(call.context(), ElementSize(x), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Permute(call.context(), p, Data<const T>(x), Data<T>(out));
    return 0;
  });
}

}  // namespace

int32_t Transpose(OpCall& call) {
  using A = args::dt_transpose;
  const DtBuffer& x = call.Arg(A::X);
  const auto axes = call.Ints(A::axis);
  return IsPermutation(call, axes, x.rank) ? Permute(call, x, call.Arg(A::Out), axes) : 1;
}

// The gradient of a transposition is the one by the inverse permutation: inverse[axis[i]] = i.
int32_t TransposeBack(OpCall& call) {
  using A = args::dt_transpose_back;
  const DtBuffer& x = call.Arg(A::Out_GRAD);
  const auto axes = call.Ints(A::axis);
  if (!IsPermutation(call, axes, x.rank)) return 1;
  absl::InlinedVector<int64_t, kMostDims> inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  return Permute(call, x, call.Arg(A::X_GRAD), inverse);
}

}  // namespace dtranspile::kernels
