#include "passes/pipeline/once.h"

#include <limits>

#include "dialects/dist/lookup.h"
#include "passes/pipeline/loop.h"
#include "passes/support/branch.h"
#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {
namespace {

// The graph of what runs behind the loop, with a set of stages for every node. `able` is where all
// of a node's operands are (or can be, for one number); it is the meet over the operands, and
// shrinks the places of variables that only this part uses, which shrinks it again: repeated until
// nothing changes, at most once per variable and stage. `place` is then chosen backwards, as small
// as those who need the result allow. Where the operands of a sum lie on different stages it
// becomes a join, which communicates; where those of another op do, its operands are shared with
// all stages.
//
// Turns order the rest: within a turn stages work independently, between two turns values travel. A
// node is in the earliest turn in which its operands are known to its stages and its variables have
// been written. Ops in the block of a branch that is cut are nodes like those around it.
class OncePlanner {
 public:
  // `cut`: the branches whose blocks are placed op by op; others run whole.
  OncePlanner(const Target& target, const Plan& plan, const llvm::SetVector<mlir::Operation*>& cut)
      : target_(target), plan_(plan), cut_(cut) {}

  mlir::LogicalResult place() {
    findReaders();
    if (mlir::failed(collect(*main().getBodyBlock(), -1))) return mlir::failure();
    while (findAble()) {
    }
    choosePlaces();
    checkBlocks();
    return mlir::success();
  }

  // An op whose blocks no stage can run whole; null where there is none.
  mlir::Operation* scattered() const { return scattered_; }

  OncePlan finish() {
    llvm::MapVector<int, std::vector<int>> blocks;
    for (auto [i, node] : llvm::enumerate(nodes())) blocks[node.inside].push_back(i);
    for (const auto& [branch, block] : blocks) chooseTurns(block);
    return std::move(once_);
  }

 private:
  std::vector<Node>& nodes() { return once_.nodes; }
  pd::ProgramOp main() { return target_.job.main; }

  // Variables that the loop reads are on the stages that do.
  void findReaders() {
    for (auto var : dist::RoleOp(target_.job.role).getBody().front().getOps<pd::VarOp>())
      once_.variables[var.getSymNameAttr()] = target_.all();
    const auto note = [&](mlir::StringAttr variable, int64_t stage) {
      auto [at, fresh] = readers_.try_emplace(variable, target_.none());
      at->second.set(static_cast<unsigned>(stage));
    };
    for (const auto& [op, task] : plan_.loop) {
      for (mlir::Value operand : operandsOf(op))
        if (auto get = operand.getDefiningOp<pd::GetOp>())
          note(get.getVarAttr().getAttr(), plan_.stageOf(task));
      for (mlir::Region& region : op->getRegions())
        region.walk(
            [&, id = task](pd::GetOp get) { note(get.getVarAttr().getAttr(), plan_.stageOf(id)); });
    }
    llvm::DenseSet<mlir::StringAttr> set, everywhere;
    main().walk([&](pd::SetOp op) { set.insert(op.getVarAttr().getAttr()); });
    // What stands in front of the loop runs on all stages.
    for (mlir::Operation& op : *main().getBodyBlock()) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op))
        for (mlir::Operation* user : get->getUsers())
          if (plan_.before.contains(user)) everywhere.insert(get.getVarAttr().getAttr());
      if (auto one = llvm::dyn_cast<pd::SetOp>(op))
        if (plan_.before.contains(one.getValue().getDefiningOp()))
          everywhere.insert(one.getVarAttr().getAttr());
    }
    // So is a number that more than the loop reads (a loss scale): every stage moves its own.
    llvm::DenseSet<mlir::StringAttr> behind;
    for (auto get : main().getBodyBlock()->getOps<pd::GetOp>())
      for (mlir::Operation* user : get->getUsers())
        if (plan_.once.contains(user)) behind.insert(get.getVarAttr().getAttr());
    for (mlir::Operation* branch : cut_)
      for (auto get : branch->getRegion(0).front().getOps<pd::GetOp>())
        behind.insert(get.getVarAttr().getAttr());
    for (auto& [variable, stages] : readers_) {
      auto var = llvm::dyn_cast_or_null<pd::VarOp>(
          mlir::SymbolTable::lookupSymbolIn(target_.job.role, variable));
      if (var && !var.getParameter() && behind.contains(variable) && isDense(var.getType()) &&
          llvm::cast<mlir::RankedTensorType>(var.getType()).getNumElements() == 1)
        everywhere.insert(variable);
      const bool own = set.contains(variable) || (var && var.getParameter());
      if (own && !everywhere.contains(variable)) once_.variables[variable] = stages;
    }
    for (mlir::StringAttr variable : everywhere) fixed_.insert(variable);
  }

  int add(Node node) {
    node.able = node.place = target_.none();
    nodes().push_back(std::move(node));
    return static_cast<int>(nodes().size()) - 1;
  }

  // Nodes in program order. What a node takes is either another node, or at every stage already; a
  // value of a single micro-batch is neither, and is refused with the op that reads it.
  mlir::LogicalResult collect(mlir::Block& block, int inside) {
    for (const Sum& sum : inside < 0 ? llvm::ArrayRef<Sum>(plan_.sums) : llvm::ArrayRef<Sum>())
      once_.nodeOf[sum.term] = add({.kind = Node::Kind::Total, .value = sum.term});
    for (mlir::Operation& op : block) {
      Node node{.op = &op, .inside = inside};
      if (llvm::isa<pd::DeclOp, pd::YieldOp>(op)) continue;
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        node.kind = Node::Kind::Get;
        node.reads.push_back(get.getVarAttr().getAttr());
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        if (plan_.before.contains(set.getValue().getDefiningOp())) continue;
        node.kind = Node::Kind::Set;
        node.writes.push_back(set.getVarAttr().getAttr());
      } else if (auto sum = llvm::dyn_cast<dist::AllReduceOp>(op); sum && !isBetweenLayers(sum)) {
        if (termBehind(sum.getResult(0), target_) != sum.getResult(0)) continue;
      } else if (inside < 0 && !plan_.once.contains(&op)) {
        continue;
      } else if (cut_.contains(&op)) {
        node.kind = Node::Kind::Branch;
      }
      op.walk([&](mlir::Operation* inner) {
        if (inner == &op) return;
        if (auto get = llvm::dyn_cast<pd::GetOp>(inner))
          node.reads.push_back(get.getVarAttr().getAttr());
        if (auto set = llvm::dyn_cast<pd::SetOp>(inner))
          node.writes.push_back(set.getVarAttr().getAttr());
      });
      for (mlir::Value operand : operandsOf(&op)) {
        mlir::Value behind = termBehind(operand, target_);
        if (auto found = once_.nodeOf.find(behind); found != once_.nodeOf.end())
          node.takes.push_back(found->second);
        else if (mlir::Operation* maker = behind.getDefiningOp(); maker && isCut(maker, target_))
          return op.emitError("runs once per step and reads feed '")
                 << dist::nameOf(behind) << "', of which every micro-batch has a part";
        else if (isPartOfFeed(maker))
          return op.emitError("runs once per step and reads '")
                 << dist::nameOf(behind) << "', which is computed from a micro-batch";
        else if (maker && !plan_.before.contains(maker) && !plan_.repeatable.contains(maker) &&
                 !llvm::isa<pd::InputOp, pd::UndefOp>(maker))
          return op.emitError("runs once per step and takes '")
                 << dist::nameOf(behind) << "', which is not there behind the micro-batches";
      }
      const int number = add(std::move(node));
      for (int taken : nodes()[number].takes) nodes()[taken].users.push_back(number);
      for (mlir::Value result : op.getResults()) once_.nodeOf[result] = number;
      if (cut_.contains(&op) && mlir::failed(collect(op.getRegion(0).front(), number)))
        return mlir::failure();
    }
    return mlir::success();
  }

  // Of what stages repeat for themselves: whether a micro-batch is in it.
  bool isPartOfFeed(mlir::Operation* op) const {
    if (!op || isCut(op, target_)) return op;
    return plan_.repeatable.contains(op) && llvm::any_of(op->getOperands(), [&](mlir::Value value) {
             return value.getDefiningOp() && isPartOfFeed(value.getDefiningOp());
           });
  }

  // Sums of equal dense types: their terms may lie on different stages, an all_reduce adds them up
  // there.
  bool isJoin(const Node& node) const {
    if (node.kind != Node::Kind::Op || !pd::OpView::isFrameworkOp(node.op)) return false;
    const llvm::StringRef type = pd::OpView(node.op).type();
    if (type != "sum" && type != "elementwise_add") return false;
    return llvm::all_of(node.op->getOperands(), [&](mlir::Value operand) {
      return isDense(operand.getType()) && operand.getType() == node.op->getResult(0).getType();
    });
  }

  const Stages& ableOf(const Node& node) const {
    static thread_local Stages all;
    if (!node.shared) return node.able;
    return all = target_.all();
  }

  static bool isNumber(const Node& node) {
    if (node.kind == Node::Kind::Get || node.kind == Node::Kind::Set) return false;
    mlir::Value value =
        node.op && node.op->getNumResults() == 1 ? node.op->getResult(0) : node.value;
    return value && isDense(value.getType()) &&
           llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements() == 1;
  }
  bool hasTensors(const Node& node) {
    return llvm::any_of(node.takes, [&](int taken) { return !isNumber(nodes()[taken]); });
  }

  // A sum of terms of several stages is on all of these, and can be on others.
  void giveTerms(Node& node) {
    node.able = target_.none();
    for (int taken : node.takes)
      if (!target_.isAll(ableOf(nodes()[taken]))) node.able |= ableOf(nodes()[taken]);
    if (node.able.none()) node.able = target_.all();
  }

  // Where the operands of every node are; true if a variable has fewer places now.
  bool findAble() {
    for (auto [i, node] : llvm::enumerate(nodes())) {
      if (node.kind == Node::Kind::Total) {
        node.able = target_.only(plan_.stageOf(plan_.sums[plan_.sumOf.lookup(node.value)].task));
        continue;
      }
      if (node.kind == Node::Kind::Join) {
        giveTerms(node);
        continue;
      }
      node.able = target_.all();
      // All stages take a branch that is cut, or none.
      if (node.kind == Node::Kind::Branch) {
        for (int taken : node.takes)
          nodes()[taken].shared |= !target_.isAll(ableOf(nodes()[taken]));
        continue;
      }
      for (mlir::StringAttr variable : node.reads)
        if (auto at = once_.variables.find(variable); at != once_.variables.end())
          node.able &= at->second;
      for (mlir::StringAttr variable : node.writes) shareWith(variable, node);
      // A number goes to where tensors are.
      for (int taken : node.takes)
        if (!isNumber(nodes()[taken])) node.able &= ableOf(nodes()[taken]);
      for (int taken : node.takes)
        if (isNumber(nodes()[taken]) && !isJoin(node) && hasTensors(node))
          nodes()[taken].shared |= node.able.test(ableOf(nodes()[taken]));
      for (int taken : node.takes) node.able &= ableOf(nodes()[taken]);
      if (node.able.any()) continue;
      node.able = target_.all();
      if (isJoin(node)) {
        node.kind = Node::Kind::Join;
        giveTerms(node);
        continue;
      }
      if (!node.reads.empty() && node.kind != Node::Kind::Get) {
        scattered_ = scattered_ ? scattered_ : node.op;
        continue;
      }
      for (int taken : node.takes)
        if (!target_.isAll(nodes()[taken].able)) nodes()[taken].shared = true;
    }
    bool fewer = false;
    for (const Node& node : nodes())
      for (mlir::StringAttr variable : node.writes) {
        auto at = once_.variables.find(variable);
        if (at == once_.variables.end() || readers_.contains(variable) || fixed_.contains(variable))
          continue;
        Stages both = at->second;
        both &= node.able;
        if (both == at->second || both.none()) continue;
        at->second = both;
        fewer = true;
      }
    return fewer;
  }

  // A branch that sets what the loop reads runs on all stages that do, and so all of them have what
  // it takes.
  void shareWith(mlir::StringAttr variable, const Node& branch) {
    const auto reader = readers_.find(variable);
    if (branch.kind != Node::Kind::Op || reader == readers_.end()) return;
    for (int taken : branch.takes)
      nodes()[taken].shared |= once_.variables.lookup(variable).test(ableOf(nodes()[taken]));
  }

  Stages first(const Stages& set) const { return target_.only(set.find_first()); }

  // From the last op to the first: where what it gives is needed.
  // Runs where the result is needed, and on one of the able stages where that is not possible, from
  // which it is shared. What has effects on variables runs where these are, on all of their stages.
  void choosePlaces() {
    for (int i = static_cast<int>(nodes().size()) - 1; i >= 0; --i) {
      Node& node = nodes()[i];
      Stages need = target_.none();
      for (mlir::StringAttr variable : node.writes)
        if (auto at = once_.variables.find(variable); at != once_.variables.end())
          need |= at->second;
      bool used = !node.writes.empty();
      for (int user : node.users) {
        const Node& other = nodes()[user];
        if (other.dropped) continue;
        used = true;
        if (other.kind != Node::Kind::Join) need |= other.place;
        else if (!holds(node, other.place)) need |= first(node.able);
      }
      if (node.kind == Node::Kind::Set || node.kind == Node::Kind::Branch) {
        node.place = node.kind == Node::Kind::Set ? need : target_.all();
        continue;
      }
      if (!used && (node.kind == Node::Kind::Total || node.kind == Node::Kind::Get)) {
        node.dropped = true;
        continue;
      }
      if (node.kind == Node::Kind::Join) {
        // Every term comes from one stage, which takes part.
        for (int taken : node.takes)
          if (!holds(nodes()[taken], need)) need |= first(nodes()[taken].able);
        node.place = need.any() ? need : target_.all();
        continue;
      }
      const bool fits = !need.test(node.able);  // need is a subset
      if (node.kind == Node::Kind::Total) {
        node.place = node.able;
        node.shared |= !fits;
      } else if (node.shared || !fits) {
        node.place = node.writes.empty() ? first(node.able) : node.able;
        node.shared |= node.writes.empty();
      } else if (target_.isAll(node.able) && (node.kind == Node::Kind::Get || isNumber(node))) {
        node.place = target_.all();  // costs nothing, and needs no guard
      } else {
        node.place = need.any() ? need : first(node.able);
      }
    }
  }

  bool holds(const Node& node, const Stages& set) const {
    return node.shared || !set.test(node.able);
  }

  static bool isIdle(mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return true;
    const pd::OpSpec* spec = pd::OpView(op).spec();
    return spec && spec->effects == pd::kPure && op->getNumRegions() == 0;
  }

  // What has blocks runs where all that they touch is, and on all stages that have what they set.
  void checkBlocks() {
    for (const Node& node : nodes()) {
      if (node.kind != Node::Kind::Op || node.op->getNumRegions() == 0 || scattered_) continue;
      for (mlir::StringAttr variable : node.writes)
        if (once_.variables.lookup(variable).test(node.able)) scattered_ = node.op;
      for (const auto* touched : {&node.reads, &node.writes})
        for (mlir::StringAttr variable : *touched)
          if (auto at = once_.variables.find(variable);
              at != once_.variables.end() && node.place.test(at->second))
            scattered_ = node.op;
    }
  }

  // Of one block. Program order of what touches one variable stays, and so does that of values.
  void chooseTurns(llvm::ArrayRef<int> block) {
    llvm::DenseMap<mlir::StringAttr, std::vector<int>> touched;
    for (int i : block) {
      Node& node = nodes()[i];
      if (node.dropped) continue;
      for (int taken : node.takes) node.turn = std::max(node.turn, nodes()[taken].ready());
      const auto after = [&](mlir::StringAttr variable, bool set) {
        for (int other : touched[variable]) {
          const Node& earlier = nodes()[other];
          if (!set && earlier.writes.empty()) continue;
          const bool behind = earlier.place == node.place || isFirst(earlier.place, node.place);
          node.turn = std::max(node.turn, earlier.turn + (behind ? 0 : 1));
        }
      };
      for (mlir::StringAttr variable : node.reads) after(variable, false);
      for (mlir::StringAttr variable : node.writes) after(variable, true);
      for (mlir::StringAttr variable : node.reads) touched[variable].push_back(i);
      for (mlir::StringAttr variable : node.writes) touched[variable].push_back(i);
    }
    delayReads(block, touched);
  }

  // What follows from variables alone is read and computed in the turn that needs it, not handed on
  // from the first one.
  void delayReads(llvm::ArrayRef<int> block,
                  const llvm::DenseMap<mlir::StringAttr, std::vector<int>>& touched) {
    llvm::DenseMap<int, bool> free;
    for (int i : block) {
      const Node& node = nodes()[i];
      const bool read = node.kind == Node::Kind::Get;
      const bool op = node.kind == Node::Kind::Op && pd::OpView::isFrameworkOp(node.op) &&
                      isIdle(node.op) && node.reads.empty();
      free[i] = !node.dropped && !node.shared && (read || op) &&
                llvm::all_of(node.takes, [&](int taken) { return free.lookup(taken); });
    }
    for (int i : llvm::reverse(block)) {
      if (!free.lookup(i)) continue;
      Node& node = nodes()[i];
      int latest = std::numeric_limits<int>::max();
      for (int user : node.users)
        if (!nodes()[user].dropped) latest = std::min(latest, nodes()[user].turn);
      for (mlir::StringAttr variable : node.reads)
        for (int other : touched.lookup(variable)) {
          const Node& later = nodes()[other];
          if (other <= i || later.writes.empty()) continue;
          const bool behind = later.place == node.place || isFirst(node.place, later.place);
          latest = std::min(latest, later.turn - (behind ? 0 : 1));
        }
      if (latest != std::numeric_limits<int>::max()) node.turn = std::max(node.turn, latest);
    }
  }

  // The order of groups within a turn (once_build.cc): the larger set first.
  static bool isFirst(const Stages& one, const Stages& other) {
    return one.count() > other.count();
  }

  const Target& target_;
  const Plan& plan_;
  const llvm::SetVector<mlir::Operation*>& cut_;
  OncePlan once_;
  llvm::MapVector<mlir::StringAttr, Stages> readers_;  // stages of the loop, by variable
  llvm::DenseSet<mlir::StringAttr> fixed_;
  mlir::Operation* scattered_ = nullptr;
};

// Nothing comes into its block or out of it but through variables.
bool canBeCut(mlir::Operation* op) {
  return isBranchOfUpdate(op) && op->getRegion(0).getNumArguments() == 0;
}

// What it sums over micro-batches is summed when they are through, and its block has to be told.
bool hasSumsOfMicroBatches(mlir::Operation* branch, const Target& target) {
  return branch
      ->walk([&](dist::AllReduceOp sum) {
        return sumsMicroBatches(sum, target) ? mlir::WalkResult::interrupt()
                                             : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

}  // namespace

// A branch that one stage can run stays whole; one that none can is cut, and all is planned again:
// where the ops of its block are decides where variables are.
mlir::FailureOr<OncePlan> planOnce(const Target& target, const Plan& plan) {
  llvm::SetVector<mlir::Operation*> cut;
  for (mlir::Operation* op : plan.once)
    if (canBeCut(op) && hasSumsOfMicroBatches(op, target)) cut.insert(op);
  while (true) {
    OncePlanner planner(target, plan, cut);
    if (mlir::failed(planner.place())) return mlir::failure();
    mlir::Operation* scattered = planner.scattered();
    if (!scattered) return planner.finish();
    if (!canBeCut(scattered) || !cut.insert(scattered))
      return scattered->emitError()
             << pd::OpView(scattered).type()
             << " reads or sets variables of several stages in its blocks, and takes or gives "
                "values of its own: it runs on one stage; ask for pipeline without what makes it";
  }
}

}  // namespace dtranspile::passes::pipeline
