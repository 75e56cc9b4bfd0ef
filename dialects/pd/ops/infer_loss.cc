// Inference and constraints of losses, embeddings and metrics. Rows: loss.cc, embedding.cc,
// metric.cc.
#include "dialects/pd/ops/infer_loss.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {
namespace {

// The dims with one extent replaced.
Dims withExtent(DimsRef dims, int64_t axis, int64_t extent) {
  Dims result(dims.begin(), dims.end());
  result[axis] = extent;
  return result;
}

// Sparse gradients are SelectedRows of the height and width of the table.
TensorInfo gradientOfTable(const TensorInfo& table, bool sparse) {
  TensorInfo info = withoutLod(table);
  info.kind = sparse ? Kind::SelectedRows : Kind::Tensor;
  return info;
}

// Whether the declared rank is 2, as far as it is known; `found` says what it is else.
bool isMatrix(const OpView& op, llvm::StringRef slot, std::string& found) {
  std::optional<Dims> dims = declaredDims(op, slot);
  if (!dims || dims->size() == 2) return true;
  found = slot.str() + " " + textOf(*dims);
  return false;
}

// Hard labels have extent 1 at the axis of classes, soft ones all classes; the other extents are
// those of the scores.
llvm::LogicalResult labelHolds(const OpView& op, llvm::StringRef scores, int64_t axis, bool soft,
                               std::string& found) {
  std::optional<Dims> x = declaredDims(op, scores), label = declaredDims(op, "Label");
  if (!x || !label || x->empty()) return llvm::success();
  std::optional<int64_t> at = axisOf(axis, x->size());
  Dims expected = at && !soft ? withExtent(*x, *at, 1) : *x;
  if (agree(expected, *label)) return llvm::success();
  // One label per row without an extent for it.
  if (at && !soft && label->size() + 1 == expected.size()) {
    expected.erase(expected.begin() + *at);
    if (agree(expected, *label)) return llvm::success();
  }
  found = "Label " + textOf(*label) + ", " + scores.str() + " " + textOf(*x);
  return llvm::failure();
}

}  // namespace

// One loss per sample: the axis of classes, the last one, becomes 1.
llvm::LogicalResult inferCrossEntropy(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->dims.empty()) return c.fail("has no axis of classes in X");
  TensorInfo y = withDims(*x, withExtent(x->dims, x->rank() - 1, 1));
  c.out("Y", y);
  c.out("MatchX", withoutLod(y));
  // Unlike that of reshape2, this XShape has its 0 at the end (cross_entropy_op.cc).
  Dims shape = x->dims;
  shape.push_back(0);
  c.out("XShape", withDims(*x, shape));
  return llvm::success();
}

// X itself is not kept: XShape has its extents, then a 0 that makes the tensor empty.
llvm::LogicalResult inferCrossEntropy2Grad(InferContext& c) {
  const TensorInfo *y = require(c, "Y@GRAD"), *shape = require(c, "XShape");
  if (!y || !shape) return llvm::failure();
  if (shape->dims.empty()) return c.fail("needs XShape of the forward op, [extents of X, 0]");
  c.out("X@GRAD", withDims(*y, Dims(shape->dims.begin(), shape->dims.end() - 1)));
  return llvm::success();
}

// The probabilities are a second result, which the gradient reads instead of the logits.
llvm::LogicalResult inferSoftmaxCrossEntropy(InferContext& c) {
  const TensorInfo* logits = require(c, "Logits");
  if (!logits) return llvm::failure();
  int64_t axis = c.op().spec() && c.op().spec()->attribute("axis") ? c.op().getInt("axis") : -1;
  std::optional<int64_t> at = axisOf(axis, logits->rank());
  if (!at) return c.fail("has no axis " + llvm::Twine(axis) + " in Logits " + textOf(logits->dims));
  c.out("Softmax", *logits);
  c.out("Loss", withDims(*logits, withExtent(logits->dims, *at, 1)));
  return llvm::success();
}

llvm::LogicalResult inferHuber(InferContext& c) {
  if (failed(inferSameAs(c, "X", "Out"))) return llvm::failure();
  return inferSameAs(c, "X", "Residual");
}

// One loss per sample, over all that a sample has; Diff is for the gradient.
llvm::LogicalResult inferSmoothL1(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Diff", *x);
  c.out("Out", withDims(*x, {x->dims.empty() ? 1 : x->dims[0], 1}));
  return llvm::success();
}

// Without a reduction a loss per label; Total_weight is the sum by which a mean divides.
llvm::LogicalResult inferNegativeLogLikelihood(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *label = require(c, "Label");
  if (!x || !label) return llvm::failure();
  if (x->rankKnown && x->rank() < 2) return c.fail("has no classes in X " + textOf(x->dims));
  c.out("Out", tensorInfo(x->dtype,
                          c.op().getString("reduction") == "none" ? label->dims : scalarDims(c)));
  c.out("Total_weight", tensorInfo(x->dtype, scalarDims(c)));
  return llvm::success();
}

// Centers are updated by the forward op.
llvm::LogicalResult inferCenterLoss(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *centers = require(c, "Centers");
  if (!x || !centers) return llvm::failure();
  if (x->dims.empty()) return c.fail("needs a batch in X");
  c.out("CentersOut", *centers);
  c.out("SampleCenterDiff", *x);
  c.out("Loss", withDims(*x, {x->dims[0], 1}));
  return llvm::success();
}

// A number, or, without a reduction, as X.
llvm::LogicalResult inferKlDivergence(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Loss", c.op().getString("reduction") == "none" ? *x : tensorInfo(x->dtype, scalarDims(c)));
  return llvm::success();
}

// [extents of Ids, width of W]. The older op wants a trailing 1 in Ids, which the row takes the
// place of.
llvm::LogicalResult inferEmbedding(InferContext& c) {
  const TensorInfo *table = require(c, "W"), *ids = require(c, "Ids");
  if (!table || !ids) return llvm::failure();
  if (table->rank() != 2)
    return c.fail("looks up rows of W " + textOf(table->dims) + ", which is no matrix");
  Dims dims = ids->dims;
  if (c.op().type() == "lookup_table") {
    if (dims.empty() || !agree(dims.back(), 1))
      return c.fail("needs an extent of 1 at the end of Ids " + textOf(ids->dims));
    dims.pop_back();
  }
  dims.push_back(table->dims[1]);
  TensorInfo out = withDims(*ids, dims);
  out.dtype = table->dtype;
  c.out("Out", out);
  return llvm::success();
}

// Dense or SelectedRows, as the attribute says.
llvm::LogicalResult inferEmbeddingGrad(InferContext& c) {
  const TensorInfo* table = require(c, "W");
  if (!table) return llvm::failure();
  const OpSpec* spec = c.op().spec();
  bool sparse = spec && spec->attribute("is_sparse") && c.op().getBool("is_sparse");
  c.out("W@GRAD", gradientOfTable(*table, sparse));
  return llvm::success();
}

// Per sample its labels and the drawn classes.
llvm::LogicalResult inferNce(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *label = require(c, "Label");
  if (!input || !label) return llvm::failure();
  if (input->dims.empty() || label->dims.empty()) return c.fail("needs a batch in Input and Label");
  int64_t trueClasses = label->rank() == 2 ? label->dims[1] : 1;
  int64_t negatives = c.op().getInt("num_neg_samples");
  std::vector<int64_t> custom = c.op().getInts("custom_neg_classes");
  if (!custom.empty()) negatives = custom.size();
  if (negatives < 0 || negatives > INT32_MAX)
    return c.fail("draws " + llvm::Twine(negatives) + " samples");
  Dims samples = {input->dims[0], known(trueClasses) ? trueClasses + negatives : -1};
  c.out("Cost", tensorInfo(input->dtype, {input->dims[0], 1}));
  c.out("SampleLogits", tensorInfo(input->dtype, samples));
  c.out("SampleLabels", tensorInfo(DType::kInt64, samples));
  return llvm::success();
}

// Of nce and hierarchical_sigmoid: gradients of weights may be rows, that of Bias never is.
llvm::LogicalResult inferSparseWeightGrad(InferContext& c) {
  bool sparse = c.op().getBool("is_sparse");
  for (const std::string& slot : c.op().outputSlots()) {
    llvm::StringRef forward = llvm::StringRef(slot).drop_back(5);
    const TensorInfo* info = c.in(forward);
    if (!info) continue;
    bool weight = forward == "W" || forward == "Weight" || forward == "Bias";
    c.out(slot, weight ? gradientOfTable(*info, sparse && forward != "Bias") : *info);
  }
  return llvm::success();
}

// PreOut has a place per decision on the longest path.
llvm::LogicalResult inferHierarchicalSigmoid(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *weight = require(c, "W");
  if (!x || !weight) return llvm::failure();
  if (x->dims.empty()) return c.fail("needs a batch in X");
  int64_t batch = x->dims[0];
  // Depth of the default tree: bits of the highest leaf's code (matrix_bit_code.h).
  const TensorInfo* path = c.in("PathTable");
  int64_t classes = c.op().getInt("num_classes");
  if (!path && classes < 2)
    return c.fail("needs at least 2 classes, found " + llvm::Twine(classes));
  int64_t depth = path ? (path->rank() == 2 ? path->dims[1] : -1) : llvm::Log2_64(classes - 1) + 1;
  c.out("Out", tensorInfo(x->dtype, {batch, 1}));
  c.out("PreOut", tensorInfo(x->dtype, {batch, depth}));
  c.out("W_Out", *weight);
  return llvm::success();
}

// The values of SelectedRows as a dense tensor of their own.
llvm::LogicalResult inferValuesOfRows(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  TensorInfo out = *x;
  out.kind = Kind::Tensor;
  // As many rows as the gradient lists, repeated ones included.
  if (!out.dims.empty() && x->kind == Kind::SelectedRows) out.dims[0] = -1;
  c.out("Out", out);
  return llvm::success();
}

// The slot Out is the largest scores, of which only the type counts here.
llvm::LogicalResult inferAccuracy(InferContext& c) {
  const TensorInfo* scores = require(c, "Out");
  if (!scores) return llvm::failure();
  c.out("Accuracy", tensorInfo(scores->dtype, scalarDims(c)));
  for (llvm::StringRef slot : {"Correct", "Total"})
    c.out(slot, tensorInfo(DType::kInt32, scalarDims(c)));
  return llvm::success();
}

// The histograms of positive and negative samples go on from batch to batch.
llvm::LogicalResult inferAuc(InferContext& c) {
  c.out("AUC", tensorInfo(DType::kFloat64, scalarDims(c)));
  if (failed(inferSameAs(c, "StatPos", "StatPosOut"))) return llvm::failure();
  return inferSameAs(c, "StatNeg", "StatNegOut");
}

// Six metrics (macro and micro: precision, recall, F1) and four counts per class.
llvm::LogicalResult inferPrecisionRecall(InferContext& c) {
  const TensorInfo* scores = require(c, "MaxProbs");
  const int64_t classes = c.op().getInt("class_number");
  if (!scores) return llvm::failure();
  if (classes < 1) return c.fail("counts " + llvm::Twine(classes) + " classes");
  for (llvm::StringRef slot : {"BatchMetrics", "AccumMetrics"})
    c.out(slot, tensorInfo(DType::kFloat64, {6}));
  c.out("AccumStatesInfo", tensorInfo(scores->dtype, {classes, 4}));
  return llvm::success();
}

llvm::LogicalResult inferMeanIou(InferContext& c) {
  const int64_t classes = c.op().getInt("num_classes");
  if (classes < 1) return c.fail("counts " + llvm::Twine(classes) + " classes");
  c.out("OutMeanIou", tensorInfo(DType::kFloat32, {1}));
  for (llvm::StringRef slot : {"OutWrong", "OutCorrect"})
    c.out(slot, tensorInfo(DType::kInt32, {classes}));
  return llvm::success();
}

llvm::LogicalResult inferChunkEval(InferContext& c) {
  for (llvm::StringRef slot : {"Precision", "Recall", "F1-Score"})
    c.out(slot, tensorInfo(DType::kFloat32, {1}));
  for (llvm::StringRef slot : {"NumInferChunks", "NumLabelChunks", "NumCorrectChunks"})
    c.out(slot, tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

llvm::LogicalResult inferPairs(InferContext& c) {
  const TensorInfo* score = require(c, "Score");
  if (!score) return llvm::failure();
  for (llvm::StringRef slot : {"PositivePair", "NegativePair", "NeutralPair"})
    c.out(slot, tensorInfo(score->dtype, {1}));
  return llvm::success();
}

// cross_entropy and cross_entropy2, of which only the former has soft_label.
const Constraint kCrossEntropyConstraints[2] = {
    {"C1", "X must have at least one axis",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (x && x->empty()) found = "X []";
       return llvm::success(!x || !x->empty());
     }},
    {"C2", "Label must have the extents of X, with 1 as the last one unless soft_label",
     [](const OpView& op, std::string& found) {
       bool soft = op.spec() && op.spec()->attribute("soft_label") && op.getBool("soft_label");
       return labelHolds(op, "X", -1, soft, found);
     }},
};

// In order, as each relies on the one before.
const Constraint kSoftmaxCrossEntropyConstraints[3] = {
    {"C1", "axis must be an axis of Logits",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> logits = declaredDims(op, "Logits");
       if (!logits || axisOf(op.getInt("axis"), logits->size())) return llvm::success();
       found = "axis " + std::to_string(op.getInt("axis")) + ", Logits " + textOf(*logits);
       return llvm::failure();
     }},
    {"C2", "Label must have the rank of Logits, or one less for hard labels",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> logits = declaredDims(op, "Logits"), label = declaredDims(op, "Label");
       if (!logits || !label || label->size() == logits->size() ||
           (!op.getBool("soft_label") && label->size() + 1 == logits->size()))
         return llvm::success();
       found = "Label " + textOf(*label) + ", Logits " + textOf(*logits);
       return llvm::failure();
     }},
    {"C3", "Label must have the extents of Logits, with 1 at axis unless soft_label",
     [](const OpView& op, std::string& found) {
       return labelHolds(op, "Logits", op.getInt("axis"), op.getBool("soft_label"), found);
     }},
};

const Constraint kEmbeddingConstraints[1] = {
    {"C1", "W must be a matrix",
     [](const OpView& op, std::string& found) { return llvm::success(isMatrix(op, "W", found)); }},
};

const Constraint kLookupTableConstraints[2] = {
    {"C1", "W must be a matrix",
     [](const OpView& op, std::string& found) { return llvm::success(isMatrix(op, "W", found)); }},
    {"C2", "Ids must end in an extent of 1",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> ids = declaredDims(op, "Ids");
       if (!ids || (!ids->empty() && agree(ids->back(), 1))) return llvm::success();
       found = "Ids " + textOf(*ids);
       return llvm::failure();
     }},
};

llvm::LogicalResult inferMarginCrossEntropy(InferContext& c) {
  const TensorInfo* logits = require(c, "Logits");
  if (!logits) return llvm::failure();
  if (c.op().getInt("nranks") != 1 || c.op().getInt("rank") != 0)
    return c.fail("has classes of " + llvm::Twine(c.op().getInt("nranks")) + " ranks");
  c.out("Softmax", *logits);
  if (!logits->rankKnown) return c.out("Loss", unknownLike(*logits)), llvm::success();
  if (logits->rank() != 2) return c.fail("needs a matrix of Logits, not " + textOf(logits->dims));
  c.out("Loss", withoutLod(withDims(*logits, {logits->dims[0], 1})));
  return llvm::success();
}

llvm::LogicalResult inferIdentityLoss(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const int64_t reduction = c.op().getInt("reduction");
  if (reduction < 0 || reduction > 2)
    return c.fail("has reduction " + llvm::Twine(reduction) +
                  ", expected 0 (sum), 1 (mean) or 2 (none)");
  c.out("Out", reduction == 2 ? *x : tensorInfo(x->dtype, scalarDims(c)));
  return llvm::success();
}

}  // namespace dtranspile::pd
