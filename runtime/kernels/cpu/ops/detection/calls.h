// Kernels of the family `detection`, named in detection_calls.cc. Slots and attributes:
// runtime/kernels/signatures/detection.calls.
#pragma once

#include "runtime/kernels/args/detection.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t PriorBox(OpCall& call);
int32_t DensityPriorBox(OpCall& call);
int32_t AnchorGenerator(OpCall& call);
int32_t IouSimilarity(OpCall& call);
int32_t BoxCoder(OpCall& call);
int32_t BoxClip(OpCall& call);
int32_t BoxDecoderAndAssign(OpCall& call);
int32_t PolygonBoxTransform(OpCall& call);
int32_t BipartiteMatch(OpCall& call);
int32_t TargetAssign(OpCall& call);
int32_t MineHardExamples(OpCall& call);
int32_t MulticlassNms(OpCall& call);
int32_t LocalityAwareNms(OpCall& call);
int32_t Nms(OpCall& call);
int32_t RetinanetDetectionOutput(OpCall& call);
int32_t MatrixNms(OpCall& call);
int32_t GenerateProposals(OpCall& call);
int32_t DistributeFpnProposals(OpCall& call);
int32_t CollectFpnProposals(OpCall& call);
int32_t RpnTargetAssign(OpCall& call);
int32_t RetinanetTargetAssign(OpCall& call);
int32_t GenerateProposalLabels(OpCall& call);
int32_t GenerateMaskLabels(OpCall& call);
int32_t RoiAlign(OpCall& call);
int32_t RoiAlignGrad(OpCall& call);
int32_t RoiPool(OpCall& call);
int32_t RoiPoolGrad(OpCall& call);
int32_t PsroiPool(OpCall& call);
int32_t PsroiPoolGrad(OpCall& call);
int32_t PrroiPool(OpCall& call);
int32_t PrroiPoolGrad(OpCall& call);
int32_t DeformablePsroiPooling(OpCall& call);
int32_t DeformablePsroiPoolingGrad(OpCall& call);
int32_t RoiPerspectiveTransform(OpCall& call);
int32_t RoiPerspectiveTransformGrad(OpCall& call);
int32_t YoloBox(OpCall& call);
int32_t YoloLoss(OpCall& call);
int32_t YoloLossGrad(OpCall& call);

}  // namespace dtranspile::kernels
