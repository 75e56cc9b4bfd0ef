// Inference of operators on sequences (LoD), tensor arrays and recurrent cells: infer_sequence.cc,
// infer_ragged.cc. Numbers of sequences and steps come with the data: they are -1.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferSequencePool(InferContext& c);
llvm::LogicalResult inferSequenceConv(InferContext& c);
llvm::LogicalResult inferSequenceExpand(InferContext& c);  // rows as often as the data says
llvm::LogicalResult inferNewSequences(InferContext& c);    // sequence_concat, sequence_expand_as
llvm::LogicalResult inferSequenceRows(InferContext& c);    // sequence_slice: other rows of X
llvm::LogicalResult inferSequenceErase(InferContext& c);
llvm::LogicalResult inferSequenceEnumerate(InferContext& c);
llvm::LogicalResult inferSequenceMask(InferContext& c);
llvm::LogicalResult inferSequencePad(InferContext& c);
llvm::LogicalResult inferSequenceUnpad(InferContext& c);
llvm::LogicalResult inferSequenceReshape(InferContext& c);
llvm::LogicalResult inferSequenceTopkAvgPooling(InferContext& c);
llvm::LogicalResult inferSequenceScatterGrad(InferContext& c);
llvm::LogicalResult inferLodReset(InferContext& c);
llvm::LogicalResult inferCtcAlign(InferContext& c);
llvm::LogicalResult inferEditDistance(InferContext& c);
llvm::LogicalResult inferWarpCtc(InferContext& c);
llvm::LogicalResult inferLinearChainCrf(InferContext& c);
llvm::LogicalResult inferViterbi(InferContext& c);
llvm::LogicalResult inferCrfDecoding(InferContext& c);
llvm::LogicalResult inferBeamSearch(InferContext& c);
llvm::LogicalResult inferBeamSearchDecode(InferContext& c);
llvm::LogicalResult inferWriteToArray(InferContext& c);
llvm::LogicalResult inferReadFromArray(InferContext& c);
llvm::LogicalResult inferArrayLength(InferContext& c);    // lod_array_length
llvm::LogicalResult inferArrayToTensor(InferContext& c);  // tensor_array_to_tensor
llvm::LogicalResult inferSplitLodTensor(InferContext& c);
llvm::LogicalResult inferMergeLodTensor(InferContext& c);
llvm::LogicalResult inferRankTable(InferContext& c);
llvm::LogicalResult inferMaxSequenceLength(InferContext& c);
llvm::LogicalResult inferToArray(InferContext& c);    // lod_tensor_to_array
llvm::LogicalResult inferFromArray(InferContext& c);  // array_to_lod_tensor
llvm::LogicalResult inferShrinkMemory(InferContext& c);
llvm::LogicalResult inferSelectInput(InferContext& c);
llvm::LogicalResult inferSelectOutput(InferContext& c);
llvm::LogicalResult inferLstm(InferContext& c);
llvm::LogicalResult inferLstmp(InferContext& c);
llvm::LogicalResult inferLstmpGrad(InferContext& c);
llvm::LogicalResult inferGru(InferContext& c);
llvm::LogicalResult inferGruUnit(InferContext& c);
llvm::LogicalResult inferLstmUnit(InferContext& c);
llvm::LogicalResult inferRnn(InferContext& c);

extern const Constraint kLstmConstraints[2];          // C1 Weight, C2 Input and Bias
extern const Constraint kSequenceConvConstraints[1];  // C1 rows of Filter

}  // namespace dtranspile::pd
