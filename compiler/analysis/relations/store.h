// What the walk over one program of a role finds out: a relation for every value, and what the
// role's variables hold. Filled by walk.cc; asked by verification and by passes when it is
// finished.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/relations/form.h"
#include "compiler/analysis/relations/place.h"
#include "compiler/analysis/relations/relation.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace dtranspile::verify {

// What some ranks hold in a variable.
struct Held {
  dist::SelAttr where;  // null: all that hold the variable
  Relation now;
  mlir::Operation* setter = nullptr;  // null: the step has not set it
};

// A persistable of the role: how it is declared, and what it holds.
struct Variable {
  pd::VarOp op;
  std::string reference;  // the variable of the reference that it stands for; empty if none
  Place at;               // the ranks that have it (dist.at)
  Reading declared;       // along axes as seen from there
  llvm::SmallVector<mlir::StringAttr, 1> tags;
  // At the end of the walk: what all of its ranks hold, if that is one value, and who set it last.
  Relation now;
  mlir::Operation* setter = nullptr;
  mlir::Operation* torn = nullptr;  // sets it on some of its ranks to what others do not end with
  bool otherDraw = false;           // which may be another of the ranks' draws of the same
  std::vector<Held> held;  // the first is of all ranks, later ones take the place of earlier ones
};

using Variables = std::map<std::string, Variable>;

// An op that is evaluated on each rank's share of the batch, and why it does not fit the whole.
struct Site {
  mlir::Operation* op;
  Reason reason;
};

// A result of communication: its relation, or why there is none.
struct Awaited {
  Relation relation;
  Reason reason;
};

// Where the walk is: the ranks that run these ops, and the axes as they see them.
struct Scope {
  Place place;
  Axes axes;
  int parent = -1;
  std::string blocksOf;  // inside a foreach_block: its variable, whose blocks are counted by the
  int blockAxis = -1;    // axis of the servers
};

class Store {
 public:
  explicit Store(Axes axes);

  const Scope& scope() const { return scopes_[current_]; }
  const Axes& axes() const { return scope().axes; }
  // As the role's mesh has them.
  const Axes& meshAxes() const { return scopes_.front().axes; }
  void enter(Scope scope);
  void leave();

  // As it is for the ranks of the scope. Unknown for values that the walk did not meet.
  const Relation& of(mlir::Value value) const;
  void set(mlir::Value value, Relation relation);
  // Replaces what is known of a value that has been reported as wrong.
  void correct(mlir::Value value, Relation relation);
  void lose(mlir::Value value, Reason reason);
  // Why a value has no relation; null where nothing was noted.
  const Reason* reasonOf(mlir::Value value) const;
  void noteReason(mlir::Value value, Reason reason) { reasons_[value] = std::move(reason); }
  // What is left of a relation where only `to` of its ranks are looked at.
  Relation restricted(Relation relation, const Place& from, const Place& to, Reason& reason) const;

  // What an operation that was started will give.
  void start(mlir::Value pending, std::vector<Awaited> results);
  const std::vector<Awaited>* started(mlir::Value pending) const;

  Variable* variable(llvm::StringRef name);
  const Variable* variable(llvm::StringRef name) const;
  Variables& variables() { return variables_; }
  const Variables& variables() const { return variables_; }
  // What the ranks of the scope hold.
  Awaited held(const Variable& variable) const;
  // They hold that from now on.
  void hold(Variable& variable, Relation relation, mlir::Operation* setter);
  // Sums up what the variables hold at the end.
  void settle();

  // Once per op.
  void addSite(Site site) {
    if (sites_.empty() || sites_.back().op != site.op) sites_.push_back(std::move(site));
  }
  const std::vector<Site>& sites() const { return sites_; }

  // Values that inserted casts round, by name: what the contract fp16_wire is about.
  void addRounded(std::string name) { rounded_.insert(std::move(name)); }
  const std::set<std::string>& rounded() const { return rounded_; }

  // Ops whose claims have been held against what is known.
  void noteClaims(mlir::Operation* op) { claims_.insert(op); }
  bool knowsClaims(mlir::Operation* op) const { return claims_.contains(op); }

  // The last value that stands for a value of the reference; null if there is none.
  mlir::Value lastFor(int reference) const { return lastFor_.lookup(reference); }
  int64_t valueCount() const { return static_cast<int64_t>(numbers_.size()); }

 private:
  // What is known here of a value from outside.
  struct Captured {
    Relation relation;
    Reason reason;
  };
  using Captures = llvm::DenseMap<mlir::Value, std::unique_ptr<Captured>>;
  bool isInside(int scope, int outer) const;
  Captured* captured(mlir::Value value) const;
  void captureForBlocks(Captured& here, int outer) const;

  std::vector<Scope> scopes_;  // all that were entered
  int current_ = 0;
  mutable std::deque<Captures> captured_;  // in the scopes that were not left
  // Null where the walk did not meet the value.
  const Relation* own(mlir::Value value) const;
  Relation& known(mlir::Value value);
  // Looked up for every operand: the table has numbers, since relations are some hundred bytes
  // long.
  llvm::DenseMap<mlir::Value, uint32_t> numbers_;
  std::deque<Relation> relations_;
  llvm::DenseMap<mlir::Value, int> scopeOf_;  // of values that are made inside a scope
  llvm::DenseMap<mlir::Value, std::vector<Awaited>> pending_;
  llvm::DenseMap<mlir::Value, Reason> reasons_;
  Variables variables_;
  llvm::DenseMap<int, mlir::Value> lastFor_;
  std::vector<Site> sites_;
  std::set<std::string> rounded_;
  llvm::DenseSet<mlir::Operation*> claims_;
  Relation none_;
};

}  // namespace dtranspile::verify
