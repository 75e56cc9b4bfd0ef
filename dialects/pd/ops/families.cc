// The one list of families, in the order of documentation.
#include "dialects/pd/ops/families.h"

namespace dtranspile::pd {

llvm::ArrayRef<Family> families() {
  static const Family kFamilies[] = {
      linearAlgebraFamily(), elementwiseFamily(),     logicalFamily(),     activationFamily(),
      reductionFamily(),     shapeFamily(),           indexingFamily(),    creationFamily(),
      randomFamily(),        normalizationFamily(),   convolutionFamily(), interpolationFamily(),
      lossFamily(),          embeddingFamily(),       recurrentFamily(),   sequenceFamily(),
      tensorArrayFamily(),   controlFlowFamily(),     optimizerFamily(),   ampFamily(),
      quantizationFamily(),  metricFamily(),          detectionFamily(),   hostFamily(),
      communicationFamily(), parameterServerFamily(),
  };
  return kFamilies;
}

}  // namespace dtranspile::pd
