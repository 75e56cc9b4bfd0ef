#include "runtime/kernels/cpu/shape.h"

#include <algorithm>
#include <cstring>
#include <vector>

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

// Replaces -1 in `dims`: a single one by what is left over; several by extents of X, in order,
// those that `dims` names left out.
bool FillUnknown(const DtBuffer& x, std::vector<int64_t>& dims) {
  const int64_t total = Elements(x);
  int64_t known = 1;
  std::vector<size_t> unknown;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) unknown.push_back(i);
    else known *= dims[i];
  }
  if (unknown.size() == 1) {
    if (known == 0 || total % known != 0) return false;
    dims[unknown[0]] = total / known;
    return true;
  }
  std::vector<int64_t> rest(x.dims, x.dims + x.rank);
  for (int64_t d : dims) {
    const auto found = std::find(rest.rbegin(), rest.rend(), d);
    if (d >= 0 && found != rest.rend()) rest.erase(std::next(found).base());
  }
  rest.erase(std::remove(rest.begin(), rest.end(), 1), rest.end());
  if (rest.size() < unknown.size()) rest.resize(unknown.size(), 1);
  for (size_t k = 0; k < unknown.size(); ++k) known *= dims[unknown[k]] = rest[k];
  return rest.size() == unknown.size() && known == total;
}

// Y gets the permuted extents of X; a permutation that is none is left to CheckPermutation.
bool SizePermuted(DtContext* context, const DtCall* call) {
  if (call->args[1].value == nullptr) return true;
  const DtBuffer& x = call->args[0];
  std::vector<int64_t> dims;
  for (int32_t i = 0; i < x.rank; ++i)
    dims.push_back(call->ints[i] >= 0 && call->ints[i] < x.rank ? x.dims[call->ints[i]] : 0);
  return dt_resize(context, &call->args[1], dims.data(), x.rank) == 0;
}

bool CheckPermutation(DtContext* context, const DtCall* call) {
  const DtBuffer &x = call->args[0], &y = call->args[1];
  if (x.rank > kMostDims)
    return dt_fail(context, "%d dimensions, at most %d are known", x.rank, kMostDims), false;
  if (call->num_ints != x.rank || y.rank != x.rank)
    return dt_fail(context, "%d dimensions to %d by a permutation of %d", x.rank, y.rank,
                   call->num_ints),
           false;
  bool seen[kMostDims] = {};
  for (int32_t i = 0; i < x.rank; ++i) {
    const int64_t from = call->ints[i];
    if (from < 0 || from >= x.rank || seen[from])
      return dt_fail(context, "perm[%d] = %lld makes no permutation", i,
                     static_cast<long long>(from)),
             false;
    seen[from] = true;
    if (y.dims[i] != x.dims[from])
      return dt_fail(context, "extent %d of Y is %lld, expected %lld", i,
                     static_cast<long long>(y.dims[i]), static_cast<long long>(x.dims[from])),
             false;
  }
  return true;
}

}  // namespace
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;

extern "C" int32_t dt_transpose(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {2, kAny, 0, 0}) || !CheckSameType(context, call, 0, 2)) return 1;
  if (call->num_ints == call->args[0].rank && !SizePermuted(context, call)) return 1;
  if (!CheckPermutation(context, call)) return 1;
  const DtBuffer &x = call->args[0], &y = call->args[1];
  if (Elements(x) == 0) return 0;
  Permutation p = MakePermutation(x, call->ints);
  if (p.rank == 0) p = {1, {1}, {1}};
  return VisitSize(context, ElementSize(x), [&](auto tag) {
    using T = typename decltype(tag)::type;
    Permute(context, p, Data<const T>(x), Data<T>(y));
    return 0;
  });
}

extern "C" int32_t dt_reshape(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {2, kAny, 0, 0}) || !CheckSameType(context, call, 0, 2)) return 1;
  const DtBuffer& x = call->args[0];
  std::vector<int64_t> dims(call->ints, call->ints + call->num_ints);
  if (!FillUnknown(x, dims))
    return dt_fail(context, "'%s' of %lld elements does not fit the extents asked for", x.name,
                   static_cast<long long>(Elements(x)));
  if (dt_resize(context, &call->args[1], dims.data(), static_cast<int32_t>(dims.size())) != 0)
    return 1;
  if (Elements(x) > 0)
    std::memcpy(call->args[1].data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  return 0;
}
