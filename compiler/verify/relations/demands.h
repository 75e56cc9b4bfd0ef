// What is demanded of the update part: gradients enter it reduced once and with scale 1. Messages
// name the cause where it can be found: the reduction that is one too many, the scale that was put
// in twice, the op where a relation was lost.
#pragma once

#include "compiler/verify/relations/trace.h"

namespace dtranspile::verify {

class Demands : public UpdateWatch {
 public:
  Demands(const Question& question, Explainer& explainer, Rung& findings)
      : question_(question), explainer_(explainer), findings_(findings) {}

  void beforeUpdate(mlir::Operation* op, Store& store) override;
  // Wrong scales are grouped by their cause first; after the walk.
  void reportScales();

 private:
  struct ScaleFault {
    mlir::Operation* op;
    mlir::Value value;
    std::string name;  // of the gradient
    Rational scale;
    std::vector<mlir::Operation*> causes;
  };
  llvm::StringRef ownStepTag() const;
  bool isOwnStep(const Relation& relation) const;
  // 1, but for gradients that the job declares to be another multiple, in these words.
  bool hasWantedScale(const Relation& relation) const;
  static bool linearIn(mlir::Operation* op, mlir::Value operand);
  void takeOwnStep(mlir::Value operand, Store& store) const;
  void refuteUnreduced(mlir::Operation* op, mlir::Value operand, unsigned axis, const Store& store);

  const Question question_;
  Explainer& explainer_;
  Rung& findings_;
  std::vector<ScaleFault> faults_;
};

}  // namespace dtranspile::verify
