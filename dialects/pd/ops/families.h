// The families of operators, one file each: what families.cc joins.
#pragma once

#include "dialects/pd/op_table.h"

namespace dtranspile::pd {

Family linearAlgebraFamily();
Family elementwiseFamily();
Family logicalFamily();
Family activationFamily();
Family reductionFamily();
Family shapeFamily();
Family indexingFamily();
Family creationFamily();
Family randomFamily();
Family normalizationFamily();
Family convolutionFamily();
Family interpolationFamily();
Family lossFamily();
Family embeddingFamily();
Family recurrentFamily();
Family sequenceFamily();
Family tensorArrayFamily();
Family controlFlowFamily();
Family optimizerFamily();
Family ampFamily();
Family quantizationFamily();
Family metricFamily();
Family detectionFamily();
Family hostFamily();
Family communicationFamily();
Family parameterServerFamily();

}  // namespace dtranspile::pd
