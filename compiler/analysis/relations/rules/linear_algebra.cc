// Relation rules: family `linear_algebra`. Products label rows, columns, contracted and batch dims,
// so that tensor parallelism is the same rule. Notation: rule.h.
#include <map>
#include <set>

#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// Labels of a product: batch dims 0 …, then these.
constexpr int kRow = 100, kContracted = 101, kColumn = 102;

struct ProductLabels {
  Labels x, y, out;
};

// `mul`: both operands are flattened to matrices; of a flattened group only its first dim can be
// split.
ProductLabels mulLabels(const RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y");
  auto xRows = static_cast<size_t>(op.getInt("x_num_col_dims")),
       yRows = static_cast<size_t>(op.getInt("y_num_col_dims"));
  ProductLabels labels{wholeLabels(x), wholeLabels(y), {}};
  size_t xRank = labels.x.size(), yRank = labels.y.size();
  labels.out.assign((xRows <= xRank ? xRows : xRank) + (yRows <= yRank ? yRank - yRows : 0),
                    kWholeDim);
  if (xRank && xRows > 0) labels.x[0] = labels.out[0] = kRow;
  if (xRows < xRank) labels.x[xRows] = kContracted;
  if (yRank && yRows > 0) labels.y[0] = kContracted;
  if (yRows < yRank && xRows < labels.out.size()) labels.y[yRows] = labels.out[xRows] = kColumn;
  return labels;
}

bool flag(const pd::OpView& op, llvm::StringRef one, llvm::StringRef other) {
  return op.spec()->attribute(one) ? op.getBool(one)
                                   : op.spec()->attribute(other) && op.getBool(other);
}

// `matmul`, `matmul_v2`, `bmm`: the last two dims are matrices, the others broadcast batch dims;
// vectors lack one of the two. The framework declares the batch of 1 and −1 as 1: what is cut along
// such a dim is not repeated along it.
ProductLabels matmulLabels(const RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y");
  llvm::SmallVector<int64_t> xDims = dimsOf(x), yDims = dimsOf(y);
  bool xTurned = flag(op, "transpose_X", "trans_x"), yTurned = flag(op, "transpose_Y", "trans_y");
  int xBatch = std::max<int>(0, static_cast<int>(xDims.size()) - 2),
      yBatch = std::max<int>(0, static_cast<int>(yDims.size()) - 2);
  int batch = std::max(xBatch, yBatch);
  ProductLabels labels;
  auto isCut = [&](mlir::Value value, int dim) {
    return llvm::any_of(context.relation(value).whole.states,
                        [&](const State& state) { return state.isSplit() && state.dim == dim; });
  };
  auto batchLabels = [&](mlir::Value value, llvm::ArrayRef<int64_t> mine, int myBatch,
                         mlir::Value otherValue, llvm::ArrayRef<int64_t> other, int otherBatch) {
    Labels own;
    for (int i = 0; i < myBatch; ++i) {
      int dim = batch - myBatch + i, there = dim - (batch - otherBatch);
      bool broadcast = mine[i] == 1 && !isCut(value, i) && there >= 0 &&
                       (other[there] != 1 || isCut(otherValue, there));
      own.push_back(broadcast ? kBroadcastDim : dim);
    }
    return own;
  };
  labels.x = batchLabels(x, xDims, xBatch, y, yDims, yBatch);
  labels.y = batchLabels(y, yDims, yBatch, x, xDims, xBatch);
  for (int i = 0; i < batch; ++i) labels.out.push_back(i);
  if (xDims.size() >= 2)
    labels.x.append(xTurned ? std::initializer_list<int>{kContracted, kRow}
                            : std::initializer_list<int>{kRow, kContracted});
  else labels.x.append(xDims.size(), kContracted);
  if (yDims.size() >= 2)
    labels.y.append(yTurned ? std::initializer_list<int>{kColumn, kContracted}
                            : std::initializer_list<int>{kContracted, kColumn});
  else labels.y.append(yDims.size(), kContracted);
  if (xDims.size() >= 2) labels.out.push_back(kRow);
  if (yDims.size() >= 2) labels.out.push_back(kColumn);
  return labels;
}

using LabelsOf = ProductLabels (*)(const RuleContext&);

// Out[row, column] = Σ X[row, contracted] Y[contracted, column], in labels: a factor that is cut
// along `contracted` gives terms of a sum, one that is cut along `row` or `column` parts of the
// product, and the labels alone say so.
void product(RuleContext& context, LabelsOf labelsOf) {
  const pd::OpView& op = context.op();
  if (!op.input("X") || !op.input("Y")) return;
  ProductLabels labels = labelsOf(context);
  Form form;
  form.terms.push_back({op.input("X"), labels.x, Use::Linear});
  form.terms.push_back({op.input("Y"), labels.y, Use::Linear});
  form.result = labels.out;
  form.fold = Fold::Sum;
  context.result("Out", form);
}

// dX = dOut · Yᵀ and dY = Xᵀ · dOut: the same labels, another one is contracted; broadcast batch
// dims are summed.
void productGrad(RuleContext& context, LabelsOf labelsOf) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y"), out = op.input("Out@GRAD");
  if (!x || !y || !out) return;
  ProductLabels labels = labelsOf(context);
  auto give = [&](llvm::StringRef slot, mlir::Value other, const Labels& otherLabels,
                  mlir::Value own, const Labels& ownLabels) {
    Form form;
    form.terms.push_back({out, labels.out, Use::Linear});
    form.terms.push_back({other, otherLabels, Use::Linear});
    form.terms.push_back({own, ownLabels, Use::Shape});
    form.result = ownLabels;
    form.fold = Fold::Sum;
    context.result(slot, form);
  };
  give("X@GRAD", y, labels.y, x, labels.x);
  give("Y@GRAD", x, labels.x, y, labels.y);
}

void mul(RuleContext& context) { product(context, mulLabels); }
void mulGrad(RuleContext& context) { productGrad(context, mulLabels); }
void matmul(RuleContext& context) { product(context, matmulLabels); }
void matmulGrad(RuleContext& context) { productGrad(context, matmulLabels); }

// Σ x²: of whole and of split tensors; Σ |x|.
void sumOver(RuleContext& context, Use use) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), use});
  form.result = wholeLabels(context.op().output("Out"));
  form.fold = Fold::Sum;
  form.flat = true;
  context.result("Out", form);
}
void squaredNorm(RuleContext& context) { sumOver(context, Use::Value); }
void absoluteSum(RuleContext& context) { sumOver(context, Use::Homogeneous); }

// The axis of three elements; 9 stands for the first dim that has as many, which may be that of a
// part of the batch.
void cross(RuleContext& context) {
  if (context.op().getInt("dim") != 9) return rowwise(context);
  for (llvm::StringRef slot : {"Out", "X@GRAD", "Y@GRAD"})
    context.lose(slot, 0, "looks for the first dim of extent 3, which a part may have elsewhere");
}

// One product of the last dims, which it sums over.
Labels rowLabels(mlir::Value value, int rows) {
  Labels labels = ownLabels(value);
  for (int i = rows; i < static_cast<int>(labels.size()); ++i) labels[i] = kBroadcastDim;
  return labels;
}

void dot(RuleContext& context) {
  mlir::Value x = context.op().input("X"), y = context.op().input("Y"),
              out = context.op().output("Out");
  if (!x || !y || !out || rankOf(x) != rankOf(y)) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Linear});
  form.terms.push_back({y, ownLabels(y), Use::Linear});
  form.result = rowLabels(out, rankOf(x) - 1);
  form.fold = Fold::Sum;
  context.result("Out", form);
}

// dX = dOut · Y, dY = dOut · X, with one number of dOut for each row.
void dotGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y"), gradient = op.input("Out@GRAD");
  if (!x || !y || !gradient || rankOf(x) != rankOf(y)) return;
  for (bool first : {true, false}) {
    Form form;
    form.terms.push_back({gradient, rowLabels(gradient, rankOf(x) - 1), Use::Linear});
    form.terms.push_back({x, ownLabels(x), first ? Use::Shape : Use::Linear});
    form.terms.push_back({y, ownLabels(y), first ? Use::Linear : Use::Shape});
    form.result = ownLabels(x);
    context.result(first ? "X@GRAD" : "Y@GRAD", form);
  }
}

// Labels of an einsum: of `...`, from the right, numbers from 1000 on.
Labels equationLabels(llvm::StringRef text, int rank) {
  constexpr int kDots = 1000;
  const size_t dots = text.find("...");
  const int named = static_cast<int>(text.size()) - (dots == llvm::StringRef::npos ? 0 : 3);
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i != dots) {
      labels.push_back(text[i]);
      continue;
    }
    for (int left = rank - named; left > 0; --left) labels.push_back(kDots + left);
    i += 2;
  }
  if (static_cast<int>(labels.size()) != rank) return Labels(rank, kWholeDim);
  return labels;
}

struct Einsum {
  llvm::SmallVector<Labels, 4> operands;
  Labels out;
};

// Nothing for an equation without an arrow, or that does not fit.
std::optional<Einsum> einsumLabels(const pd::OpView& op, llvm::ArrayRef<mlir::Value> operands,
                                   mlir::Value out) {
  std::string text = op.getString("equation");
  llvm::erase(text, ' ');
  auto [left, right] = llvm::StringRef(text).split("->");
  llvm::SmallVector<llvm::StringRef> words;
  left.split(words, ',');
  if (!llvm::StringRef(text).contains("->") || words.size() != operands.size() || !out)
    return std::nullopt;
  Einsum einsum;
  for (auto [word, operand] : llvm::zip(words, operands)) {
    if (!operand) return std::nullopt;
    einsum.operands.push_back(equationLabels(word, rankOf(operand)));
  }
  einsum.out = equationLabels(right, rankOf(out));
  // An extent of 1 is repeated where another operand has more.
  std::map<int, int64_t> extents;
  for (auto [labels, operand] : llvm::zip(einsum.operands, operands))
    for (auto [label, extent] : llvm::zip(labels, dimsOf(operand)))
      if (extent != 1) extents[label] = extent;
  for (auto [labels, operand] : llvm::zip(einsum.operands, operands))
    for (auto [label, extent] : llvm::zip(labels, dimsOf(operand)))
      if (extent == 1 && label >= 0 && extents.count(label)) label = kBroadcastDim;
  // A diagonal is that of the whole.
  std::set<int> twice;
  for (const Labels& labels : einsum.operands)
    for (int label : labels)
      if (label >= 0 && llvm::count(labels, label) > 1) twice.insert(label);
  auto whole = [&](Labels& labels) {
    for (int& label : labels)
      if (twice.count(label)) label = kWholeDim;
  };
  whole(einsum.out);
  for (Labels& labels : einsum.operands) whole(labels);
  return einsum;
}

// A product of all operands, but for number `without`, of which only the extents count: the form of
// the gradient by that one. Labels that the result lacks are summed over.
Form einsumForm(const Einsum& einsum, llvm::ArrayRef<mlir::Value> operands, size_t without) {
  Form form;
  form.fold = Fold::Sum;
  for (auto [i, operand] : llvm::enumerate(operands))
    form.terms.push_back({operand, einsum.operands[i], i == without ? Use::Shape : Use::Linear});
  return form;
}

void einsum(RuleContext& context) {
  const pd::OpView& op = context.op();
  std::vector<mlir::Value> operands = op.inputs("Operands");
  std::optional<Einsum> labels = einsumLabels(op, operands, op.output("Out"));
  if (!labels) return context.lose("Out", 0, "has an equation without `->`, or that does not fit");
  Form form = einsumForm(*labels, operands, operands.size());
  form.result = labels->out;
  context.result("Out", form);
  // Copies of the operands, for the gradient.
  for (unsigned i = 0, n = op.outputCount("InnerCache"); i < n && i < operands.size(); ++i)
    if (op.output("InnerCache", i)) {
      Form copy;
      copy.terms.push_back({operands[i], ownLabels(operands[i]), Use::Linear});
      copy.result = ownLabels(operands[i]);
      context.result("InnerCache", i, copy);
    }
}

// The operands are not among its inputs, only their copies.
void einsumGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  std::vector<mlir::Value> operands = op.inputs("InnerCache");
  mlir::Value gradient = op.input("Out@GRAD");
  std::optional<Einsum> labels = einsumLabels(op, operands, gradient);
  for (unsigned i = 0, n = op.outputCount("Operands@GRAD"); i < n; ++i) {
    if (!labels || i >= operands.size()) {
      context.lose("Operands@GRAD", i, "has an equation without `->`, or that does not fit");
      continue;
    }
    Form form = einsumForm(*labels, operands, i);
    form.terms.push_back({gradient, labels->out, Use::Linear});
    form.result = labels->operands[i];
    context.result("Operands@GRAD", i, form);
  }
}

// The gradient of a product's gradients (compiler/lower/rules): three products by the labels of the
// first one. grad_out@GRAD is a sum of two, whose contracted dim must be whole.
void matmulSecondGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y"), g = op.input("grad_out"),
              ddx = op.input("grad_x@GRAD"), ddy = op.input("grad_y@GRAD");
  if (!x || !y || !g) return;
  ProductLabels labels = matmulLabels(context);
  auto give = [&](llvm::StringRef slot, mlir::Value factor, const Labels& factorLabels,
                  mlir::Value own, const Labels& ownLabels) {
    Form form;
    form.terms.push_back({own, ownLabels, Use::Shape});
    if (factor) {
      form.terms.push_back({g, labels.out, Use::Linear});
      form.terms.push_back({factor, factorLabels, Use::Linear});
    }
    form.result = ownLabels;
    form.fold = Fold::Sum;
    context.result(slot, form);
  };
  give("X@GRAD", ddy, labels.y, x, labels.x);
  give("Y@GRAD", ddx, labels.x, y, labels.y);
  for (Labels* side : {&labels.x, &labels.y})
    for (int& label : *side)
      if (label == kContracted) label = kWholeDim;
  Form form;
  form.combine = Combine::Sum;
  form.terms.push_back({g, labels.out, Use::Shape});
  if (ddx) form.terms.append({{ddx, labels.x, Use::Linear}, {y, labels.y, Use::Value}});
  if (ddy) form.terms.append({{x, labels.x, Use::Value}, {ddy, labels.y, Use::Linear}});
  form.result = labels.out;
  context.result("grad_out@GRAD", form);
}

// The gradient of that one's results: products and sums of two products. All are linear in what
// flows into the second gradient, in all of it together; what meets that in a sum of two is whole
// or cut along the same dim.
void matmulThirdGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), y = op.input("Y"), g = op.input("grad_out"),
              ddx = op.input("grad_grad_x"), ddy = op.input("grad_grad_y"),
              a = op.input("grad_x@GRAD"), b = op.input("grad_y@GRAD"),
              c = op.input("grad_grad_out@GRAD");
  if (!x || !y || !g) return;
  const ProductLabels labels = matmulLabels(context);
  struct Pair {
    mlir::Value flow, factor;
    const Labels &flowLabels, &factorLabels;
  };
  auto give = [&](llvm::StringRef slot, mlir::Value own, const Labels& ownLabels,
                  llvm::ArrayRef<Pair> pairs) {
    Form form;
    form.terms.push_back({own, ownLabels, Use::Shape});
    const bool sum = pairs.size() > 1;
    if (sum) form.combine = Combine::Sum;
    for (const Pair& pair : pairs) {
      if (!pair.flow || !pair.factor) continue;
      form.terms.push_back({pair.flow, pair.flowLabels, Use::Linear});
      form.terms.push_back({pair.factor, pair.factorLabels, sum ? Use::Value : Use::Linear});
    }
    form.result = ownLabels;
    form.fold = Fold::Sum;
    context.result(slot, form);
  };
  give("X@GRAD", x, labels.x, {{c, ddy, labels.out, labels.y}});
  give("Y@GRAD", y, labels.y, {{c, ddx, labels.out, labels.x}});
  give("grad_out@GRAD", g, labels.out,
       {{a, ddy, labels.x, labels.y}, {b, ddx, labels.y, labels.x}});
  give("grad_grad_x@GRAD", x, labels.x,
       {{b, g, labels.y, labels.out}, {c, y, labels.out, labels.y}});
  give("grad_grad_y@GRAD", y, labels.y,
       {{a, g, labels.x, labels.out}, {c, x, labels.out, labels.x}});
}

#define DT_MUL "x_num_col_dims, y_num_col_dims"
#define DT_MATMUL "transpose_X, transpose_Y, alpha"
#define DT_P_NORM "porder, axis, epsilon, keepdim, asvector"

// Block i of the first dim of the result is what element i of that of X gives, as long as X has all
// dims; Y is met by all blocks.
void kronGrad(RuleContext& context) {
  mlir::Value x = context.op().input("X"), y = context.op().input("Y");
  if (x && y && rankOf(x) >= rankOf(y)) batchwise(context);
  else wholeOnly(context);
}

const RuleRow kRows[] = {
    {"mul", mul, "", "X, Y, " DT_MUL},
    {"mul_grad", mulGrad, "", "Out@GRAD, X, Y, " DT_MUL},
    {"matmul", matmul, "", "X, Y, " DT_MATMUL},
    {"matmul_grad", matmulGrad, "", "Out@GRAD, X, Y, " DT_MATMUL},
    {"matmul_v2", matmul, "", "X, Y, trans_x, trans_y"},
    {"matmul_v2_grad", matmulGrad, "", "Out@GRAD, X, Y, trans_x, trans_y"},
    {"matmul_v2_grad_grad", matmulSecondGrad, "",
     "X, Y, grad_out, grad_x@GRAD, grad_y@GRAD, trans_x, trans_y"},
    {"matmul_v2_triple_grad", matmulThirdGrad, "",
     "X, Y, grad_out, grad_grad_x, grad_grad_y, grad_x@GRAD, grad_y@GRAD, grad_grad_out@GRAD, "
     "trans_x, trans_y"},
    {"mul_grad_grad", batchwise,
     "DOut:l, DDY:wl, X:s -> DX; DOut:l, DDX:l, Y:ws -> +DY; DDX:l, DDY:wl, X, Y:w, DOut:s => "
     "DDOut",
     "x_num_col_dims=1, y_num_col_dims"},
    {"bmm", matmul, "", "X, Y"},
    {"bmm_grad", matmulGrad, "", "Out@GRAD, X, Y"},
    {"mv", labelled, "X[ab]:l, Vec[b]:l -> Out[a]"},
    {"mv_grad", labelled,
     "Out@GRAD[a]:l, Vec[b]:l, X[ab]:s -> X@GRAD[ab]; Out@GRAD[a]:l, X[ab]:l, Vec[b]:s -> "
     "Vec@GRAD[b]"},
    // One product per row; the result keeps a dim of extent 1 in old programs.
    {"dot", dot, "", "X, Y"},
    {"dot_grad", dotGrad, "", "Out@GRAD, X, Y"},
    // Not linear in both terms at once: all must be whole but rows and columns.
    {"addmm", labelled, "Input[ac], X[a*], Y[*c] -> Out[ac]", "Alpha, Beta"},
    {"addmm_grad", labelled,
     "Out@GRAD[ac]:l, Input[ac]:s -> Input@GRAD[ac]; "
     "Out@GRAD[ac]:l, Y[bc]:l, X[ab]:s -> X@GRAD[ab]; "
     "Out@GRAD[ac]:l, X[ab]:l, Y[bc]:s -> Y@GRAD[bc]",
     "Alpha, Beta"},
    {"bilinear_tensor_product", batchwise, "X, Y, Weight:w, Bias:w -> Out"},
    {"bilinear_tensor_product_grad", batchwise,
     "Out@GRAD:l, Y:l, Weight:wl, X:s -> X@GRAD; Out@GRAD:l, X:l, Weight:wl, Y:s -> Y@GRAD; "
     "Out@GRAD:l, X:l, Y:l, Weight:ws -> +Weight@GRAD; Out@GRAD:l, Weight:ws -> +Bias@GRAD"},
    {"cross", cross, "X:l, Y:l -> Out", "dim"},
    {"cross_grad", cross, "Out@GRAD:l, Y:l, X:s -> X@GRAD; Out@GRAD:l, X:l, Y:s -> Y@GRAD", "dim"},
    // An element of X beside all of Y: parts of X stay parts.
    {"kron", pointwise, "X:l, Y:wl -> Out"},
    {"kron_grad", kronGrad, "Out@GRAD:l, Y:wl, X:s -> X@GRAD; Out@GRAD:l, X:l, Y:ws -> +Y@GRAD"},
    {"dist", wholeOnly, "X, Y -> Out", "p"},
    {"dist_grad", wholeOnly, "Out@GRAD:l, Out, X, Y -> X@GRAD, Y@GRAD", "p"},
    {"norm", rowwise, "X -> Norm, Out", "axis, epsilon, is_test"},
    {"norm_grad", rowwise, "Out@GRAD:l, Norm, X -> X@GRAD", "axis, epsilon, is_test"},
    {"p_norm", rowwise, "X -> Out", DT_P_NORM},
    {"p_norm_grad", rowwise, "Out@GRAD:l, Out, X -> X@GRAD", DT_P_NORM},
    {"l1_norm", absoluteSum, "", "X"},
    {"l1_norm_grad", pointwise, "Out@GRAD:l, X:m -> X@GRAD"},
    {"squared_l2_norm", squaredNorm, "", "X"},
    {"squared_l2_norm_grad", pointwise, "Out@GRAD:l, X:l -> X@GRAD"},
    {"squared_l2_distance", labelled, "X[a*], Y[a*] -> sub_result[a*], Out[a*]"},
    {"squared_l2_distance_grad", wholeOnly,
     "Out@GRAD:l, sub_result, X:s, Y:s -> X@GRAD; Out@GRAD:l, sub_result, X:s, Y:s -> Y@GRAD"},
    {"cos_sim", labelled, "X[a*], Y[a*] -> Out[a*]; X[a*] -> XNorm[a*]; Y[a*] -> YNorm[a*]"},
    {"cos_sim_grad", labelled,
     "Out@GRAD[a*]:l, Out[a*], X[a*], Y[a*], XNorm[a*], YNorm[a*] -> X@GRAD[a*], Y@GRAD[a*]"},
    {"einsum", einsum, "", "Operands, equation"},
    {"einsum_grad", einsumGrad, "", "InnerCache, Out@GRAD, x_shape, equation"},
    // Products of two channels, averaged over the pixels of an image.
    {"fsp", batchwise, "X:l, Y:l -> Out"},
    {"fsp_grad", batchwise, "Out@GRAD:l, Y:l, X:s -> X@GRAD; Out@GRAD:l, X:l, Y:s -> Y@GRAD"},
};

}  // namespace

llvm::ArrayRef<RuleRow> linearAlgebraRules() { return kRows; }

}  // namespace dtranspile::verify
