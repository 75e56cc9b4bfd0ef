// The proof that one program, as changed, does what another one does: the cases of a step.
#pragma once

#include <set>

#include "compiler/analysis/report.h"
#include "compiler/verify/refinement/changes.h"
#include "compiler/verify/refinement/equality.h"
#include "compiler/verify/refinement/explain.h"
#include "compiler/verify/refinement/pruning.h"
#include "compiler/verify/refinement/walk.h"

namespace dtranspile::verify {

struct Programs {
  pd::ProgramOp source, reference;
};

class Proof {
 public:
  // `variables`: those of the source, sorted; `added`: those that the reference has beside them;
  // `main`: the step of the source.
  Proof(const Changes& changes, std::vector<std::string> variables, std::vector<std::string> added,
        pd::ProgramOp main, Rung& rung);

  // Finds float32 copies of parameters in half precision (amp) in a step of the reference.
  void findCopies(pd::ProgramOp reference);

  // Start-up leaves every variable of the source as it does there.
  void startup(Programs programs);
  // So does a step, in every case; names of the forward part hold the same values.
  void main(Programs programs);

  int64_t atoms() const { return static_cast<int64_t>(terms_.atomCount()); }
  int64_t cases() const { return cases_; }
  // How often a solver was asked.
  int64_t asked() const { return asked_; }

 private:
  struct Gradients {
    std::map<std::string, TermId> complete;  // by parameter: what the source updates with
    std::map<std::string, TermId> merged;    // what stands for that of merged steps
  };

  Assumptions assumptions(const std::map<AtomId, bool>& assumed = {});
  Effects source(pd::ProgramOp program, Gradients* gradients);
  // Start-up as declared: weights that are pruned (asp), where the masks are what they shall be.
  void pruneAtStart(Effects& source, const Effects& reference, pd::ProgramOp at);

  // What a variable is before the step: a copy is its parameter.
  TermId beforeStep(const std::string& name);
  std::string prunedBy(mlir::OpResult result) const;
  // Variables of which it is said what they become.
  std::vector<std::string> watched() const;

  void same(const Effects& reference, const Effects& source, pd::ProgramOp at, bool names);
  // What is left open when the numbers of terms differ: by name, in order, and whether a variable.
  struct OpenValue {
    std::string what;
    OpenPair pair;
  };
  std::vector<OpenValue> openValues(const Effects& reference, const Effects& source, bool names);
  // Whether all of them are decided, and hold; the first that does not is reported.
  bool decide(llvm::ArrayRef<OpenValue> open, pd::ProgramOp at);
  void refuted(const OpenValue& open, const Answer& answer, const TermDifference& found,
               pd::ProgramOp at);
  void unchanged(const Effects& reference, pd::ProgramOp at, const std::string& when);
  void staysPositive(const std::string& name, const Effects& effects, pd::ProgramOp at);
  void unknown(mlir::Operation* at, std::string text, std::string remedy);
  bool ofSource(const std::string& variable) const;

  // Conditions of branches that the source does not have, by what they are.
  struct SlowConditions {
    std::optional<AtomId> first, every;  // n is 1; k divides n
    std::string counter;
    TermId number = Terms::kNone;  // n
  };
  struct Conditions {
    std::vector<AtomId> overflow;
    std::optional<AtomId> due;
    SlowConditions slow;
  };
  // What slow weights do in a step.
  struct SlowCase {
    enum Kind { None, Stays, First, Moves };
    std::map<AtomId, bool> assumed;
    Kind kind;
  };
  std::optional<Conditions> conditionsOf(const Effects& reference, pd::ProgramOp at);
  void step(Programs programs, const Conditions& conditions);
  // loss_scale.cc: the scale and its counters begin and move as declared, in the cases `finite` and
  // `overflow` of one step.
  struct Case {
    Effects effects;
    std::map<AtomId, bool> assumed;
  };
  void lossScale(llvm::ArrayRef<Case> cases, pd::ProgramOp at);
  bool movesAsDeclared(const std::string& scale, const Case& one, pd::ProgramOp at);
  // Every variable that the source does not have is one that a declared change speaks of.
  void allAreAccountedFor(pd::ProgramOp at);
  // Sums and counters go on where a gradient is not finite, as they do elsewhere.
  void mergesAlike(const Effects& overflow, pd::ProgramOp at);
  void mergedSteps(Programs programs, const Conditions& conditions,
                   const std::map<AtomId, bool>& assumed);
  bool takeSlowCondition(AtomId decider, SlowConditions& found) const;
  bool countsSteps(const SlowConditions& slow, pd::ProgramOp at);
  std::vector<SlowCase> slowCases(const Conditions& conditions) const;
  Effects withSlow(Effects source, const Conditions& conditions, SlowCase::Kind kind);
  void rememberSlow(const SlowConditions& slow);
  bool isPeriodic(AtomId due, const std::map<std::string, int64_t>& counters,
                  const Effects& between, const Effects& update);
  bool countsTo(AtomId due, const Effects& between, const Effects& update, pd::ProgramOp at);

  const Changes& changes_;
  std::vector<std::string> variables_, added_;
  std::set<std::string> accounted_;        // of `added_`
  std::vector<std::string> sums_;          // of gradients, in merged steps
  std::map<std::string, TermId> counted_;  // counters of steps, after one that updates
  std::vector<std::string> own_;           // of the reference, of which it is said what they become
  std::vector<std::string> updated_;       // parameters
  std::map<std::string, mlir::RankedTensorType> pruned_;
  std::map<std::string, std::string> copies_;  // of parameters, in float32
  std::vector<std::string> positive_;
  std::set<std::string> sourceNames_;
  Rung& rung_;
  Terms terms_;
  std::map<std::string, TermId> initial_;  // of variables that the source lacks
  int64_t cases_ = 0, asked_ = 0;
  std::set<std::string> solved_;  // what leans on the solver
  bool leftOpen_ = false;         // whether anything was that the solver was asked of
};

}  // namespace dtranspile::verify
