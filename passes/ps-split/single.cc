#include "passes/ps-split/single.h"

#include "dialects/dist/changes.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/ps-split/by_block.h"

namespace dtranspile::passes {
namespace {

// Ops that belong to no parameter and that some values are made of.
struct Needed {
  llvm::SetVector<mlir::Operation*> ops;
  llvm::SetVector<mlir::Value> fresh;  // values that a variable has been set to before
  llvm::StringSet<> old, set;          // variables that are read before they are set, and after
  mlir::Operation* between = nullptr;  // one that reads a variable between two that set it
};

// Variables that belong to no parameter and that every step sets are of two kinds. What updates
// take after that (the schedule's counter) is set once per step of a trainer, in the handler of
// the clock, and read by the handlers of parameters. What the updates of one parameter take before
// (a decay rate's power) is set after them, in the handler of that parameter. A branch that sets a
// variable inside (a rate by intervals) is placed as a whole, like a pd.set. Ops that nothing is
// made of stay where steps are counted, so that what they compute can still be fetched.
class Handlers {
 public:
  Handlers(const JobOnAxes& job, const UpdatePart& part, dist::ServeOp serve, bool compensate)
      : main_(job.main), part_(part), builder_(serve.getContext()), compensate_(compensate) {
    builder_.createBlock(&serve.getBody());
  }

  // The clock's handler first, which the updates of a step read; then one handler for each
  // parameter that is pushed.
  mlir::FailureOr<SinglePlan> build(pd::ProgramOp main) {
    if (mlir::failed(refuseSums()) || mlir::failed(refuseDraws())) return mlir::failure();
    collect();
    const auto count = static_cast<int>(part_.parameters().size());
    std::vector<Needed> needed;
    for (int owner = 0; owner < count; ++owner) needed.push_back(outsideOf(owner));
    if (mlir::failed(placeSets(needed))) return mlir::failure();
    collectUnused(needed);
    copyUsedDeclarations(part_, main_, main);
    SinglePlan plan{clockSets_.empty() ? pd::VarOp()
                                       : variable(varsOf(clockSets_.front()).front())};
    if (plan.clock && mlir::failed(buildClock(plan.clock))) return mlir::failure();
    for (int owner = 0; owner < count; ++owner)
      if (part_.parameters()[owner].gradient && mlir::failed(buildPush(owner, needed[owner])))
        return mlir::failure();
    return plan;
  }

 private:
  // Draws belong to a step (docs/tensor-files.md), and servers that apply pushes know none.
  mlir::LogicalResult refuseDraws() const {
    for (mlir::Operation* op : part_.ops()) {
      const pd::OpSpec* spec = pd::OpView(op).spec();
      if (spec && (spec->effects & pd::kRandom))
        return op->emitError(
            "draws random numbers in an update: servers that apply every push by itself know no "
            "steps, and would draw others than a single device; use sync_mode, or an optimizer "
            "without noise");
    }
    return mlir::success();
  }

  // A norm over all parameters, or over one that lies on several servers.
  mlir::LogicalResult refuseSums() const {
    for (mlir::Operation* op : part_.ops())
      for (mlir::Value result : op->getResults())
        if (part_.isTerm(result) || part_.isPartial(result))
          return op->emitError("gives '")
                 << pd::nameOf(result)
                 << "', a sum over gradients or parameters, which servers that apply every push by "
                    "itself never have together: use sync_mode, or clip by value";
    for (const Served& served : part_.parameters())
      if (!served.gradient && !loopSetsOf(ownerOf(served)).empty())
        return pd::VarOp(served.var)
            .emitError(
                "is updated without a gradient: no push would run its update; use sync_mode");
    return mlir::success();
  }

  int ownerOf(const Served& served) const {
    return part_.ownerOf(pd::VarOp(served.var).getSymName());
  }

  pd::VarOp variable(llvm::StringRef name) const {
    return llvm::cast<pd::VarOp>(mlir::SymbolTable::lookupNearestSymbolFrom(
        main_->getParentOp(), mlir::StringAttr::get(main_->getContext(), name)));
  }

  bool isPartOf(mlir::Operation* op) const { return op && part_.contains(op); }

  std::vector<pd::SetOp> loopSetsOf(int owner) const {
    std::vector<pd::SetOp> sets;
    for (auto set : pd::ProgramOp(main_).getBodyBlock()->getOps<pd::SetOp>())
      if (isPartOf(set.getValue().getDefiningOp()) && part_.ownerOf(set.getVar()) == owner)
        sets.push_back(set);
    return sets;
  }

  // What sets a variable that belongs to no parameter: a pd.set, or an op with one inside.
  void collect() {
    for (mlir::Operation& op : *pd::ProgramOp(main_).getBodyBlock()) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (set ? !isPartOf(set.getValue().getDefiningOp()) || part_.ownerOf(set.getVar()) >= 0
              : !isPartOf(&op) || part_.ownerOf(&op) >= 0 || touchedBy(&op).set.empty())
        continue;
      sets_.push_back(&op);
      for (mlir::StringAttr name : varsOf(&op)) setters_[name].push_back(&op);
      if (set) setTo_[set.getValue()] = set;
    }
  }

  static llvm::SmallVector<mlir::StringAttr> varsOf(mlir::Operation* setter) {
    if (auto set = llvm::dyn_cast<pd::SetOp>(setter)) return {set.getVarAttr().getAttr()};
    return touchedBy(setter).set;
  }

  // Notes an op that `value` is made of, and those before it. With `set` the updates of a parameter
  // ask, which read what the clock has set; else the handler that sets it itself.
  void need(mlir::Value value, Needed& needed, bool set) const {
    if (pd::SetOp of = setTo_.lookup(value); set && of && !powerOf(value)) {
      needed.fresh.insert(value);
      needed.set.insert(of.getVar());
      if (setters_.lookup(of.getVarAttr().getAttr()).size() > 1) needed.between = of;
      return;
    }
    needOp(value.getDefiningOp(), needed, set);
  }

  // Collects, backwards, the shared ops that a handler of one push must run. `old` and `set` are
  // variables that it reads before and after the shared ops set them; an op between two sets of one
  // variable would need a state that does not exist between pushes, and is noted as `between`.
  void needOp(mlir::Operation* op, Needed& needed, bool set) const {
    if (!op || part_.ownerOf(op) >= 0 || needed.ops.contains(op)) return;
    for (mlir::Value operand : takenBy(op)) need(operand, needed, set);
    needed.ops.insert(op);
    if (set && !touchedBy(op).set.empty()) needed.between = op;
    for (mlir::StringAttr name : touchedBy(op).read) {
      const std::vector<mlir::Operation*> setters = setters_.lookup(name);
      const auto earlier = llvm::count_if(
          setters, [&](mlir::Operation* one) { return one != op && one->isBeforeInBlock(op); });
      if (earlier != 0 && earlier != static_cast<int64_t>(setters.size())) needed.between = op;
      (earlier != 0 ? needed.set : needed.old).insert(name.getValue());
    }
  }

  // What the updates of a parameter take that is none of its own.
  Needed outsideOf(int owner) const {
    Needed needed;
    for (mlir::Operation* op : updatesOf(owner))
      for (mlir::Value operand : takenBy(op))
        if (part_.ownerOf(operand) < 0) need(operand, needed, /*set=*/true);
    return needed;
  }

  std::vector<mlir::Operation*> updatesOf(int owner) const {
    llvm::SmallVector<mlir::Value> roots;
    for (pd::SetOp set : loopSetsOf(owner)) roots.push_back(set.getValue());
    return neededFor(part_, owner, roots);
  }

  const verify::Power* powerOf(mlir::Value value) const {
    const auto* found = llvm::find_if(
        part_.powers(), [&](const verify::Power& power) { return power.out == value; });
    return found == part_.powers().end() ? nullptr : found;
  }

  // Where each of sets_ goes.
  // A variable of no parameter that updates read before the step sets it goes into the handler of
  // the only parameter that does; one that they read after it, or not at all, goes to the clock.
  mlir::LogicalResult placeSets(llvm::ArrayRef<Needed> needed) {
    behind_.resize(needed.size());
    for (const Needed& one : needed)
      if (one.between)
        return one.between->emitError(
            "belongs to a variable that is set more than once in a step, and updates take a value "
            "from between: servers that apply every push by itself keep the last one only; use "
            "sync_mode");
    for (mlir::Operation* set : sets_) {
      llvm::SmallVector<int> before, after;
      const llvm::SmallVector<mlir::StringAttr> vars = varsOf(set);
      const auto takes = [&](const llvm::StringSet<>& names) {
        return llvm::any_of(vars, [&](mlir::StringAttr var) { return names.contains(var); });
      };
      for (auto [owner, one] : llvm::enumerate(needed)) {
        if (takes(one.old)) before.push_back(static_cast<int>(owner));
        if (takes(one.set)) after.push_back(static_cast<int>(owner));
      }
      if (before.empty()) {
        clockSets_.push_back(set);
      } else if (before.size() == 1 && after.empty()) {
        behind_[before.front()].push_back(set);
      } else {
        return set->emitError("sets '")
               << vars.front().getValue() << "', of which updates take the value before this step"
               << (after.empty() ? " for several parameters" : " and the one after it it")
               << ": servers that apply every push by itself cannot tell these apart; use "
                  "sync_mode";
      }
    }
    return mlir::success();
  }

  // Ops that belong to nobody and that no handler has.
  void collectUnused(llvm::ArrayRef<Needed> needed) {
    Needed placed;
    for (const Needed& one : needed) placed.ops.insert_range(one.ops);
    for (mlir::Operation* set : sets_) needFor(set, placed);
    for (mlir::Operation* op : part_.ops())
      if (part_.ownerOf(op) < 0 && !placed.ops.contains(op)) unused_.push_back(op);
  }

  // What a handler that sets or keeps `op` itself has to have.
  // A power of a decay rate is the exception: what is set is the old value times the rate, which
  // its handler computes from the variable itself (verify::Power).
  void needFor(mlir::Operation* op, Needed& needed) const {
    auto set = llvm::dyn_cast<pd::SetOp>(op);
    if (!set) needOp(op, needed, /*set=*/false);
    else if (!powerOf(set.getValue())) need(set.getValue(), needed, /*set=*/false);
    needed.ops.insert(op);
  }

  mlir::Block* beginHandler(pd::VarOp var) {
    auto handle = dist::HandleOp::create(
        builder_, var.getLoc(), dist::HandlerAttr::get(builder_.getContext(), dist::Handler::Push),
        mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()));
    mlir::OpBuilder inside(builder_.getContext());
    mlir::Block* body = inside.createBlock(&handle.getBody());
    body->addArgument(mlir::RankedTensorType::get({1}, builder_.getI64Type()), var.getLoc());
    return body;
  }

  static std::vector<mlir::Operation*> inOrder(const Needed& needed) {
    std::vector<mlir::Operation*> ops(needed.ops.begin(), needed.ops.end());
    llvm::sort(ops, [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
    return ops;
  }

  // Copies of `ops` and of those before them that they need, each once, in the program's order.
  mlir::LogicalResult copyFor(llvm::ArrayRef<mlir::Operation*> ops, mlir::OpBuilder& inside,
                              mlir::IRMapping& map) {
    Needed needed;
    for (mlir::Operation* op : ops) needFor(op, needed);
    for (mlir::Operation* op : inOrder(needed)) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (!set) {
        if (op->getNumResults() != 0 && map.contains(op->getResult(0))) continue;
        for (mlir::Value operand : takenBy(op))
          if (!map.contains(operand))
            return op->emitError("takes '")
                   << pd::nameOf(operand)
                   << "', which is of one parameter: servers that apply every push by itself have "
                      "no place for both; use sync_mode";
        inside.clone(*op, map);
        continue;
      }
      mlir::Value value = map.lookupOrNull(set.getValue());
      if (const verify::Power* power = powerOf(set.getValue()))
        value = scale(inside, set.getLoc(), map.lookup(power->in), power->factor, set.getVar(),
                      pd::kOptimize, declarations_);
      pd::SetOp::create(inside, set.getLoc(), set.getVarAttr(), value);
    }
    return mlir::success();
  }

  mlir::LogicalResult buildClock(pd::VarOp clock) {
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(beginHandler(clock));
    mlir::IRMapping map;
    std::vector<mlir::Operation*> ops = clockSets_;
    llvm::append_range(ops, std::exchange(unused_, {}));
    if (mlir::failed(copyFor(ops, inside, map))) return mlir::failure();
    dist::YieldOp::create(inside, clock.getLoc(), mlir::ValueRange());
    return mlir::success();
  }

  // g + (w - pulled)*g*g in place of g, for a copy of `op` that is made then.
  // Delay compensation (Zheng et al. 2017): the gradient at the present w, to first order, from
  // that at the w that was pulled; g·g stands for the Hessian's diagonal.
  mlir::LogicalResult compensate(int owner, mlir::Operation* op, mlir::OpBuilder& within,
                                 mlir::IRMapping& own) {
    const pd::OpView view(op);
    if (!view.hasInput("Grad") || !view.hasInput("Param")) return mlir::success();
    const auto name = [&](llvm::StringRef ending) {
      const pd::VarOp var = part_.parameters()[owner].var;
      return declarations_.freshName(within.getBlock(),
                                     (pd::VarOp(var).getSymName() + ending).str());
    };
    mlir::Value gradient = own.lookup(view.input("Grad")), param = own.lookup(view.input("Param"));
    if (view.type() != "sgd")
      return op->emitError(
          "enable_dc_asgd: delays are compensated for sgd only; turn it off, or "
          "train with sgd");
    if (!llvm::isa<mlir::RankedTensorType>(gradient.getType()))
      return op->emitError("enable_dc_asgd: the gradient of '")
             << pd::VarOp(part_.parameters()[owner].var).getSymName()
             << "' is SelectedRows, of which no rows are compensated; turn it off, or look up with "
                "is_sparse=False";
    const mlir::Location loc = op->getLoc();
    auto pulled = pd::GetOp::create(
        within, loc, param.getType(),
        mlir::FlatSymbolRefAttr::get(pd::VarOp(part_.parameters()[owner].var).getSymNameAttr()));
    pulled->setAttr(dist::kAsPulledAttr, within.getUnitAttr());
    const auto combine = [&](llvm::StringRef type, mlir::Value x, mlir::Value y,
                             llvm::StringRef ending) {
      return elementwise(within, loc, type, x, y, name(ending), pd::kOptimize, declarations_);
    };
    mlir::Value delay = combine("elementwise_sub", param, pulled.getValue(), "@DELAY");
    mlir::Value once = combine("elementwise_mul", delay, gradient, "@DELAY@GRAD");
    mlir::Value twice = combine("elementwise_mul", once, gradient, "@DELAY@GRAD2");
    own.map(view.input("Grad"), combine("elementwise_add", gradient, twice, "@GRAD@COMPENSATED"));
    return mlir::success();
  }

  // The handler of one parameter's pushes: what the updates take that is none of its own, then the
  // updates block by block, then what this handler sets.
  mlir::LogicalResult buildPush(int owner, const Needed& needed) {
    pd::VarOp var = part_.parameters()[owner].var;
    const mlir::Location loc = var.getLoc();
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(beginHandler(var));
    mlir::IRMapping map;
    for (mlir::Value value : needed.fresh)
      map.map(value, pd::GetOp::create(inside, value.getLoc(), value.getType(),
                                       setTo_.lookup(value).getVarAttr())
                         .getValue());
    for (mlir::Operation* op : inOrder(needed)) inside.clone(*op, map);
    auto each = dist::ForeachBlockOp::create(inside, loc, mlir::TypeRange(),
                                             mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()),
                                             mlir::ValueRange());
    mlir::OpBuilder within(builder_.getContext());
    mlir::Block* body = within.createBlock(&each.getBody());
    body->addArgument(mlir::RankedTensorType::get({1}, builder_.getI64Type()), loc);
    mlir::IRMapping own(map);
    for (mlir::Operation* op : updatesOf(owner)) {
      for (mlir::Value operand : op->getOperands())
        if (!own.contains(operand) && part_.ownerOf(operand) == owner)
          own.map(operand, valueInside(part_, owner, operand, within));
      mlir::IRMapping corrected(own);
      if (compensate_ && mlir::failed(compensate(owner, op, within, corrected)))
        return mlir::failure();
      cloneForBlock(part_, owner, op, within, corrected);
      for (mlir::Value result : op->getResults()) own.map(result, corrected.lookup(result));
    }
    for (pd::SetOp set : loopSetsOf(owner)) {
      mlir::Value value = own.lookupOrNull(set.getValue());
      if (!value) value = valueInside(part_, owner, set.getValue(), within);
      pd::SetOp::create(within, set.getLoc(), set.getVarAttr(), value);
    }
    dist::YieldOp::create(within, loc, mlir::ValueRange());
    std::vector<mlir::Operation*> last = behind_[owner];
    llvm::append_range(last, std::exchange(unused_, {}));
    if (mlir::failed(copyFor(last, inside, map))) return mlir::failure();
    dist::YieldOp::create(inside, loc, mlir::ValueRange());
    return mlir::success();
  }

  pd::ProgramOp main_;
  const UpdatePart& part_;
  mlir::OpBuilder builder_;  // in the server loop
  const bool compensate_;
  pd::Declarations declarations_;
  std::vector<mlir::Operation*> sets_, clockSets_, unused_;
  std::vector<std::vector<mlir::Operation*>> behind_;  // by parameter
  llvm::DenseMap<mlir::Value, pd::SetOp> setTo_;
  llvm::DenseMap<mlir::StringAttr, std::vector<mlir::Operation*>> setters_;  // by variable
};

}  // namespace

mlir::FailureOr<SinglePlan> buildHandlers(const JobOnAxes& job, const UpdatePart& part,
                                          pd::ProgramOp main, dist::ServeOp serve,
                                          bool compensate) {
  return Handlers(job, part, serve, compensate).build(main);
}

}  // namespace dtranspile::passes
