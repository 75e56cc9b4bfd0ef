// Relation rules: family `random`. `dist.streams` names the axes along which the draws of ranks
// differ; without it a fixed seed gives equal draws and no seed gives independent ones. So it is in
// start-up whatever `dist.streams` leaves out: nothing gives the ranks one generator there, and
// what they draw without a seed is broadcast. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {
namespace {

// Axes along which the ranks draw different numbers.
llvm::SmallVector<bool, 4> differingAxes(RuleContext& context) {
  const Axes& axes = context.axes();
  mlir::Operation* op = context.op().operation();
  auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
  bool seeded = context.op().spec()->attribute("seed") && context.op().getInt("seed") != 0;
  auto program = op->getParentOfType<pd::ProgramOp>();
  bool oneGenerator = streams && !(program && program.getSymName() == "startup");
  llvm::SmallVector<bool, 4> differ(axes.count(), !oneGenerator && !seeded);
  if (streams)
    for (mlir::Attribute name : streams)
      if (int axis = axes.indexOf(llvm::cast<mlir::StringAttr>(name).getValue()); axis >= 0)
        differ[axis] = true;
  for (unsigned a = 0; a < axes.count(); ++a)
    if (axes.meshSizes[a] == 1) differ[a] = false;
  return differ;
}

// A draw of given shape.
void draw(RuleContext& context) {
  Relation relation;
  relation.whole = relation.parts = Reading::replicated(context.axes());
  auto tag = mlir::StringAttr::get(context.op().operation()->getContext(), kRandomTag);
  for (auto [a, differs] : llvm::enumerate(differingAxes(context)))
    if (differs) relation.whole.states[a] = relation.parts.states[a] = State::different(tag);
  context.assign("Out", 0, relation);
}

void dropout(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  demandStreams(context, x);
  pointwise(context);
}

// The norm that the gradient is clipped by couples all its elements; the noise is that of the
// parameter, equal on all ranks.
void dpsgd(RuleContext& context) {
  if (mlir::Value gradient = context.op().input("Grad")) demandStreams(context, gradient);
  wholeOnly(context);
}

const RuleRow kRows[] = {
    {"uniform_random", draw, "",
     "ShapeTensor, ShapeTensorList, shape, min, max, seed, diag_num, diag_step, diag_val, dtype"},
    {"gaussian_random", draw, "", "ShapeTensor, ShapeTensorList, shape, mean, std, seed, dtype"},
    {"truncated_gaussian_random", draw, "", "shape, mean, std, seed, dtype, a, b"},
    {"randint", draw, "", "ShapeTensor, ShapeTensorList, shape, low, high, dtype, seed"},
    {"dpsgd", dpsgd, "Param, Grad, LearningRate -> ParamOut", "clip, batch_size, sigma, seed"},
    {"dropout", dropout, "X:l -> Out; X:s -> Mask",
     "Seed, dropout_prob, is_test, fix_seed, seed, dropout_implementation"},
    {"dropout_grad", pointwise, "Out@GRAD:l, Mask -> X@GRAD",
     "dropout_prob, is_test, fix_seed, seed, dropout_implementation"},
};

}  // namespace

void demandStreams(RuleContext& context, mlir::Value data) {
  llvm::SmallVector<bool, 4> differ = differingAxes(context);
  const Reading& reading = context.relation(data).reading();
  for (unsigned a = 0; reading.known && a < context.axes().count(); ++a) {
    if (context.axes().sizes[a] == 1) continue;
    const std::string& axis = context.axes().names[a];
    bool cut = reading.states[a].isSplit() || reading.states[a].isParts();
    if (cut && !differ[a])
      context.violate({data, "random-streams",
                       "draws the same numbers on every rank of axis " + axis +
                           ", whose ranks hold different samples",
                       "give the op dist.streams = [\"" + axis + "\", …]"});
    if (reading.states[a].isReplicated() && differ[a])
      context.violate({data, "random-streams",
                       "draws different numbers along axis " + axis +
                           ", whose ranks hold equal data, so that replicas drift apart",
                       "give the op a dist.streams without \"" + axis + "\""});
  }
}

llvm::ArrayRef<RuleRow> randomRules() { return kRows; }

}  // namespace dtranspile::verify
