#include "compiler/export/servers/round_plan.h"

#include <set>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace dtranspile {
namespace {

using mlir::Operation;
using mlir::Value;

// Ops that hand on a power of a decay rate beside what they update.
struct PowerSlots {
  llvm::StringRef in, out, factor;
};
constexpr PowerSlots kPowers[] = {{"Beta1Pow", "Beta1PowOut", "beta1"},
                                  {"Beta2Pow", "Beta2PowOut", "beta2"}};

// In this order: loops over blocks that other servers have go, and with them what only they wanted;
// powers of decay rates move into the update op that the framework has make them; then ops are
// divided into those that a loop waits for, which get groups by a longest-path rule, and the
// others, which go where nobody has to wait for them. The job is not changed but by removal, so
// that messages are about its own ops.
class Planner {
 public:
  Planner(mlir::Block& round, const Tables& tables, int64_t server)
      : round_(round), tables_(tables), server_(server) {}

  mlir::FailureOr<RoundPlan> run() {
    dropForeignLoops();
    dropDead();
    foldPowers();
    findNeeded();
    makeParts();
    placeDeferred();
    RoundPlan plan;
    plan.round = &round_;
    for (Operation& op : round_)
      forVariables(&op, [&](llvm::StringRef name, bool) { plan.variables.insert(name); });
    plan.parts = std::move(parts_);
    return plan;
  }

 private:
  static bool isLoop(Operation* op) { return llvm::isa<dist::ForeachBlockOp>(op); }
  // Made anew where it is read.
  static bool isFree(Operation* op) { return llvm::isa<pd::GetOp, pd::UndefOp, dist::YieldOp>(op); }
  size_t blocksOf(dist::ForeachBlockOp loop) const {
    const Table* table = tables_.find(loop.getVar());
    return table ? table->on(server_).size() : 1;
  }

  void dropForeignLoops() {
    for (auto loop : llvm::make_early_inc_range(round_.getOps<dist::ForeachBlockOp>()))
      if (blocksOf(loop) == 0) {
        loop->replaceAllUsesWith(loop.getInits());
        loop.erase();
      }
  }

  // What no loop of this server asks for, in this round or the next one.
  void dropDead() {
    llvm::DenseSet<Value> values;
    llvm::StringSet<> variables;
    llvm::DenseSet<Operation*> live;
    for (bool more = true; more;) {
      more = false;
      for (Operation& op : llvm::reverse(round_)) {
        if (live.contains(&op)) continue;
        bool wanted = isLoop(&op) || llvm::isa<dist::YieldOp>(op) ||
                      llvm::any_of(op.getResults(), [&](Value v) { return values.contains(v); });
        forVariables(&op, [&](llvm::StringRef name, bool sets) {
          wanted |= sets && variables.contains(name);
        });
        if (!wanted) continue;
        more = true;
        live.insert(&op);
        values.insert_range(takenBy(&op));
        forVariables(&op, [&](llvm::StringRef name, bool) { variables.insert(name); });
      }
    }
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(round_)))
      if (!live.contains(&op)) op.erase();
  }

  // `set @p, scale(get @p)` says what the only update op that takes @p computes beside its update:
  // the framework has it done there.
  void foldPowers() {
    for (auto set : llvm::make_early_inc_range(round_.getOps<pd::SetOp>())) {
      Operation* maker = set.getValue().getDefiningOp();
      if (!maker || !pd::OpView::isFrameworkOp(maker) || !maker->hasOneUse()) continue;
      pd::OpView scale(maker);
      auto old = scale.type() == "scale" ? scale.input("X").getDefiningOp<pd::GetOp>() : nullptr;
      if (!old || old.getVar() != set.getVar() || scale.getFloat("bias") != 0) continue;
      mlir::OpResult made = onlyPower(old, scale.getFloat("scale"));
      if (!made) continue;
      mlir::OpBuilder builder(made.getOwner()->getContext());
      builder.setInsertionPointAfter(made.getOwner());
      pd::SetOp::create(builder, set.getLoc(), set.getVarAttr(), made);
      set.erase();
      maker->erase();
    }
  }

  // The result of the one op, in the one block on this server, that takes the power. With several
  // takers each of them would advance it, and the power stays an op of its own.
  mlir::OpResult onlyPower(pd::GetOp old, double factor) {
    mlir::OpResult made;
    int takers = 0;
    for (auto loop : round_.getOps<dist::ForeachBlockOp>())
      loop.walk([&](Operation* op) {
        if (!llvm::is_contained(op->getOperands(), old.getValue())) return;
        takers += static_cast<int>(blocksOf(loop));
        if (!pd::OpView::isFrameworkOp(op)) return;
        pd::OpView view(op);
        for (const PowerSlots& power : kPowers)
          if (view.input(power.in) == old.getValue() && view.hasOutput(power.out) &&
              view.outputName(power.out) == old.getVar() && view.getFloat(power.factor) == factor)
            made = llvm::dyn_cast_or_null<mlir::OpResult>(view.output(power.out));
      });
    return takers == 1 ? made : mlir::OpResult();
  }

  // The ops that some loop waits for, by values and variables.
  // Backwards from the loops, along values and along the variables that are read: whoever may have
  // set one last is needed as well. Reads are followed at the place of the read, which may be
  // earlier than the loop.
  void findNeeded() {
    std::vector<Operation*> open;
    auto need = [&](Operation* op) {
      if (op && op->getBlock() == &round_ && !isFree(op) && needed_.insert(op).second)
        open.push_back(op);
    };
    for (auto loop : round_.getOps<dist::ForeachBlockOp>()) need(loop);
    while (!open.empty()) {
      Operation* op = open.back();
      open.pop_back();
      auto needVariables = [&](Operation* reader) {
        forVariables(reader, [&](llvm::StringRef name, bool sets) {
          if (sets) return;
          for (Operation* setter : lastSets(name, reader)) need(setter);
        });
      };
      needVariables(op);
      for (Value value : takenBy(op)) {
        Operation* maker = value.getDefiningOp();
        if (maker && maker->getBlock() == &round_ && isFree(maker)) needVariables(maker);
        need(maker);
      }
    }
    // A counter is set where it is made, unless a loop takes what it was before.
    for (auto set : round_.getOps<pd::SetOp>()) {
      Operation* maker = set.getValue().getDefiningOp();
      const bool takenBefore =
          llvm::any_of(round_.getOps<dist::ForeachBlockOp>(), [&](dist::ForeachBlockOp loop) {
            return llvm::any_of(touches(loop),
                                [&](const Touch& one) { return one.name == set.getVar(); });
          });
      if (needed_.contains(maker) && !isLoop(maker) && !takenBefore) needed_.insert(set);
    }
  }

  // The ops that may have set a variable last: those inside of control flow do not always.
  llvm::SmallVector<Operation*> lastSets(llvm::StringRef name, Operation* before) {
    llvm::SmallVector<Operation*> found;
    for (Operation* op = before->getPrevNode(); op; op = op->getPrevNode()) {
      bool sets = false;
      if (!isLoop(op))
        forVariables(op, [&](llvm::StringRef other, bool set) { sets |= set && other == name; });
      if (sets) found.push_back(op);
      if (sets && llvm::isa<pd::SetOp>(op)) break;
    }
    return found;
  }

  // The variables of an op, with those whose values it takes.
  struct Touch {
    std::string name;
    bool sets;
  };
  static std::vector<Touch> touches(Operation* op) {
    std::vector<Touch> list;
    forVariables(op, [&](llvm::StringRef name, bool sets) { list.push_back({name.str(), sets}); });
    for (Value value : takenBy(op))
      if (auto get = value.getDefiningOp<pd::GetOp>()) list.push_back({get.getVar().str(), false});
    return list;
  }

  // The first group after all that an op waits for: what makes its values, what touches its
  // variables before it. Ops of one kind share a group: loops side by side, others in one block.
  void place(Operation* op) {
    int group = 0;
    auto after = [&](Operation* other) {
      auto found = groupOf_.find(other);
      if (found != groupOf_.end())
        group = std::max(group, found->second + (isLoop(op) || isLoop(other)));
    };
    for (Value value : takenBy(op)) after(value.getDefiningOp());
    const std::vector<Touch> own = touches(op);
    for (const auto& [other, theirs] : touched_)
      for (const Touch& mine : own)
        for (const Touch& one : theirs)
          if (one.name == mine.name && (one.sets || mine.sets)) after(other);
    while (group < static_cast<int>(loops_.size()) && loops_[group] != isLoop(op)) ++group;
    if (group == static_cast<int>(loops_.size())) loops_.push_back(isLoop(op));
    groupOf_[op] = group;
    touched_.emplace_back(op, own);
    auto part = llvm::find_if(
        parts_, [&](const RoundPlan::Part& one) { return one.group == group && !isLoop(op); });
    if (part == parts_.end()) part = parts_.insert(part, {{}, group});
    part->ops.push_back(op);
  }

  void makeParts() {
    for (Operation& op : round_) {
      if (isFree(&op)) continue;
      if (needed_.contains(&op)) place(&op);
      else deferred_.push_back(&op);
    }
    std::stable_sort(
        parts_.begin(), parts_.end(),
        [](const RoundPlan::Part& a, const RoundPlan::Part& b) { return a.group < b.group; });
  }

  // Deferred ops that hang together by values or variables go to one place.
  // Union-find over values and variables; a class goes into the one loop that touches its
  // variables, if there is one, else behind the round. Splitting a class would let one block read
  // what another one has or has not yet set.
  void placeDeferred() {
    llvm::EquivalenceClasses<Operation*> together;
    llvm::StringMap<Operation*> byName;
    for (Operation* op : deferred_) {
      together.insert(op);
      for (Value value : takenBy(op))
        if (Operation* maker = value.getDefiningOp(); llvm::is_contained(deferred_, maker))
          together.unionSets(op, maker);
      for (const Touch& one : touches(op))
        together.unionSets(op, byName.try_emplace(one.name, op).first->second);
    }
    // The parts that touch their variables, or make what they take.
    llvm::StringMap<std::set<size_t>> touch;
    llvm::DenseMap<Operation*, size_t> made;
    for (auto [number, part] : llvm::enumerate(parts_))
      for (Operation* op : part.ops) {
        made[op] = number;
        for (const Touch& one : touches(op)) touch[one.name].insert(number);
      }
    llvm::DenseMap<Operation*, std::set<size_t>> homes;
    for (Operation* op : deferred_) {
      std::set<size_t>& home = homes[together.getLeaderValue(op)];
      for (const Touch& one : touches(op))
        if (auto found = touch.find(one.name); found != touch.end())
          home.insert(found->second.begin(), found->second.end());
      for (Value value : takenBy(op))
        if (auto found = made.find(value.getDefiningOp()); found != made.end())
          home.insert(found->second);
    }
    RoundPlan::Part rest{{}, parts_.empty() ? 0 : parts_.back().group + 1};
    for (Operation* op : deferred_) {
      const std::set<size_t>& home = homes[together.getLeaderValue(op)];
      const bool alone = home.size() == 1 && isLoop(parts_[*home.begin()].ops.front());
      (alone ? parts_[*home.begin()].ops : rest.ops).push_back(op);
    }
    if (!rest.ops.empty()) parts_.push_back(std::move(rest));
  }

  mlir::Block& round_;
  const Tables& tables_;
  int64_t server_;
  llvm::DenseSet<Operation*> needed_;
  std::vector<Operation*> deferred_;
  llvm::DenseMap<Operation*, int> groupOf_;
  std::vector<std::pair<Operation*, std::vector<Touch>>> touched_;  // of what has been placed
  std::vector<bool> loops_;                                         // kind of each group
  std::vector<RoundPlan::Part> parts_;
};

}  // namespace

llvm::SmallVector<Value> takenBy(Operation* op) {
  llvm::SmallVector<Value> values(op->getOperands());
  for (mlir::Region& region : op->getRegions())
    region.walk([&](Operation* inner) {
      for (Value value : inner->getOperands())
        if (!op->isAncestor(value.getParentBlock()->getParentOp())) values.push_back(value);
    });
  return values;
}

void forVariables(Operation* op, llvm::function_ref<void(llvm::StringRef, bool)> see) {
  op->walk([&](Operation* inner) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(inner)) see(get.getVar(), false);
    if (auto set = llvm::dyn_cast<pd::SetOp>(inner)) see(set.getVar(), true);
  });
}

mlir::FailureOr<RoundPlan> planRound(mlir::Block& round, const Tables& tables, int64_t server) {
  return Planner(round, tables, server).run();
}

}  // namespace dtranspile
