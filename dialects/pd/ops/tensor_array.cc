// Rows of the op table: family `tensor_array`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"write_to_array", "X, I -> Out!", "", kPure, inferWriteToArray},
    {"read_from_array", "X, I, X_W? -> Out", "", kPure, inferReadFromArray},
    {"lod_array_length", "X -> Out", "", kPure, inferArrayLength},
    {"tensor_array_to_tensor", "X -> Out, OutIndex", "axis:i=0, use_stack:b=false", kPure,
     inferArrayToTensor},
    {"tensor_array_to_tensor_grad", "Out@GRAD, X -> X@GRAD?", "axis:i=0, use_stack:b=false", kPure,
     inferGradients},
    {"lod_rank_table", "X -> Out", "level:i=0", kPure, inferRankTable},
    {"max_sequence_len", "RankTable -> Out", "", kPure, inferMaxSequenceLength},
    {"lod_tensor_to_array", "X, RankTable -> Out", "", kPure, inferToArray},
    {"array_to_lod_tensor", "X, RankTable -> Out", "", kPure, inferFromArray},
    {"shrink_rnn_memory", "X, RankTable, I -> Out", "", kPure, inferShrinkMemory},
    {"shrink_rnn_memory_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"reorder_lod_tensor_by_rank", "X, RankTable -> Out", "", kPure, inferSame<"X", "Out">},
    {"reorder_lod_tensor_by_rank_grad", "RankTable?, X? -> Out?", "", kGradient,
     inferSame<"X", "Out">},
    {"split_lod_tensor", "X, Mask -> OutTrue, OutFalse", "level:i=0", kPure, inferSplitLodTensor},
    {"merge_lod_tensor", "X, Mask, InTrue, InFalse -> Out", "level:i=0", kPure,
     inferMergeLodTensor},
    {"rnn_memory_helper", "X -> Out", "dtype:i=5", kPure, inferSame<"X", "Out">},
    {"rnn_memory_helper_grad", "Out@GRAD?, X, Out -> X@GRAD", "dtype:i=5", kPure, inferGradients},
};

}  // namespace

Family tensorArrayFamily() { return {"tensor_array", kRows}; }

}  // namespace dtranspile::pd
