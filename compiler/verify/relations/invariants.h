// Rung 2, variables: each ends the program as it is declared, and as the reference ends it.
#pragma once

#include "compiler/verify/relations/trace.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {

class Invariants {
 public:
  Invariants(const Question& question, const Store& store, Explainer& explainer, Rung& findings);

  void check() {
    for (const auto& [name, variable] : store_.variables()) check(name, variable);
    checkDraws();
  }

 private:
  void check(llvm::StringRef name, const Variable& variable);
  void checkDraws();
  void noteDifference(llvm::StringRef name, const Variable& variable);
  void checkCovered(const std::string& quoted, const Variable& variable, mlir::Operation* at);
  void checkEstablished(const std::string& quoted, const Variable& variable);
  bool checkAlone(const std::string& quoted, const Variable& variable);
  bool checkPlace(const std::string& quoted, const Variable& variable);
  int64_t sizeAlong(const Variable& variable, unsigned axis) const {
    return variable.at.countAlong(store_.axes().names[axis], store_.axes().meshSizes[axis]);
  }
  bool isHeldByParts(const Variable& variable) const;
  bool beginsAsPart(const Variable& variable) const;
  bool driftsApart(const Variable& variable, const Reading& found, int& axis) const;
  bool statesAllowed(const Variable& variable, const Reading& found, int& axis) const;

  const Question& question_;
  const Store& store_;
  Explainer& explainer_;
  Rung& findings_;
  llvm::StringSet<> established_;  // variables that start-up sets
};

}  // namespace dtranspile::verify
