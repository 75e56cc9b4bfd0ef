#include "passes/amp/skip.h"

#include <map>

#include "llvm/ADT/SetVector.h"
#include "mlir/IR/IRMapping.h"
#include "passes/amp/apart.h"
#include "passes/support/branch.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
namespace {

bool isOfUpdate(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kOptimize);
}

class Skip {
 public:
  Skip(pd::ProgramOp main, mlir::Value bad, const llvm::StringSet<>& free, bool apart,
       pd::Declarations& declarations)
      : main_(main),
        block_(main.getBodyBlock()),
        bad_(bad),
        free_(free),
        apart_(apart),
        declarations_(declarations) {}

  // A step with a gradient that is not finite must leave no trace. Ops of the update that may run
  // anyway stay; the others move into branches on `bad_`, and what other ops set in such a step is
  // set back.
  mlir::LogicalResult run() {
    findDecision();
    if (mlir::failed(choose()) || mlir::failed(check())) return mlir::failure();
    keepWhatElseIsSet();
    openBranches();
    restore();
    return mlir::success();
  }

 private:
  // What `bad` follows from, as far as it belongs to the update: the check and its casts.
  void findDecision() {
    llvm::SmallVector<mlir::Operation*> open = {bad_.getDefiningOp()};
    while (!open.empty()) {
      mlir::Operation* op = open.pop_back_val();
      if (!op || !(isOfUpdate(op) || llvm::isa<pd::GetOp>(op)) || !decision_.insert(op)) continue;
      for (mlir::Value operand : op->getOperands()) open.push_back(operand.getDefiningOp());
    }
    for (mlir::Operation& op : *block_)
      if (isOfUpdate(&op) && setsFree(&op)) decision_.insert(&op);
  }
  bool setsFree(mlir::Operation* op) const {
    return llvm::any_of(op->getUsers(), [&](mlir::Operation* user) {
      auto set = llvm::dyn_cast<pd::SetOp>(user);
      return set && free_.contains(set.getVar());
    });
  }

  // All ops of the update and the sets of what they give move into the branch, but for those that
  // the decision itself is made of.
  mlir::LogicalResult choose() {
    for (mlir::Operation& op : *block_) {
      if (!isOfUpdate(&op) || decision_.contains(&op)) continue;
      if (op.getNumRegions() > 0)
        return op.emitError(
            "amp: a block within the update is not there yet: a step that overflows would not "
            "leave it out");
      moving_.insert(&op);
    }
    for (auto set : block_->getOps<pd::SetOp>())
      if (moving_.contains(set.getValue().getDefiningOp())) sets_.insert(set);
    return mlir::success();
  }

  // Nothing but the update takes what it has made.
  mlir::LogicalResult check() {
    llvm::StringSet<> updated;
    for (mlir::Operation& op : *block_) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op); set && sets_.contains(set))
        updated.insert(set.getVar());
      if (moving_.contains(&op) || sets_.contains(&op)) continue;
      for (mlir::Value operand : op.getOperands())
        if (moving_.contains(operand.getDefiningOp()))
          return op.emitError("amp: takes '")
                 << pd::nameOf(operand)
                 << "' of the update, which a step that overflows leaves out";
      if (auto get = llvm::dyn_cast<pd::GetOp>(op); get && updated.contains(get.getVar()))
        for (mlir::Operation* user : get->getUsers())
          if (!moving_.contains(user))
            return user->emitError("amp: takes '")
                   << get.getVar()
                   << "' as the update has left it, which a step that overflows leaves out";
    }
    return mlir::success();
  }

  // The values before the step of variables that are set outside of the update.
  void keepWhatElseIsSet() {
    llvm::SetVector<mlir::StringAttr> names;
    main_.walk([&](pd::SetOp set) {
      if (!sets_.contains(set) && !free_.contains(set.getVar()))
        names.insert(set.getVarAttr().getAttr());
    });
    for (mlir::StringAttr name : names) {
      mlir::Operation* first = nullptr;
      for (mlir::Operation& op : *block_) {
        op.walk([&](pd::SetOp set) {
          if (set.getVarAttr().getAttr() == name) first = &op;
        });
        if (first) break;
      }
      auto var = llvm::cast<pd::VarOp>(mlir::SymbolTable::lookupNearestSymbolFrom(main_, name));
      mlir::OpBuilder builder(writerOf(first));
      mlir::Value old = pd::GetOp::create(builder, first->getLoc(), var.getType(),
                                          mlir::FlatSymbolRefAttr::get(name));
      const std::string own = declarations_.freshName(block_, (name.getValue() + "@BEFORE").str());
      kept_.push_back(declarations_
                          .create(builder, first->getLoc(), "assign", {{"X", {old}}},
                                  {{"Out", {{own, var.getType()}}}}, {}, roleOfSetter(first))
                          .output("Out"));
      restored_.push_back(name);
    }
  }

  // The op that makes what is set: it may write the variable's own cell.
  mlir::Operation* writerOf(mlir::Operation* op) const {
    auto set = llvm::dyn_cast<pd::SetOp>(op);
    mlir::Operation* writer = set ? set.getValue().getDefiningOp() : nullptr;
    return writer && writer->getBlock() == block_ ? writer : op;
  }
  static int roleOfSetter(mlir::Operation* op) {
    if (auto set = llvm::dyn_cast<pd::SetOp>(op)) op = set.getValue().getDefiningOp();
    return op && pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() : pd::kForward;
  }

  mlir::Value good() {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(block_);
    return declarations_
        .create(builder, main_.getLoc(), "logical_not", {{"X", {bad_}}},
                {{"Out", {{declarations_.freshName(block_, "all_finite"), bad_.getType()}}}}, {},
                pd::kOptimize)
        .output("Out");
  }

  void openBranches() {
    mlir::Value decides = good();
    if (!apart_) return openBranch(decides, moving_);
    const Apart apart = takeApart(moving_);
    for (mlir::Operation* op : apart.common) op->moveBefore(block_, block_->end());
    for (const Ops& group : apart.groups) openBranch(decides, group);
  }

  // A branch of these ops and what they set.
  void openBranch(mlir::Value decides, const Ops& ops) {
    llvm::SetVector<mlir::Value> taken;
    for (mlir::Operation* op : ops)
      for (mlir::Value operand : op->getOperands()) {
        mlir::Operation* maker = operand.getDefiningOp();
        if (!ops.contains(maker) && !llvm::isa_and_nonnull<pd::GetOp>(maker)) taken.insert(operand);
      }
    const std::vector<mlir::Value> captures = underOwnNames(taken.getArrayRef(), ops);
    mlir::Operation* branch = addBranch(main_, decides, scope(), declarations_, captures);
    mlir::Block* inside = &branch->getRegion(0).front();
    mlir::IRMapping map;
    for (auto [value, argument] : llvm::zip_equal(taken, inside->getArguments()))
      map.map(value, argument);
    moveDeclarations(inside, ops);
    const auto isMoved = [&](mlir::Operation& op) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      return ops.contains(&op) ||
             (set && sets_.contains(set) && ops.contains(set.getValue().getDefiningOp()));
    };
    llvm::SmallVector<mlir::Operation*> moved;
    for (mlir::Operation& op : *block_)
      if (isMoved(op) || llvm::isa<pd::GetOp>(op)) moved.push_back(&op);
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(inside);
    for (mlir::Operation* op : moved) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        takeAlong(builder, get, ops, map);
        continue;
      }
      for (mlir::OpOperand& operand : op->getOpOperands())
        operand.set(map.lookupOrDefault(operand.get()));
      op->moveBefore(inside, inside->end());
      builder.setInsertionPointToEnd(inside);
    }
    pd::YieldOp::create(builder, main_.getLoc(), mlir::ValueRange());
    for (pd::GetOp get : llvm::make_early_inc_range(block_->getOps<pd::GetOp>()))
      if (map.contains(get.getResult()) && get->use_empty()) get->erase();
  }

  // The branch knows what it takes by names; one that it writes, or that two values have, is
  // another value's.
  std::vector<mlir::Value> underOwnNames(llvm::ArrayRef<mlir::Value> values, const Ops& ops) {
    llvm::StringSet<> used;
    for (mlir::Operation* op : ops)
      for (mlir::Value result : op->getResults()) used.insert(pd::nameOf(result));
    std::vector<mlir::Value> named;
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(block_);
    for (mlir::Value value : values) {
      const llvm::StringRef name = pd::nameOf(value);
      if (!used.insert(name).second)
        value = declarations_
                    .create(builder, value.getLoc(), "assign", {{"X", {value}}},
                            {{"Out", {{declarations_.freshName(block_, name), value.getType()}}}},
                            {}, pd::kOptimize)
                    .output("Out");
      named.push_back(value);
    }
    return named;
  }

  static void takeAlong(mlir::OpBuilder& builder, pd::GetOp get, const Ops& ops,
                        mlir::IRMapping& map) {
    if (llvm::any_of(get->getUsers(), [&](mlir::Operation* user) { return ops.contains(user); }))
      map.map(get.getResult(), builder.clone(*get)->getResult(0));
  }

  // Names that the branch alone writes are declared there; what others write too, there as well.
  void moveDeclarations(mlir::Block* inside, const Ops& ops) {
    llvm::StringSet<> others, done;
    for (mlir::Operation& op : *block_)
      if (pd::OpView::isFrameworkOp(&op) && !ops.contains(&op))
        for (mlir::Value result : op.getResults()) others.insert(pd::nameOf(result));
    for (mlir::Operation* op : ops)
      for (mlir::Value result : op->getResults()) {
        const llvm::StringRef name = pd::nameOf(result);
        pd::DeclOp decl = declarations_.find(block_, name);
        if (!decl || decl.isPersistable() || !done.insert(name).second) continue;
        if (others.contains(name)) inside->push_back(decl->clone());
        else decl->moveBefore(inside, inside->end());
      }
  }

  // What the schedule sets and what the forward part sets have branches of their own: of what a
  // branch sets it is only known that it follows from all that the branch takes, and statistics of
  // a share of the batch are not to reach the rate.
  void restore() {
    std::map<int, std::vector<size_t>> groups;  // by the role of what sets them
    for (size_t i = 0; i < kept_.size(); ++i)
      groups[pd::OpView(kept_[i].getDefiningOp()).role()].push_back(i);
    for (const auto& [role, members] : groups) restore(members);
  }
  // A branch that runs in bad steps and sets these variables back to what they held when the step
  // began.
  void restore(llvm::ArrayRef<size_t> members) {
    std::vector<mlir::Value> taken;
    for (size_t i : members) taken.push_back(kept_[i]);
    mlir::Operation* branch = addBranch(main_, bad_, scope(), declarations_, taken);
    mlir::Block* inside = &branch->getRegion(0).front();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(inside);
    for (auto [i, argument] : llvm::zip_equal(members, inside->getArguments())) {
      mlir::StringAttr name = restored_[i];
      mlir::Value old =
          declarations_
              .create(builder, argument.getLoc(), "assign", {{"X", {argument}}},
                      {{"Out", {{name.str(), argument.getType()}}}}, {}, pd::kOptimize)
              .output("Out");
      pd::SetOp::create(builder, argument.getLoc(), mlir::FlatSymbolRefAttr::get(name), old);
    }
    pd::YieldOp::create(builder, main_.getLoc(), mlir::ValueRange());
  }

  std::string scope() { return declarations_.freshName(block_, "amp_scope"); }

  pd::ProgramOp main_;
  mlir::Block* block_;
  mlir::Value bad_;
  const llvm::StringSet<>& free_;
  const bool apart_;
  pd::Declarations& declarations_;
  llvm::SetVector<mlir::Operation*> decision_, moving_, sets_;
  std::vector<mlir::Value> kept_;  // the values before the step of `restored_`
  std::vector<mlir::StringAttr> restored_;
};

}  // namespace

mlir::LogicalResult skipWhere(pd::ProgramOp main, mlir::Value bad, const llvm::StringSet<>& free,
                              bool apart, pd::Declarations& declarations) {
  return Skip(main, bad, free, apart, declarations).run();
}

}  // namespace dtranspile::passes
