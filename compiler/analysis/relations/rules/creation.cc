// Relation rules: family `creation`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

struct Extent {
  mlir::Value tensor;
  int dim = 0;
};

// Which extent of which tensor a value is: `slice` of one element of its `shape`. No tensor where
// it is something else.
Extent extentOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "slice") return {};
  pd::OpView slice(op);
  for (llvm::StringRef slot : {"StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList"})
    if (slice.inputCount(slot)) return {};
  std::vector<int64_t> axes = slice.getInts("axes"), starts = slice.getInts("starts"),
                       ends = slice.getInts("ends");
  mlir::Operation* from = slice.input("Input") ? slice.input("Input").getDefiningOp() : nullptr;
  if (!from || !pd::OpView::isFrameworkOp(from) || pd::OpView(from).type() != "shape") return {};
  mlir::Value tensor = pd::OpView(from).input("Input");
  bool one = axes == std::vector<int64_t>{0} && starts.size() == 1 && ends.size() == 1 &&
             starts[0] >= 0 && ends[0] == starts[0] + 1;
  return tensor && one && starts[0] < rankOf(tensor) ? Extent{tensor, static_cast<int>(starts[0])}
                                                     : Extent();
}

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
  Form form;
  form.result = wholeLabels(out);
  for (llvm::StringRef slot : {"ValueTensor", "ShapeTensor"})
    if (mlir::Value value = op.input(slot))
      form.terms.push_back({value, wholeLabels(value), Use::Value});
  for (unsigned i = 0, n = op.inputCount("ShapeTensorList"); i < n; ++i) {
    mlir::Value value = op.input("ShapeTensorList", i);
    if (!value) continue;
    Extent extent = extentOf(value);
    if (!extent.tensor || i >= form.result.size()) {
      form.terms.push_back({value, wholeLabels(value), Use::Value});
      continue;
    }
    Labels labels = wholeLabels(extent.tensor);
    labels[extent.dim] = form.result[i] = static_cast<int>(i);
    form.terms.push_back({extent.tensor, labels, Use::Shape});
  }
  context.result("Out", form);
  if (isZeroConstant(op)) context.assignZero("Out");
}

void fillLike(RuleContext& context) {
  pointwise(context);
  if (context.op().type() == "fill_zeros_like" || context.op().getFloat("value") == 0)
    context.assignZero("Out");
}

// One extent is that of an operand's batch; the values are constant.
void batchSizeLike(RuleContext& context) {
  mlir::Value like = context.op().input("Input"), out = context.op().output("Out");
  if (!like || !out) return;
  Labels from = wholeLabels(like), to = wholeLabels(out);
  auto i = static_cast<size_t>(context.op().getInt("input_dim_idx")),
       o = static_cast<size_t>(context.op().getInt("output_dim_idx"));
  if (i < from.size() && o < to.size()) from[i] = to[o] = 0;
  Form form;
  form.terms.push_back({like, from, Use::Shape});
  form.result = to;
  context.result("Out", form);
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
    {"coalesce_tensor", coalesce, "",
     "Input, dtype, copy_data, set_constant, constant, check_name, persist_output, use_align, "
     "align_size, user_defined_size_of_dtype, concated_shapes, concated_ranks"},
    {"fill_any_like", fillLike, "X:s -> Out", "value, dtype"},
    {"fill_zeros_like", fillLike, "X:s -> Out"},
    {"assign_value", wholeOnly, " -> Out",
     "shape, dtype, bool_values, fp32_values, int32_values, int64_values, fp64_values, values"},
    {"range", wholeOnly, "Start, End, Step -> Out"},
    {"linspace", wholeOnly, "Start, Stop, Num -> Out", "dtype"},
    {"eye", wholeOnly, " -> Out", "dtype, num_rows, num_columns"},
};

}  // namespace

llvm::ArrayRef<RuleRow> creationRules() { return kRows; }

}  // namespace dtranspile::verify
