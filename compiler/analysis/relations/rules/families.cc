#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {

llvm::ArrayRef<llvm::ArrayRef<RuleRow>> ruleFamilies() {
  static const llvm::ArrayRef<RuleRow> families[] = {
      activationRules(),    ampRules(),         controlFlowRules(), convolutionRules(),
      creationRules(),      elementwiseRules(), embeddingRules(),   indexingRules(),
      linearAlgebraRules(), logicalRules(),     lossRules(),        metricRules(),
      normalizationRules(), optimizerRules(),   randomRules(),      recurrentRules(),
      reductionRules(),     repetitionRules(),  sequenceRules(),    shapeRules(),
      tensorArrayRules(),
  };
  return families;
}

}  // namespace dtranspile::verify
