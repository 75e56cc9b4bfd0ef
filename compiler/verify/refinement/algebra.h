// The ops that rung 4 computes with; all others are atoms (walk.cc). One row per op type.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/verify/refinement/terms.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

// The type of atoms that say whether a check found an element that is not finite.
inline constexpr const char* kFoundInfinite = "FoundInfinite";

// What the scale and its counters depend on, by slot, in the order of the operands of their terms.
inline constexpr llvm::StringLiteral kScaleState[] = {"FoundInfinite", "PrevLossScaling",
                                                      "InGoodSteps", "InBadSteps"};

struct AlgebraContext {
  Terms& terms;
  const std::set<AtomId>& positive;
  // Whether a condition holds, where that is known.
  std::function<std::optional<bool>(TermId)> truth;
  bool anyFloat;
  std::function<TermId(mlir::Value)> termOf;
};

// What update_loss_scaling gives in an output ("LossScaling#0"), of what stands in kScaleState.
TermId movedScale(Terms& terms, const std::map<std::string, std::string>& attributes,
                  const std::string& output, const std::vector<TermId>& state, mlir::Operation* op);

// The terms of the results; nothing where the op is not computed with, or not in this form.
std::optional<std::vector<TermId>> compute(pd::OpView op, const AlgebraContext& context);

// Positive scalars that the operands of an op have in common, and the power of them that each
// result has: as the relation rule of its type says of factors (linear, homogeneous, …). Nothing
// where no operand has any, operands have different ones, or the rule does not know.
struct Factored {
  Scalars scalars;
  std::vector<int> powers;
};
std::optional<Factored> factor(pd::OpView op, const Terms& terms,
                               llvm::function_ref<TermId(mlir::Value)> termOf);

}  // namespace dtranspile::verify
