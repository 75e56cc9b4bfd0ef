// Lowering rules: family `linear_algebra`, but for its norms (norms.cc). Products of fixed extents
// that one call can do are dt_gemm, the others dt_matmul.
//
// Gradients of a product, in terms of products again. With C = op(A) · op(B) and G the gradient of
// C (all as matrices, T the transpose):
//
//   C = A  · B     dA = G  · Bᵀ    dB = Aᵀ · G
//   C = Aᵀ · B     dA = B  · Gᵀ    dB = A  · G
//   C = A  · Bᵀ    dA = G  · B     dB = Gᵀ · A
//   C = Aᵀ · Bᵀ    dA = Bᵀ · Gᵀ    dB = Gᵀ · Aᵀ
//
// Written with `flipped`, which toggles a factor's transposition, the two rows of each factor are
// one expression: dA = G · flipped(op(B)), and the transpose of that where A itself is transposed.
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

bool isKnown(const TensorRef& tensor) {
  return llvm::none_of(tensor.dims, [](int64_t extent) { return extent < 0; });
}

llvm::ArrayRef<int64_t> withoutLeadingOnes(llvm::ArrayRef<int64_t> dims) {
  return dims.drop_while([](int64_t extent) { return extent == 1; });
}

// Whether `multiply` below does it: batches equal, or one side without.
bool plainBatches(const Matrices& a, const Matrices& b) {
  if (!isKnown(a.tensor) || !isKnown(b.tensor)) return false;
  const auto x = withoutLeadingOnes(a.batch), y = withoutLeadingOnes(b.batch);
  return x == y || x.empty() || y.empty();
}

// out = alpha · op(a) · op(b); batches are equal, or one side has a batch of one that is repeated.
// Where `out` has a batch of one and the factors more, their batch must lie along the contracted
// dim (untransposed b, transposed a): the sum over the batch is one product.
LogicalResult multiply(OpLowering& op, Matrices a, Matrices b, Matrices out, double alpha) {
  if (out.tensor.elements() == 0) return llvm::success();  // nothing to compute
  const bool none = a.batchSize() == 0 || b.batchSize() == 0;
  const int64_t batch = std::max(a.batchSize(), b.batchSize());
  int64_t m = a.transposed ? a.columns : a.rows, k = a.transposed ? a.rows : a.columns,
          n = b.transposed ? b.rows : b.columns;
  int64_t repeats = batch;
  if (none) {
    k = 0;  // sums of no products
    repeats = 1;
  } else if (batch > 1 && out.batchSize() == 1) {
    if (!a.transposed || b.transposed || a.batchSize() != b.batchSize())
      return op.unsupported("this combination of transposition and broadcast batch");
    k *= batch;
    repeats = 1;
  } else if (batch > 1 && b.batchSize() == 1 && !a.transposed) {
    m *= batch;  // one tall product
    repeats = 1;
  } else if ((a.batchSize() != batch && a.batchSize() != 1) ||
             (b.batchSize() != batch && b.batchSize() != 1)) {
    return op.unsupported("batch dims that broadcast in part");
  }
  auto stride = [&](const Matrices& x) {
    return repeats > 1 && x.batchSize() > 1 ? x.rows * x.columns : 0;
  };
  op.call("dt_gemm", {.tensors = {{"A", a.tensor}, {"B", b.tensor}, {"C", out.tensor}},
                      .attributes = {{"trans_a", a.transposed},
                                     {"trans_b", b.transposed},
                                     {"m", m},
                                     {"n", n},
                                     {"k", k},
                                     {"lda", a.columns},
                                     {"ldb", b.columns},
                                     {"ldc", out.columns},
                                     {"batch", repeats},
                                     {"stride_a", stride(a)},
                                     {"stride_b", stride(b)},
                                     {"stride_c", stride(out)},
                                     {"alpha", alpha}}});
  return llvm::success();
}

std::string text(const TensorRef& tensor) {
  std::string s;
  for (int64_t extent : tensor.dims) s += (s.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + s + "]";
}

// What the inference of the forward op has seen to; a program may hold the gradient without it.
LogicalResult noGradient(OpLowering& op, const TensorRef& x, const TensorRef& y,
                         const TensorRef& gradient) {
  return op.op().operation()->emitError()
         << op.op().type() << ": Out@GRAD " << text(gradient)
         << " is no gradient of a product of X " << text(x) << " and Y " << text(y);
}

// Whether `out` has as many elements as op(a) · op(b), whose contracted extents agree. Of no
// elements there is no product to look at.
bool isProduct(const Matrices& a, const Matrices& b, const TensorRef& out) {
  const int64_t m = a.transposed ? a.columns : a.rows, k = a.transposed ? a.rows : a.columns,
                n = b.transposed ? b.rows : b.columns;
  if (a.tensor.elements() == 0 || b.tensor.elements() == 0) return true;
  return k == (b.transposed ? b.columns : b.rows) &&
         out.elements() == std::max(a.batchSize(), b.batchSize()) * m * n;
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
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"),
       dy = op.out("Y@GRAD");
  if (!x || !y || !gradient) return op.unsupported("an absent input");
  const size_t xn = op.op().getInt("x_num_col_dims"), yn = op.op().getInt("y_num_col_dims");
  if (xn < 1 || xn >= x->dims.size() || yn < 1 || yn >= y->dims.size())
    return noGradient(op, *x, *y, *gradient);
  Matrices a{*x, {}, productOf(x->dims, 0, xn), productOf(x->dims, xn, x->dims.size())};
  Matrices b{*y, {}, productOf(y->dims, 0, yn), productOf(y->dims, yn, y->dims.size())};
  Matrices g{*gradient, {}, a.rows, b.columns};
  if (!isProduct(a, b, *gradient)) return noGradient(op, *x, *y, *gradient);
  if (dx && failed(multiply(op, g, b.flipped(), {*dx, {}, a.rows, a.columns}, 1)))
    return llvm::failure();
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
  // Names of 1.x, of 2.x, or none (bmm).
  auto attribute = [&](llvm::StringRef name) { return op.op().spec()->attribute(name) != nullptr; };
  auto flag = [&](llvm::StringRef old, llvm::StringRef now) {
    return attribute(old) ? op.op().getBool(old) : attribute(now) && op.op().getBool(now);
  };
  return {matrices(x, flag("transpose_X", "trans_x"), true),
          matrices(y, flag("transpose_Y", "trans_y"), false),
          attribute("alpha") ? op.op().getFloat("alpha") : 1.0};
}

std::vector<int64_t> longer(const Matrices& a, const Matrices& b) {
  return a.batchSize() >= b.batchSize() ? a.batch : b.batch;
}

// op(a) · op(b) as a batch of matrices in `out`.
Matrices resultOf(const Product& p, const TensorRef& out) {
  return {out, longer(p.a, p.b), p.a.transposed ? p.a.columns : p.a.rows,
          p.b.transposed ? p.b.rows : p.b.columns};
}

// Of attention fused for inference: columns in groups, each of them a product of its own.
bool hasHeads(const OpLowering& op) {
  return op.op().spec()->attribute("head_number") && op.op().getInt("head_number") != 1;
}

LogicalResult lowerMatmul(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), out = op.out("Out");
  if (!x || !y || !out) return op.unsupported("an absent input");
  if (hasHeads(op)) return op.unsupported("head_number other than 1");
  if (op.hasUnknown()) return op.callRow();  // even the ranks may be
  Product p = productOf(op, *x, *y);
  if (!plainBatches(p.a, p.b)) return op.callRow();
  return multiply(op, p.a, p.b, resultOf(p, *out), p.alpha);
}

// A gradient that is a sum over the batch is one product only where the batch lies along the
// contracted dim of both factors.
bool plainGradients(const Product& p) {
  const int64_t a = p.a.batchSize(), b = p.b.batchSize();
  return a == b || (a > b && !p.a.transposed);
}

// dX = dOut · Yᵀ, dY = Xᵀ · dOut, each as its factor is stored.
LogicalResult multiplyGradients(OpLowering& op, const Product& p, const TensorRef& gradient,
                                std::optional<TensorRef> dx, std::optional<TensorRef> dy) {
  const Matrices g = resultOf(p, gradient);
  if (dx) {
    Matrices to{*dx, p.a.batch, p.a.rows, p.a.columns};
    LogicalResult done = p.a.transposed ? multiply(op, p.b, g.flipped(), to, p.alpha)
                                        : multiply(op, g, p.b.flipped(), to, p.alpha);
    if (failed(done)) return llvm::failure();
  }
  if (!dy) return llvm::success();
  Matrices to{*dy, p.b.batch, p.b.rows, p.b.columns};
  return p.b.transposed ? multiply(op, g.flipped(), p.a, to, p.alpha)
                        : multiply(op, p.a.flipped(), g, to, p.alpha);
}

LogicalResult lowerMatmulGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"),
       dy = op.out("Y@GRAD");
  if (!x || !y || !gradient) return op.unsupported("an absent input");
  if (op.hasUnknown()) return op.callRow();
  if (x->dims.empty() || y->dims.empty()) return noGradient(op, *x, *y, *gradient);
  Product p = productOf(op, *x, *y);
  if (!plainBatches(p.a, p.b) || !plainGradients(p)) return op.callRow();
  if (!isProduct(p.a, p.b, *gradient)) return noGradient(op, *x, *y, *gradient);
  return multiplyGradients(op, p, *gradient, dx, dy);
}

// The same of factors that are no operands of the op.
LogicalResult productGradients(OpLowering& op, const Product& p, const TensorRef& gradient,
                               std::optional<TensorRef> dx, std::optional<TensorRef> dy) {
  if (!plainBatches(p.a, p.b) || !plainGradients(p))
    return op.unsupported("batch dims that broadcast in part");
  if (!isProduct(p.a, p.b, gradient)) return noGradient(op, p.a.tensor, p.b.tensor, gradient);
  return multiplyGradients(op, p, gradient, dx, dy);
}

// The gradient of a product's gradients, which are themselves products: of dX = dOut · Yᵀ and
// dY = Xᵀ · dOut. With what flows into those, `ddx` and `ddy`: grad_out@GRAD = ddx · Y + X · ddy,
// X@GRAD = dOut · ddyᵀ, Y@GRAD = ddxᵀ · dOut.
LogicalResult lowerMatmulSecondGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), g = op.in("grad_out"), ddx = op.in("grad_x@GRAD"),
       ddy = op.in("grad_y@GRAD"), dx = op.out("X@GRAD"), dy = op.out("Y@GRAD"),
       ddout = op.out("grad_out@GRAD");
  if (!x || !y || !g) return op.unsupported("an absent input");
  if (op.hasUnknown()) return op.unsupported("extents that depend on data");
  if (x->dims.empty() || y->dims.empty()) return noGradient(op, *x, *y, *g);
  if (ddout) {
    std::vector<TensorRef> terms;
    for (auto [a, b] : {std::pair{ddx, y}, {x, ddy}}) {
      if (!a || !b) continue;
      const Product p = productOf(op, *a, *b);
      if (!plainBatches(p.a, p.b)) return op.unsupported("batch dims that broadcast in part");
      terms.push_back(op.temporary("term", ddout->dtype, ddout->dims));
      if (failed(multiply(op, p.a, p.b, resultOf(p, terms.back()), 1))) return llvm::failure();
    }
    OpLowering::Bindings bindings;
    std::string text = "grad_out@GRAD = 0 * grad_out";
    for (auto [i, term] : llvm::enumerate(terms)) {
      bindings.tensors.emplace_back("t" + std::to_string(i), term);
      text += " + t" + std::to_string(i);
    }
    if (failed(op.formula(text, bindings))) return llvm::failure();
  }
  if (dx && !ddy) return op.formula("X@GRAD = 0 * X");
  if (dx && failed(productGradients(op, productOf(op, *x, *ddy), *g, dx, std::nullopt)))
    return llvm::failure();
  if (dy && !ddx) return op.formula("Y@GRAD = 0 * Y");
  return dy ? productGradients(op, productOf(op, *ddx, *y), *g, std::nullopt, dy) : llvm::success();
}

// An output that is a sum of products, of which some may be absent.
LogicalResult sumOf(OpLowering& op, llvm::StringRef slot, llvm::ArrayRef<TensorRef> terms) {
  OpLowering::Bindings bindings;
  std::string text = (slot + " = 0").str();
  for (auto [i, term] : llvm::enumerate(terms)) {
    bindings.tensors.emplace_back("t" + std::to_string(i), term);
    text += " + t" + std::to_string(i);
  }
  return op.formula(text, bindings);
}

// And the gradient of the second gradient's results. With what flows into X@GRAD, Y@GRAD and
// grad_out@GRAD, `a`, `b` and `c`: X@GRAD = c · ddyᵀ, Y@GRAD = ddxᵀ · c, grad_out@GRAD = a · ddy +
// ddx · b, grad_grad_x@GRAD = dOut · bᵀ + c · Yᵀ, grad_grad_y@GRAD = aᵀ · dOut + Xᵀ · c.
LogicalResult lowerMatmulThirdGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), g = op.in("grad_out"), ddx = op.in("grad_grad_x"),
       ddy = op.in("grad_grad_y"), a = op.in("grad_x@GRAD"), b = op.in("grad_y@GRAD"),
       c = op.in("grad_grad_out@GRAD");
  if (!x || !y || !g) return op.unsupported("an absent input");
  if (op.hasUnknown()) return op.unsupported("extents that depend on data");
  if (x->dims.empty() || y->dims.empty()) return noGradient(op, *x, *y, *g);
  if (auto out = op.out("grad_out@GRAD")) {
    std::vector<TensorRef> terms;
    for (auto [left, right] : {std::pair{a, ddy}, {ddx, b}}) {
      if (!left || !right) continue;
      const Product p = productOf(op, *left, *right);
      if (!plainBatches(p.a, p.b)) return op.unsupported("batch dims that broadcast in part");
      terms.push_back(op.temporary("term", out->dtype, out->dims));
      if (failed(multiply(op, p.a, p.b, resultOf(p, terms.back()), 1))) return llvm::failure();
    }
    if (failed(sumOf(op, "grad_out@GRAD", terms))) return llvm::failure();
  }
  // Gradients by the left (or the right) factor of products, given what flows into each product.
  struct Part {
    std::optional<TensorRef> left, right, flow;
  };
  auto give = [&](llvm::StringRef slot, bool ofLeft, std::initializer_list<Part> parts) {
    auto out = op.out(slot);
    if (!out) return llvm::success();
    std::vector<TensorRef> terms;
    for (const Part& part : parts) {
      if (!part.left || !part.right || !part.flow) continue;
      terms.push_back(op.temporary("term", out->dtype, out->dims));
      const auto by = std::optional<TensorRef>(terms.back());
      if (failed(productGradients(op, productOf(op, *part.left, *part.right), *part.flow,
                                  ofLeft ? by : std::nullopt, ofLeft ? std::nullopt : by)))
        return llvm::failure();
    }
    return sumOf(op, slot, terms);
  };
  if (failed(give("X@GRAD", true, {{x, ddy, c}})) || failed(give("Y@GRAD", false, {{ddx, y, c}})) ||
      failed(give("grad_grad_x@GRAD", true, {{x, b, g}, {x, y, c}})))
    return llvm::failure();
  return give("grad_grad_y@GRAD", false, {{a, y, g}, {x, y, c}});
}

// The same of mul, whose operands are matrices of grouped dims.
LogicalResult lowerMulSecondGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), g = op.in("DOut"), ddx = op.in("DDX"), ddy = op.in("DDY"),
       dx = op.out("DX"), dy = op.out("DY"), ddout = op.out("DDOut");
  if (!x || !y || !g) return op.unsupported("an absent input");
  if (op.hasUnknown()) return op.unsupported("extents that depend on data");
  const std::vector<std::pair<llvm::StringRef, OpLowering::CallValue>> columns = {
      {"x_num_col_dims", op.op().getInt("x_num_col_dims")},
      {"y_num_col_dims", op.op().getInt("y_num_col_dims")}};
  if (ddout) {
    OpLowering::Bindings bindings;
    std::string text = "DDOut = 0 * DOut";
    for (auto [a, b] : {std::pair{ddx, y}, {x, ddy}}) {
      if (!a || !b) continue;
      const std::string name = "t" + std::to_string(bindings.tensors.size());
      bindings.tensors.emplace_back(name, op.temporary("term", ddout->dtype, ddout->dims));
      text += " + " + name;
      op.call("dt_mul", {.tensors = {{"X", *a}, {"Y", *b}, {"Out", bindings.tensors.back().second}},
                         .attributes = columns});
    }
    if (failed(op.formula(text, bindings))) return llvm::failure();
  }
  if (dx && ddy)
    op.call("dt_mul_grad", {.tensors = {{"X", *x}, {"Y", *ddy}, {"Out@GRAD", *g}, {"X@GRAD", *dx}},
                            .attributes = columns});
  else if (dx && failed(op.formula("DX = 0 * X"))) return llvm::failure();
  if (dy && ddx)
    op.call("dt_mul_grad", {.tensors = {{"X", *ddx}, {"Y", *y}, {"Out@GRAD", *g}, {"Y@GRAD", *dy}},
                            .attributes = columns});
  else if (dy) return op.formula("DY = 0 * Y");
  return llvm::success();
}

// addmm: Beta · Input + Alpha · X · Y, Input broadcast.
LogicalResult lowerAddmm(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), out = op.out("Out");
  if (!x || !y || !out) return op.unsupported("an absent input");
  if (!isKnown(*x) || !isKnown(*y)) return op.unsupported("extents that depend on data");
  TensorRef product = op.temporary("product", out->dtype, out->dims);
  Matrices a{*x, {}, x->dims[0], x->dims[1]}, b{*y, {}, y->dims[0], y->dims[1]};
  if (failed(multiply(op, a, b, {product, {}, a.rows, b.columns}, op.op().getFloat("Alpha"))))
    return llvm::failure();
  return op.formula("Out = Beta * Input + product", {.tensors = {{"product", product}}});
}

LogicalResult lowerAddmmGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"),
       dy = op.out("Y@GRAD");
  if (!x || !y || !gradient) return op.unsupported("an absent input");
  if (!isKnown(*x) || !isKnown(*y) || !isKnown(*gradient))
    return op.unsupported("extents that depend on data");
  if (x->dims.size() != 2 || y->dims.size() != 2) return noGradient(op, *x, *y, *gradient);
  Matrices a{*x, {}, x->dims[0], x->dims[1]}, b{*y, {}, y->dims[0], y->dims[1]},
      g{*gradient, {}, a.rows, b.columns};
  if (!isProduct(a, b, *gradient)) return noGradient(op, *x, *y, *gradient);
  const double alpha = op.op().getFloat("Alpha");
  if (op.out("Input@GRAD") && failed(op.formula("Input@GRAD = Beta * Out@GRAD")))
    return llvm::failure();
  if (dx && failed(multiply(op, g, b.flipped(), {*dx, {}, a.rows, a.columns}, alpha)))
    return llvm::failure();
  return dy ? multiply(op, a.flipped(), g, {*dy, {}, b.rows, b.columns}, alpha) : llvm::success();
}

// fsp: products of channels, averaged over the places. X [n, p, h, w], Y [n, q, h, w] -> [n, p, q].
Matrices channels(const TensorRef& t) { return {t, {t.dims[0]}, t.dims[1], t.dims[2] * t.dims[3]}; }

LogicalResult lowerFsp(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), out = op.out("Out");
  if (!x || !y || !out || x->dims.size() != 4 || y->dims.size() != 4)
    return op.unsupported("an absent input or another rank than 4");
  if (!isKnown(*x) || !isKnown(*y)) return op.unsupported("extents that depend on data");
  Matrices a = channels(*x), b = channels(*y);
  return multiply(op, a, b.flipped(), {*out, a.batch, a.rows, b.rows},
                  1.0 / static_cast<double>(a.columns));
}

LogicalResult lowerFspGrad(OpLowering& op) {
  auto x = op.in("X"), y = op.in("Y"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD"),
       dy = op.out("Y@GRAD");
  if (!x || !y || !gradient || x->dims.size() != 4 || y->dims.size() != 4)
    return op.unsupported("an absent input or another rank than 4");
  if (!isKnown(*x) || !isKnown(*y) || !isKnown(*gradient))
    return op.unsupported("extents that depend on data");
  Matrices a = channels(*x), b = channels(*y), g{*gradient, a.batch, a.rows, b.rows};
  if (a.batch != b.batch || !isProduct(a, b.flipped(), *gradient))
    return noGradient(op, *x, *y, *gradient);
  const double scale = 1.0 / static_cast<double>(a.columns);
  if (dx && failed(multiply(op, g, b, {*dx, a.batch, a.rows, a.columns}, scale)))
    return llvm::failure();
  return dy ? multiply(op, g.flipped(), a, {*dy, b.batch, b.rows, b.columns}, scale)
            : llvm::success();
}

// The framework knows factors with exchanges of rows only.
LogicalResult lowerLu(OpLowering& op) {
  if (!op.op().getBool("pivots")) return op.unsupported("factors without pivots");
  return op.callRow();
}

const LoweringRule kRules[] = {
    lowerRule("mul", lowerMul, "dt_mul"),
    lowerRule("mul_grad", lowerMulGrad, "dt_mul_grad"),
    choiceRule("matmul", lowerMatmul, "dt_matmul(trans_x=transpose_X, trans_y=transpose_Y)"),
    choiceRule("matmul_grad", lowerMatmulGrad,
               "dt_matmul_grad(trans_x=transpose_X, trans_y=transpose_Y)"),
    choiceRule("matmul_v2", lowerMatmul, "dt_matmul(alpha=-)"),
    choiceRule("matmul_v2_grad", lowerMatmulGrad, "dt_matmul_grad(alpha=-)"),
    functionRule("matmul_v2_grad_grad", lowerMatmulSecondGrad),
    functionRule("matmul_v2_triple_grad", lowerMatmulThirdGrad),
    functionRule("mul_grad_grad", lowerMulSecondGrad),
    choiceRule("bmm", lowerMatmul, "dt_matmul(trans_x=-, trans_y=-, alpha=-)"),
    choiceRule("bmm_grad", lowerMatmulGrad, "dt_matmul_grad(trans_x=-, trans_y=-, alpha=-)"),
    callRule("mv", "dt_matmul(Y=Vec, trans_x=-, trans_y=-, alpha=-)"),
    callRule("mv_grad", "dt_matmul_grad(Y=Vec, trans_x=-, trans_y=-, alpha=-, Y@GRAD=Vec@GRAD)"),
    {"dot", Inner::Last, "Out[r] = sum(X * Y)"},
    {"dot_grad", Inner::Last, "X@GRAD = Out@GRAD[r] * Y; Y@GRAD = Out@GRAD[r] * X"},
    functionRule("addmm", lowerAddmm),
    functionRule("addmm_grad", lowerAddmmGrad),
    callRule("bilinear_tensor_product", "dt_bilinear_product"),
    callRule("bilinear_tensor_product_grad", "dt_bilinear_product_grad"),
    functionRule("fsp", lowerFsp),
    functionRule("fsp_grad", lowerFspGrad),
    callRule("einsum", "dt_einsum"),
    callRule("einsum_grad", "dt_einsum_grad"),
    callRule("cross", "dt_cross"),
    callRule("cross_grad", "dt_cross_grad"),
    callRule("kron", "dt_kron"),
    callRule("kron_grad", "dt_kron_grad"),
    callRule("trace", "dt_trace"),
    callRule("trace_grad", "dt_trace_grad"),
    callRule("cholesky", "dt_cholesky"),
    callRule("cholesky_grad", "dt_cholesky_grad"),
    callRule("cholesky_solve", "dt_cholesky_solve"),
    callRule("cholesky_solve_grad", "dt_cholesky_solve_grad"),
    callRule("multi_dot", "dt_multi_dot"),
    callRule("multi_dot_grad", "dt_multi_dot_grad"),
    callRule("qr", "dt_qr"),
    callRule("qr_grad", "dt_qr_grad"),
    callRule("matrix_rank", "dt_matrix_rank"),
    callRule("stft", "dt_stft"),
    callRule("stft_grad", "dt_stft_grad"),
    choiceRule("lu", lowerLu, "dt_lu"),
    choiceRule("lu_grad", lowerLu, "dt_lu_grad"),
    callRule("lu_unpack", "dt_lu_unpack"),
    callRule("lu_unpack_grad", "dt_lu_unpack_grad"),
    callRule("eigh", "dt_eigh"),
    callRule("eigh_grad", "dt_eigh_grad"),
    callRule("eigvalsh", "dt_eigh"),
    callRule("eigvalsh_grad", "dt_eigvalsh_grad"),
    callRule("svd", "dt_svd"),
    callRule("svd_grad", "dt_svd_grad"),
    callRule("renorm", "dt_renorm"),
    callRule("renorm_grad", "dt_renorm_grad"),
    callRule("inverse", "dt_inverse"),
    callRule("inverse_grad", "dt_inverse_grad"),
    callRule("determinant", "dt_determinant"),
    callRule("determinant_grad", "dt_determinant_grad"),
    callRule("slogdeterminant", "dt_sign_log_determinant"),
    callRule("slogdeterminant_grad", "dt_sign_log_determinant_grad"),
    callRule("diagonal", "dt_diagonal"),
    callRule("diagonal_grad", "dt_diagonal_grad"),
    callRule("matrix_power", "dt_matrix_power"),
    callRule("matrix_power_grad", "dt_matrix_power_grad"),
    callRule("fft_c2c", "dt_fft(Like=-, onesided=-, last_dim_size=-)"),
    callRule("fft_c2c_grad", "dt_fft(X=Out@GRAD, Like=-, Out=X@GRAD, onesided=-, last_dim_size=-)"),
    callRule("fft_r2c", "dt_fft(Like=-, last_dim_size=-)"),
    callRule("fft_r2c_grad", "dt_fft(X=Out@GRAD, Like=X, Out=X@GRAD, last_dim_size=-)"),
    callRule("fft_c2r", "dt_fft(Like=-, onesided=-)"),
    callRule("fft_c2r_grad", "dt_fft(X=Out@GRAD, Like=-, Out=X@GRAD, onesided=-)"),
    callRule("solve", "dt_solve(upper=-, transpose=-, unitriangular=-)"),
    callRule("solve_grad", "dt_solve_grad(upper=-, transpose=-, unitriangular=-)"),
    callRule("triangular_solve", "dt_solve"),
    callRule("triangular_solve_grad", "dt_solve_grad"),
};

}  // namespace

RuleTable linearAlgebraRules() { return kRules; }

}  // namespace dtranspile::lower
