// Products of matrices whose batches broadcast, or whose extents belong to the run
// (compiler/lower/rules/linear_algebra.cc emits dt_gemm where one call of fixed extents will do),
// and the bilinear product.
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

struct Factors {
  Matrices a, b, out;  // `out` without buffer
  std::vector<int64_t> batch;
  double alpha = 1;
};

// The factors of matmul, matmul_v2, bmm, mv: attributes are trans_x, trans_y and alpha as far as
// the op has them.
bool FactorsOf(OpCall& call, Factors& f) {
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1);
  f.a = Side(x, call.Given(0) && call.Bool(0), true);
  f.b = Side(y, call.Given(1) && call.Bool(1), false);
  f.alpha = call.Given(2) ? call.Real(2) : 1;
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
int32_t Matmul(OpCall& call) {
  Factors f;
  if (!FactorsOf(call, f)) return 1;
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1);
  DtBuffer& out = call.Arg(2);
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
int32_t MatmulGrad(OpCall& call) {
  Factors f;
  if (!FactorsOf(call, f)) return 1;
  Matrices gradient = f.out;
  gradient.buffer = &call.Arg(2);
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
  if (call.Has(3) && (f.a.transposed ? multiply(f.b, gradient.flipped(), f.a, 3)
                                     : multiply(gradient, f.b.flipped(), f.a, 3)) != 0)
    return 1;
  if (!call.Has(4)) return 0;
  return f.b.transposed ? multiply(gradient.flipped(), f.a, f.b, 4)
                        : multiply(f.a.flipped(), gradient, f.b, 4);
}

namespace {

// mul: dims before and after the given numbers are flattened.
bool FlatFactorsOf(OpCall& call, Matrices& a, Matrices& b) {
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1);
  const auto xn = static_cast<int32_t>(call.Int(0)), yn = static_cast<int32_t>(call.Int(1));
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
  Matrices a, b;
  if (!FlatFactorsOf(call, a, b)) return 1;
  DtBuffer& out = call.Arg(2);
  std::vector<int64_t> dims = DimsOf(*a.buffer, 0, static_cast<int32_t>(call.Int(0)));
  dims.insert(dims.end(), b.buffer->dims + call.Int(1), b.buffer->dims + b.buffer->rank);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(*a.buffer));
  return MultiplyBatched(call, a, b, {&out, {}, a.rows, b.columns, false}, {}, 1);
}

// X, Y, Out@GRAD; x_num_col_dims, y_num_col_dims -> X@GRAD, Y@GRAD
int32_t MulGrad(OpCall& call) {
  Matrices a, b;
  if (!FlatFactorsOf(call, a, b)) return 1;
  const Matrices gradient{&call.Arg(2), {}, a.rows, b.columns, false};
  if (Elements(*gradient.buffer) != a.rows * b.columns)
    return call.Fail("'%s' has not the extents of the product", gradient.buffer->name);
  if (call.Has(3)) {
    DtBuffer& dx = call.Arg(3);
    if (!call.Resize(dx, *a.buffer)) return 1;
    OpCall::SetLod(dx, OpCall::LodOf(*a.buffer));
    if (MultiplyBatched(call, gradient, b.flipped(), {&dx, {}, a.rows, a.columns, false}, {}, 1) !=
        0)
      return 1;
  }
  if (!call.Has(4)) return 0;
  DtBuffer& dy = call.Arg(4);
  if (!call.Resize(dy, *b.buffer)) return 1;
  return MultiplyBatched(call, a.flipped(), gradient, {&dy, {}, b.rows, b.columns, false}, {}, 1);
}

namespace {

// X [n, p], Y [n, q], Weight [o, p, q].
struct Bilinear {
  int64_t n, p, q, o;
};

bool BilinearOf(OpCall& call, Bilinear& s) {
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1), &w = call.Arg(2);
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
  Bilinear s;
  if (!BilinearOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1), &w = call.Arg(2);
  DtBuffer& out = call.Arg(4);
  if (call.Has(3) && (Elements(call.Arg(3)) != s.o || TypeOf(call.Arg(3)) != TypeOf(x)))
    return call.Fail("'%s' has not one element per output", call.Arg(3).name);
  if (!call.Resize(out, {s.n, s.o})) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> product(static_cast<size_t>(s.n * s.q));
    for (int64_t o = 0; o < s.o; ++o) {
      if (Multiply(call.context(), TypeOf(x), Contiguous(false, false, s.n, s.q, s.p), x.data,
                   Data<T>(w) + o * s.p * s.q, product.data()) != 0)
        return 1;
      for (int64_t i = 0; i < s.n; ++i) {
        T sum = call.Has(3) ? Data<T>(call.Arg(3))[o] : T{0};
        for (int64_t j = 0; j < s.q; ++j)
          sum += product[static_cast<size_t>(i * s.q + j)] * Data<T>(y)[i * s.q + j];
        Data<T>(out)[i * s.o + o] = sum;
      }
    }
    return 0;
  });
}

// X, Y, Weight, Out@GRAD -> X@GRAD, Y@GRAD, Weight@GRAD, Bias@GRAD
int32_t BilinearProductGrad(OpCall& call) {
  Bilinear s;
  if (!BilinearOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(0), &y = call.Arg(1), &w = call.Arg(2), &gradient = call.Arg(3);
  if (Elements(gradient) != s.n * s.o || TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s' has not the extents of the product", gradient.name);
  for (int slot = 4; slot < 7; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), call.Arg(slot - 4))) return 1;
  if (call.Has(7) && Elements(call.Arg(7)) != s.o && !call.Resize(call.Arg(7), {1, s.o})) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scaled(static_cast<size_t>(s.n * std::max(s.p, s.q)));
    DtContext* context = call.context();
    for (int64_t o = 0; o < s.o; ++o) {
      const T *column = Data<T>(gradient) + o, *matrix = Data<T>(w) + o * s.p * s.q;
      const double beta = o == 0 ? 0 : 1;
      ScaleRows(Data<T>(y), column, s.o, s.n, s.q, scaled.data());
      if (call.Has(4) && Multiply(context, TypeOf(x), Contiguous(false, true, s.n, s.p, s.q, beta),
                                  scaled.data(), matrix, call.Arg(4).data) != 0)
        return 1;
      if (call.Has(6) && Multiply(context, TypeOf(x), Contiguous(true, false, s.p, s.q, s.n),
                                  x.data, scaled.data(), Data<T>(call.Arg(6)) + o * s.p * s.q) != 0)
        return 1;
      ScaleRows(Data<T>(x), column, s.o, s.n, s.p, scaled.data());
      if (call.Has(5) && Multiply(context, TypeOf(x), Contiguous(false, false, s.n, s.q, s.p, beta),
                                  scaled.data(), matrix, call.Arg(5).data) != 0)
        return 1;
      T sum = 0;
      for (int64_t i = 0; i < s.n; ++i) sum += column[i * s.o];
      if (call.Has(7)) Data<T>(call.Arg(7))[o] = sum;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
