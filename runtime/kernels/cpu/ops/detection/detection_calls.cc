// Library calls: family `detection`.
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_prior_box", Entry<PriorBox>, kFloats},
    {"dt_density_prior_box", Entry<DensityPriorBox>, kFloats},
    {"dt_anchor_generator", Entry<AnchorGenerator>, kFloats},
    {"dt_iou_similarity", Entry<IouSimilarity>, kFloats},
    {"dt_box_coder", Entry<BoxCoder>, kFloats},
    {"dt_box_clip", Entry<BoxClip>, kFloats},
    {"dt_box_decoder_and_assign", Entry<BoxDecoderAndAssign>, kFloats},
    {"dt_polygon_box_transform", Entry<PolygonBoxTransform>, kFloats},
    {"dt_bipartite_match", Entry<BipartiteMatch>, kFloats},
    {"dt_target_assign", Entry<TargetAssign>, kNumbers},
    {"dt_mine_hard_examples", Entry<MineHardExamples>, kFloats},
    {"dt_multiclass_nms", Entry<MulticlassNms>, kFloats},
    {"dt_locality_aware_nms", Entry<LocalityAwareNms>, kFloats},
    {"dt_nms", Entry<Nms>, kFloats},
    {"dt_retinanet_detection_output", Entry<RetinanetDetectionOutput>, kFloats},
    {"dt_matrix_nms", Entry<MatrixNms>, kFloats},
    {"dt_generate_proposals", Entry<GenerateProposals>, kFloats},
    {"dt_distribute_fpn_proposals", Entry<DistributeFpnProposals>, kFloats},
    {"dt_collect_fpn_proposals", Entry<CollectFpnProposals>, kFloats},
    {"dt_rpn_target_assign", Entry<RpnTargetAssign>, kFloats},
    {"dt_retinanet_target_assign", Entry<RetinanetTargetAssign>, kFloats},
    {"dt_generate_proposal_labels", Entry<GenerateProposalLabels>, kFloats},
    {"dt_generate_mask_labels", Entry<GenerateMaskLabels>, kFloats},
    {"dt_roi_align", Entry<RoiAlign>, kFloats},
    {"dt_roi_align_grad", Entry<RoiAlignGrad>, kFloats},
    {"dt_roi_pool", Entry<RoiPool>, kFloats},
    {"dt_roi_pool_grad", Entry<RoiPoolGrad>, kFloats},
    {"dt_psroi_pool", Entry<PsroiPool>, kFloats},
    {"dt_psroi_pool_grad", Entry<PsroiPoolGrad>, kFloats},
    {"dt_prroi_pool", Entry<PrroiPool>, kFloats},
    {"dt_prroi_pool_grad", Entry<PrroiPoolGrad>, kFloats},
    {"dt_deformable_psroi_pooling", Entry<DeformablePsroiPooling>, kFloats},
    {"dt_deformable_psroi_pooling_grad", Entry<DeformablePsroiPoolingGrad>, kFloats},
    {"dt_roi_perspective_transform", Entry<RoiPerspectiveTransform>, kFloats},
    {"dt_roi_perspective_transform_grad", Entry<RoiPerspectiveTransformGrad>, kFloats},
    {"dt_yolo_box", Entry<YoloBox>, kFloats},
    {"dt_yolo_loss", Entry<YoloLoss>, kFloats},
    {"dt_yolo_loss_grad", Entry<YoloLossGrad>, kFloats},
};

}  // namespace

FunctionTable DetectionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
