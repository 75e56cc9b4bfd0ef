// Rows of the op table: family `control_flow`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kConditionalBlockAttributes =
    "sub_block:blk, is_scalar_condition:b=false, skip_eager_deletion_vars:ss~={}";

constexpr const char* kRecurrentAttributes =
    "has_states:b=false, ex_states:ss, states:ss, sub_block:blk, reverse:b=false, is_train:b=true, "
    "skip_eager_deletion_vars:ss~={}";

const OpRow kRows[] = {
    {"while", "X*, Condition* -> Out*, StepScopes",
     "sub_block:blk, is_test:b=false, skip_eager_deletion_vars:ss~={}", kPure, nullptr},
    {"while_grad", "Out*, Out@GRAD*, StepScopes, X* -> X@GRAD*",
     "sub_block:blk, is_test:b=false, skip_eager_deletion_vars:ss~={}, original_output_grad:ss={}",
     kPure, nullptr},
    {"conditional_block", "Cond*, Input* -> Out*, Scope", kConditionalBlockAttributes, kPure,
     nullptr},
    {"conditional_block_grad", "Cond*, Input*, Out*, Out@GRAD*, Scope -> Input@GRAD*",
     kConditionalBlockAttributes, kPure, nullptr},
    {"recurrent", "inputs*, initial_states*, parameters* -> outputs*, step_scopes",
     kRecurrentAttributes, kPure, nullptr},
    {"recurrent_grad",
     "initial_states*, inputs*, outputs*, outputs@GRAD?*, parameters*, step_scopes?, "
     "step_scopes@GRAD? -> initial_states@GRAD*, inputs@GRAD*, "
     "parameters@GRAD*",
     kRecurrentAttributes, kPure, nullptr},
    {"select_input", "X+, Mask -> Out", "", kPure, inferSelectInput},
    {"select_output", "X, Mask -> Out*!", "", kPure, inferSelectOutput},
    {"assert", "Cond, Data+ ->", "summarize:l=-1", kHost, nullptr},
};

}  // namespace

Family controlFlowFamily() { return {"control_flow", kRows}; }

}  // namespace dtranspile::pd
