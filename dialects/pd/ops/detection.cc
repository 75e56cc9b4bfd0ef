// Rows of the op table: family `detection`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_detection.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kYolov3LossAttributes =
    "class_num:i=1, anchors:is={}, anchor_mask:is={}, downsample_ratio:i=32, ignore_thresh:f=0.7, "
    "use_label_smooth:b=true, scale_x_y:f=1";

constexpr const char* kRoiPoolAttributes = "spatial_scale:f=1, pooled_height:i=1, pooled_width:i=1";

constexpr const char* kRoiAlignAttributes =
    "spatial_scale:f=1, pooled_height:i=1, pooled_width:i=1, sampling_ratio:i=-1, "
    "aligned:b=false@1";

constexpr const char* kPsroiPoolAttributes =
    "output_channels:i=1, spatial_scale:f=1, pooled_height:i=1, pooled_width:i=1";

constexpr const char* kRoiPerspectiveTransformAttributes =
    "spatial_scale:f=1, transformed_height:i=1, transformed_width:i=1";

constexpr const char* kDeformablePsroiPoolingAttributes =
    "no_trans:b, spatial_scale:f, output_dim:i, group_size:is, pooled_height:i, pooled_width:i, "
    "part_size:is, sample_per_part:i, trans_std:f";

const OpRow kRows[] = {
    {"prior_box", "Input, Image -> Boxes, Variances",
     "min_sizes:fs, max_sizes:fs={}, aspect_ratios:fs={}, variances:fs={}, flip:b=true, "
     "clip:b=true, step_w:f=0, step_h:f=0, offset:f=0.5, "
     "min_max_aspect_ratios_order:b=false",
     kPure, nullptr},
    {"density_prior_box", "Input, Image -> Boxes, Variances",
     "variances:fs, clip:b=true, flatten_to_2d:b=false, step_w:f=0, step_h:f=0, offset:f=0.5, "
     "fixed_sizes:fs={}, fixed_ratios:fs={}, densities:is={}",
     kPure, nullptr},
    {"anchor_generator", "Input -> Anchors, Variances",
     "anchor_sizes:fs, aspect_ratios:fs, variances:fs, stride:fs={16,16}, offset:f=0.5", kPure,
     nullptr},
    {"iou_similarity", "X, Y -> Out", "box_normalized:b=true", kPure, nullptr},
    {"bipartite_match", "DistMat -> ColToRowMatchIndices, ColToRowMatchDist",
     "match_type:s=bipartite, dist_threshold:f=0.5", kPure, nullptr},
    {"target_assign", "X, MatchIndices, NegIndices? -> Out, OutWeight", "mismatch_value:i=0", kPure,
     nullptr},
    {"mine_hard_examples",
     "ClsLoss, LocLoss?, MatchIndices, MatchDist -> NegIndices, UpdatedMatchIndices",
     "neg_pos_ratio:f=1, neg_dist_threshold:f=0.5, sample_size:i=0, mining_type:s=max_negative",
     kPure, nullptr},
    {"box_coder", "PriorBox, PriorBoxVar?, TargetBox -> OutputBox",
     "code_type:s=encode_center_size, box_normalized:b=true, axis:i=0, variance:fs={}", kPure,
     nullptr},
    {"box_clip", "Input, ImInfo -> Output", "", kPure, nullptr},
    {"box_decoder_and_assign",
     "PriorBox, PriorBoxVar?, TargetBox, BoxScore -> DecodeBox, OutputAssignBox",
     "box_clip:f=4.135", kPure, nullptr},
    {"multiclass_nms", "BBoxes, Scores -> Out",
     "background_label:i=0, score_threshold:f, nms_top_k:i, nms_threshold:f=0.3, nms_eta:f=1, "
     "keep_top_k:i, normalized:b=true",
     kPure, inferDetections},
    {"matrix_nms", "BBoxes, Scores -> Out, Index, RoisNum?",
     "background_label:i=0, score_threshold:f, post_threshold:f=0, nms_top_k:i, keep_top_k:i, "
     "normalized:b=true, use_gaussian:b=false, gaussian_sigma:f=2",
     kPure, inferDetections},
    {"nms", "Boxes -> KeepBoxesIdxs", "iou_threshold:f=1", kPure, inferNms},
    {"locality_aware_nms", "BBoxes, Scores -> Out",
     "background_label:i=-1, score_threshold:f, nms_top_k:i, nms_threshold:f=0.3, nms_eta:f=1, "
     "keep_top_k:i, normalized:b=true",
     kPure, inferDetections},
    {"retinanet_detection_output", "BBoxes+, Scores+, Anchors+, ImInfo -> Out",
     "score_threshold:f, nms_top_k:i, nms_threshold:f, nms_eta:f, keep_top_k:i", kPure,
     inferDetections},
    {"polygon_box_transform", "Input -> Output", "", kPure, nullptr},
    {"yolov3_loss", "X, GTBox, GTLabel, GTScore? -> Loss, ObjectnessMask, GTMatchMask",
     kYolov3LossAttributes, kPure, inferYoloLoss},
    {"yolov3_loss_grad",
     "GTBox, GTLabel, GTMatchMask, GTScore?, Loss@GRAD, ObjectnessMask, X -> GTBox@GRAD?, "
     "GTLabel@GRAD?, GTScore@GRAD?, X@GRAD?",
     kYolov3LossAttributes, kPure, inferGradients},
    {"yolo_box", "X, ImgSize -> Boxes, Scores",
     "class_num:i=1, anchors:is={}, downsample_ratio:i=32, conf_thresh:f=0.01, clip_bbox:b=true, "
     "scale_x_y:f=1, iou_aware:b=false@1, "
     "iou_aware_factor:f=0.5@1",
     kPure, nullptr},
    {"roi_pool", "X, ROIs, RoisLod?, RoisNum? -> Out, Argmax", kRoiPoolAttributes, kPure,
     inferRoiPool},
    {"roi_pool_grad", "Argmax, Out@GRAD, ROIs, RoisLod?, X, RoisNum? -> X@GRAD?",
     kRoiPoolAttributes, kPure, inferGradients},
    {"roi_align", "X, ROIs, RoisLod?, RoisNum? -> Out", kRoiAlignAttributes, kPure, inferRoiPool},
    {"roi_align_grad", "Out@GRAD, ROIs, RoisLod?, X, RoisNum? -> X@GRAD?", kRoiAlignAttributes,
     kPure, inferGradients},
    {"psroi_pool", "X, ROIs, RoisNum? -> Out", kPsroiPoolAttributes, kPure, inferPsroiPool},
    {"psroi_pool_grad", "Out@GRAD, ROIs?, X? -> X@GRAD?", kPsroiPoolAttributes, kPure,
     inferGradients},
    {"prroi_pool", "X, ROIs, BatchRoINums? -> Out", kRoiPoolAttributes, kPure, inferRoiPool},
    {"prroi_pool_grad", "BatchRoINums?, Out?, Out@GRAD, ROIs?, X? -> ROIs@GRAD?, X@GRAD?",
     kRoiPoolAttributes, kPure, inferGradients},
    {"roi_perspective_transform", "X, ROIs -> Out, Mask, TransformMatrix, Out2InIdx, Out2InWeights",
     kRoiPerspectiveTransformAttributes, kPure, nullptr},
    {"roi_perspective_transform_grad", "Out2InIdx?, Out2InWeights?, Out@GRAD, ROIs?, X? -> X@GRAD?",
     kRoiPerspectiveTransformAttributes, kPure, inferGradients},
    {"deformable_psroi_pooling", "Input, ROIs, Trans -> TopCount, Output",
     kDeformablePsroiPoolingAttributes, kPure, inferDeformablePsroi},
    {"deformable_psroi_pooling_grad",
     "Input?, Output@GRAD, ROIs?, TopCount?, Trans? -> Input@GRAD?, Trans@GRAD?",
     kDeformablePsroiPoolingAttributes, kPure, inferGradients},
    {"generate_proposals",
     "Scores, BboxDeltas, ImInfo, Anchors, Variances -> RpnRois, RpnRoiProbs, RpnRoisLod?, "
     "RpnRoisNum?",
     "pre_nms_topN:i, post_nms_topN:i, nms_thresh:f, min_size:f, eta:f", kPure,
     inferGenerateProposals},
    {"generate_proposals_v2",
     "Scores, BboxDeltas, ImShape, Anchors, Variances -> RpnRois, RpnRoiProbs, RpnRoisNum?",
     "pre_nms_topN:i, post_nms_topN:i, nms_thresh:f, min_size:f, eta:f, pixel_offset:b=true@1",
     kPure, inferGenerateProposals},
    {"rpn_target_assign",
     "Anchor, GtBoxes, IsCrowd, ImInfo -> LocationIndex, ScoreIndex, TargetBBox, TargetLabel, "
     "BBoxInsideWeight",
     "rpn_batch_size_per_im:i=256, rpn_straddle_thresh:f, rpn_positive_overlap:f=0.7, "
     "rpn_negative_overlap:f=0.3, rpn_fg_fraction:f=0.25, use_random:b=true",
     kRandom, nullptr},
    {"retinanet_target_assign",
     "Anchor, GtBoxes, GtLabels, IsCrowd, ImInfo -> LocationIndex, ScoreIndex, TargetBBox, "
     "TargetLabel, BBoxInsideWeight, ForegroundNumber",
     "positive_overlap:f=0.5, negative_overlap:f=0.4", kRandom, nullptr},
    {"generate_proposal_labels",
     "RpnRois, GtClasses, IsCrowd, GtBoxes, ImInfo, MaxOverlap? -> Rois, LabelsInt32, BboxTargets, "
     "BboxInsideWeights, BboxOutsideWeights, MaxOverlapWithGT?",
     "batch_size_per_im:i, fg_fraction:f, fg_thresh:f, bg_thresh_hi:f, bg_thresh_lo:f, "
     "bbox_reg_weights:fs, class_nums:i, use_random:b=true, "
     "is_cascade_rcnn:b=false, is_cls_agnostic:b=false",
     kRandom, nullptr},
    {"generate_mask_labels",
     "ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32 -> MaskRois, RoiHasMaskInt32, "
     "MaskInt32",
     "num_classes:i, resolution:i", kPure, nullptr},
    {"distribute_fpn_proposals",
     "FpnRois, RoisNum? -> MultiFpnRois*, RestoreIndex, MultiLevelRoIsNum*",
     "min_level:i, max_level:i, refer_level:i, refer_scale:i, pixel_offset:b=true", kPure, nullptr},
    {"collect_fpn_proposals",
     "MultiLevelRois+, MultiLevelScores+, MultiLevelRoIsNum* -> FpnRois, RoisNum?",
     "post_nms_topN:i", kPure, nullptr},
};

}  // namespace

Family detectionFamily() { return {"detection", kRows}; }

}  // namespace dtranspile::pd
