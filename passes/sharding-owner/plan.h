// Who owns what: which rank along one axis has each parameter, its gradient and its state, and
// which ops of the update run there only. Used by sharding-owner, which then rewrites.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "passes/support/shards.h"
#include "passes/support/variables.h"

namespace dtranspile::passes {

inline constexpr int64_t kEverywhere = -1;

// The owner of each of `bytes`, which are those of the parameters in order, among `ranks`: the rule
// of the framework's Shard.setup. It goes on to the next owner, by one at most, where those so far
// have more than their part of the whole; so a large parameter at the front leaves the last ranks
// without any.
std::vector<int64_t> ownersOf(llvm::ArrayRef<int64_t> bytes, int64_t ranks);

// A sum of gradients over the replicas, and those of its operands that go to an owner each.
struct SumToOwners {
  dist::AllReduceOp op;
  llvm::MapVector<int64_t, llvm::SmallVector<unsigned>> members;  // by owner
};

class OwnerPlan {
 public:
  // Of @main. The job is not changed. Parameters of fewer than `least` elements have no owner.
  OwnerPlan(const JobOnAxes& job, int64_t ranks, int64_t least);

  const std::vector<SumToOwners>& sums() const { return sums_; }
  // Where the op runs; kEverywhere for all that stays as it is.
  int64_t ownerOf(mlir::Operation* op) const { return opOwner_.lookup_or(op, kEverywhere); }
  // Variables of one owner, in the order of the role.
  const std::vector<std::pair<pd::VarOp, int64_t>>& stored() const { return stored_; }
  int64_t ownerOf(mlir::StringAttr variable) const {
    return variableOwner_.lookup_or(variable, kEverywhere);
  }
  // The op takes, on all ranks, what such a variable holds.
  bool isGathered(mlir::OpOperand& use) const { return gathered_.contains(&use); }
  // A sum of numbers that several owners have.
  bool isJoin(mlir::Operation* op) const { return joins_.contains(op); }
  // A number that an owner computes for all ranks.
  bool isShared(mlir::Value value) const { return shared_.contains(value); }
  // Why parameters stay whole, and which.
  const KeptWhole& kept() const { return kept_; }

 private:
  struct Gradient {
    dist::AllReduceOp sum;
    unsigned member = 0;
    mlir::Value result;
    mlir::StringAttr parameter = {};  // null: none, or several
    int updates = 0;                  // that take it
  };

  void collectGradients();
  void findSums(pd::OpView update);
  std::string unfit(const Gradient& gradient) const;
  void giveOwners();
  bool attempt();
  void visitBlock(mlir::Block& block);
  void visit(mlir::Operation* op);
  void visitSet(pd::SetOp set);
  void visitFramework(mlir::Operation* op);
  bool isOfAllRanks(mlir::Operation* op) const;
  void visitMixed(mlir::Operation* op);
  void visitBranch(mlir::Operation* op);
  void visitBlocks(mlir::Operation* op);
  int64_t ownerOfBranch(mlir::Operation* op);
  void give(mlir::Operation* op, int64_t owner, mlir::StringAttr parameter);
  bool isOwned(mlir::Value value) const { return valueOwner_.contains(value); }
  mlir::StringAttr parameterBehind(mlir::ValueRange values) const;
  void share(mlir::Value value);
  void shareUse(mlir::OpOperand& use);
  void fix(mlir::StringAttr variable);
  void refuse(mlir::StringAttr parameter, const llvm::Twine& why);
  void checkOrder();
  bool isFree(mlir::StringAttr variable) const;
  void addReadOnly();
  pd::VarOp variable(mlir::StringAttr name) const;

  JobOnAxes job_;
  const int64_t ranks_, least_;
  const mlir::SymbolTable symbols_;
  const Storable canStore_;
  const llvm::DenseMap<mlir::StringAttr, Touches> touches_;
  llvm::DenseMap<mlir::Value, unsigned> gradientOf_;  // by results of sums
  std::vector<Gradient> gradients_;
  // What earlier attempts have found: it only grows.
  llvm::DenseMap<mlir::StringAttr, std::string> refused_;  // parameters
  llvm::DenseSet<mlir::StringAttr> fixed_;                 // variables of all ranks
  llvm::DenseSet<mlir::OpOperand*> sharedUses_;            // that branches take
  bool failed_ = false, grew_ = false;
  // Of this attempt.
  llvm::DenseMap<mlir::StringAttr, int64_t> variableOwner_;
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> parameterOfVariable_;
  llvm::DenseMap<mlir::Value, int64_t> valueOwner_;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> parameterOfValue_;
  llvm::DenseMap<mlir::Operation*, int64_t> opOwner_;
  llvm::DenseSet<mlir::Operation*> joins_;
  llvm::DenseSet<mlir::Value> shared_;
  llvm::DenseSet<mlir::OpOperand*> gathered_;
  std::vector<SumToOwners> sums_;
  std::vector<std::pair<pd::VarOp, int64_t>> stored_;
  KeptWhole kept_;
};

}  // namespace dtranspile::passes
