#include "runtime/kernels/cpu/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <atomic>

#include "runtime/kernels/args/linear_algebra.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

// Whether every element that a rows×cols matrix of the batch touches lies within `elements`.
bool Fits(const Product& g, int64_t rows, int64_t cols, int64_t ld, int64_t stride,
          int64_t elements) {
  if (stride < 0 || ld < cols) return false;
  if (rows == 0 || cols == 0) return true;
  const __int128 last =
      static_cast<__int128>(g.batch - 1) * stride + static_cast<__int128>(rows - 1) * ld + cols;
  return last <= elements;
}

// What is wrong with a product whose operands have `a`, `b` and `c` elements, or null. Extents are
// attributes of the plan, buffers belong to the run: neither is trusted by the other.
const char* WhyWrong(const Product& g, int64_t a, int64_t b, int64_t c) {
  if (g.m < 0 || g.n < 0 || g.k < 0 || g.batch < 0) return "an extent is negative";
  if (g.batch == 0) return nullptr;
  if (!Fits(g, g.trans_a ? g.k : g.m, g.trans_a ? g.m : g.k, g.lda, g.stride_a, a))
    return "A is too small";
  if (!Fits(g, g.trans_b ? g.n : g.k, g.trans_b ? g.k : g.n, g.ldb, g.stride_b, b))
    return "B is too small";
  if (!Fits(g, g.m, g.n, g.ldc, g.stride_c, c)) return "C is too small";
  return nullptr;
}

// C of one matrix, rows [i0, i0 + rows), columns [j0, j0 + cols).
struct Tile {
  int64_t i0, rows, j0, cols;
};

// C = beta · C within a tile. beta = 0 overwrites, so that what C held before (NaN, say) does not
// count.
template <typename T>
void Scale(const Product& g, T* c, Tile t) {
  if (g.beta == 1) return;
  for (int64_t i = t.i0; i < t.i0 + t.rows; ++i)
    for (int64_t j = t.j0; j < t.j0 + t.cols; ++j)
      c[i * g.ldc + j] = g.beta == 0 ? T{0} : c[i * g.ldc + j] * static_cast<T>(g.beta);
}

// Blocks of op(B) that stay in cache; the innermost loop runs along rows of C, so that it
// vectorises without reordering sums.
constexpr int64_t kDepth = 64;
constexpr int64_t kWidth = 128;

// float64: blocks of kDepth rows of op(B) are packed, and every row of C adds factor · row of the
// block. Each element of C sums over k in rising order.
bool TileProduct(const Product& g, const double* a, const double* b, double* c, Tile t) {
  double block[kDepth * kWidth];
  Scale(g, c, t);
  for (int64_t j0 = t.j0; j0 < t.j0 + t.cols; j0 += kWidth) {
    const int64_t width = std::min(kWidth, t.j0 + t.cols - j0);
    for (int64_t k0 = 0; k0 < g.k; k0 += kDepth) {
      const int64_t depth = std::min(kDepth, g.k - k0);
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < width; ++j)
          block[k * kWidth + j] =
              g.trans_b ? b[(j0 + j) * g.ldb + k0 + k] : b[(k0 + k) * g.ldb + j0 + j];
      for (int64_t i = t.i0; i < t.i0 + t.rows; ++i) {
        double* __restrict row = c + i * g.ldc + j0;
        for (int64_t k = 0; k < depth; ++k) {
          const double factor =
              g.alpha * (g.trans_a ? a[(k0 + k) * g.lda + i] : a[i * g.lda + k0 + k]);
          const double* __restrict from = block + k * kWidth;
          for (int64_t j = 0; j < width; ++j) row[j] += factor * from[j];
        }
      }
    }
  }
  return true;
}

// float32: oneDNN on the tile, with one thread.
bool TileProduct(const Product& g, const float* a, const float* b, float* c, Tile t) {
  if (g.k == 0) {
    Scale(g, c, t);
    return true;
  }
  const float* a0 = a + (g.trans_a ? t.i0 : t.i0 * g.lda);
  const float* b0 = b + (g.trans_b ? t.j0 * g.ldb : t.j0);
  return dnnl_sgemm(g.trans_a ? 'T' : 'N', g.trans_b ? 'T' : 'N', t.rows, t.cols, g.k,
                    static_cast<float>(g.alpha), a0, g.lda, b0, g.ldb, static_cast<float>(g.beta),
                    c + t.i0 * g.ldc + t.j0, g.ldc) == dnnl_success;
}

// Tiles depend on the extents only, never on the number of threads.
struct Grid {
  int64_t tile_m, tile_n, along_m, along_n;
};

// Cuts the longer extent of C into tiles of at least kWorthATile multiplications, multiples of 16
// rows or columns, so that vectors stay whole.
Grid MakeGrid(const Product& g) {
  // Below this many multiplications a tile is not worth a thread; more tiles than this pack B too
  // often.
  constexpr double kWorthATile = 4e6;
  constexpr double kMostTiles = 16;
  constexpr int64_t kQuantum = 16;
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) *
                      static_cast<double>(std::max<int64_t>(g.k, 1));
  const auto tiles = static_cast<int64_t>(std::clamp(work / kWorthATile, 1.0, kMostTiles));
  const bool by_rows = g.m >= g.n;
  const int64_t extent = by_rows ? g.m : g.n;
  const int64_t size = ((extent + tiles - 1) / tiles + kQuantum - 1) / kQuantum * kQuantum;
  const int64_t count = std::max<int64_t>((extent + size - 1) / std::max<int64_t>(size, 1), 1);
  return by_rows ? Grid{size, g.n, count, 1} : Grid{g.m, size, 1, count};
}

// Work items are (matrix of the batch, tile); batches of small matrices are given out several at a
// time, so that an item is worth a thread.
template <typename T>
int32_t Run(DtContext* context, const Product& g, const T* a, const T* b, T* c) {
  if (g.m == 0 || g.n == 0 || g.batch == 0) return 0;
  std::atomic<bool> ok{true};
  const Grid grid = MakeGrid(g);
  const int64_t tiles = grid.along_m * grid.along_n;
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) *
                      static_cast<double>(std::max<int64_t>(g.k, 1));
  const int64_t grain = tiles > 1 ? 1 : static_cast<int64_t>(std::clamp(1e6 / work, 1.0, 1e6));
  Parallel(context, g.batch * tiles, grain, [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      const int64_t tile = i % tiles, matrix = i / tiles;
      const int64_t row = tile / grid.along_n * grid.tile_m,
                    column = tile % grid.along_n * grid.tile_n;
      const bool done = TileProduct(
          g, a + matrix * g.stride_a, b + matrix * g.stride_b, c + matrix * g.stride_c,
          {row, std::min(grid.tile_m, g.m - row), column, std::min(grid.tile_n, g.n - column)});
      if (!done) ok.store(false);
    }
  });
  return ok ? 0 : dt_fail(context, "oneDNN refused the product");
}

}  // namespace

int32_t Multiply(DtContext* context, const Product& product, const float* a, const float* b,
                 float* c) {
  return Run(context, product, a, b, c);
}
int32_t Multiply(DtContext* context, const Product& product, const double* a, const double* b,
                 double* c) {
  return Run(context, product, a, b, c);
}

int32_t Multiply(DtContext* context, DType dtype, const Product& product, const void* a,
                 const void* b, void* c) {
  switch (dtype) {
    case DType::kFloat32:
      return Multiply(context, product, static_cast<const float*>(a), static_cast<const float*>(b),
                      static_cast<float*>(c));
    case DType::kFloat64:
      return Multiply(context, product, static_cast<const double*>(a),
                      static_cast<const double*>(b), static_cast<double*>(c));
    default: return dt_fail(context, "a product of %s, expected float32 or float64", NameOf(dtype));
  }
}

// The library call: C = alpha · op(A) op(B), row-major with leading extents, `batch` times at
// strides. All extents are checked against the buffers before oneDNN sees them.
int32_t Gemm(OpCall& call) {
  using A = args::dt_gemm;
  const DtBuffer &a = call.Arg(A::A), &b = call.Arg(A::B), &c = call.Arg(A::C);
  Product g{call.Bool(A::trans_a), call.Bool(A::trans_b), call.Int(A::m),   call.Int(A::n),
            call.Int(A::k),        call.Int(A::lda),      call.Int(A::ldb), call.Int(A::ldc)};
  g.alpha = call.Real(A::alpha);
  g.batch = call.Int(A::batch);
  g.stride_a = call.Int(A::stride_a);
  g.stride_b = call.Int(A::stride_b);
  g.stride_c = call.Int(A::stride_c);
  if (!SameType(call, a, b) || !SameType(call, a, c)) return 1;
  if (const char* why = WhyWrong(g, Elements(a), Elements(b), Elements(c)))
    return call.Fail("%s for %lldx%lldx%lld, batch %lld", why, static_cast<long long>(g.m),
                     static_cast<long long>(g.n), static_cast<long long>(g.k),
                     static_cast<long long>(g.batch));
  return VisitFloat(call.context(), c, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Run<T>(call.context(), g, Data<const T>(a), Data<const T>(b), Data<T>(c));
  });
}

}  // namespace dtranspile::kernels
