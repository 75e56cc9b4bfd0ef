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
  const char* call = op.has("Input") ? "dt_fill_batch_like(Input; shape, input_dim_idx, "
                                       "output_dim_idx, value, str_value) -> Out"
                                     : "dt_fill_constant(ValueTensor, ShapeTensor, "
                                       "ShapeTensorList; shape, value, str_value) -> Out";
  // No dims at all may be a rank that only the run knows.
  const bool open = llvm::any_of(out->dims, [](int64_t extent) { return extent < 0; }) ||
                    (out->dims.empty() && op.hasUnknown());
  if (open || op.has("ValueTensor")) return op.callOp(call);
  double value = op.op().getFloat("value");
  const std::string text = op.op().getString("str_value");
  if (!text.empty()) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return op.unsupported("str_value '" + text + "'");
  }
  // Formulas compute constants as doubles.
  if (std::fabs(value) > 9007199254740992.0 && !isFloat(scalarOf(out->dtype)))
    return op.callOp(call);
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

LogicalResult lowerFillLike(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const double value = op.op().hasAttr("value") ? op.op().getFloat("value") : 0;
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

const LoweringRule kRules[] = {
    functionRule("fill_constant", lowerFillConstant,
                 "formula, dt_fill_constant, dt_fill_batch_like"),
    functionRule("fill_constant_batch_size_like", lowerFillConstant,
                 "formula, dt_fill_constant, dt_fill_batch_like"),
    lowerRule("fill_any_like", lowerFillLike, "formula", "dt_fill_like(X; value) -> Out"),
    lowerRule("fill_zeros_like", lowerFillLike, "formula", "dt_fill_like(X) -> Out"),
    callRule("assign_value",
             "dt_assign_value(; shape, bool_values, int32_values, int64_values, fp32_values, "
             "fp64_values, values) -> Out"),
    callRule("fill", "dt_fill(; value, shape) -> Out"),
    callRule("empty", "dt_empty(ShapeTensor, ShapeTensorList; shape) -> Out"),
    callRule("eye", "dt_eye(; num_rows, num_columns) -> Out"),
    callRule("coalesce_tensor",
             "dt_coalesce(Input; copy_data, set_constant, constant, use_align, align_size) -> "
             "Output, FusedOutput"),
    callRule("range", "dt_range(Start, End, Step) -> Out"),
    callRule("linspace", "dt_linspace(Start, Stop, Num) -> Out"),
};

}  // namespace

RuleTable creationRules() { return kRules; }

}  // namespace dtranspile::lower
