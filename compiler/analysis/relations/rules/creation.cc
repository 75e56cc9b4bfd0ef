// Relation rules: family `creation`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

bool isZeroConstant(const pd::OpView& op) {
  if (op.hasInput("ValueTensor")) return false;
  double value = op.getFloat("value");
  if (std::string text = op.getString("str_value");
      !text.empty() && llvm::StringRef(text).getAsDouble(value))
    return false;
  return value == 0;
}

// The value is equal everywhere; an extent that is an extent of a tensor whose batch is cut is cut
// like it.
void fillConstant(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value out = op.output("Out");
  if (!out) return;
  Form form = createdForm(context, out);
  if (mlir::Value value = op.input("ValueTensor"))
    form.terms.push_back({value, wholeLabels(value), Use::Value});
  context.result("Out", form);
  if (isZeroConstant(op)) context.assignZero("Out");
}

void fillLike(RuleContext& context) {
  pointwise(context);
  if (context.op().type() == "fill_zeros_like" || context.op().getFloat("value") == 0)
    context.assignZero("Out");
}

void batchSizeLike(RuleContext& context) {
  context.result("Out", likeForm(context));
  if (isZeroConstant(context.op())) context.assignZero("Out");
}

// Copies into one buffer whose parts the outputs are. Without copy_data they hold a constant, or
// nothing that could be relied on.
void coalesce(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool copies = op.getBool("copy_data");
  if (!copies && op.getBool("set_constant")) {
    for (llvm::StringRef slot : {"Output", "FusedOutput"})
      for (unsigned i = 0; i < op.outputCount(slot); ++i)
        if (mlir::Value out = op.output(slot, i)) {
          Form constant;
          constant.result = wholeLabels(out);
          context.result(slot, i, constant);
        }
    return;
  }
  if (!copies) return;
  Form fused;
  fused.combine = Combine::Sum;  // linear in all parts together
  for (unsigned i = 0; i < op.inputCount("Input"); ++i) {
    mlir::Value input = op.input("Input", i), out = op.output("Output", i);
    if (!input) continue;
    fused.terms.push_back({input, wholeLabels(input), Use::Linear});
    if (!out) continue;
    Form part;
    part.terms.push_back({input, ownLabels(input), Use::Linear});
    part.result = ownLabels(out);
    part.flat = true;
    context.result("Output", i, part);
  }
  if (mlir::Value out = op.output("FusedOutput")) {
    fused.result = wholeLabels(out);
    context.result("FusedOutput", fused);
  }
}

const RuleRow kRows[] = {
    {"fill_constant", fillConstant, "",
     "ValueTensor, ShapeTensor, ShapeTensorList, dtype, shape, value, str_value"},
    {"fill_constant_batch_size_like", batchSizeLike, "",
     "Input, shape, input_dim_idx, output_dim_idx, dtype, value, str_value"},
    {"fill", wholeOnly, "-> Out", "value, shape, dtype"},
    {"empty", kNoRule, "what its result holds is not defined"},
    // Where its parts lie, and what is between them, is the framework's own.
    {"coalesce_tensor", coalesce, "",
     "Input, dtype, copy_data, set_constant, constant, check_name, persist_output, use_align, "
     "align_size, user_defined_size_of_dtype, concated_shapes, concated_ranks"},
    {"fill_any_like", fillLike, "X:s -> Out", "value, dtype"},
    {"fill_zeros_like", fillLike, "X:s -> Out"},
    {"assign_value", wholeOnly, "-> Out",
     "shape, dtype, bool_values, fp32_values, int32_values, int64_values, fp64_values, values"},
    {"range", wholeOnly, "Start, End, Step -> Out"},
    {"linspace", wholeOnly, "Start, Stop, Num -> Out", "dtype"},
    {"logspace", wholeOnly, "Start, Stop, Num, Base -> Out", "dtype"},
    {"eye", wholeOnly, "-> Out", "dtype, num_rows, num_columns"},
    {"tril_indices", wholeOnly, "-> out", "rows, cols, offset, dtype"},
    {"triu_indices", wholeOnly, "-> out", "row, col, offset, dtype"},
};

}  // namespace

// What is asked for by tensors that nobody can see through is what they hold.
Form createdForm(RuleContext& context, mlir::Value out) {
  const pd::OpView& op = context.op();
  Form form;
  form.result = wholeLabels(out);
  std::optional<Numbers> shape = numbersOf(op, {"ShapeTensorList", "ShapeTensor", "shape"});
  for (size_t i = 0; shape && i < shape->size() && i < form.result.size(); ++i)
    addExtent(context, (*shape)[i], static_cast<int>(i), form.result[i], form);
  for (llvm::StringRef slot : {"ShapeTensorList", "ShapeTensor"})
    for (mlir::Value value : op.inputs(slot))
      if (value && !numbersOf(value)) form.terms.push_back({value, wholeLabels(value), Use::Value});
  return form;
}

// The batch of ragged rows is the number of sequences: even parts have as many.
Form likeForm(RuleContext& context) {
  mlir::Value like = context.op().input("Input"), out = context.op().output("Out");
  Form form;
  if (!like || !out) return form;
  Labels from = wholeLabels(like);
  form.result = wholeLabels(out);
  auto i = static_cast<size_t>(context.op().getInt("input_dim_idx")),
       o = static_cast<size_t>(context.op().getInt("output_dim_idx"));
  if (i < from.size() && o < form.result.size()) from[i] = form.result[o] = 0;
  form.terms.push_back({like, from, Use::Shape});
  form.rows = Rows::Even;
  return form;
}

llvm::ArrayRef<RuleRow> creationRules() { return kRows; }

}  // namespace dtranspile::verify
