// Lowering rules: family `linear_algebra`. All products are dt_gemm.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// One side of a product as a batch of matrices.
struct Matrices {
  TensorRef tensor;
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;  // as stored
  bool transposed = false;

  int64_t batchSize() const {
    int64_t n = 1;
    for (int64_t d : batch) n *= d;
    return n;
  }
  Matrices flipped() const {
    Matrices m = *this;
    m.transposed = !transposed;
    return m;
  }
};

int64_t productOf(const std::vector<int64_t>& dims, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= dims[i];
  return n;
}

// out = alpha · op(a) · op(b); batches are equal, or one side has a batch of one that is repeated. Where `out` has a batch of one and the
// factors more, their batch must lie along the contracted dim (untransposed b, transposed a): the sum over the batch is one product.
LogicalResult multiply(OpLowering& op, Matrices a, Matrices b, Matrices out, double alpha) {
  const int64_t batch = std::max(a.batchSize(), b.batchSize());
  int64_t m = a.transposed ? a.columns : a.rows, k = a.transposed ? a.rows : a.columns, n = b.transposed ? b.rows : b.columns;
  int64_t repeats = batch;
  if (batch > 1 && out.batchSize() == 1) {
    if (!a.transposed || b.transposed || a.batchSize() != b.batchSize()) return op.unsupported("this combination of transposition and broadcast batch");
    k *= batch;
    repeats = 1;
  } else if (batch > 1 && b.batchSize() == 1 && !a.transposed) {
    m *= batch;  // one tall product
    repeats = 1;
  } else if ((a.batchSize() != batch && a.batchSize() != 1) || (b.batchSize() != batch && b.batchSize() != 1)) {
    return op.unsupported("batch dims that broadcast in part");
  }
  auto stride = [&](const Matrices& x) { return repeats > 1 && x.batchSize() > 1 ? x.rows * x.columns : 0; };
  op.call("dt_gemm", {a.tensor, b.tensor}, {out.tensor},
          {.ints = {a.transposed, b.transposed, m, n, k, a.columns, b.columns, out.columns, repeats, stride(a), stride(b), stride(out)}, .reals = {alpha, 0.0}});
  return llvm::success();
}

// mul: dims before and after the given numbers are flattened.
LogicalResult lowerMul(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), out = op.out("Out");
  if (!x || !y || !out) return op.unsupported("an absent input");
  const size_t xn = op.op().getInt("x_num_col_dims"), yn = op.op().getInt("y_num_col_dims");
  Matrices a{*x, {}, productOf(x->dims, 0, xn), productOf(x->dims, xn, x->dims.size())};
  Matrices b{*y, {}, productOf(y->dims, 0, yn), productOf(y->dims, yn, y->dims.size())};
  return multiply(op, a, b, {*out, {}, a.rows, b.columns}, 1);
}

LogicalResult lowerMulGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"), dy = op.out("Y@GRAD");
  if (!x || !y || !gradient) return op.unsupported("an absent input");
  const size_t xn = op.op().getInt("x_num_col_dims"), yn = op.op().getInt("y_num_col_dims");
  Matrices a{*x, {}, productOf(x->dims, 0, xn), productOf(x->dims, xn, x->dims.size())};
  Matrices b{*y, {}, productOf(y->dims, 0, yn), productOf(y->dims, yn, y->dims.size())};
  Matrices g{*gradient, {}, a.rows, b.columns};
  if (dx && failed(multiply(op, g, b.flipped(), {*dx, {}, a.rows, a.columns}, 1))) return llvm::failure();
  if (dy) return multiply(op, a.flipped(), g, {*dy, {}, b.rows, b.columns}, 1);
  return llvm::success();
}

struct Product {
  Matrices a, b;
  double alpha = 1;
};

// matmul, matmul_v2, bmm. A tensor of rank 1 is a row on the left, a column on the right.
Product productOf(OpLowering& op, const TensorRef& x, const TensorRef& y) {
  auto matrices = [](const TensorRef& t, bool transposed, bool left) {
    Matrices m{t, {}, 1, 1, transposed && t.dims.size() > 1};
    if (t.dims.size() == 1) {
      (left ? m.columns : m.rows) = t.dims[0];
      return m;
    }
    m.batch.assign(t.dims.begin(), t.dims.end() - 2);
    m.rows = t.dims[t.dims.size() - 2];
    m.columns = t.dims.back();
    return m;
  };
  llvm::StringRef type = op.op().type();
  type.consume_back("_grad");
  const bool v2 = type == "matmul_v2", plain = type == "bmm";
  const bool tx = !plain && op.op().getBool(v2 ? "trans_x" : "transpose_X"), ty = !plain && op.op().getBool(v2 ? "trans_y" : "transpose_Y");
  return {matrices(x, tx, true), matrices(y, ty, false), type == "matmul" ? op.op().getFloat("alpha") : 1.0};
}

std::vector<int64_t> longer(const Matrices& a, const Matrices& b) { return a.batchSize() >= b.batchSize() ? a.batch : b.batch; }

LogicalResult lowerMatmul(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), out = op.out("Out");
  if (!x || !y || !out) return op.unsupported("an absent input");
  Product p = productOf(op, *x, *y);
  return multiply(op, p.a, p.b, {*out, longer(p.a, p.b), p.a.transposed ? p.a.columns : p.a.rows, p.b.transposed ? p.b.rows : p.b.columns}, p.alpha);
}

LogicalResult lowerMatmulGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"), dy = op.out("Y@GRAD");
  if (!x || !y || !gradient) return op.unsupported("an absent input");
  Product p = productOf(op, *x, *y);
  Matrices g{*gradient, longer(p.a, p.b), p.a.transposed ? p.a.columns : p.a.rows, p.b.transposed ? p.b.rows : p.b.columns};
  if (dx) {
    Matrices to{*dx, p.a.batch, p.a.rows, p.a.columns};
    LogicalResult done = p.a.transposed ? multiply(op, p.b, g.flipped(), to, p.alpha) : multiply(op, g, p.b.flipped(), to, p.alpha);
    if (failed(done)) return llvm::failure();
  }
  if (!dy) return llvm::success();
  Matrices to{*dy, p.b.batch, p.b.rows, p.b.columns};
  return p.b.transposed ? multiply(op, g.flipped(), p.a, to, p.alpha) : multiply(op, p.a.flipped(), g, to, p.alpha);
}

const LoweringRule kRules[] = {
    lowerRule("mul", lowerMul, "dt_mul(X, Y; x_num_col_dims, y_num_col_dims) -> Out"),
    lowerRule("mul_grad", lowerMulGrad, "dt_mul_grad(X, Y, Out@GRAD; x_num_col_dims, y_num_col_dims) -> X@GRAD, Y@GRAD"),
    {"matmul", Inner::None, nullptr, lowerMatmul},
    {"matmul_grad", Inner::None, nullptr, lowerMatmulGrad},
    {"matmul_v2", Inner::None, nullptr, lowerMatmul},
    {"matmul_v2_grad", Inner::None, nullptr, lowerMatmulGrad},
    {"bmm", Inner::None, nullptr, lowerMatmul},
    {"bmm_grad", Inner::None, nullptr, lowerMatmulGrad},
};

}  // namespace

RuleTable linearAlgebraRules() { return kRules; }

}  // namespace dtranspile::lower
