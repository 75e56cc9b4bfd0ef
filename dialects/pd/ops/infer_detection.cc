// Inference of detection ops whose results programs declare with other types or extents than they
// have. Rows: detection.cc.
#include "dialects/pd/ops/infer_detection.h"

namespace dtranspile::pd {
namespace {

int64_t extent(int64_t value) { return value > 0 ? value : -1; }

// [regions, channels, cells, cells] of the type of `input`; nothing after a report.
std::optional<TensorInfo> pooled(InferContext& c, llvm::StringRef input, int64_t channels) {
  const TensorInfo *x = require(c, input), *rois = require(c, "ROIs");
  if (!x || !rois) return std::nullopt;
  if (x->rank() != 4 || rois->rank() < 1) {
    (void)c.fail("needs 4 dims of " + input + " and rows of regions in ROIs, not " + input + " " +
                 textOf(x->dims) + " and ROIs " + textOf(rois->dims));
    return std::nullopt;
  }
  const Dims dims = {rois->dims[0], channels == 0 ? x->dims[1] : channels,
                     extent(c.op().getInt("pooled_height")), extent(c.op().getInt("pooled_width"))};
  return tensorInfo(x->dtype, dims);
}

}  // namespace

llvm::LogicalResult inferRoiPool(InferContext& c) {
  auto out = pooled(c, "X", 0);
  if (!out) return llvm::failure();
  c.out("Out", *out);
  if (c.outCount("Argmax")) c.out("Argmax", tensorInfo(DType::kInt64, out->dims));
  return llvm::success();
}

llvm::LogicalResult inferPsroiPool(InferContext& c) {
  auto out = pooled(c, "X", extent(c.op().getInt("output_channels")));
  if (!out) return llvm::failure();
  c.out("Out", *out);
  return llvm::success();
}

llvm::LogicalResult inferDeformablePsroi(InferContext& c) {
  auto out = pooled(c, "Input", extent(c.op().getInt("output_dim")));
  if (!out) return llvm::failure();
  c.out("Output", *out);
  c.out("TopCount", *out);
  return llvm::success();
}

llvm::LogicalResult inferYoloLoss(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *boxes = require(c, "GTBox");
  if (!x || !boxes) return llvm::failure();
  if (x->rank() != 4 || boxes->rank() != 3)
    return c.fail("needs 4 dims of X and 3 of GTBox, not X " + textOf(x->dims) + " and GTBox " +
                  textOf(boxes->dims));
  c.out("Loss", tensorInfo(x->dtype, {x->dims[0]}));
  c.out(
      "ObjectnessMask",
      tensorInfo(x->dtype, {x->dims[0], static_cast<int64_t>(c.op().getInts("anchor_mask").size()),
                            x->dims[2], x->dims[3]}));
  c.out("GTMatchMask", tensorInfo(DType::kInt32, {boxes->dims[0], boxes->dims[1]}));
  return llvm::success();
}

llvm::LogicalResult inferGenerateProposals(InferContext& c) {
  const TensorInfo* scores = require(c, "Scores");
  if (!scores) return llvm::failure();
  if (scores->rank() != 4) return c.fail("needs 4 dims of Scores, not " + textOf(scores->dims));
  c.out("RpnRois", tensorInfo(scores->dtype, {-1, 4}));
  c.out("RpnRoiProbs", tensorInfo(scores->dtype, {-1, 1}));
  if (c.outCount("RpnRoisNum")) c.out("RpnRoisNum", tensorInfo(DType::kInt32, {scores->dims[0]}));
  if (c.outCount("RpnRoisLod")) c.out("RpnRoisLod", tensorInfo(DType::kInt64, {scores->dims[0]}));
  return llvm::success();
}

// Rows (class, score, box): how many depends on the scores, whatever the program declares.
llvm::LogicalResult inferDetections(InferContext& c) {
  const TensorInfo* boxes = require(c, "BBoxes");
  if (!boxes) return llvm::failure();
  if (boxes->rank() != 3) return c.fail("needs 3 dims of BBoxes, not " + textOf(boxes->dims));
  TensorInfo rows = tensorInfo(boxes->dtype, {-1, known(boxes->dims[2]) ? boxes->dims[2] + 2 : -1});
  rows.lodLevel = 1;
  c.out("Out", rows);
  rows.dtype = DType::kInt32;
  rows.dims[1] = 1;
  if (c.outCount("Index")) c.out("Index", rows);
  if (c.outCount("RoisNum")) c.out("RoisNum", tensorInfo(DType::kInt32, {boxes->dims[0]}));
  return llvm::success();
}

llvm::LogicalResult inferNms(InferContext& c) {
  c.out("KeepBoxesIdxs", tensorInfo(DType::kInt64, {-1}));
  return llvm::success();
}

}  // namespace dtranspile::pd
