// Rung 2 for one program of a role: walks it once, gives every value a relation by the rules, and
// checks what the job promises. The theory is in docs/verification.md. Used by relations.h (the
// rung) and by rung 3, which asks whether predicates are uniform.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/relations/reference.h"
#include "compiler/analysis/relations/rule.h"
#include "compiler/analysis/report.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// What the job declares to deviate from the reference in, per tag (module attribute
// `dist.contracts`).
struct Contracts {
  std::map<std::string, std::set<std::string>> sites;  // by tag; "parts" lists its sites
  bool declares(llvm::StringRef tag) const { return sites.count(tag.str()) != 0; }
  static Contracts of(mlir::ModuleOp job);
};

// Axes of a role's mesh, with the data axes marked.
Axes axesOf(dist::RoleOp role);

// An op behind which only the parts reading goes on, and why.
struct Site {
  mlir::Operation* op;
  Loss loss;
};

class Analysis {
 public:
  // `startup`: persistables hold nothing at the beginning.
  Analysis(dist::RoleOp role, pd::ProgramOp program, const Reference& reference,
           const Contracts& contracts, bool startup, Rung& report);

  void run();

  const Relation& of(mlir::Value value) const;
  // Of a persistable at the end of the program; null where there is none.
  const Relation* ofVariable(llvm::StringRef name) const;
  const Axes& axes() const { return axes_; }
  // Sites on which a persistable or an update depends, in program order.
  const std::vector<Site>& sites() const { return reachedSites_; }
  // The last value that stands for a value of the reference; null if there is none.
  mlir::Value lastFor(int reference) const { return lastFor_.lookup(reference); }
  int64_t valueCount() const { return static_cast<int64_t>(relations_.size()); }

 private:
  // How a variable is declared.
  struct Variable {
    pd::VarOp op;
    std::string reference;  // the variable of the reference that it stands for; empty if none
    Reading declared;
    llvm::SmallVector<mlir::StringAttr, 1> tags;
    Relation now;
    mlir::Operation* setter = nullptr;
  };
  // A gradient that reaches the update with a wrong scale; grouped by cause before they are
  // reported.
  struct ScaleFault {
    mlir::Operation* op;
    mlir::Value value;
    Rational scale;
    std::vector<mlir::Operation*> causes;
  };

  // A relation, or why there is none.
  struct Given {
    Relation relation;
    Loss loss;
  };

  // Walk (analysis.cc).
  void declareVariables();
  void visit(mlir::Block& block);
  void visit(mlir::Operation& op);
  void visitInput(pd::InputOp input);
  void visitFramework(mlir::Operation* op);
  void visitInserted(mlir::Operation* op, const ParsedRule& rule);
  void visitSum(mlir::Operation* op);
  void visitDifference(mlir::Operation* op);
  // "`w` of b0:op3 sgd", or the difference from it.
  std::string describe(const Relation& relation) const;
  void visitControlFlow(mlir::Operation* op, mlir::Operation* reference);  // blocks.cc, with:
  Given readTogether(mlir::Operation* op, llvm::ArrayRef<mlir::Value> reads, bool backward);
  bool lineageHolds(mlir::Operation* op, mlir::Operation* reference);
  bool operandsStandFor(mlir::Operation* op, mlir::Operation* reference);
  Loss lossOf(const Loss& whole, const Loss& parts) const;
  void giveResults(mlir::Operation* op, mlir::Operation* reference, RuleContext& context);
  // All results lose their readings; they still stand for those of `reference`, where there is one.
  void giveUnknown(mlir::Operation* op, const std::string& why,
                   mlir::Operation* reference = nullptr, mlir::Value operand = {});
  void set(mlir::Value value, Relation relation);
  void lose(mlir::Value value, Loss loss);
  void checkClaims(mlir::Operation* op);

  // Operations of dialect dist (collectives.cc).
  void visitDist(mlir::Operation* op);
  void visitCollective(mlir::Operation* op);
  void demandReduction(mlir::Operation* op, dist::CommOp comm);
  void visitWait(dist::WaitOp wait);
  void visitOn(dist::OnOp on);
  void joinVariables(dist::OnOp on, const std::map<std::string, Variable>& before,
                     std::map<std::string, Variable> held);
  void visitSlice(dist::SliceOp slice);
  void visitComposite(dist::CompositeOp composite);  // composite.cc, with the ops of its body:
  void visitLocal(mlir::Operation* op);
  Relation reduced(dist::CommOp comm, const Relation& operand, dist::Reduce reduce,
                   int64_t scatterDim, Loss& loss, bool scatters);
  Relation gathered(dist::CommOp comm, const Relation& operand, int64_t dim, Loss& loss);
  Relation broadcast(dist::CommOp comm, const Relation& operand, Loss& loss);
  llvm::SmallVector<unsigned, 2> axesOfComm(dist::CommOp comm) const;

  // Demands (requirements.cc).
  bool isUpdate(mlir::Operation* op, mlir::Operation* reference) const;
  void demandReduced(mlir::Operation* op);
  void checkVariables();
  void checkVariable(llvm::StringRef name, Variable& variable);
  bool driftsApart(const Variable& variable, const Reading& found, int& axis) const;
  bool statesAllowed(const Variable& variable, const Reading& found, int& axis) const;
  void reportScales();
  void explainUnknown(mlir::Operation* op, mlir::Value value, const std::string& what);
  std::vector<mlir::Operation*> causesOfScale(mlir::Value value);
  std::vector<std::string> reductionsOf(mlir::Value value);
  std::string commFor(unsigned axis);
  void reachSites();
  void report(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
              std::string remedy, std::vector<std::string> notes = {});

  dist::RoleOp role_;
  pd::ProgramOp program_;
  const Reference& reference_;
  const Contracts& contracts_;
  bool startup_;
  Rung& report_;
  Axes axes_;
  bool inComposite_ = false;

  llvm::DenseMap<mlir::Value, Relation> relations_;
  llvm::DenseMap<mlir::Value, std::vector<Relation>> pending_;
  llvm::DenseMap<mlir::Value, Loss> losses_;  // of values without any reading
  std::map<std::string, Variable> variables_;
  llvm::DenseMap<int, mlir::Value> lastFor_;
  std::vector<Site> sites_, reachedSites_;
  std::vector<mlir::Value> partsOnly_;  // demanded values whose whole reading is lost
  std::vector<ScaleFault> scaleFaults_;
  std::set<std::string> saidUnknown_;  // causes of unknown relations already reported
  Relation none_;
};

}  // namespace dtranspile::verify
