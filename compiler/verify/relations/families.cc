#include "compiler/verify/relations/families.h"

namespace dtranspile::verify {

llvm::ArrayRef<llvm::ArrayRef<RuleRow>> ruleFamilies() {
  static const llvm::ArrayRef<RuleRow> families[] = {
      activationRules(), ampRules(),   convolutionRules(), creationRules(),      elementwiseRules(), embeddingRules(),
      indexingRules(),   logicalRules(), lossRules(),      linearAlgebraRules(), metricRules(),      normalizationRules(),
      optimizerRules(),  randomRules(), reductionRules(),  sequenceRules(),      shapeRules(),
  };
  return families;
}

}  // namespace dtranspile::verify
