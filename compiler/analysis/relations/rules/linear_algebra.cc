// Relation rules: family `linear_algebra`. Products label rows, columns, contracted and batch dims,
// so that tensor parallelism is the same rule. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Labels of a product: batch dims 0 …, then these.
constexpr int kRow = 100, kContracted = 101, kColumn = 102;

struct ProductLabels {
  Labels x, y, out;
};

// `mul`: both operands are flattened to matrices; of a flattened group only its first dim can be
// split.
ProductLabels mulLabels(const pd::OpView& op) {
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
// vectors lack one of the two.
ProductLabels matmulLabels(const pd::OpView& op) {
  mlir::Value x = op.input("X"), y = op.input("Y");
  llvm::SmallVector<int64_t> xDims = dimsOf(x), yDims = dimsOf(y);
  bool xTurned = flag(op, "transpose_X", "trans_x"), yTurned = flag(op, "transpose_Y", "trans_y");
  int xBatch = std::max<int>(0, static_cast<int>(xDims.size()) - 2),
      yBatch = std::max<int>(0, static_cast<int>(yDims.size()) - 2);
  int batch = std::max(xBatch, yBatch);
  ProductLabels labels;
  auto batchLabels = [&](llvm::ArrayRef<int64_t> mine, int myBatch, llvm::ArrayRef<int64_t> other,
                         int otherBatch) {
    Labels own;
    for (int i = 0; i < myBatch; ++i) {
      int dim = batch - myBatch + i, there = dim - (batch - otherBatch);
      bool broadcast = mine[i] == 1 && there >= 0 && other[there] != 1;
      own.push_back(broadcast ? kBroadcastDim : dim);
    }
    return own;
  };
  labels.x = batchLabels(xDims, xBatch, yDims, yBatch);
  labels.y = batchLabels(yDims, yBatch, xDims, xBatch);
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

using LabelsOf = ProductLabels (*)(const pd::OpView&);

void product(RuleContext& context, LabelsOf labelsOf) {
  const pd::OpView& op = context.op();
  if (!op.input("X") || !op.input("Y")) return;
  ProductLabels labels = labelsOf(op);
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
  ProductLabels labels = labelsOf(op);
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

// Σ x²: of whole and of split tensors.
void squaredNorm(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Value});
  form.result = wholeLabels(context.op().output("Out"));
  form.fold = Fold::Sum;
  context.result("Out", form);
}

const RuleRow kRows[] = {
    {"mul", mul, "", "X, Y, x_num_col_dims, y_num_col_dims"},
    {"mul_grad", mulGrad, "", "Out@GRAD, X, Y, x_num_col_dims, y_num_col_dims"},
    {"matmul", matmul, "",
     "X, Y, transpose_X, transpose_Y, alpha, fused_reshape_Out, fused_transpose_Out, head_number"},
    {"matmul_grad", matmulGrad, "",
     "Out@GRAD, X, Y, transpose_X, transpose_Y, alpha, fused_reshape_Out, fused_transpose_Out, "
     "head_number"},
    {"matmul_v2", matmul, "", "X, Y, trans_x, trans_y"},
    {"matmul_v2_grad", matmulGrad, "", "Out@GRAD, X, Y, trans_x, trans_y"},
    {"bmm", matmul, "", "X, Y"},
    {"bmm_grad", matmulGrad, "", "Out@GRAD, X, Y"},
    {"squared_l2_norm", squaredNorm, "", "X"},
    {"cos_sim", batchwise, "X, Y -> Out, XNorm, YNorm"},
    {"cos_sim_grad", batchwise, "Out@GRAD:l, Out, X, Y, XNorm, YNorm -> X@GRAD, Y@GRAD"},
};

}  // namespace

llvm::ArrayRef<RuleRow> linearAlgebraRules() { return kRows; }

}  // namespace dtranspile::verify
