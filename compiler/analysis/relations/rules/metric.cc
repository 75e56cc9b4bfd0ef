// Relation rules: family `metric`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Counts add up over the batch; the accuracy is their quotient by the local number of samples, a
// mean.
void accuracy(RuleContext& context) {
  Form form;
  for (llvm::StringRef slot : {"Indices", "Label"}) {
    mlir::Value value = context.op().input(slot);
    if (!value) return;
    Labels labels = wholeLabels(value);
    if (!labels.empty()) labels[0] = 0;
    form.terms.push_back({value, labels, Use::Value});
  }
  form.fold = Fold::Sum;
  auto give = [&](llvm::StringRef slot) {
    mlir::Value out = context.op().output(slot);
    if (!out) return;
    form.result = wholeLabels(out);
    context.result(slot, form);
  };
  give("Correct");
  give("Total");
  form.averaged = {0};
  give("Accuracy");
}

const RuleRow kRows[] = {
    {"accuracy", accuracy, "", "Out, Indices, Label"},
    {"auc", wholeOnly,
     "Predict, Label, StatPos, StatNeg, InsTagWeight -> AUC, StatPosOut, StatNegOut",
     "curve, num_thresholds, slide_steps"},
};

}  // namespace

llvm::ArrayRef<RuleRow> metricRules() { return kRows; }

}  // namespace dtranspile::verify
