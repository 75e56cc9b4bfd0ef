// Relation rules: family `detection`. Boxes of an image are rows of a sequence, so that an op which
// looks at each image by itself keeps the batch split; rows that a tensor counts (RoisNum) lie in
// parts of their own, and are not known to. What has one list over all images (detections, indices
// that count over the batch) couples them. Notation: rule.h.
#include "compiler/analysis/relations/records.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Grids over a feature map: of its extents the batch does not count.
void grid(RuleContext& context) {
  auto labels = [](mlir::Value value) {
    Labels all = wholeLabels(value);
    if (!all.empty()) all[0] = kAnyDim;
    return all;
  };
  for (const Clause& clause : context.clauses())
    giveResults(context, clause, formOf(context, clause, labels), wholeLabels);
}

// Regions belong to images by LoD. Where a tensor counts them, or gives offsets, their parts need
// not be those of the images; without either all are of the first image, of the batch and not of a
// share.
bool keepImages(RuleContext& context) {
  const pd::OpView& op = context.op();
  for (llvm::StringRef counts : {"RoisNum", "RoisLod", "BatchRoINums"})
    if (op.input(counts)) return false;
  for (llvm::StringRef slot : {"ROIs", "DistMat", "Input", "RpnRois", "FpnRois"})
    if (mlir::Value rows = op.input(slot)) return isRagged(rows);
  return false;
}

void regions(RuleContext& context) {
  if (keepImages(context)) batchwise(context);
  else giveWhole(context, context.clauses());
}

// The first clause is of regions of images; what the others give couples them.
void regionsThenWhole(RuleContext& context) {
  if (keepImages(context)) batchThenWhole(context);
  else giveWhole(context, context.clauses());
}

// As many proposals as an image has: rows of a sequence where the type has sequences, else a number
// that depends on the share.
void proposals(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  mlir::Value rows = context.op().output("RpnRois");
  if (rows && isRagged(rows)) giveBatchwise(context, clauses.take_front(1));
  else giveWhole(context, clauses.take_front(1));
  giveBatchwise(context, clauses.slice(1, 1));
  giveWhole(context, clauses.drop_front(2));
}

// Rows of one operand against rows of another: all pairs.
void pairs(RuleContext& context) {
  mlir::Value x = context.op().input("X"), y = context.op().input("Y");
  if (!x || !y) return;
  Form form;
  form.terms = {{x, {0, kWholeDim}, Use::Value}, {y, {1, kWholeDim}, Use::Value}};
  form.result = {0, 1};
  context.result("Out", form);
}

// Encoding: targets [n, 4] against priors [m, 4] -> [n, m, 4]. Decoding: targets [n, m, 4] by the
// priors of columns (axis 0) or of rows (axis 1).
void boxCoder(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value target = op.input("TargetBox");
  if (!target) return;
  const bool decodes = op.getString("code_type").starts_with("decode");
  const int prior = decodes && op.getInt("axis") == 1 ? 0 : 1;
  Form form;
  form.terms.push_back(
      {target, decodes ? Labels{0, 1, kWholeDim} : Labels{0, kWholeDim}, Use::Value});
  for (llvm::StringRef slot : {"PriorBox", "PriorBoxVar"})
    if (mlir::Value value = op.input(slot))
      form.terms.push_back({value, {prior, kWholeDim}, Use::Value});
  for (const Term& term : form.terms)
    if (rankOf(term.value) != static_cast<int>(term.labels.size())) return;
  form.result = {0, 1, kWholeDim};
  context.result("OutputBox", form);
}

constexpr const char* kCells = "spatial_scale, pooled_height, pooled_width";
constexpr const char* kAligned =
    "spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned";
constexpr const char* kPositionSensitive =
    "output_channels, spatial_scale, pooled_height, pooled_width";
constexpr const char* kDeformable =
    "no_trans, spatial_scale, output_dim, group_size, pooled_height, pooled_width, part_size, "
    "sample_per_part, trans_std";
constexpr const char* kPerspective = "spatial_scale, transformed_height, transformed_width";
constexpr const char* kSuppression =
    "background_label, score_threshold, nms_top_k, nms_threshold, nms_eta, keep_top_k, normalized";
constexpr const char* kProposals = "pre_nms_topN, post_nms_topN, nms_thresh, min_size, eta";
constexpr const char* kProposalsV2 =
    "pre_nms_topN, post_nms_topN, nms_thresh, min_size, eta, pixel_offset";
constexpr const char* kYoloLoss =
    "class_num, anchors, anchor_mask, downsample_ratio, ignore_thresh, use_label_smooth, "
    "scale_x_y";

const RuleRow kRows[] = {
    {"prior_box", grid, "Input:s, Image:s -> Boxes, Variances",
     "min_sizes, max_sizes, aspect_ratios, variances, flip, clip, step_w, step_h, offset, "
     "min_max_aspect_ratios_order"},
    {"density_prior_box", grid, "Input:s, Image:s -> Boxes, Variances",
     "variances, clip, flatten_to_2d, step_w, step_h, offset, fixed_sizes, fixed_ratios, "
     "densities"},
    {"anchor_generator", grid, "Input:s -> Anchors, Variances",
     "anchor_sizes, aspect_ratios, variances, stride, offset"},
    {"iou_similarity", pairs, "", "X, Y, box_normalized"},
    {"box_coder", boxCoder, "",
     "PriorBox, PriorBoxVar, TargetBox, code_type, box_normalized, axis, variance"},
    {"box_clip", regions, "Input, ImInfo -> Output"},
    {"box_decoder_and_assign", batchwise,
     "PriorBox, PriorBoxVar:w, TargetBox, BoxScore -> DecodeBox, OutputAssignBox", "box_clip"},
    {"polygon_box_transform", batchwise, "Input -> Output"},
    {"yolo_box", batchwise, "X, ImgSize -> Boxes, Scores",
     "class_num, anchors, downsample_ratio, conf_thresh, clip_bbox, scale_x_y, iou_aware, "
     "iou_aware_factor"},
    {"yolov3_loss", batchwise, "X, GTBox, GTLabel, GTScore -> Loss, ObjectnessMask, GTMatchMask",
     kYoloLoss},
    {"yolov3_loss_grad", batchwise,
     "Loss@GRAD:l, X, GTBox, GTLabel, GTScore, ObjectnessMask, GTMatchMask -> X@GRAD", kYoloLoss},
    // Matching within images.
    {"bipartite_match", regions, "DistMat -> ColToRowMatchIndices:e, ColToRowMatchDist:e",
     "match_type, dist_threshold"},
    {"target_assign", batchwise, "X, MatchIndices, NegIndices -> Out:e, OutWeight:e",
     "mismatch_value"},
    {"mine_hard_examples", batchwise,
     "ClsLoss, LocLoss, MatchIndices, MatchDist -> NegIndices:d, UpdatedMatchIndices",
     "neg_pos_ratio, neg_dist_threshold, sample_size, mining_type"},
    {"rpn_target_assign", wholeOnly,
     "Anchor, GtBoxes, IsCrowd, ImInfo -> LocationIndex, ScoreIndex, TargetBBox, TargetLabel, "
     "BBoxInsideWeight",
     "rpn_batch_size_per_im, rpn_straddle_thresh, rpn_positive_overlap, rpn_negative_overlap, "
     "rpn_fg_fraction, use_random=false"},
    {"retinanet_target_assign", wholeOnly,
     "Anchor, GtBoxes, GtLabels, IsCrowd, ImInfo -> LocationIndex, ScoreIndex, TargetBBox, "
     "TargetLabel, BBoxInsideWeight, ForegroundNumber",
     "positive_overlap, negative_overlap"},
    {"generate_proposal_labels", regions,
     "RpnRois, GtClasses, IsCrowd, GtBoxes, ImInfo -> Rois:d, LabelsInt32:d, BboxTargets:d, "
     "BboxInsideWeights:d, BboxOutsideWeights:d, MaxOverlapWithGT:d",
     "batch_size_per_im, fg_fraction, fg_thresh, bg_thresh_hi, bg_thresh_lo, bbox_reg_weights, "
     "class_nums, is_cls_agnostic, use_random=false"},
    {"generate_mask_labels", wholeOnly,
     "ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32 -> MaskRois, RoiHasMaskInt32, "
     "MaskInt32",
     "num_classes, resolution"},
    // Proposals of each image, and their way through the levels of a pyramid.
    {"generate_proposals", proposals,
     "Scores, BboxDeltas, ImInfo, Anchors:w, Variances:w -> RpnRois:d, RpnRoiProbs:d; "
     "Scores, BboxDeltas, ImInfo, Anchors:w, Variances:w -> RpnRoisNum; "
     "Scores, BboxDeltas, ImInfo, Anchors, Variances -> RpnRoisLod",
     kProposals},
    {"generate_proposals_v2", proposals,
     "Scores, BboxDeltas, ImShape, Anchors:w, Variances:w -> RpnRois:d, RpnRoiProbs:d; "
     "Scores, BboxDeltas, ImShape, Anchors:w, Variances:w -> RpnRoisNum",
     kProposalsV2},
    {"distribute_fpn_proposals", regionsThenWhole,
     "FpnRois, RoisNum -> MultiFpnRois:d, MultiLevelRoIsNum; FpnRois, RoisNum -> RestoreIndex",
     "min_level, max_level, refer_level, refer_scale, pixel_offset"},
    {"collect_fpn_proposals", wholeOnly,
     "MultiLevelRois, MultiLevelScores, MultiLevelRoIsNum -> FpnRois, RoisNum", "post_nms_topN"},
    // One list of detections over all images: [[-1]] where no image has any, indices over the
    // batch.
    {"multiclass_nms", wholeOnly, "BBoxes, Scores -> Out", kSuppression},
    {"locality_aware_nms", wholeOnly, "BBoxes, Scores -> Out", kSuppression},
    {"matrix_nms", wholeOnly, "BBoxes, Scores -> Out, Index, RoisNum",
     "background_label, score_threshold, post_threshold, nms_top_k, keep_top_k, normalized, "
     "use_gaussian, gaussian_sigma"},
    {"nms", wholeOnly, "Boxes -> KeepBoxesIdxs", "iou_threshold"},
    {"retinanet_detection_output", wholeOnly, "BBoxes, Scores, Anchors, ImInfo -> Out",
     "score_threshold, nms_top_k, nms_threshold, nms_eta, keep_top_k"},
    // Pooling of regions.
    {"roi_align", regions, "X:l, ROIs, RoisNum, RoisLod -> Out", kAligned},
    {"roi_align_grad", regions, "Out@GRAD:l, ROIs, RoisNum, RoisLod, X:s -> X@GRAD", kAligned},
    {"roi_pool", regions,
     "X:h, ROIs, RoisNum, RoisLod -> Out; X:m, ROIs, RoisNum, RoisLod -> Argmax", kCells},
    {"roi_pool_grad", regions, "Out@GRAD:l, Argmax, ROIs, RoisNum, RoisLod, X:s -> X@GRAD", kCells},
    {"psroi_pool", regions, "X:l, ROIs, RoisNum -> Out", kPositionSensitive},
    {"psroi_pool_grad", regions, "Out@GRAD:l, ROIs, X:s -> X@GRAD", kPositionSensitive},
    {"prroi_pool", regions, "X:l, ROIs, BatchRoINums -> Out", kCells},
    {"prroi_pool_grad", regions,
     "Out@GRAD:l, ROIs, BatchRoINums, X:s -> X@GRAD; Out@GRAD:l, ROIs, BatchRoINums, X, Out -> "
     "ROIs@GRAD",
     kCells},
    {"deformable_psroi_pooling", regions,
     "Input:l, ROIs, Trans -> Output; Input:s, ROIs, Trans -> "
     "TopCount",
     kDeformable},
    {"deformable_psroi_pooling_grad", regions,
     "Output@GRAD:l, Input:s, ROIs, Trans, TopCount -> Input@GRAD; Output@GRAD:l, Input, ROIs, "
     "Trans, TopCount -> Trans@GRAD",
     kDeformable},
    {"roi_perspective_transform", regions,
     "X:l, ROIs -> Out; ROIs, X:s -> Mask, TransformMatrix, Out2InIdx, Out2InWeights",
     kPerspective},
    {"roi_perspective_transform_grad", regions,
     "Out@GRAD:l, Out2InIdx:s, Out2InWeights:s, ROIs, X:s -> X@GRAD", kPerspective},
};

}  // namespace

llvm::ArrayRef<RuleRow> detectionRules() { return kRows; }

}  // namespace dtranspile::verify
