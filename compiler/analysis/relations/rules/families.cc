#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {

llvm::ArrayRef<llvm::ArrayRef<RuleRow>> ruleFamilies() {
  static const llvm::ArrayRef<RuleRow> families[] = {
      activationRules(),    ampRules(),           communicationRules(), controlFlowRules(),
      convolutionRules(),   creationRules(),      detectionRules(),     elementwiseRules(),
      embeddingRules(),     hostRules(),          indexingRules(),      interpolationRules(),
      linearAlgebraRules(), logicalRules(),       lossRules(),          matrixRules(),
      metricRules(),        normalizationRules(), optimizerRules(),     quantizationRules(),
      randomRules(),        recurrentRules(),     reductionRules(),     repetitionRules(),
      sequenceRules(),      shapeRules(),         sliceRules(),         tensorArrayRules(),
      visionRules(),
  };
  return families;
}

}  // namespace dtranspile::verify
