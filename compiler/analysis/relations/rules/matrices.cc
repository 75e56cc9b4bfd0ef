// Relation rules: family `linear_algebra`, second part: what is made of single matrices. The dims
// in front of the last two are a batch, whose matrices do not see each other. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Labels of a result with one element per matrix: of `rows` batch dims.
Labels rowLabels(mlir::Value value, int rows) {
  Labels labels = ownLabels(value);
  for (int i = rows; i < static_cast<int>(labels.size()); ++i) labels[i] = kBroadcastDim;
  return labels;
}

// A number per matrix: the dims in front of its two.
Labels matrixLabels(mlir::Value matrices) {
  Labels labels = ownLabels(matrices);
  for (int i = 0, n = static_cast<int>(labels.size()); i < 2 && i < n; ++i)
    labels[n - 1 - i] = kWholeDim;
  return labels;
}

void matrixValue(RuleContext& context) {
  mlir::Value x = context.op().input("Input"), out = context.op().output("Out");
  if (!x || !out) return;
  Form form;
  form.terms.push_back({x, matrixLabels(x), Use::Value});
  form.result = rowLabels(out, rankOf(x) - 2);
  context.result("Out", form);
}

// Linear in the gradient, matrix by matrix.
void matrixValueGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), out = op.input("Out"), gradient = op.input("Out@GRAD");
  if (!x || !out || !gradient) return;
  Form form;
  form.terms.push_back({gradient, rowLabels(gradient, rankOf(x) - 2), Use::Linear});
  form.terms.push_back({out, rowLabels(out, rankOf(x) - 2), Use::Value});
  form.terms.push_back({x, matrixLabels(x), Use::Value});
  form.result = matrixLabels(x);
  context.result("Input@GRAD", form);
}

// The sum along the diagonal of two dims, which must be whole; the others are left.
void trace(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "trace_grad";
  mlir::Value x = op.input("Input"), from = back ? op.input("Out@GRAD") : x,
              to = back ? op.output("Input@GRAD") : op.output("Out");
  if (!x || !from || !to) return;
  const int rank = rankOf(x), first = normalAxis(op.getInt("axis1"), rank),
            second = normalAxis(op.getInt("axis2"), rank);
  Labels large = ownLabels(x), small;
  for (int i = 0; i < rank; ++i)
    if (i == first || i == second) large[i] = kWholeDim;
    else small.push_back(i);
  small.resize(rankOf(back ? from : to), kBroadcastDim);
  Form form;
  form.terms.push_back({from, back ? small : large, Use::Linear});
  if (back) form.terms.push_back({x, large, Use::Shape});
  form.result = back ? large : small;
  context.result(back ? "Input@GRAD" : "Out", form);
}

// diagonal: the two axes leave, one along the diagonals comes last.
void diagonal(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "diagonal_grad";
  mlir::Value x = op.input("Input"), from = back ? op.input("Out@GRAD") : x;
  if (!x || !from) return;
  const int rank = rankOf(x), first = normalAxis(op.getInt("axis1"), rank),
            second = normalAxis(op.getInt("axis2"), rank);
  Labels large = ownLabels(x), small;
  for (int i = 0; i < rank; ++i)
    if (i == first || i == second) large[i] = kWholeDim;
    else small.push_back(i);
  small.push_back(kWholeDim);
  Form form;
  form.terms.push_back({from, back ? small : large, Use::Linear});
  if (back) form.terms.push_back({x, large, Use::Shape});
  form.result = back ? large : small;
  context.result(back ? "Input@GRAD" : "Out", form);
}

// Of a linear system per matrix: X [..., n, n], Y [..., n, k] or [..., n], batches equal.
void solve(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value x = op.input("X"), y = op.input("Y"), out = op.input("Out"),
              gradient = op.input("Out@GRAD");
  if (!x || !y || (back && (!out || !gradient))) return;
  const int batch = rankOf(x) - 2;
  auto labels = [&](mlir::Value value) {
    Labels own = wholeLabels(value);
    for (int i = 0; i < batch && i < static_cast<int>(own.size()); ++i) own[i] = i;
    return own;
  };
  auto give = [&](llvm::StringRef slot, llvm::ArrayRef<Term> terms, mlir::Value like) {
    Form form;
    form.terms.assign(terms.begin(), terms.end());
    form.result = labels(like);
    context.result(slot, form);
  };
  if (!back) return give("Out", {{x, labels(x), Use::Value}, {y, labels(y), Use::Linear}}, y);
  // dY = op(X)⁻ᵀ dOut; dX = -dY Outᵀ
  const Term from = {gradient, labels(gradient), Use::Linear};
  give("Y@GRAD", {from, {x, labels(x), Use::Value}, {y, labels(y), Use::Shape}}, y);
  give("X@GRAD", {from, {x, labels(x), Use::Value}, {out, labels(out), Use::Linear}}, x);
}

// A product of a chain: label i stands for the rows of factor i, which are the columns of the one
// before it. The first may be a row, which has columns only, the last a column.
Labels factorLabels(mlir::Value factor, int i) {
  if (rankOf(factor) == 2) return {i, i + 1};
  return {i == 0 ? 1 : i};
}

// A chain of products X0·X1·…: factor i has the labels i and i + 1, of which the inner ones are
// contracted; a vector at either end lacks one. The result is linear in each factor. The gradient
// of factor k is the product of all the others with the gradient of the result.
void multiDot(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "multi_dot_grad";
  const int count = static_cast<int>(op.inputCount("X"));
  for (int i = 0; i < count; ++i) {
    mlir::Value x = op.input("X", i);
    if (!x || (rankOf(x) != 2 && (rankOf(x) != 1 || (i > 0 && i + 1 < count)))) return;
  }
  mlir::Value product = back ? op.input("Out@GRAD") : op.output("Out");
  if (!product || count < 2) return;
  Labels whole;
  if (rankOf(op.input("X", 0)) == 2) whole.push_back(0);
  if (rankOf(op.input("X", count - 1)) == 2) whole.push_back(count);
  whole.resize(rankOf(product), kBroadcastDim);
  for (int k = 0; k < (back ? count : 1); ++k) {
    Form form;
    form.fold = Fold::Sum;
    if (back) form.terms.push_back({product, whole, Use::Linear});
    for (int i = 0; i < count; ++i) {
      mlir::Value x = op.input("X", i);
      form.terms.push_back({x, factorLabels(x, i), back && i == k ? Use::Shape : Use::Linear});
    }
    form.result = back ? factorLabels(op.input("X", k), k) : whole;
    context.result(back ? "X@GRAD" : "Out", k, form);
  }
}

// Lines along the axes, which must be whole; linear.
void transformed(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value from = op.input(back ? "Out@GRAD" : "X"), like = back ? op.input("X") : mlir::Value();
  if (!from) return;
  Labels labels = ownLabels(from);
  for (int64_t axis : op.getInts("axes")) {
    const int at = normalAxis(axis, rankOf(from));
    if (at < 0 || at >= rankOf(from)) return;
    labels[at] = kWholeDim;
  }
  Form form;
  form.terms.push_back({from, labels, Use::Linear});
  // The kernel makes what is as large as X: all of it that is not transformed is cut alike.
  if (back && op.type() == "fft_r2c_grad") {
    if (!like || rankOf(like) != rankOf(from) || context.isFlatPart(like)) return;
    form.terms.push_back({like, labels, Use::Shape});
  }
  form.result = labels;
  context.result(back ? "X@GRAD" : "Out", form);
}

// Slices along the axis, each scaled by its own norm.
void renorm(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "renorm_grad";
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD");
  if (!x || (back && !gradient)) return;
  const int axis = normalAxis(op.getInt("axis"), rankOf(x));
  if (axis < 0 || axis >= rankOf(x)) return;
  Labels labels = wholeLabels(x);
  labels[axis] = axis;
  Form form;
  if (back) form.terms.push_back({gradient, labels, Use::Linear});
  form.terms.push_back({x, labels, Use::Value});
  form.result = labels;
  context.result(back ? "X@GRAD" : "Out", form);
}

const RuleRow kRows[] = {
    {"cholesky", labelled, "X[_**] -> Out[_**]", "upper"},
    {"cholesky_grad", labelled, "Out@GRAD[_**]:l, Out[_**] -> X@GRAD[_**]", "upper"},
    {"cholesky_solve", labelled, "X[_**]:l, Y[_**] -> Out[_**]", "upper"},
    {"cholesky_solve_grad", labelled,
     "Out@GRAD[_**]:l, Y[_**], X[_**]:s, Out[_**]:s -> X@GRAD[_**]; "
     "Out@GRAD[_**]:l, Y[_**], X[_**]:s, Out[_**] -> Y@GRAD[_**]",
     "upper"},
    {"multi_dot", multiDot, "", "X"},
    {"multi_dot_grad", multiDot, "", "X, Out@GRAD"},
    {"qr", labelled, "X[_**] -> Q[_**], R[_**]", "mode"},
    {"qr_grad", labelled, "Q@GRAD[_**]:l, R@GRAD[_**]:l, Q[_**], R[_**], X[_**] => X@GRAD[_**]",
     "mode"},
    {"matrix_rank", labelled, "X[_**], TolTensor[_] -> Out[_]", "tol, use_default_tol, hermitian"},
    {"stft", labelled, "X[b*]:l, Window[*]:l -> Out[b**]",
     "n_fft, hop_length, normalized, onesided"},
    {"stft_grad", labelled, "Out@GRAD[b**]:l, Window[*]:l, X[b*]:s -> X@GRAD[b*]",
     "n_fft, hop_length, normalized, onesided"},
    {"lu", labelled, "X[_**] -> Out[_**], Pivots[_*], Infos[_]", "pivots"},
    {"lu_grad", labelled, "Out@GRAD[_**]:l, Out[_**], Pivots[_*], X[_**]:s -> X@GRAD[_**]",
     "pivots"},
    {"lu_unpack", labelled,
     "X[_**], Pivots[_*] -> L[_**], U[_**]; Pivots[_*], X[_**]:s -> Pmat[_**]",
     "unpack_ludata, unpack_pivots"},
    {"lu_unpack_grad", labelled, "L@GRAD[_**]:l, U@GRAD[_**]:l, X[_**]:s => X@GRAD[_**]",
     "Pivots, L, U, Pmat, unpack_ludata, unpack_pivots"},
    {"eigh", labelled, "X[_**] -> Eigenvalues[_*], Eigenvectors[_**]", "UPLO"},
    // Gradients of eigenvalues of a batch reach other matrices than theirs
    // (docs/operators/defects.md).
    {"eigh_grad", wholeOnly,
     "Eigenvalues@GRAD:l, Eigenvectors@GRAD:l, Eigenvalues, Eigenvectors => X@GRAD", "UPLO"},
    {"eigvalsh", labelled, "X[_**] -> Eigenvalues[_*], Eigenvectors[_**]", "UPLO, is_test"},
    {"eigvalsh_grad", wholeOnly, "Eigenvalues@GRAD:l, Eigenvectors -> X@GRAD", "UPLO, is_test"},
    {"svd", labelled, "X[_**] -> U[_**], S[_*], VH[_**]", "full_matrices"},
    {"svd_grad", labelled,
     "U@GRAD[_**]:l, S@GRAD[_*]:l, VH@GRAD[_**]:l, U[_**], S[_*], VH[_**], X[_**]:s => "
     "X@GRAD[_**]",
     "full_matrices"},
    {"renorm", renorm, "", "X, p, axis, max_norm"},
    {"renorm_grad", renorm, "", "X, Out@GRAD, p, axis, max_norm"},
    {"inverse", labelled, "Input[_**] -> Output[_**]"},
    {"inverse_grad", labelled, "Output@GRAD[_**]:l, Output[_**] -> Input@GRAD[_**]"},
    {"determinant", matrixValue, "", "Input"},
    {"determinant_grad", matrixValueGrad, "", "Input, Out, Out@GRAD"},
    {"slogdeterminant", labelled, "Input[_**] -> Out[*_]"},
    {"slogdeterminant_grad", labelled, "Out@GRAD[*_]:l, Input[_**] -> Input@GRAD[_**]", "Out"},
    {"trace", trace, "", "Input, offset, axis1, axis2, dim1, dim2"},
    {"trace_grad", trace, "", "Input, Out@GRAD, offset, axis1, axis2, dim1, dim2"},
    {"diagonal", diagonal, "", "Input, offset, axis1, axis2"},
    {"diagonal_grad", diagonal, "", "Input, Out@GRAD, offset, axis1, axis2"},
    {"matrix_power", labelled, "X[_**] -> Out[_**]", "n"},
    {"matrix_power_grad", labelled, "Out@GRAD[_**]:l, X[_**] -> X@GRAD[_**]", "n, Out"},
    {"fft_c2c", transformed, "", "X, axes, normalization, forward"},
    {"fft_c2c_grad", transformed, "", "Out@GRAD, axes, normalization, forward"},
    {"fft_r2c", transformed, "", "X, axes, normalization, forward, onesided"},
    {"fft_r2c_grad", transformed, "", "X, Out@GRAD, axes, normalization, forward, onesided"},
    {"fft_c2r", transformed, "", "X, axes, normalization, forward, last_dim_size"},
    {"fft_c2r_grad", transformed, "", "Out@GRAD, axes, normalization, forward, last_dim_size"},
    {"solve", solve, "", "X, Y"},
    {"solve_grad", solve, "", "Out, Out@GRAD, X, Y"},
    {"triangular_solve", solve, "", "X, Y, upper, transpose, unitriangular"},
    {"triangular_solve_grad", solve, "", "Out, Out@GRAD, X, Y, upper, transpose, unitriangular"},
};

}  // namespace

llvm::ArrayRef<RuleRow> matrixRules() { return kRows; }

}  // namespace dtranspile::verify
