#include "passes/pipeline/plan.h"

#include <set>

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "passes/support/relations.h"
#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {

bool sumsMicroBatches(dist::AllReduceOp op, const Target& target) {
  dist::CommOp comm = dist::lookupComm(op, op.getCommAttr());
  return comm && comm.overAxis(target.micro.getValue());
}

mlir::Value termBehind(mlir::Value value, const Target& target) {
  dist::MeshOp mesh = target.job.mesh;
  while (auto sum = value.getDefiningOp<dist::AllReduceOp>()) {
    dist::CommOp comm = dist::lookupComm(sum, sum.getCommAttr());
    int64_t others = 1;
    for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
      if (axis != target.micro.getValue()) others *= mesh.sizeOf(axis).value_or(1);
    if (others > 1) break;
    value = sum.getInputs()[llvm::cast<mlir::OpResult>(value).getResultNumber()];
  }
  return value;
}

llvm::StringRef stateSlot(mlir::OpResult result) {
  mlir::Operation* op = result.getOwner();
  if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "batch_norm") return {};
  for (llvm::StringRef state : {"Mean", "Variance"})
    if (pd::OpView(op).output((state + "Out").str()) == result) return state;
  return {};
}

namespace {

// Sorts the ops of @main into four places, each of which is a question of what an op depends on.
// What stages can compute for themselves (constants, shapes) is repeated wherever it is read. What
// belongs to the update runs once, behind the loop; every other op is in the loop, in the task that
// its stage and its direction name. Then ops move: what runs once and is read in the loop goes in
// front of it, and what the loop has and only the update reads goes behind. Last come the sums,
// since only they leave the loop, and with them what may run behind it at all. Every check names
// the op that stands in the way; nothing has been built by then.
//
// Each step is linear in ops and their uses, but for fan-ins of gradients, which are followed from
// the sum down.
class Planner {
 public:
  explicit Planner(const Target& target)
      : target_(target), body_(*pd::ProgramOp(target.job.main).getBodyBlock()) {}

  mlir::FailureOr<Plan> run() {
    plan_.target = &target_;
    plan_.parts = target_.stages * target_.chunks;
    if (mlir::failed(classify()) || mlir::failed(moveInFront()) || mlir::failed(findSums()) ||
        mlir::failed(checkSets()) || mlir::failed(checkDirections()) || mlir::failed(checkTasks()))
      return mlir::failure();
    addNumbers();
    return std::move(plan_);
  }

 private:
  // The first place of each op. The stage is what assign-stages has written (a part of the model,
  // where a stage has several), the direction is that of the op's role.
  mlir::LogicalResult classify() {
    for (mlir::Operation* op : repeatableOps(target_.job.main)) repeatable_.insert(op);
    for (mlir::Operation& op : body_) {
      if (repeatable_.contains(&op)) {
        plan_.repeatable.insert(&op);
        continue;
      }
      const bool own = pd::OpView::isFrameworkOp(&op);
      if (!own && !isBetweenLayers(&op)) continue;
      if (const llvm::StringRef type = own ? pd::OpView(&op).type() : "";
          type == "feed" || type == "fetch")
        return op.emitError()
               << type
               << ": feeds and fetches of a pipeline are named when it runs; save the "
                  "program without these ops";
      if (runsOnce(&op)) {
        plan_.once.insert(&op);
        continue;
      }
      auto stage = op.getAttrOfType<mlir::IntegerAttr>(dist::kStageAttr);
      if (!stage) return op.emitError("has no stage; run assign-stages in front of pipeline");
      if (stage.getInt() < 0 || stage.getInt() >= plan_.parts)
        return op.emitError("is in part ")
               << stage.getInt() << " of the model, and there are " << plan_.parts;
      plan_.loop[&op] =
          isBackward(&op) ? plan_.backward(stage.getInt()) : plan_.forward(stage.getInt());
    }
    return mlir::success();
  }

  // What the loop reads and runs once stands in front of it; so do counters of the forward part,
  // which depend on no feed.
  mlir::LogicalResult moveInFront() {
    llvm::DenseSet<mlir::Operation*> fed;
    for (mlir::Operation& op : body_) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(&op) ? pd::OpView(&op).spec() : nullptr;
      const bool own = llvm::isa<pd::InputOp>(op) || llvm::isa<dist::AllReduceOp>(op) ||
                       (pd::OpView::isFrameworkOp(&op) && (!spec || spec->effects != pd::kPure)) ||
                       op.getNumRegions();
      if (own || llvm::any_of(operandsOf(&op), [&](mlir::Value value) {
            return value.getDefiningOp() && fed.contains(value.getDefiningOp());
          }))
        fed.insert(&op);
    }
    std::vector<mlir::Operation*> needed;
    llvm::DenseMap<mlir::StringAttr, std::vector<mlir::Operation*>> setters;
    for (mlir::Operation& op : body_) {
      if (plan_.loop.count(&op))
        for (mlir::Value operand : operandsOf(&op)) {
          mlir::Operation* maker = operand.getDefiningOp();
          if (maker && plan_.once.contains(maker)) needed.push_back(maker);
          if (auto get = llvm::dyn_cast_or_null<pd::GetOp>(maker))
            for (mlir::Operation* setter : setters[get.getVarAttr().getAttr()])
              if (setter->isBeforeInBlock(get)) needed.push_back(setter);
        }
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      mlir::Operation* maker = set ? set.getValue().getDefiningOp() : nullptr;
      if (!maker) continue;
      if (plan_.once.contains(maker)) setters[set.getVarAttr().getAttr()].push_back(maker);
      if (plan_.maker(set.getValue()) && !fed.contains(maker)) needed.push_back(maker);
    }
    moveBehind(fed);
    while (!needed.empty()) {
      mlir::Operation* op = needed.back();
      needed.pop_back();
      if (plan_.before.contains(op) || plan_.repeatable.contains(op)) continue;
      if (fed.contains(op) || op->getNumRegions())
        return op->emitError(
            "runs once per step and is read by every micro-batch, but depends on what they "
            "compute, or has blocks: it cannot stand in front of them");
      plan_.loop.erase(op);
      plan_.once.remove(op);
      plan_.before.insert(op);
      for (mlir::Value operand : operandsOf(op))
        if (mlir::Operation* maker = operand.getDefiningOp();
            maker && (plan_.loop.count(maker) || plan_.once.contains(maker)))
          needed.push_back(maker);
    }
    return checkOrder();
  }

  // What the update reads of the forward part and no feed is in (a decay of parameters) runs with
  // the update, unless the loop reads it as well.
  void moveBehind(const llvm::DenseSet<mlir::Operation*>& fed) {
    for (mlir::Operation& op : llvm::reverse(body_)) {
      if (!plan_.loop.count(&op) || fed.contains(&op) || op.getNumRegions()) continue;
      bool once = false, loop = false;
      for (mlir::Operation* user : op.getUsers()) {
        user = inBlock(&body_, user);
        once |= plan_.once.contains(user);
        loop |= plan_.loop.count(user) != 0;
      }
      if (!once || loop) continue;
      plan_.loop.erase(&op);
      plan_.once.insert(&op);
    }
  }

  // What runs once and keeps the value of a variable before the step (amp, for steps that are left
  // out) takes it in front of the loop, where the variable is set there.
  bool keepsInFront(mlir::Operation* op) {
    if (!plan_.once.contains(op) || pd::OpView(op).type() != "assign") return false;
    plan_.once.remove(op);
    plan_.before.insert(op);
    return true;
  }

  // A variable that is set in front of the loop has its new value in the loop and behind it.
  mlir::LogicalResult checkOrder() {
    llvm::DenseMap<mlir::StringAttr, mlir::Operation*> last;
    for (auto set : body_.getOps<pd::SetOp>())
      if (plan_.before.contains(set.getValue().getDefiningOp()))
        last[set.getVarAttr().getAttr()] = set;
    for (auto get : body_.getOps<pd::GetOp>()) {
      mlir::Operation* set = last.lookup(get.getVarAttr().getAttr());
      if (!set || set->isBeforeInBlock(get)) continue;
      for (mlir::Operation* user : get->getUsers())
        if (!plan_.before.contains(inBlock(&body_, user)) && !keepsInFront(user))
          return user->emitError("reads the value that '")
                 << get.getVar() << "' has before it is set in front of the micro-batches";
    }
    return mlir::success();
  }

  // A value that every micro-batch has, added up in the loop: what is behind it, and fetches, see
  // `factor` times the sum. Each term is carried once, however often it is asked for.
  mlir::LogicalResult addSum(mlir::Value term, double factor, mlir::Operation* reader) {
    if (plan_.sumOf.contains(term)) return mlir::success();
    mlir::Operation* maker = plan_.maker(term);
    if (!maker)
      return reader->emitError("takes '")
             << dist::nameOf(term)
             << "' as a sum over the micro-batches, and it is no value of the forward or backward "
                "part";
    if (!isDense(term.getType()))
      return maker->emitError("gives '")
             << dist::nameOf(term) << "' of type " << term.getType()
             << ", which is added up over the micro-batches: gradients of a pipeline are dense "
                "tensors of known extents; save the program with is_sparse off";
    plan_.sumOf[term] = plan_.sums.size();
    plan_.sums.push_back({term, plan_.taskOf(maker), factor, {}});
    return mlir::success();
  }

  // The gradient of a batch_norm looks at the extents of its statistics only, unless it runs on
  // them.
  static bool asksForExtents(mlir::OpOperand& use) {
    if (!pd::OpView::isFrameworkOp(use.getOwner())) return false;
    const pd::OpView view(use.getOwner());
    return view.type() == "batch_norm_grad" && !view.getBool("use_global_stats") &&
           !view.getBool("is_test") &&
           (view.input("MeanOut") == use.get() || view.input("VarianceOut") == use.get());
  }

  // Running statistics go through the micro-batches: each takes them as the one before has left
  // them. That is what the program says where the op reads what the variable had before the step,
  // gives what it has after it, and no other op of the loop sees that; a copy that
  // computes a forward part again reads what was there in front of the first micro-batch, and what
  // it makes of it is dropped.
  bool isState(pd::SetOp set, mlir::Operation* maker) const {
    const llvm::StringRef slot = stateSlot(llvm::cast<mlir::OpResult>(set.getValue()));
    if (slot.empty() || plan_.isBackward(plan_.taskOf(maker)) ||
        pd::OpView(maker).inputCount(slot) != 1)
      return false;
    auto before = pd::OpView(maker).input(slot).getDefiningOp<pd::GetOp>();
    if (!before || before.getVar() != set.getVar() || !before->isBeforeInBlock(set)) return false;
    for (auto other : body_.getOps<pd::SetOp>())
      if (other != set && other.getVar() == set.getVar() &&
          (other->isBeforeInBlock(set) || plan_.maker(other.getValue())))
        return false;
    for (mlir::OpOperand& use : set.getValue().getUses())
      if (plan_.loop.count(inBlock(&body_, use.getOwner())) && !asksForExtents(use)) return false;
    return llvm::none_of(body_.getOps<pd::GetOp>(), [&](pd::GetOp get) {
      return get.getVar() == set.getVar() && set->isBeforeInBlock(get) &&
             llvm::any_of(get->getUsers(), [&](mlir::Operation* user) {
               return plan_.loop.count(inBlock(&body_, user)) != 0;
             });
    });
  }

  // A fan-in of gradients from several stages that nothing but its sum over the micro-batches
  // reads: its terms are added up where they are, and it runs once.
  bool joinsStages(mlir::Value value) const {
    mlir::Operation* op = plan_.maker(value);
    if (!op || !pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "sum" ||
        !isBackward(op) || !value.hasOneUse())
      return false;
    std::set<int64_t> stages;
    bool nested = false;
    for (mlir::Value operand : op->getOperands()) {
      mlir::Operation* maker = plan_.maker(operand);
      if (!maker || !isDense(operand.getType())) return false;
      nested |= joinsStages(operand);
      stages.insert(plan_.stageOf(plan_.taskOf(maker)));
    }
    return nested || stages.size() > 1;
  }

  // The leaves of nested fan-ins become sums of their own on the stages that make them, so that one
  // tensor per stage travels once a step instead of one per micro-batch.
  mlir::LogicalResult addTerms(mlir::Value value, mlir::Operation* reader) {
    if (!joinsStages(value)) return addSum(value, 1, reader);
    mlir::Operation* op = value.getDefiningOp();
    for (mlir::Value operand : op->getOperands())
      if (mlir::failed(addTerms(operand, op))) return mlir::failure();
    plan_.loop.erase(op);
    joined_.insert(op);
    return mlir::success();
  }

  // Whether a variable that adds up over steps holds a term of every micro-batch
  // (reduce-gradients). The sum over these is taken before it is added to the variable, which is
  // the same in the end and needs one variable instead of one per micro-batch.
  bool holdsTerms(mlir::Operation* op) const {
    auto set = llvm::cast<pd::SetOp>(*op->user_begin());
    auto var = mlir::SymbolTable::lookupSymbolIn(target_.job.role, set.getVarAttr().getAttr());
    auto held = var ? var->getAttrOfType<dist::RelAttr>(dist::kRelAttr) : dist::RelAttr();
    auto state = held ? held.lookup(target_.micro.getValue()) : dist::AxisRelAttr();
    return target_.micros == 1 ||
           state == dist::AxisRelAttr::partial(target_.micro, dist::Reduce::Sum);
  }

  // The gradients that reduce-gradients sums over the axis of the micro-batches, and those that are
  // added up over steps; whatever else runs once must not see a micro-batch. Joined fan-ins run
  // once as well and go to their place in program order.
  mlir::LogicalResult findSums() {
    for (auto sum : body_.getOps<dist::AllReduceOp>())
      if (sumsMicroBatches(sum, target_))
        for (mlir::Value input : sum.getInputs())
          if (mlir::failed(addTerms(input, sum))) return mlir::failure();
    for (mlir::Operation* op : plan_.once)
      if (addsUpOverSteps(op) && holdsTerms(op))
        for (mlir::Value operand : op->getOperands())
          if (plan_.maker(operand) && mlir::failed(addTerms(operand, op))) return mlir::failure();
    llvm::SetVector<mlir::Operation*> once;
    for (mlir::Operation& op : body_)
      if (plan_.once.contains(&op) || joined_.contains(&op)) once.insert(&op);
    plan_.once = std::move(once);
    for (mlir::Operation* op : plan_.once)
      for (mlir::Value operand : operandsOf(op)) {
        if (joined_.contains(op) || !plan_.maker(operand)) continue;
        if (addsUpOverSteps(op) && plan_.sumOf.contains(operand)) continue;
        return op->emitError("reads '")
               << dist::nameOf(operand)
               << "', of which every micro-batch has one of its own, and runs once per step: only "
                  "sums over the micro-batches reach what runs once";
      }
    return mlir::success();
  }

  // A variable that the forward or backward part sets would move once per micro-batch. Running
  // statistics do (isState). With a single micro-batch the step is the program's own, and the value
  // leaves the loop like a sum.
  mlir::LogicalResult checkSets() {
    for (auto set : body_.getOps<pd::SetOp>()) {
      mlir::Operation* maker = plan_.maker(set.getValue());
      if (!maker) continue;
      const bool state = isState(set, maker);
      if (target_.micros > 1 && !state) {
        const bool own = pd::OpView::isFrameworkOp(maker);
        const llvm::StringRef type =
            own ? pd::OpView(maker).type() : maker->getName().getStringRef();
        return maker->emitError()
               << type << " sets '" << set.getVar() << "' once per micro-batch, and there are "
               << target_.micros << " of them: "
               << (stateSlot(llvm::cast<mlir::OpResult>(set.getValue())).empty()
                       ? "the variable would move so many times a step; "
                       : "running statistics that other ops of a micro-batch read or set, too, are "
                         "not the same for all of them; ")
               << "take accumulate_steps 1, or freeze it";
      }
      if (mlir::failed(addSum(set.getValue(), 1, set))) return mlir::failure();
      if (!state) continue;
      plan_.states.push_back(set.getVar().str());
      plan_.sums[plan_.sumOf.lookup(set.getValue())].slot =
          stateSlot(llvm::cast<mlir::OpResult>(set.getValue()));
    }
    return mlir::success();
  }

  // A task takes values of tasks that a micro-batch has been through.
  mlir::LogicalResult checkDirections() {
    for (const auto& [op, task] : plan_.loop)
      for (mlir::Value operand : operandsOf(op)) {
        mlir::Operation* maker = operand.getDefiningOp();
        if (auto sum = llvm::dyn_cast_or_null<dist::AllReduceOp>(maker);
            sum && !isBetweenLayers(sum))
          return op->emitError("reads '")
                 << dist::nameOf(operand) << "', which is complete after all micro-batches only";
        maker = plan_.maker(operand);
        if (!maker) continue;
        const TaskId from = plan_.taskOf(maker);
        if (from > task) {
          auto error = op->emitError("is in the ")
                       << (plan_.isBackward(task) ? "backward" : "forward") << " part of "
                       << plan_.partOf(task) << ", and takes '" << dist::nameOf(operand)
                       << "' from the " << (plan_.isBackward(from) ? "backward" : "forward")
                       << " part of " << plan_.partOf(from)
                       << ", which a micro-batch goes through later: put both on one stage";
          error.attachNote(maker->getLoc()) << "made here";
          return error;
        }
        if (from != task && llvm::isa<pd::TapeType>(operand.getType()))
          return op->emitError(
              "is the gradient of a loop or a branch: what that keeps for it is not kept per "
              "micro-batch; a pipeline takes programs whose loops and branches are not trained");
        if (plan_.stageOf(from) == plan_.stageOf(task)) continue;
        if (!llvm::isa<mlir::RankedTensorType>(operand.getType()))
          return op->emitError("takes '")
                 << dist::nameOf(operand) << "' of type " << operand.getType()
                 << " from another stage, and only dense tensors travel: control flow, rows and "
                    "ragged batches stay on one stage";
      }
    return mlir::success();
  }

  // Every part needs forward work, and no op of the loop may set a variable, since it runs once per
  // micro-batch.
  mlir::LogicalResult checkTasks() {
    std::vector<bool> any(static_cast<size_t>(plan_.parts));
    for (const auto& [op, task] : plan_.loop) {
      if (!plan_.isBackward(task)) any[static_cast<size_t>(plan_.partOf(task))] = true;
      mlir::Operation* found = nullptr;
      for (mlir::Region& region : op->getRegions())
        region.walk([&](pd::SetOp set) { found = set; });
      if (found)
        return found->emitError(
            "sets a variable in a block that every micro-batch runs: the variable would move "
            "several times a step");
    }
    for (auto [part, there] : llvm::enumerate(any))
      if (!there)
        return target_.job.main->emitError("part ")
               << part << " of the model has no op in the forward part: ask for fewer stages";
    return mlir::success();
  }

  // The framework declares an extent of 1 where a product broadcasts 1 and -1. What is made of such
  // a value may have one element per sample, whatever its type says.
  llvm::DenseSet<mlir::Operation*> ofHiddenBatch() const {
    llvm::DenseSet<mlir::Operation*> hidden;
    for (mlir::Operation& op : body_) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      const bool made = llvm::any_of(op.getOperands(), [&](mlir::Value operand) {
        mlir::Operation* maker = operand.getDefiningOp();
        return maker && hidden.contains(maker);
      });
      if (made || hidesBatch(op)) hidden.insert(&op);
    }
    return hidden;
  }
  static bool hidesBatch(mlir::Operation& op) {
    const llvm::StringRef type = pd::OpView(&op).type();
    if (type != "matmul" && type != "matmul_v2") return false;
    auto firstOf = [](mlir::Type type) {
      mlir::RankedTensorType tensor = pd::tensorOf(type);
      return tensor && tensor.getRank() > 2 ? tensor.getDimSize(0) : 0;
    };
    return op.getNumResults() == 1 && firstOf(op.getResult(0).getType()) == 1 &&
           llvm::any_of(op.getOperandTypes(), [&](mlir::Type type) { return firstOf(type) < 0; });
  }

  // The loss, and what else is one number for every micro-batch.
  void addNumbers() {
    const llvm::DenseSet<mlir::Operation*> hidden = ofHiddenBatch();
    const MainQuestion question(target_.job);
    const verify::Store store = verify::analyse(*question);
    const int micro = store.axes().indexOf(target_.micro.getValue());
    for (const auto& [op, task] : plan_.loop) {
      if (plan_.isBackward(task) || !pd::OpView::isFrameworkOp(op)) continue;
      const bool loss = pd::OpView(op).role() & pd::kLoss;
      if (!loss && hidden.contains(op)) continue;
      for (mlir::Value result : op->getResults()) {
        auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
        if (!type || !isDense(type) || type.getNumElements() != 1 ||
            !llvm::isa<mlir::FloatType>(type.getElementType()))
          continue;
        std::optional<double> factor = factorOf(store.of(result), static_cast<unsigned>(micro));
        if (!factor && loss) factor = 1.0 / static_cast<double>(target_.micros);
        if (factor && !plan_.sumOf.contains(result)) (void)addSum(result, *factor, op);
      }
    }
  }

  // What the sum over micro-batches is multiplied by, to be what the program computes of them all.
  std::optional<double> factorOf(const verify::Relation& relation, unsigned micro) const {
    const double mean = 1.0 / static_cast<double>(target_.micros);
    if (!relation.known()) return std::nullopt;
    const verify::Reading& reading = relation.reading();
    const verify::State& state = reading.states[micro];
    if (target_.micros == 1) return 1.0;
    if (state.isReplicated()) return mean;
    if (!state.isPartial() || state.reduce != dist::Reduce::Sum || reading.scale.isLost())
      return std::nullopt;
    const bool divided =
        reading.scale.denominator() == 1 && reading.scale.numerator() % target_.micros == 0;
    return divided ? mean : 1.0;
  }

  const Target& target_;
  mlir::Block& body_;
  Plan plan_;
  llvm::DenseSet<mlir::Operation*> repeatable_, joined_;
};

}  // namespace

mlir::FailureOr<Plan> makePlan(const Target& target) { return Planner(target).run(); }

}  // namespace dtranspile::passes::pipeline
