// Inference of operators whose rows are cut into sequences, and of losses and searches on them.
// Rows: sequence.cc, loss.cc, recurrent.cc.
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

TensorInfo withLod(TensorInfo info, int levels) {
  info.lodLevel = levels;
  return info;
}

// The dims of `x` with another number of rows, which comes with the data.
Dims rowsOf(const TensorInfo& x) {
  Dims dims(x.dims.begin(), x.dims.end());
  if (!dims.empty()) dims[0] = -1;
  return dims;
}

int64_t extentAt(const TensorInfo& info, int64_t axis) {
  return axis < info.rank() ? info.dims[axis] : -1;
}

// Dims of a step: those of `info` from `from` on.
void append(Dims& dims, const TensorInfo& info, int64_t from) {
  for (int64_t i = from; i < info.rank(); ++i) dims.push_back(info.dims[i]);
}

}  // namespace

// Rows are chosen anew and cut into sequences of one level.
llvm::LogicalResult inferNewSequences(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withLod(withDims(*x, rowsOf(*x)), 1));
  return llvm::success();
}

llvm::LogicalResult inferSequenceRows(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withDims(*x, rowsOf(*x)));
  return llvm::success();
}

// How many tokens stay is data.
llvm::LogicalResult inferSequenceErase(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withDims(*x, {-1, 1}));
  return llvm::success();
}

llvm::LogicalResult inferSequenceEnumerate(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withDims(*x, {extentAt(*x, 0), c.op().getInt("win_size")}));
  return llvm::success();
}

llvm::LogicalResult inferSequenceMask(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  std::optional<DType> dtype = dtypeAttr(c, "out_dtype");
  if (!x || !dtype) return llvm::failure();
  int64_t longest = numberFrom(c, "MaxLenTensor", "maxlen");
  Dims dims(x->dims.begin(), x->dims.end());
  dims.push_back(longest < 0 ? -1 : longest);
  c.out("Y", tensorInfo(*dtype, dims));
  return llvm::success();
}

// [sequences, padded length, extents of a row]; a padded_length of -1, the longest sequence, is an
// unknown extent.
llvm::LogicalResult inferSequencePad(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  Dims dims = {-1, c.op().getInt("padded_length")};
  append(dims, *x, 1);
  c.out("Out", withoutLod(withDims(*x, dims)));
  c.out("Length", tensorInfo(DType::kInt64, {-1}));
  return llvm::success();
}

llvm::LogicalResult inferSequenceUnpad(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  Dims dims = {-1};
  if (x->rank() == 2) dims.push_back(1);
  append(dims, *x, 2);
  c.out("Out", withLod(withDims(*x, dims), 1));
  return llvm::success();
}

llvm::LogicalResult inferSequenceReshape(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withDims(*x, {-1, c.op().getInt("new_dim")}));
  return llvm::success();
}

llvm::LogicalResult inferSequenceTopkAvgPooling(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t count = static_cast<int64_t>(c.op().getInts("topks").size());
  c.out("Out",
        withLod(withDims(*x, {-1, productOf({count, c.op().getInt("channel_num")}).value_or(-1)}),
                1));
  c.out("pos", tensorInfo(DType::kInt32, {-1}));
  return llvm::success();
}

// X itself is no input of the gradient; that of Out has its extents.
llvm::LogicalResult inferSequenceScatterGrad(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *updates = require(c, "Updates");
  if (!gradient || !updates) return llvm::failure();
  c.out("X@GRAD", *gradient);
  c.out("Updates@GRAD", *updates);
  return llvm::success();
}

llvm::LogicalResult inferLodReset(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = c.in("Y");
  if (!x) return llvm::failure();
  c.out("Out", withLod(*x, std::max(1, y                          ? y->lodLevel
                                       : c.op().getBool("append") ? x->lodLevel + 1
                                                                  : 1)));
  return llvm::success();
}

llvm::LogicalResult inferCtcAlign(InferContext& c) {
  const TensorInfo* x = require(c, "Input");
  if (!x) return llvm::failure();
  if (!c.in("InputLength")) {
    c.out("Output", withLod(withDims(*x, {-1, 1}), 1));
    return llvm::success();
  }
  c.out("Output", withoutLod(*x));
  c.out("OutputLength", tensorInfo(x->dtype, {extentAt(*x, 0), 1}));
  return llvm::success();
}

llvm::LogicalResult inferEditDistance(InferContext& c) {
  const TensorInfo* x = require(c, "Hyps");
  if (!x) return llvm::failure();
  c.out("Out", tensorInfo(DType::kFloat32, {c.in("HypsLength") ? extentAt(*x, 0) : -1, 1}));
  c.out("SequenceNum", tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

// Logits are [steps, batch, classes] with lengths, else [rows, classes] with LoD.
llvm::LogicalResult inferWarpCtc(InferContext& c) {
  const TensorInfo* logits = require(c, "Logits");
  if (!logits) return llvm::failure();
  const bool padded = c.in("LogitsLength") != nullptr;
  int64_t sequences = padded ? extentAt(*logits, 1) : -1;
  Dims dims = {padded ? extentAt(*logits, 0) : -1, sequences, extentAt(*logits, padded ? 2 : 1)};
  c.out("WarpCTCGrad", withoutLod(withDims(*logits, dims)));
  c.out("Loss", withoutLod(withDims(*logits, {sequences, 1})));
  return llvm::success();
}

llvm::LogicalResult inferLinearChainCrf(InferContext& c) {
  const TensorInfo *emission = require(c, "Emission"), *transition = require(c, "Transition");
  if (!emission || !transition) return llvm::failure();
  for (llvm::StringRef slot : {"Alpha", "EmissionExps"}) c.out(slot, withoutLod(*emission));
  c.out("TransitionExps", *transition);
  c.out("LogLikelihood",
        withoutLod(withDims(*emission, {c.in("Length") ? extentAt(*emission, 0) : -1, 1})));
  return llvm::success();
}

// A score and a path for each sequence of a padded batch; the longest of them is data.
llvm::LogicalResult inferViterbi(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *transition = require(c, "Transition");
  if (!input || !transition) return llvm::failure();
  if (input->rankKnown && transition->rankKnown &&
      (input->rank() != 3 || transition->rank() != 2 ||
       !agree(input->dims[2], transition->dims[0]) || !agree(input->dims[2], transition->dims[1])))
    return c.fail("has an Input " + textOf(input->dims) + " and a Transition " +
                  textOf(transition->dims) + ", expected [batch, time, tags] and [tags, tags]");
  c.out("Scores", tensorInfo(input->dtype, {extentAt(*input, 0)}));
  c.out("Path", tensorInfo(DType::kInt64, {extentAt(*input, 0), -1}));
  return llvm::success();
}

llvm::LogicalResult inferCrfDecoding(InferContext& c) {
  const TensorInfo* emission = require(c, "Emission");
  if (!emission) return llvm::failure();
  TensorInfo path =
      withDims(*emission, {extentAt(*emission, 0), c.in("Length") ? extentAt(*emission, 1) : 1});
  path.dtype = DType::kInt64;
  c.out("ViterbiPath", path);
  return llvm::success();
}

// Two levels: sources to prefixes, prefixes to what was chosen of them.
llvm::LogicalResult inferBeamSearch(InferContext& c) {
  const TensorInfo* scores = require(c, "pre_scores");
  if (!scores) return llvm::failure();
  c.out("selected_ids", withLod(tensorInfo(DType::kInt64, {-1, 1}), 2));
  c.out("selected_scores", withLod(tensorInfo(scores->dtype, {-1, 1}), 2));
  c.out("parent_idx", tensorInfo(DType::kInt32, {-1}));
  return llvm::success();
}

llvm::LogicalResult inferBeamSearchDecode(InferContext& c) {
  const TensorInfo* scores = require(c, "Scores");
  if (!scores) return llvm::failure();
  c.out("SentenceIds", withLod(tensorInfo(DType::kInt64, {-1}), 2));
  c.out("SentenceScores", withLod(tensorInfo(scores->dtype, {-1}), 2));
  return llvm::success();
}

}  // namespace dtranspile::pd
