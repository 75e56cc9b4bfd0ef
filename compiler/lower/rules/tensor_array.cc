// Lowering rules: family `tensor_array`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("lod_array_length", "dt_lod_array_length"),
    callRule("read_from_array", "dt_read_from_array"),
    callRule("write_to_array", "dt_write_to_array"),
    callRule("tensor_array_to_tensor", "dt_tensor_array_to_tensor"),
    callRule("tensor_array_to_tensor_grad", "dt_tensor_array_to_tensor_grad"),
    callRule("lod_rank_table", "dt_lod_rank_table"),
    callRule("max_sequence_len", "dt_max_sequence_len"),
    callRule("lod_tensor_to_array", "dt_lod_tensor_to_array"),
    callRule("array_to_lod_tensor", "dt_array_to_lod_tensor"),
    callRule("shrink_rnn_memory", "dt_shrink_rnn_memory"),
    callRule("shrink_rnn_memory_grad", "dt_shrink_rnn_memory_grad"),
    callRule("reorder_lod_tensor_by_rank", "dt_reorder_lod_tensor_by_rank"),
    callRule("reorder_lod_tensor_by_rank_grad", "dt_reorder_lod_tensor_by_rank_grad"),
    callRule("split_lod_tensor", "dt_split_lod_tensor"),
    callRule("merge_lod_tensor", "dt_merge_lod_tensor"),
    {"rnn_memory_helper", Inner::None, "Out = X"},
    callRule("rnn_memory_helper_grad", "dt_rnn_memory_helper_grad"),
};

}  // namespace

RuleTable tensorArrayRules() { return kRules; }

}  // namespace dtranspile::lower
