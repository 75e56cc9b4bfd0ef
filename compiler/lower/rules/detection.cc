// Lowering rules: family `detection`: library calls.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

#define DT_ROI_CELLS "spatial_scale, pooled_height, pooled_width"
#define DT_POSITION "output_channels, spatial_scale, pooled_height, pooled_width"
#define DT_DEFORMABLE_PSROI                                                                   \
  "no_trans, spatial_scale, output_dim, group_size, pooled_height, pooled_width, part_size, " \
  "sample_per_part, trans_std"
#define DT_PERSPECTIVE "spatial_scale, transformed_height, transformed_width"
#define DT_NMS \
  "background_label, score_threshold, nms_top_k, nms_threshold, nms_eta, keep_top_k, normalized"
#define DT_PROPOSALS "pre_nms_topN, post_nms_topN, nms_thresh, min_size, eta, @type, @version"
#define DT_YOLO_LOSS \
  "anchors, anchor_mask, class_num, ignore_thresh, downsample_ratio, use_label_smooth, scale_x_y"

const LoweringRule kRules[] = {
    callRule("prior_box",
             "dt_prior_box(Input, Image; min_sizes, max_sizes, aspect_ratios, variances, flip, "
             "clip, step_w, step_h, offset, min_max_aspect_ratios_order) -> "
             "Boxes, Variances"),
    callRule("density_prior_box",
             "dt_density_prior_box(Input, Image; variances, clip, flatten_to_2d, step_w, step_h, "
             "offset, fixed_sizes, fixed_ratios, densities) -> "
             "Boxes, Variances"),
    callRule("anchor_generator",
             "dt_anchor_generator(Input; anchor_sizes, aspect_ratios, variances, stride, offset) "
             "-> Anchors, Variances"),
    callRule("iou_similarity", "dt_iou_similarity(X, Y; box_normalized) -> Out"),
    callRule("box_coder",
             "dt_box_coder(PriorBox, PriorBoxVar, TargetBox; code_type, box_normalized, axis, "
             "variance) -> OutputBox"),
    callRule("box_clip", "dt_box_clip(Input, ImInfo) -> Output"),
    callRule("box_decoder_and_assign",
             "dt_box_decoder_and_assign(PriorBox, PriorBoxVar, TargetBox, BoxScore; box_clip) -> "
             "DecodeBox, OutputAssignBox"),
    callRule("polygon_box_transform", "dt_polygon_box_transform(Input) -> Output"),
    callRule("bipartite_match",
             "dt_bipartite_match(DistMat; match_type, dist_threshold) -> ColToRowMatchIndices, "
             "ColToRowMatchDist"),
    callRule("target_assign",
             "dt_target_assign(X, MatchIndices, NegIndices; mismatch_value) -> Out, OutWeight"),
    callRule("mine_hard_examples",
             "dt_mine_hard_examples(ClsLoss, LocLoss, MatchIndices, MatchDist; neg_pos_ratio, "
             "neg_dist_threshold, sample_size, mining_type) -> "
             "NegIndices, UpdatedMatchIndices"),
    callRule("multiclass_nms", "dt_multiclass_nms(BBoxes, Scores; " DT_NMS ") -> Out"),
    callRule("locality_aware_nms", "dt_locality_aware_nms(BBoxes, Scores; " DT_NMS ") -> Out"),
    callRule("nms", "dt_nms(Boxes; iou_threshold) -> KeepBoxesIdxs"),
    callRule("retinanet_detection_output",
             "dt_retinanet_detection_output(BBoxes, Scores, Anchors, ImInfo; score_threshold, "
             "nms_top_k, nms_threshold, nms_eta, keep_top_k) -> Out"),
    callRule("matrix_nms",
             "dt_matrix_nms(BBoxes, Scores; background_label, score_threshold, post_threshold, "
             "nms_top_k, keep_top_k, normalized, use_gaussian, gaussian_sigma, "
             "@version) "
             "-> Out, Index, RoisNum"),
    callRule("generate_proposals",
             "dt_generate_proposals(Scores, BboxDeltas, ImInfo, Anchors, Variances; " DT_PROPOSALS
             ") -> RpnRois, RpnRoiProbs, RpnRoisNum, RpnRoisLod"),
    callRule("generate_proposals_v2",
             "dt_generate_proposals(Scores, BboxDeltas, ImShape, Anchors, Variances; " DT_PROPOSALS
             ", pixel_offset) -> RpnRois, RpnRoiProbs, RpnRoisNum"),
    callRule("distribute_fpn_proposals",
             "dt_distribute_fpn_proposals(FpnRois, RoisNum; min_level, max_level, refer_level, "
             "refer_scale, pixel_offset) -> "
             "MultiFpnRois, RestoreIndex, MultiLevelRoIsNum"),
    callRule("collect_fpn_proposals",
             "dt_collect_fpn_proposals(MultiLevelRois, MultiLevelScores, MultiLevelRoIsNum; "
             "post_nms_topN) -> FpnRois, RoisNum"),
    callRule("rpn_target_assign",
             "dt_rpn_target_assign(Anchor, GtBoxes, IsCrowd, ImInfo; rpn_batch_size_per_im, "
             "rpn_straddle_thresh, rpn_positive_overlap, rpn_negative_overlap, "
             "rpn_fg_fraction, use_random) -> LocationIndex, ScoreIndex, TargetBBox, TargetLabel, "
             "BBoxInsideWeight"),
    callRule(
        "retinanet_target_assign",
        "dt_retinanet_target_assign(Anchor, GtBoxes, GtLabels, IsCrowd, ImInfo; positive_overlap, "
        "negative_overlap) -> "
        "LocationIndex, ScoreIndex, TargetBBox, TargetLabel, BBoxInsideWeight, ForegroundNumber"),
    callRule(
        "generate_proposal_labels",
        "dt_generate_proposal_labels(RpnRois, GtClasses, IsCrowd, GtBoxes, ImInfo; "
        "batch_size_per_im, fg_fraction, fg_thresh, bg_thresh_hi, bg_thresh_lo, "
        "bbox_reg_weights, class_nums, use_random, is_cascade_rcnn, is_cls_agnostic) -> "
        "Rois, LabelsInt32, BboxTargets, BboxInsideWeights, BboxOutsideWeights, MaxOverlapWithGT"),
    callRule("generate_mask_labels",
             "dt_generate_mask_labels(ImInfo, GtClasses, IsCrowd, GtSegms, Rois, LabelsInt32; "
             "num_classes, resolution) -> MaskRois, RoiHasMaskInt32, MaskInt32"),
    callRule("roi_align", "dt_roi_align(X, ROIs, RoisLod, RoisNum; " DT_ROI_CELLS
                          ", sampling_ratio, aligned) -> Out"),
    callRule("roi_align_grad",
             "dt_roi_align_grad(X, ROIs, RoisLod, RoisNum, Out@GRAD; " DT_ROI_CELLS
             ", sampling_ratio, aligned) -> X@GRAD"),
    callRule("roi_pool", "dt_roi_pool(X, ROIs, RoisLod, RoisNum; " DT_ROI_CELLS ") -> Out, Argmax"),
    callRule("roi_pool_grad",
             "dt_roi_pool_grad(X, ROIs, RoisLod, RoisNum, Argmax, Out@GRAD; " DT_ROI_CELLS
             ") -> X@GRAD"),
    callRule("psroi_pool", "dt_psroi_pool(X, ROIs, RoisNum; " DT_POSITION ") -> Out"),
    callRule("psroi_pool_grad",
             "dt_psroi_pool_grad(X, ROIs, RoisNum, Out@GRAD; " DT_POSITION ") -> X@GRAD"),
    callRule("prroi_pool", "dt_prroi_pool(X, ROIs, BatchRoINums; " DT_ROI_CELLS ") -> Out"),
    callRule("prroi_pool_grad",
             "dt_prroi_pool_grad(X, ROIs, BatchRoINums, Out, Out@GRAD; " DT_ROI_CELLS
             ") -> X@GRAD, ROIs@GRAD"),
    callRule("deformable_psroi_pooling",
             "dt_deformable_psroi_pooling(Input, ROIs, Trans; " DT_DEFORMABLE_PSROI
             ") -> Output, TopCount"),
    callRule(
        "deformable_psroi_pooling_grad",
        "dt_deformable_psroi_pooling_grad(Input, ROIs, Trans, Output@GRAD; " DT_DEFORMABLE_PSROI
        ") -> Input@GRAD, Trans@GRAD"),
    callRule("roi_perspective_transform",
             "dt_roi_perspective_transform(X, ROIs; " DT_PERSPECTIVE
             ") -> Out, Mask, TransformMatrix, Out2InIdx, Out2InWeights"),
    callRule("roi_perspective_transform_grad",
             "dt_roi_perspective_transform_grad(X, ROIs, Out@GRAD; " DT_PERSPECTIVE ") -> X@GRAD"),
    callRule("yolo_box",
             "dt_yolo_box(X, ImgSize; class_num, anchors, downsample_ratio, conf_thresh, "
             "clip_bbox, scale_x_y, iou_aware, iou_aware_factor, @version) -> "
             "Boxes, Scores"),
    callRule("yolov3_loss", "dt_yolo_loss(X, GTBox, GTLabel, GTScore; " DT_YOLO_LOSS
                            ") -> Loss, ObjectnessMask, GTMatchMask"),
    callRule(
        "yolov3_loss_grad",
        "dt_yolo_loss_grad(X, GTBox, GTLabel, GTScore, ObjectnessMask, Loss@GRAD; " DT_YOLO_LOSS
        ") -> X@GRAD"),
};

}  // namespace

RuleTable detectionRules() { return kRules; }

}  // namespace dtranspile::lower
