// The table of lowering rules: one row per op type, in rules/<family>.cc with the family names of
// dialects/pd/ops. An op type without a row cannot be compiled or run; the lowering names all of
// them at once.
#pragma once

#include "compiler/lower/op_lowering.h"
#include "llvm/ADT/ArrayRef.h"

namespace dtranspile::lower {

// Which dims of the domain a formula reduces.
enum class Inner : uint8_t {
  None,  // element-wise
  All,
  Last,
  Axis,        // attribute `axis`
  FromAxis,    // dims from `begin_norm_axis` on
  NotChannel,  // all but the channel of `data_layout`
  Dims,        // `dim`, `reduce_all` (reduce_*)
  NotFirst,    // all but dim 0
};

struct LoweringRule {
  const char* type;
  Inner inner = Inner::None;
  const char* formula =
      nullptr;  // null: `lower` does it; lines are formulas with domains of their own
  llvm::LogicalResult (*lower)(OpLowering&) =
      nullptr;  // beside a formula: for arguments that are SelectedRows or lists
  // A library call (call_row.h). Alone it is the rule; beside `lower`, which hands the op on to it
  // where it likes (OpLowering::callRow).
  const char* call = nullptr;
  // For ops with arguments whose extents, LoD or rows are known only at run time, or that are
  // SelectedRows or lists: `call` instead of the formula or function. Formulas do without, unless
  // an argument is no tensor.
  bool callsUnknown = false;
  bool anyKind = false;  // `lower` takes SelectedRows and lists too
};

// A row that hands the op to a library call of runtime/kernels/cpu/ops, slot by slot and attribute
// by attribute, in the order of the call's signature and under its names where the row says no
// others (call_row.h). Attributes have the file's value or the default. Attributes of a signature
// that no op has: @version (of the program, 2006002 …), @type (of the op), @needed (which outputs
// somebody reads, one 0 or 1 for each output slot), @defects (1: what the framework's kernel
// computes is asked for, also where it departs from its formula). An input that the call does not
// take is refused by name where a program has it.
constexpr LoweringRule callRule(const char* type, const char* call) {
  return {type, Inner::None, nullptr, nullptr, call};
}

// What a function makes is read off its text (tools/rule_forms), for `dtranspile ops` (native.h).
constexpr LoweringRule functionRule(const char* type, llvm::LogicalResult (*lower)(OpLowering&)) {
  return {type, Inner::None, nullptr, lower};
}

// A function that hands the op to the call in some cases.
constexpr LoweringRule choiceRule(const char* type, llvm::LogicalResult (*lower)(OpLowering&),
                                  const char* call) {
  return {type, Inner::None, nullptr, lower, call};
}

// The same where the function takes arguments of every kind.
constexpr LoweringRule kindsRule(const char* type, llvm::LogicalResult (*lower)(OpLowering&),
                                 const char* call) {
  return {type, Inner::None, nullptr, lower, call, false, true};
}

// A function where all extents are known, a call otherwise.
constexpr LoweringRule lowerRule(const char* type, llvm::LogicalResult (*lower)(OpLowering&),
                                 const char* unknownCall) {
  return {type, Inner::None, nullptr, lower, unknownCall, true};
}

// A formula for tensors, a call where an argument is SelectedRows or a list.
constexpr LoweringRule formulaRule(const char* type, Inner inner, const char* formula,
                                   const char* unknownCall) {
  return {type, inner, formula, nullptr, unknownCall, true};
}

using RuleTable = llvm::ArrayRef<LoweringRule>;

// Null: no such rule.
const LoweringRule* findRule(llvm::StringRef type);

// All rows, family by family.
std::vector<const LoweringRule*> allRules();

llvm::LogicalResult applyRule(const LoweringRule& rule, OpLowering& op);
// The rule's formula, some of its names bound to other tensors than the op's own.
llvm::LogicalResult applyFormula(const LoweringRule& rule, OpLowering& op,
                                 OpLowering::Bindings bindings);

// The families.
RuleTable activationRules();
RuleTable ampRules();
RuleTable controlFlowRules();
RuleTable convolutionRules();
RuleTable creationRules();
RuleTable detectionRules();
RuleTable elementwiseRules();
RuleTable embeddingRules();
RuleTable hostRules();
RuleTable indexingRules();
RuleTable interpolationRules();
RuleTable linearAlgebraRules();
RuleTable logicalRules();
RuleTable lossRules();
RuleTable metricRules();
RuleTable normalizationRules();
RuleTable normRules();  // of linear_algebra
RuleTable optimizerRules();
RuleTable quantizationRules();
RuleTable randomRules();
RuleTable recurrentRules();
RuleTable reductionRules();
RuleTable sequenceRules();
RuleTable shapeRules();
RuleTable tensorArrayRules();

}  // namespace dtranspile::lower
