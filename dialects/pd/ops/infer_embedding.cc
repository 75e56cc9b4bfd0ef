// Inference of features and samples of classes. Rows: embedding.cc.
#include "dialects/pd/ops/infer_embedding.h"

namespace dtranspile::pd {

llvm::LogicalResult inferCvm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() != 2 || (known(x->dims[1]) && x->dims[1] < 2))
    return c.fail("needs shows and clicks in the first two columns of X " + textOf(x->dims));
  int64_t width = known(x->dims[1]) && !c.op().getBool("use_cvm") ? x->dims[1] - 2 : x->dims[1];
  c.out("Y", withDims(*x, {x->dims[0], width}));
  return llvm::success();
}

llvm::LogicalResult inferFilterByInstag(InferContext& c) {
  const TensorInfo* x = require(c, "Ins");
  if (!x) return llvm::failure();
  if (x->dims.empty()) return c.fail("needs rows in Ins");
  Dims dims = x->dims;
  dims[0] = -1;
  auto ragged = [](TensorInfo info) {
    info.lodLevel = 1;
    return info;
  };
  c.out("Out", ragged(withDims(*x, dims)));
  c.out("LossWeight", ragged(tensorInfo(DType::kFloat32, {-1, 1})));
  // Where an instance begins in Out and in Ins, and its rows.
  c.out("IndexMap", ragged(tensorInfo(DType::kInt64, {-1, 3})));
  return llvm::success();
}

llvm::LogicalResult inferHash(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->dims.empty()) return c.fail("needs rows in X");
  Dims dims(x->dims.begin(), x->dims.end() - 1);
  dims.push_back(c.op().getInt("num_hash"));
  dims.push_back(1);
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferSampleLogits(InferContext& c) {
  const TensorInfo *logits = require(c, "Logits"), *labels = require(c, "Labels");
  if (!logits || !labels) return llvm::failure();
  if (logits->rank() != 2 || labels->rank() != 2)
    return c.fail("needs matrices in Logits " + textOf(logits->dims) + " and Labels " +
                  textOf(labels->dims));
  int64_t samples = c.op().getInt("num_samples"), rows = logits->dims[0], trues = labels->dims[1];
  if (samples < 0 || samples > INT32_MAX)
    return c.fail("cannot draw " + llvm::Twine(samples) + " samples");
  Dims dims = {rows, known(trues) ? trues + samples : -1};
  c.out("Samples", tensorInfo(DType::kInt64, dims));
  c.out("Probabilities", tensorInfo(logits->dtype, dims));
  c.out("SampledLogits", tensorInfo(logits->dtype, dims));
  c.out("SampledLabels", tensorInfo(DType::kInt64, {rows, trues}));
  c.out("LogitsDim", tensorInfo(logits->dtype, {rows, logits->dims[1], 0}));
  c.out("LabelsDim", tensorInfo(DType::kInt64, {rows, trues, 0}));
  return llvm::success();
}

llvm::LogicalResult inferSampleLogitsGrad(InferContext& c) {
  const TensorInfo *like = require(c, "LogitsDim"), *gradient = require(c, "SampledLogits@GRAD");
  if (!like || !gradient) return llvm::failure();
  if (like->rank() != 3)
    return c.fail("needs what sample_logits left in LogitsDim " + textOf(like->dims));
  c.out("Logits@GRAD", withDims(*gradient, {like->dims[0], like->dims[1]}));
  return llvm::success();
}

}  // namespace dtranspile::pd
