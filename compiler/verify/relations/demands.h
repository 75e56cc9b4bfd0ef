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
  // Tables whose gradients were as large as the contract about their sum says.
  const std::set<std::string>& summedTables() const { return summed_; }

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
  bool hasWantedScale(mlir::Value operand, const Relation& relation);
  static bool linearIn(mlir::Operation* op, mlir::Value operand);
  void takeOwnStep(mlir::Value operand, Store& store) const;
  void refuteUnreduced(mlir::Operation* op, mlir::Value operand, unsigned axis, const Store& store);

  const Question question_;
  Explainer& explainer_;
  Rung& findings_;
  std::vector<ScaleFault> faults_;
  std::set<std::string> summed_;
};

}  // namespace dtranspile::verify
