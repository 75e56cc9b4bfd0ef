// Products of matrices of complex numbers, with batches that broadcast. A gradient is that of the
// two parts, dx + i dy, so that factors enter it conjugated.
#include <algorithm>
#include <complex>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// Matrices [batch..., rows, columns] as stored, and how they stand in a product.
struct Factor {
  const DtBuffer* buffer = nullptr;
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;
  bool transposed = false, conjugated = false;

  int64_t height() const { return transposed ? columns : rows; }
  int64_t width() const { return transposed ? rows : columns; }
  Factor flipped() const {
    Factor f = *this;
    f.transposed = !transposed;
    return f;
  }
  Factor conjugate() const {
    Factor f = *this;
    f.conjugated = true;
    return f;
  }
};

// A tensor of rank 1 is a row on the left, a column on the right, whatever is said of
// transposition.
Factor FactorOf(const DtBuffer& buffer, bool transposed, bool left) {
  if (buffer.rank < 2) {
    const int64_t n = buffer.rank == 0 ? 1 : buffer.dims[0];
    return {&buffer, {}, left ? 1 : n, left ? n : 1};
  }
  return {&buffer,
          {buffer.dims, buffer.dims + buffer.rank - 2},
          buffer.dims[buffer.rank - 2],
          buffer.dims[buffer.rank - 1],
          transposed};
}

bool BroadcastBatch(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                    std::vector<int64_t>& out) {
  out.assign(std::max(a.size(), b.size()), 1);
  for (const std::vector<int64_t>* from : {&a, &b})
    for (size_t i = 0; i < from->size(); ++i) {
      const int64_t extent = (*from)[from->size() - 1 - i];
      int64_t& to = out[out.size() - 1 - i];
      if (to != 1 && extent != 1 && extent != to) return false;
      if (extent != 1) to = extent;
    }
  return true;
}

// The matrix of a side that belongs to number `at` of the batch.
int64_t PlaceOf(int64_t at, const std::vector<int64_t>& batch, const std::vector<int64_t>& own) {
  int64_t place = 0, stride = 1;
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t extent = own[own.size() - 1 - i], of = batch[batch.size() - 1 - i];
    if (extent != 1) place += at % of * stride;
    at /= of;
    stride *= extent;
  }
  return place;
}

template <typename C>
C At(const Factor& f, const C* matrix, int64_t row, int64_t column) {
  const C value =
      f.transposed ? matrix[column * f.columns + row] : matrix[row * f.columns + column];
  return f.conjugated ? std::conj(value) : value;
}

// Adds up what belongs to one matrix of `out`, whose batch may be smaller than that of the product.
template <typename C>
void Multiply(const Factor& a, const Factor& b, DtBuffer& out,
              const std::vector<int64_t>& out_batch, const std::vector<int64_t>& batch) {
  const int64_t m = a.height(), k = a.width(), n = b.width();
  int64_t count = 1;
  for (int64_t extent : batch) count *= extent;
  std::fill_n(Data<C>(out), Elements(out), C(0));
  for (int64_t at = 0; at < count; ++at) {
    const C* left = Data<C>(*a.buffer) + PlaceOf(at, batch, a.batch) * a.rows * a.columns;
    const C* right = Data<C>(*b.buffer) + PlaceOf(at, batch, b.batch) * b.rows * b.columns;
    C* to = Data<C>(out) + PlaceOf(at, batch, out_batch) * m * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l) {
        const C factor = At(a, left, i, l);
        for (int64_t j = 0; j < n; ++j) to[i * n + j] += factor * At(b, right, l, j);
      }
  }
}

int32_t MultiplyParts(OpCall& call, const Factor& a, const Factor& b, DtBuffer& out,
                      const std::vector<int64_t>& out_batch, const std::vector<int64_t>& batch) {
  switch (TypeOf(out)) {
    case DType::kComplex64: Multiply<std::complex<float>>(a, b, out, out_batch, batch); return 0;
    case DType::kComplex128: Multiply<std::complex<double>>(a, b, out, out_batch, batch); return 0;
    default: return call.Fail("'%s' has the element type %s", out.name, TypeName(out));
  }
}

bool FactorsOf(OpCall& call, Factor& a, Factor& b, std::vector<int64_t>& batch) {
  using A = args::dt_complex_matmul;
  static_assert(A::X == args::dt_complex_matmul_grad::X &&
                A::Y == args::dt_complex_matmul_grad::Y &&
                A::trans_x == args::dt_complex_matmul_grad::trans_x &&
                A::trans_y == args::dt_complex_matmul_grad::trans_y);
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  a = FactorOf(x, call.Given(A::trans_x) && call.Bool(A::trans_x), true);
  b = FactorOf(y, call.Given(A::trans_y) && call.Bool(A::trans_y), false);
  if (a.width() == b.height() && TypeOf(x) == TypeOf(y) && BroadcastBatch(a.batch, b.batch, batch))
    return true;
  call.Fail("'%s' and '%s' have extents (or element types) that cannot be multiplied", x.name,
            y.name);
  return false;
}

}  // namespace

// X, Y; trans_x, trans_y -> Out
int32_t ComplexMatmul(OpCall& call) {
  using A = args::dt_complex_matmul;
  Factor a, b;
  std::vector<int64_t> batch;
  if (!FactorsOf(call, a, b, batch)) return 1;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims = batch;
  if (call.Arg(A::X).rank > 1) dims.push_back(a.height());
  if (call.Arg(A::Y).rank > 1) dims.push_back(b.width());
  if (dims.empty() && out.rank > 0) dims.push_back(1);
  if (!call.Resize(out, dims)) return 1;
  return MultiplyParts(call, a, b, out, batch, batch);
}

// X, Y, Out@GRAD; trans_x, trans_y -> X@GRAD, Y@GRAD
// For C = A B: dA = dC Bᴴ, dB = Aᴴ dC; with op(A) = Aᵀ: dA = conj(B) dCᵀ, and likewise for B.
int32_t ComplexMatmulGrad(OpCall& call) {
  using A = args::dt_complex_matmul_grad;
  Factor a, b;
  std::vector<int64_t> batch;
  if (!FactorsOf(call, a, b, batch)) return 1;
  const DtBuffer& given = call.Arg(A::Out_GRAD);
  const Factor gradient{&given, batch, a.height(), b.width()};
  int64_t expected = gradient.rows * gradient.columns;
  for (int64_t extent : batch) expected *= extent;
  if (Elements(given) != expected || TypeOf(given) != TypeOf(call.Arg(A::X)))
    return call.Fail("'%s' has not the extents and the type of the product", given.name);
  auto multiply = [&](const Factor& left, const Factor& right, const Factor& like, int slot) {
    DtBuffer& to = call.Arg(slot);
    return call.Resize(to, *like.buffer) ? MultiplyParts(call, left, right, to, like.batch, batch)
                                         : 1;
  };
  const Factor other = b.conjugate(), own = a.conjugate();
  if (call.Has(A::X_GRAD) &&
      (a.transposed ? multiply(other, gradient.flipped(), a, A::X_GRAD)
                    : multiply(gradient, other.flipped(), a, A::X_GRAD)) != 0)
    return 1;
  if (!call.Has(A::Y_GRAD)) return 0;
  return b.transposed ? multiply(gradient.flipped(), own, b, A::Y_GRAD)
                      : multiply(own.flipped(), gradient, b, A::Y_GRAD);
}

}  // namespace dtranspile::kernels
