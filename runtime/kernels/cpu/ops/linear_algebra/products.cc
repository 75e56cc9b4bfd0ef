// Products of matrices whose batches broadcast, or whose extents belong to the run
// (runtime/kernels/signatures/linear_algebra.calls emits dt_gemm where one call of fixed extents
// will do), and the bilinear product.
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// One side of a product: matrices [batch..., rows, columns] as stored.
struct Matrices {
  const DtBuffer* buffer = nullptr;
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;
  bool transposed = false;

  int64_t height() const { return transposed ? columns : rows; }
  int64_t width() const { return transposed ? rows : columns; }
  Matrices flipped() const {
    Matrices m = *this;
    m.transposed = !transposed;
    return m;
  }
};

std::vector<int64_t> DimsOf(const DtBuffer& buffer, int32_t from, int32_t to) {
  return {buffer.dims + from, buffer.dims + to};
}

// A tensor of rank 1 is a row on the left, a column on the right, whatever is said of
// transposition.
Matrices Side(const DtBuffer& buffer, bool transposed, bool left) {
  if (buffer.rank < 2) {
    const int64_t n = buffer.rank == 0 ? 1 : buffer.dims[0];
    return {&buffer, {}, left ? 1 : n, left ? n : 1, false};
  }
  return {&buffer, DimsOf(buffer, 0, buffer.rank - 2), buffer.dims[buffer.rank - 2],
          buffer.dims[buffer.rank - 1], transposed};
}

// numpy's broadcasting of batches; false where they do not agree.
bool BroadcastBatch(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                    std::vector<int64_t>& out) {
  const size_t rank = std::max(a.size(), b.size());
  out.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())],
                  y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) return false;
    out[i] = x == 1 ? y : x;
  }
  return true;
}

// Strides of a side over the common batch, in matrices; 0 where it is repeated.
std::vector<int64_t> BatchStrides(const Matrices& side, const std::vector<int64_t>& batch) {
  std::vector<int64_t> strides(batch.size(), 0);
  int64_t step = 1;
  for (size_t i = 0; i < side.batch.size(); ++i) {
    const int64_t extent = side.batch[side.batch.size() - 1 - i];
    if (extent != 1) strides[batch.size() - 1 - i] = step;
    step *= extent;
  }
  return strides;
}

// out = alpha · op(a) · op(b) over `batch`; where out has fewer matrices than that, the sum, in the
// order of the batch.
int32_t MultiplyBatched(OpCall& call, const Matrices& a, const Matrices& b, const Matrices& out,
                        const std::vector<int64_t>& batch, double alpha) {
  const DType type = TypeOf(*out.buffer);
  const int64_t size = ElementSize(*out.buffer), a_size = a.rows * a.columns,
                b_size = b.rows * b.columns, out_size = out.rows * out.columns;
  const auto along_a = BatchStrides(a, batch), along_b = BatchStrides(b, batch),
             along_out = BatchStrides(out, batch);
  // The last dim that is no sum goes into one call, the others are walked.
  const size_t last = batch.size();
  const bool joined = last > 0 && (along_out[last - 1] != 0 || batch[last - 1] == 1);
  const int64_t inner = joined ? batch[last - 1] : 1;
  int64_t outer = 1;
  for (size_t i = 0; i < (joined ? last - 1 : last); ++i) outer *= batch[i];
  if (outer * inner == 0) {
    if (Elements(*out.buffer) > 0)
      std::memset(out.buffer->data, 0, static_cast<size_t>(Elements(*out.buffer) * size));
    return 0;
  }
  std::vector<bool> started(
      static_cast<size_t>(Elements(*out.buffer) / std::max<int64_t>(out_size, 1)), false);
  for (int64_t o = 0; o < outer; ++o) {
    int64_t rest = o, at_a = 0, at_b = 0, at_out = 0;
    for (size_t i = joined ? last - 1 : last; i-- > 0; rest /= batch[i]) {
      const int64_t place = rest % batch[i];
      at_a += place * along_a[i], at_b += place * along_b[i], at_out += place * along_out[i];
    }
    Product product = Contiguous(a.transposed, b.transposed, a.height(), b.width(), a.width());
    product.alpha = alpha, product.batch = inner;
    if (joined)
      product.stride_a = along_a[last - 1] * a_size, product.stride_b = along_b[last - 1] * b_size,
      product.stride_c = along_out[last - 1] * out_size;
    if (out_size > 0 && started[static_cast<size_t>(at_out)]) product.beta = 1;
    for (int64_t i = 0; i < inner && out_size > 0; ++i)
      started[static_cast<size_t>(at_out + i * (product.stride_c / out_size))] = true;
    if (Multiply(call.context(), type, product, Data<char>(*a.buffer) + at_a * a_size * size,
                 Data<char>(*b.buffer) + at_b * b_size * size,
                 Data<char>(*out.buffer) + at_out * out_size * size) != 0)
      return 1;
  }
  return 0;
}

// A product as the op asks for it: both sides, extents of the result, and the common batch.
struct Factors {
  Matrices a, b, out;  // `out` without buffer
  std::vector<int64_t> batch;
  double alpha = 1;
};

// The factors of matmul, matmul_v2, bmm, mv: attributes are trans_x, trans_y and alpha as far as
// the op has them.
bool FactorsOf(OpCall& call, Factors& f) {
  using A = args::dt_matmul;
  static_assert(A::X == args::dt_matmul_grad::X && A::Y == args::dt_matmul_grad::Y &&
                A::alpha == args::dt_matmul_grad::alpha &&
                A::trans_x == args::dt_matmul_grad::trans_x &&
                A::trans_y == args::dt_matmul_grad::trans_y);
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  f.a = Side(x, call.Given(A::trans_x) && call.Bool(A::trans_x), true);
  f.b = Side(y, call.Given(A::trans_y) && call.Bool(A::trans_y), false);
  f.alpha = call.Given(A::alpha) ? call.Real(A::alpha) : 1;
  const bool agree = f.a.width() == f.b.height() && TypeOf(x) == TypeOf(y) &&
                     BroadcastBatch(f.a.batch, f.b.batch, f.batch);
  if (!agree)
    return call.Fail("'%s' and '%s' have extents (or element types) that cannot be multiplied",
                     x.name, y.name),
           false;
  f.out = {nullptr, f.batch, f.a.height(), f.b.width(), false};
  return true;
}

}  // namespace

// X, Y; ... -> Out
// Dims that a tensor of rank 1 lacks are left out of the result again, as numpy does.
int32_t Matmul(OpCall& call) {
  using A = args::dt_matmul;
  Factors f;
  if (!FactorsOf(call, f)) return 1;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims = f.batch;
  if (x.rank > 1) dims.push_back(f.out.rows);
  if (y.rank > 1) dims.push_back(f.out.columns);
  if (dims.empty() && out.rank > 0) dims.push_back(1);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  f.out.buffer = &out;
  return MultiplyBatched(call, f.a, f.b, f.out, f.batch, f.alpha);
}

// X, Y, Out@GRAD; ... -> X@GRAD, Y@GRAD
// For C = A B: dA = dC Bᵀ, dB = Aᵀ dC; with op(A) = Aᵀ: dA = B dCᵀ, and likewise for B. Where an
// operand was repeated over the batch MultiplyBatched adds up the matrices of its gradient.
int32_t MatmulGrad(OpCall& call) {
  using A = args::dt_matmul_grad;
  Factors f;
  if (!FactorsOf(call, f)) return 1;
  Matrices gradient = f.out;
  gradient.buffer = &call.Arg(A::Out_GRAD);
  int64_t expected = gradient.rows * gradient.columns;
  for (int64_t d : f.batch) expected *= d;
  if (Elements(*gradient.buffer) != expected)
    return call.Fail("'%s' has not the extents of the product", gradient.buffer->name);
  auto multiply = [&](const Matrices& left, const Matrices& right, const Matrices& like, int slot) {
    DtBuffer& to = call.Arg(slot);
    if (!call.Resize(to, *like.buffer)) return 1;
    OpCall::SetLod(to, OpCall::LodOf(*like.buffer));
    const Matrices out{&to, like.batch, like.rows, like.columns, false};
    return MultiplyBatched(call, left, right, out, f.batch, f.alpha);
  };
  if (call.Has(A::X_GRAD) && (f.a.transposed ? multiply(f.b, gradient.flipped(), f.a, 3)
                                             : multiply(gradient, f.b.flipped(), f.a, 3)) != 0)
    return 1;
  if (!call.Has(A::Y_GRAD)) return 0;
  return f.b.transposed ? multiply(gradient.flipped(), f.a, f.b, 4)
                        : multiply(f.a.flipped(), gradient, f.b, 4);
}

namespace {

// mul: dims before and after the given numbers are flattened.
bool FlatFactorsOf(OpCall& call, Matrices& a, Matrices& b) {
  using A = args::dt_mul;
  static_assert(A::X == args::dt_mul_grad::X && A::Y == args::dt_mul_grad::Y &&
                A::x_num_col_dims == args::dt_mul_grad::x_num_col_dims &&
                A::y_num_col_dims == args::dt_mul_grad::y_num_col_dims);
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  const auto xn = static_cast<int32_t>(call.Int(A::x_num_col_dims)),
             yn = static_cast<int32_t>(call.Int(A::y_num_col_dims));
  if (xn < 1 || xn >= x.rank || yn < 1 || yn >= y.rank)
    return call.Fail("cannot flatten '%s' at %d and '%s' at %d", x.name, xn, y.name, yn), false;
  a = {&x, {}, Elements(x, 0, xn), Elements(x, xn, x.rank), false};
  b = {&y, {}, Elements(y, 0, yn), Elements(y, yn, y.rank), false};
  if (a.columns == b.rows && TypeOf(x) == TypeOf(y)) return true;
  call.Fail("'%s' has %lld columns, '%s' %lld rows (or another element type)", x.name,
            static_cast<long long>(a.columns), y.name, static_cast<long long>(b.rows));
  return false;
}

}  // namespace

// X, Y; x_num_col_dims, y_num_col_dims -> Out
int32_t Mul(OpCall& call) {
  using A = args::dt_mul;
  Matrices a, b;
  if (!FlatFactorsOf(call, a, b)) return 1;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims =
      DimsOf(*a.buffer, 0, static_cast<int32_t>(call.Int(A::x_num_col_dims)));
  dims.insert(dims.end(), b.buffer->dims + call.Int(A::y_num_col_dims),
              b.buffer->dims + b.buffer->rank);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(*a.buffer));
  return MultiplyBatched(call, a, b, {&out, {}, a.rows, b.columns, false}, {}, 1);
}

// X, Y, Out@GRAD; x_num_col_dims, y_num_col_dims -> X@GRAD, Y@GRAD
int32_t MulGrad(OpCall& call) {
  using A = args::dt_mul_grad;
  Matrices a, b;
  if (!FlatFactorsOf(call, a, b)) return 1;
  const Matrices gradient{&call.Arg(A::Out_GRAD), {}, a.rows, b.columns, false};
  if (Elements(*gradient.buffer) != a.rows * b.columns)
    return call.Fail("'%s' has not the extents of the product", gradient.buffer->name);
  if (call.Has(A::X_GRAD)) {
    DtBuffer& dx = call.Arg(A::X_GRAD);
    if (!call.Resize(dx, *a.buffer)) return 1;
    OpCall::SetLod(dx, OpCall::LodOf(*a.buffer));
    if (MultiplyBatched(call, gradient, b.flipped(), {&dx, {}, a.rows, a.columns, false}, {}, 1) !=
        0)
      return 1;
  }
  if (!call.Has(A::Y_GRAD)) return 0;
  DtBuffer& dy = call.Arg(A::Y_GRAD);
  if (!call.Resize(dy, *b.buffer)) return 1;
  return MultiplyBatched(call, a.flipped(), gradient, {&dy, {}, b.rows, b.columns, false}, {}, 1);
}

namespace {

// X [n, p], Y [n, q], Weight [o, p, q].
// Rows, extents of both operands, outputs.
struct Bilinear {
  int64_t n, p, q, o;
};

bool BilinearOf(OpCall& call, Bilinear& s) {
  using A = args::dt_bilinear_product;
  static_assert(A::Weight == args::dt_bilinear_product_grad::Weight &&
                A::X == args::dt_bilinear_product_grad::X &&
                A::Y == args::dt_bilinear_product_grad::Y);
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &w = call.Arg(A::Weight);
  const bool fits = x.rank == 2 && y.rank == 2 && w.rank == 3 && x.dims[0] == y.dims[0] &&
                    w.dims[1] == x.dims[1] && w.dims[2] == y.dims[1] && TypeOf(x) == TypeOf(y) &&
                    TypeOf(x) == TypeOf(w);
  if (!fits)
    return call.Fail("'%s', '%s' and '%s' have not the extents [n, p], [n, q], [o, p, q]", x.name,
                     y.name, w.name),
           false;
  s = {x.dims[0], x.dims[1], y.dims[1], w.dims[0]};
  return true;
}

// rows[i] · scale[i * step], to `out`.
template <typename T>
void ScaleRows(const T* rows, const T* scale, int64_t step, int64_t n, int64_t width, T* out) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) out[i * width + j] = rows[i * width + j] * scale[i * step];
}

}  // namespace

// X, Y, Weight, Bias -> Out: Out[n, o] = X[n] · Weight[o] · Y[n] + Bias[o]
int32_t BilinearProduct(OpCall& call) {
  using A = args::dt_bilinear_product;
  Bilinear s;
  if (!BilinearOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &w = call.Arg(A::Weight);
  DtBuffer& out = call.Arg(A::Out);
  if (call.Has(A::Bias) &&
      (Elements(call.Arg(A::Bias)) != s.o || TypeOf(call.Arg(A::Bias)) != TypeOf(x)))
    return call.Fail("'%s' has not one element per output", call.Arg(A::Bias).name);
  if (!call.Resize(out, {s.n, s.o})) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> product(static_cast<size_t>(s.n * s.q));
    for (int64_t o = 0; o < s.o; ++o) {
      if (Multiply(call.context(), TypeOf(x), Contiguous(false, false, s.n, s.q, s.p), x.data,
                   Data<T>(w) + o * s.p * s.q, product.data()) != 0)
        return 1;
      for (int64_t i = 0; i < s.n; ++i) {
        T sum = call.Has(A::Bias) ? Data<T>(call.Arg(A::Bias))[o] : T{0};
        for (int64_t j = 0; j < s.q; ++j)
          sum += product[static_cast<size_t>(i * s.q + j)] * Data<T>(y)[i * s.q + j];
        Data<T>(out)[i * s.o + o] = sum;
      }
    }
    return 0;
  });
}

// X, Y, Weight, Out@GRAD -> X@GRAD, Y@GRAD, Weight@GRAD, Bias@GRAD
// With dO[n, o] the gradient: dX += (dO[:, o] Y) Weight[o]ᵀ, dY += (dO[:, o] X) Weight[o],
// dWeight[o] = Xᵀ (dO[:, o] Y), dBias[o] = sum of dO[:, o]. Sums over o are in its order (beta).
int32_t BilinearProductGrad(OpCall& call) {
  using A = args::dt_bilinear_product_grad;
  Bilinear s;
  if (!BilinearOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &w = call.Arg(A::Weight),
                 &gradient = call.Arg(A::Out_GRAD);
  if (Elements(gradient) != s.n * s.o || TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s' has not the extents of the product", gradient.name);
  for (int slot = 4; slot < 7; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), call.Arg(slot - 4))) return 1;
  if (call.Has(A::Bias_GRAD) && Elements(call.Arg(A::Bias_GRAD)) != s.o &&
      !call.Resize(call.Arg(A::Bias_GRAD), {1, s.o}))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scaled(static_cast<size_t>(s.n * std::max(s.p, s.q)));
    DtContext* context = call.context();
    for (int64_t o = 0; o < s.o; ++o) {
      const T *column = Data<T>(gradient) + o, *matrix = Data<T>(w) + o * s.p * s.q;
      const double beta = o == 0 ? 0 : 1;
      ScaleRows(Data<T>(y), column, s.o, s.n, s.q, scaled.data());
      if (call.Has(A::X_GRAD) &&
          Multiply(context, TypeOf(x), Contiguous(false, true, s.n, s.p, s.q, beta), scaled.data(),
                   matrix, call.Arg(A::X_GRAD).data) != 0)
        return 1;
      if (call.Has(A::Weight_GRAD) &&
          Multiply(context, TypeOf(x), Contiguous(true, false, s.p, s.q, s.n), x.data,
                   scaled.data(), Data<T>(call.Arg(A::Weight_GRAD)) + o * s.p * s.q) != 0)
        return 1;
      ScaleRows(Data<T>(x), column, s.o, s.n, s.p, scaled.data());
      if (call.Has(A::Y_GRAD) &&
          Multiply(context, TypeOf(x), Contiguous(false, false, s.n, s.q, s.p, beta), scaled.data(),
                   matrix, call.Arg(A::Y_GRAD).data) != 0)
        return 1;
      T sum = 0;
      for (int64_t i = 0; i < s.n; ++i) sum += column[i * s.o];
      if (call.Has(A::Bias_GRAD)) Data<T>(call.Arg(A::Bias_GRAD))[o] = sum;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
