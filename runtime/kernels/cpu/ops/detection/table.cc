// Library calls: family `detection`.
#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_prior_box", Entry<PriorBox>},
    {"dt_density_prior_box", Entry<DensityPriorBox>},
    {"dt_anchor_generator", Entry<AnchorGenerator>},
    {"dt_iou_similarity", Entry<IouSimilarity>},
    {"dt_box_coder", Entry<BoxCoder>},
    {"dt_box_clip", Entry<BoxClip>},
    {"dt_box_decoder_and_assign", Entry<BoxDecoderAndAssign>},
    {"dt_polygon_box_transform", Entry<PolygonBoxTransform>},
    {"dt_bipartite_match", Entry<BipartiteMatch>},
    {"dt_target_assign", Entry<TargetAssign>},
    {"dt_mine_hard_examples", Entry<MineHardExamples>},
    {"dt_multiclass_nms", Entry<MulticlassNms>},
    {"dt_locality_aware_nms", Entry<LocalityAwareNms>},
    {"dt_nms", Entry<Nms>},
    {"dt_retinanet_detection_output", Entry<RetinanetDetectionOutput>},
    {"dt_matrix_nms", Entry<MatrixNms>},
    {"dt_generate_proposals", Entry<GenerateProposals>},
    {"dt_distribute_fpn_proposals", Entry<DistributeFpnProposals>},
    {"dt_collect_fpn_proposals", Entry<CollectFpnProposals>},
    {"dt_rpn_target_assign", Entry<RpnTargetAssign>},
    {"dt_retinanet_target_assign", Entry<RetinanetTargetAssign>},
    {"dt_generate_proposal_labels", Entry<GenerateProposalLabels>},
    {"dt_generate_mask_labels", Entry<GenerateMaskLabels>},
    {"dt_roi_align", Entry<RoiAlign>},
    {"dt_roi_align_grad", Entry<RoiAlignGrad>},
    {"dt_roi_pool", Entry<RoiPool>},
    {"dt_roi_pool_grad", Entry<RoiPoolGrad>},
    {"dt_psroi_pool", Entry<PsroiPool>},
    {"dt_psroi_pool_grad", Entry<PsroiPoolGrad>},
    {"dt_prroi_pool", Entry<PrroiPool>},
    {"dt_prroi_pool_grad", Entry<PrroiPoolGrad>},
    {"dt_deformable_psroi_pooling", Entry<DeformablePsroiPooling>},
    {"dt_deformable_psroi_pooling_grad", Entry<DeformablePsroiPoolingGrad>},
    {"dt_roi_perspective_transform", Entry<RoiPerspectiveTransform>},
    {"dt_roi_perspective_transform_grad", Entry<RoiPerspectiveTransformGrad>},
    {"dt_yolo_box", Entry<YoloBox>},
    {"dt_yolo_loss", Entry<YoloLoss>},
    {"dt_yolo_loss_grad", Entry<YoloLossGrad>},
};

}  // namespace

FunctionTable DetectionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
