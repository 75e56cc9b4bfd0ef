// The one list of the rule families (families.cc); a family's rows stand in <family>.cc.
#pragma once

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

llvm::ArrayRef<llvm::ArrayRef<RuleRow>> ruleFamilies();

llvm::ArrayRef<RuleRow> activationRules();
llvm::ArrayRef<RuleRow> ampRules();
llvm::ArrayRef<RuleRow> communicationRules();
llvm::ArrayRef<RuleRow> controlFlowRules();
llvm::ArrayRef<RuleRow> convolutionRules();
llvm::ArrayRef<RuleRow> creationRules();
llvm::ArrayRef<RuleRow> detectionRules();
llvm::ArrayRef<RuleRow> elementwiseRules();
llvm::ArrayRef<RuleRow> embeddingRules();
llvm::ArrayRef<RuleRow> hostRules();
llvm::ArrayRef<RuleRow> indexingRules();
llvm::ArrayRef<RuleRow> interpolationRules();
llvm::ArrayRef<RuleRow> linearAlgebraRules();
llvm::ArrayRef<RuleRow> logicalRules();
llvm::ArrayRef<RuleRow> lossRules();
llvm::ArrayRef<RuleRow> matrixRules();
llvm::ArrayRef<RuleRow> metricRules();
llvm::ArrayRef<RuleRow> normalizationRules();
llvm::ArrayRef<RuleRow> optimizerRules();
llvm::ArrayRef<RuleRow> quantizationRules();
llvm::ArrayRef<RuleRow> randomRules();
llvm::ArrayRef<RuleRow> recurrentRules();
llvm::ArrayRef<RuleRow> reductionRules();
llvm::ArrayRef<RuleRow> sequenceRules();
llvm::ArrayRef<RuleRow> repetitionRules();
llvm::ArrayRef<RuleRow> shapeRules();
llvm::ArrayRef<RuleRow> sliceRules();
llvm::ArrayRef<RuleRow> tensorArrayRules();
llvm::ArrayRef<RuleRow> visionRules();

}  // namespace dtranspile::verify
