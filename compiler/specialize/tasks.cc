// The body of a dist.micro as its tasks. What stands between the tasks in the job (transfers, sums,
// feeds) goes into one of them, so that a task is all that a stage does when the schedule says so.
#include "compiler/specialize/guards.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dtranspile {
namespace {

// All of one task and chunk.
struct Group {
  dist::OnOp first;
  std::vector<mlir::Operation*> receives, work, sends;  // each in the order of the text
  dist::OnOp gathered = {};                             // all of them, without results
};

// Three passes over the body. Forward: every op gets the last group whose values it reads, the
// earliest place where it can stand; a task whose own group runs before that is an error. What is
// received to be sent on comes in with the first group that reads it, or that follows what made it
// in the text: a later one could wait for whoever waits for the value. Backward:
// what reads of no group (receives, feeds, constants) goes to the first group that reads it, so
// that it is there when that task runs, and lives no longer than it must. Then each group becomes
// one region: receives, work, sends, in the order of the text.
class Gathering {
 public:
  Gathering(dist::MicroOp micro, const Arrivals& arrivals)
      : micro_(micro), body_(micro.getBody().front()), arrivals_(arrivals) {}

  mlir::LogicalResult run() {
    for (mlir::Operation& op : body_.without_terminator()) ops_.push_back(&op);
    for (mlir::Operation* op : ops_)
      if (auto on = asTask(op)) groupOf(on);
    if (groups_.empty())
      return micro_.emitError() << className()
                                << " has no task in this dist.micro; give every stage one, or "
                                   "leave its coordinate out of the mesh";
    for (mlir::Operation* op : ops_)
      if (mlir::failed(findEarliest(op))) return mlir::failure();
    dropForeign();
    for (mlir::Operation* op : llvm::reverse(ops_)) choose(op);
    for (mlir::Operation* op : ops_) {
      Group& group = *groups_[place_[op]];
      if (llvm::isa<dist::RecvOp>(op)) group.receives.push_back(op);
      else if (llvm::isa<dist::SendOp>(op)) group.sends.push_back(op);
      else group.work.push_back(op);
    }
    for (auto& group : groups_) fill(*group);
    for (auto& group : groups_) close(*group);
    return mlir::success();
  }

 private:
  static dist::OnOp asTask(mlir::Operation* op) {
    auto on = llvm::dyn_cast<dist::OnOp>(op);
    return on && on.getTask() ? on : dist::OnOp();
  }
  static std::pair<dist::Task, int64_t> keyOf(dist::OnOp on) {
    return {*on.getTask(), static_cast<int64_t>(on.getChunk().value_or(0))};
  }
  std::string className() const {
    auto name = dist::jobOf(micro_)->getAttrOfType<mlir::StringAttr>(dist::kClassAttr);
    return name ? name.getValue().str() : "the class";
  }

  // Groups are in the order in which their first tasks stand in the text: that in which a
  // micro-batch goes through them.
  int groupOf(dist::OnOp on) {
    for (auto [i, group] : llvm::enumerate(groups_))
      if (keyOf(group->first) == keyOf(on)) return static_cast<int>(i);
    groups_.push_back(std::make_unique<Group>());
    groups_.back()->first = on;
    return static_cast<int>(groups_.size()) - 1;
  }

  // The ops of the body whose results an op, or one within it, reads.
  llvm::SmallVector<mlir::Operation*> sourcesOf(mlir::Operation* op) const {
    llvm::SmallVector<mlir::Operation*> sources;
    op->walk([&](mlir::Operation* inner) {
      for (mlir::Value operand : inner->getOperands()) {
        mlir::Operation* maker = operand.getDefiningOp();
        maker = maker ? body_.findAncestorOpInBlock(*maker) : nullptr;
        if (maker && maker != op) sources.push_back(maker);
      }
    });
    return sources;
  }

  // Of a value that goes on to another stage, or that nobody here reads; -1 for any other.
  int arrivalOf(dist::RecvOp recv) {
    dist::OnOp with = arrivals_.lookup(recv);
    auto passesOn = [](mlir::Operation* user) { return llvm::isa<dist::SendOp>(user); };
    const bool passed = recv->use_empty() || llvm::any_of(recv->getUsers(), passesOn);
    if (!with || !passed) return -1;
    int first = groupOf(with);
    for (mlir::Operation* user : recv->getUsers())
      if (mlir::Operation* at = body_.findAncestorOpInBlock(*user))
        if (auto on = asTask(at)) first = std::min(first, groupOf(on));
    return first;
  }

  // The last group whose values an op reads; -1 for none: receives, feeds, constants.
  mlir::LogicalResult findEarliest(mlir::Operation* op) {
    int earliest = -1;
    mlir::Operation* last = nullptr;
    for (mlir::Operation* source : sourcesOf(op)) {
      if (place_[source] <= earliest) continue;
      earliest = place_[source];
      last = source;
    }
    if (auto recv = llvm::dyn_cast<dist::RecvOp>(op)) earliest = arrivalOf(recv);
    auto on = asTask(op);
    place_[op] = on ? groupOf(on) : earliest;
    if (!on || earliest <= place_[op]) return mlir::success();
    auto error = on.emitError("is part of a task that runs before what it takes");
    error.attachNote(last->getLoc()) << "which comes from a later task of " << className();
    return error;
  }

  // Feeds and constants of other stages.
  void dropForeign() {
    std::vector<mlir::Operation*> kept;
    for (mlir::Operation* op : llvm::reverse(ops_)) {
      const bool unread = llvm::isa<pd::InputOp>(op) && op->use_empty();
      if (!asTask(op) && (unread || mlir::isOpTriviallyDead(op))) op->erase();
      else kept.push_back(op);
    }
    ops_.assign(kept.rbegin(), kept.rend());
  }

  // What no task gives its place stands in the first group that reads it.
  void choose(mlir::Operation* op) {
    if (place_[op] < 0) {
      auto reader = firstReader_.find(op);
      place_[op] = reader == firstReader_.end() ? 0 : reader->second;
    }
    for (mlir::Operation* source : sourcesOf(op)) {
      auto [at, fresh] = firstReader_.try_emplace(source, place_[op]);
      at->second = std::min(at->second, place_[op]);
    }
  }

  dist::OnOp make(dist::OnOp like, mlir::TypeRange types) {
    mlir::OpBuilder builder(body_.getTerminator());
    return dist::OnOp::create(builder, like.getLoc(), types, like.getWhereAttr(),
                              mlir::ValueRange(), like.getTaskAttr(), like.getChunkAttr());
  }

  // Receives first, sends last; guards of the task are dissolved, since the class holds for all of
  // it.
  void fill(Group& group) {
    group.gathered = make(group.first, {});
    mlir::Block& block = group.gathered.getBody().emplaceBlock();
    for (auto* list : {&group.receives, &group.work, &group.sends})
      for (mlir::Operation* op : *list) {
        auto on = asTask(op);
        if (!on) {
          op->moveBefore(&block, block.end());
          continue;
        }
        mlir::Block& inner = on.getBody().front();
        mlir::Operation* yield = inner.getTerminator();
        on->replaceAllUsesWith(llvm::SmallVector<mlir::Value>(yield->getOperands()));
        yield->erase();
        block.getOperations().splice(block.end(), inner.getOperations());
        on.erase();
      }
  }

  // Whatever others read of a group, it yields.
  void close(Group& group) {
    mlir::Region& body = group.gathered.getBody();
    auto isElsewhere = [&](mlir::OpOperand& use) {
      return !body.isAncestor(use.getOwner()->getParentRegion());
    };
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Operation& op : body.front())
      for (mlir::Value result : op.getResults())
        if (llvm::any_of(result.getUses(), isElsewhere)) yielded.push_back(result);
    dist::OnOp task = make(group.gathered, mlir::ValueRange(yielded).getTypes());
    for (auto [value, result] : llvm::zip(yielded, task.getResults()))
      value.replaceUsesWithIf(result, isElsewhere);
    auto builder = mlir::OpBuilder::atBlockEnd(&body.front());
    dist::YieldOp::create(builder, task.getLoc(), yielded);
    task.getBody().takeBody(body);
    group.gathered.erase();
  }

  dist::MicroOp micro_;
  mlir::Block& body_;
  const Arrivals& arrivals_;
  std::vector<mlir::Operation*> ops_;
  std::vector<std::unique_ptr<Group>> groups_;
  llvm::DenseMap<mlir::Operation*, int> place_, firstReader_;
};

}  // namespace

mlir::LogicalResult gatherTasks(dist::MicroOp micro, const Arrivals& arrivals) {
  return Gathering(micro, arrivals).run();
}

}  // namespace dtranspile
