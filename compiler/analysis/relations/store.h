// What the walk over one program of a role finds out: a relation for every value, and what the
// role's variables hold. Filled by walk.cc; asked by verification and by passes when it is
// finished.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/relations/form.h"
#include "compiler/analysis/relations/relation.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::verify {

// A persistable of the role: how it is declared, and what it holds.
struct Variable {
  pd::VarOp op;
  std::string reference;  // the variable of the reference that it stands for; empty if none
  Reading declared;
  llvm::SmallVector<mlir::StringAttr, 1> tags;
  Relation now;
  mlir::Operation* setter = nullptr;  // that set it last; null: none
};

using Variables = std::map<std::string, Variable>;

// An op that is evaluated on each rank's share of the batch, and why it does not fit the whole.
struct Site {
  mlir::Operation* op;
  Loss loss;
};

// A result of communication: its relation, or why there is none.
struct Awaited {
  Relation relation;
  Loss loss;
};

class Store {
 public:
  explicit Store(Axes axes) : axes_(std::move(axes)) {}

  const Axes& axes() const { return axes_; }

  // Unknown for values that the walk did not meet.
  const Relation& of(mlir::Value value) const;
  void set(mlir::Value value, Relation relation);
  // Replaces what is known of a value that has been reported as wrong.
  void correct(mlir::Value value, Relation relation) { relations_[value] = std::move(relation); }
  void lose(mlir::Value value, Loss loss);
  // Why a value has no relation; null where nothing was noted.
  const Loss* lossOf(mlir::Value value) const;
  void noteLoss(mlir::Value value, Loss loss) { losses_[value] = std::move(loss); }

  // What an operation that was started will give.
  void start(mlir::Value pending, std::vector<Awaited> results);
  const std::vector<Awaited>* started(mlir::Value pending) const;

  Variable* variable(llvm::StringRef name);
  const Variable* variable(llvm::StringRef name) const;
  Variables& variables() { return variables_; }
  const Variables& variables() const { return variables_; }

  // Once per op.
  void addSite(Site site) {
    if (sites_.empty() || sites_.back().op != site.op) sites_.push_back(std::move(site));
  }
  const std::vector<Site>& sites() const { return sites_; }

  // Values that inserted casts round, by name: what the contract fp16_wire is about.
  void addRounded(std::string name) { rounded_.insert(std::move(name)); }
  const std::set<std::string>& rounded() const { return rounded_; }

  // The last value that stands for a value of the reference; null if there is none.
  mlir::Value lastFor(int reference) const { return lastFor_.lookup(reference); }
  int64_t valueCount() const { return static_cast<int64_t>(relations_.size()); }

 private:
  Axes axes_;
  llvm::DenseMap<mlir::Value, Relation> relations_;
  llvm::DenseMap<mlir::Value, std::vector<Awaited>> pending_;
  llvm::DenseMap<mlir::Value, Loss> losses_;
  Variables variables_;
  llvm::DenseMap<int, mlir::Value> lastFor_;
  std::vector<Site> sites_;
  std::set<std::string> rounded_;
  Relation none_;
};

}  // namespace dtranspile::verify
