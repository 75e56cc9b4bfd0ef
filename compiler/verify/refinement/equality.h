// Pairs of terms that the normaliser leaves open: whether they are equal for all real numbers, by
// the formulas of ops (formulas.h), instances of few positions (instance.h) and a solver
// (solver.h). Ops without a formula give equal results of equal operands. docs/verification.md,
// Rung 4, The solver.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "compiler/verify/refinement/instance.h"
#include "compiler/verify/refinement/solver.h"

namespace dtranspile::verify {

struct OpenPair {
  TermId mine = Terms::kNone, theirs = Terms::kNone;
  mlir::Type type;  // of both
};

class Equality {
 public:
  explicit Equality(Terms& terms);

  // Looks for equal values from the operands up, so that pairs can lean on what was found below.
  void prepare(llvm::ArrayRef<OpenPair> pairs);
  // Of a pair that was prepared.
  Answer decide(const OpenPair& pair);

  int64_t asked() const { return solver_.asked(); }

 private:
  using Depths = std::map<AtomId, int>;

  std::vector<AtomId> reach(llvm::ArrayRef<TermId> roots) const;
  Depths depths(const OpenPair& pair) const;
  bool sameTerm(TermId a, TermId b) const;
  bool asLong(const OpenPair& pair);
  bool equal(TermId a, TermId b, mlir::Type type);
  Answer attempt(const OpenPair& pair, const Given& given, bool last);
  Answer compare(const OpenPair& pair, const Given& given, const Positions& positions, bool refute);
  void meet(AtomId atom);
  bool congruent(AtomId a, AtomId b);
  std::string printOf(AtomId atom);
  std::string printOf(TermId term, mlir::Type type);
  void merge(AtomId atom, AtomId known);
  bool late() const;

  Terms& terms_;
  Sorts sorts_;
  Formulas formulas_;
  Solver solver_;
  Given found_;              // nothing in it is opaque
  std::set<AtomId> shared_;  // of both programs, by representative
  Expressions prints_;
  Instance look_;  // two positions along every axis
  std::map<std::string, std::vector<AtomId>> met_;
  std::map<std::pair<TermId, TermId>, bool> decided_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace dtranspile::verify
