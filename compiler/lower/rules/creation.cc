// Lowering rules: family `creation`.
#include <cmath>

#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// str_value, where given, holds the exact number; `value` is a float32.
LogicalResult lowerFillConstant(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  // No dims at all may be a rank that only the run knows.
  const bool open = llvm::any_of(out->dims, [](int64_t extent) { return extent < 0; }) ||
                    (out->dims.empty() && op.hasUnknown());
  if (open || op.has("ValueTensor")) return op.callRow();
  double value = op.op().getFloat("value");
  const std::string text = op.op().getString("str_value");
  if (!text.empty()) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return op.unsupported("str_value '" + text + "'");
  }
  // Formulas compute constants as doubles.
  if (std::fabs(value) > 9007199254740992.0 && !isFloat(scalarOf(out->dtype))) return op.callRow();
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

LogicalResult lowerFillLike(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const double value = op.op().hasAttr("value") ? op.op().getFloat("value") : 0;
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

const LoweringRule kRules[] = {
    choiceRule("fill_constant", lowerFillConstant, "dt_fill_constant"),
    choiceRule("fill_constant_batch_size_like", lowerFillConstant, "dt_fill_batch_like"),
    lowerRule("fill_any_like", lowerFillLike, "dt_fill_like"),
    lowerRule("fill_zeros_like", lowerFillLike, "dt_fill_like(value=-)"),
    callRule("assign_value", "dt_assign_value"),
    callRule("fill", "dt_fill"),
    callRule("empty", "dt_empty"),
    callRule("eye", "dt_eye"),
    callRule("tril_indices", "dt_triangle(Out=out)"),
    callRule("triu_indices", "dt_triangle(Out=out, rows=row, cols=col)"),
    callRule("coalesce_tensor", "dt_coalesce"),
    callRule("range", "dt_range"),
    callRule("linspace", "dt_linspace"),
    callRule("logspace", "dt_logspace"),
};

}  // namespace

RuleTable creationRules() { return kRules; }

}  // namespace dtranspile::lower
