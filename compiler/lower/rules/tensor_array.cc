// Lowering rules: family `tensor_array`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("lod_array_length", "dt_lod_array_length(X) -> Out"),
    callRule("read_from_array", "dt_read_from_array(X, I, X_W) -> Out"),
    callRule("write_to_array", "dt_write_to_array(X, I) -> Out"),
    callRule("tensor_array_to_tensor",
             "dt_tensor_array_to_tensor(X; axis, use_stack) -> Out, OutIndex"),
    callRule("tensor_array_to_tensor_grad",
             "dt_tensor_array_to_tensor_grad(Out@GRAD, X; axis, use_stack) -> X@GRAD"),
    callRule("lod_rank_table", "dt_lod_rank_table(X; level) -> Out"),
    callRule("max_sequence_len", "dt_max_sequence_len(RankTable) -> Out"),
    callRule("lod_tensor_to_array", "dt_lod_tensor_to_array(X, RankTable) -> Out"),
    callRule("array_to_lod_tensor", "dt_array_to_lod_tensor(X, RankTable) -> Out"),
    callRule("shrink_rnn_memory", "dt_shrink_rnn_memory(X, RankTable, I) -> Out"),
    callRule("shrink_rnn_memory_grad", "dt_shrink_rnn_memory_grad(Out@GRAD, X) -> X@GRAD"),
    callRule("reorder_lod_tensor_by_rank", "dt_reorder_lod_tensor_by_rank(X, RankTable) -> Out"),
    callRule("reorder_lod_tensor_by_rank_grad",
             "dt_reorder_lod_tensor_by_rank_grad(X, RankTable) -> Out"),
    callRule("split_lod_tensor", "dt_split_lod_tensor(X, Mask; level) -> OutTrue, OutFalse"),
    callRule("merge_lod_tensor", "dt_merge_lod_tensor(X, Mask, InTrue, InFalse; level) -> Out"),
    {"rnn_memory_helper", Inner::None, "Out = X"},
    callRule("rnn_memory_helper_grad", "dt_rnn_memory_helper_grad(Out@GRAD, X) -> X@GRAD"),
};

}  // namespace

RuleTable tensorArrayRules() { return kRules; }

}  // namespace dtranspile::lower
