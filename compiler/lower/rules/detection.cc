// Lowering rules: family `detection`: library calls.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("prior_box", "dt_prior_box"),
    callRule("density_prior_box", "dt_density_prior_box"),
    callRule("anchor_generator", "dt_anchor_generator"),
    callRule("iou_similarity", "dt_iou_similarity"),
    callRule("box_coder", "dt_box_coder"),
    callRule("box_clip", "dt_box_clip"),
    callRule("box_decoder_and_assign", "dt_box_decoder_and_assign"),
    callRule("polygon_box_transform", "dt_polygon_box_transform"),
    callRule("bipartite_match", "dt_bipartite_match"),
    callRule("target_assign", "dt_target_assign"),
    callRule("mine_hard_examples", "dt_mine_hard_examples"),
    callRule("multiclass_nms", "dt_multiclass_nms"),
    callRule("locality_aware_nms", "dt_locality_aware_nms"),
    callRule("nms", "dt_nms"),
    callRule("retinanet_detection_output", "dt_retinanet_detection_output"),
    callRule("matrix_nms", "dt_matrix_nms"),
    callRule("generate_proposals", "dt_generate_proposals(pixel_offset=-)"),
    callRule("generate_proposals_v2", "dt_generate_proposals(ImInfo=ImShape, RpnRoisLod=-)"),
    callRule("distribute_fpn_proposals", "dt_distribute_fpn_proposals"),
    callRule("collect_fpn_proposals", "dt_collect_fpn_proposals"),
    callRule("rpn_target_assign", "dt_rpn_target_assign"),
    callRule("retinanet_target_assign", "dt_retinanet_target_assign"),
    callRule("generate_proposal_labels", "dt_generate_proposal_labels"),
    callRule("generate_mask_labels", "dt_generate_mask_labels"),
    callRule("roi_align", "dt_roi_align"),
    callRule("roi_align_grad", "dt_roi_align_grad"),
    callRule("roi_pool", "dt_roi_pool"),
    callRule("roi_pool_grad", "dt_roi_pool_grad"),
    callRule("psroi_pool", "dt_psroi_pool"),
    callRule("psroi_pool_grad", "dt_psroi_pool_grad(RoisNum=-)"),
    callRule("prroi_pool", "dt_prroi_pool"),
    callRule("prroi_pool_grad", "dt_prroi_pool_grad"),
    callRule("deformable_psroi_pooling", "dt_deformable_psroi_pooling"),
    callRule("deformable_psroi_pooling_grad", "dt_deformable_psroi_pooling_grad"),
    callRule("roi_perspective_transform", "dt_roi_perspective_transform"),
    callRule("roi_perspective_transform_grad", "dt_roi_perspective_transform_grad"),
    callRule("yolo_box", "dt_yolo_box"),
    callRule("yolov3_loss", "dt_yolo_loss"),
    callRule("yolov3_loss_grad", "dt_yolo_loss_grad"),
};

}  // namespace

RuleTable detectionRules() { return kRules; }

}  // namespace dtranspile::lower
