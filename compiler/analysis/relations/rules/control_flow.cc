// Relation rules: family `control_flow`. Ops with blocks are analysed as a whole (blocks.cc), or
// their bodies op by op where they communicate; here are the ops around them. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kBlocks = "its relation is that of its block, which is analysed by itself";

const RuleRow kRows[] = {
    {"select_input", pointwise, "X:l, Mask:w => Out"},
    {"select_output", pointwise, "X:l, $Out:l, Mask:w => Out"},
    // A rank stops the job where its part is wrong; it gives nothing.
    {"assert", wholeOnly, "Cond, Data ->", "summarize"},
    {"conditional_block", kNoRule, kBlocks},
    {"conditional_block_grad", kNoRule, kBlocks},
    {"while", kNoRule, kBlocks},
    {"while_grad", kNoRule, kBlocks},
    {"recurrent", kNoRule, kBlocks},
    {"recurrent_grad", kNoRule, kBlocks},
};

}  // namespace

llvm::ArrayRef<RuleRow> controlFlowRules() { return kRows; }

}  // namespace dtranspile::verify
