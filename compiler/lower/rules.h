// The table of lowering rules: one row per op type, in rules/<family>.cc with the family names of dialects/pd/ops. An op type without a row
// cannot be compiled or run; the lowering names all of them at once.
#pragma once

#include "compiler/lower/op_lowering.h"
#include "llvm/ADT/ArrayRef.h"

namespace dtranspile::lower {

// Which dims of the domain a formula reduces.
enum class Inner : uint8_t {
  None,         // element-wise
  All,
  Last,
  Axis,         // attribute `axis`
  FromAxis,     // dims from `begin_norm_axis` on
  NotChannel,   // all but the channel of `data_layout`
  Dims,         // `dim`, `reduce_all` (reduce_*)
  NotFirst,     // all but dim 0
};

struct LoweringRule {
  const char* type;
  Inner inner = Inner::None;
  const char* formula = nullptr;                            // null: `lower` does it; lines are formulas with domains of their own
  llvm::LogicalResult (*lower)(OpLowering&) = nullptr;
};

using RuleTable = llvm::ArrayRef<LoweringRule>;

// Null: no such rule.
const LoweringRule* findRule(llvm::StringRef type);

// All op types with a rule, sorted.
std::vector<std::string> loweredOps();

llvm::LogicalResult applyRule(const LoweringRule& rule, OpLowering& op);

// The families.
RuleTable activationRules();
RuleTable convolutionRules();
RuleTable creationRules();
RuleTable elementwiseRules();
RuleTable linearAlgebraRules();
RuleTable logicalRules();
RuleTable lossRules();
RuleTable metricRules();
RuleTable normalizationRules();
RuleTable optimizerRules();
RuleTable randomRules();
RuleTable reductionRules();
RuleTable shapeRules();
RuleTable embeddingRules();

}  // namespace dtranspile::lower
