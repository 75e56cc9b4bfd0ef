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
};

// Variables that belong to no parameter and that every step sets are of two kinds. What updates
// take after that (the schedule's counter) is set once per step of a trainer, in the handler of
// the clock, and read by the handlers of parameters. What the updates of one parameter take before
// (a decay rate's power) is set after them, in the handler of that parameter.
class Handlers {
 public:
  Handlers(const JobOnAxes& job, const UpdatePart& part, dist::ServeOp serve, bool compensate)
      : main_(job.main), part_(part), builder_(serve.getContext()), compensate_(compensate) {
    builder_.createBlock(&serve.getBody());
  }

  mlir::FailureOr<SinglePlan> build(pd::ProgramOp main) {
    if (mlir::failed(refuseSums())) return mlir::failure();
    collect();
    const auto count = static_cast<int>(part_.parameters().size());
    std::vector<Needed> needed;
    for (int owner = 0; owner < count; ++owner) needed.push_back(outsideOf(owner));
    if (mlir::failed(placeSets(needed))) return mlir::failure();
    copyUsedDeclarations(part_, main_, main);
    SinglePlan plan{clockSets_.empty() ? pd::VarOp() : variable(clockSets_.front().getVar())};
    if (plan.clock) buildClock();
    for (int owner = 0; owner < count; ++owner)
      if (part_.parameters()[owner].gradient && mlir::failed(buildPush(owner, needed[owner])))
        return mlir::failure();
    return plan;
  }

 private:
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

  // Sets of what belongs to no parameter, powers among them.
  void collect() {
    for (auto set : pd::ProgramOp(main_).getBodyBlock()->getOps<pd::SetOp>())
      if (isPartOf(set.getValue().getDefiningOp()) && part_.ownerOf(set.getVar()) < 0) {
        sets_.push_back(set);
        setTo_[set.getValue()] = set;
      }
  }

  void need(mlir::Value value, Needed& needed, bool set) const {
    if (pd::SetOp of = setTo_.lookup(value); set && of && !powerOf(value)) {
      needed.fresh.insert(value);
      needed.set.insert(of.getVar());
      return;
    }
    mlir::Operation* op = value.getDefiningOp();
    if (!op || part_.ownerOf(op) >= 0 || needed.ops.contains(op)) return;
    for (mlir::Value operand : takenBy(op)) need(operand, needed, set);
    needed.ops.insert(op);
    for (mlir::StringAttr name : touchedBy(op).read) {
      const bool after = llvm::any_of(sets_, [&](pd::SetOp one) {
        return one.getVarAttr().getAttr() == name && one->isBeforeInBlock(op);
      });
      (after ? needed.set : needed.old).insert(name.getValue());
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
  mlir::LogicalResult placeSets(llvm::ArrayRef<Needed> needed) {
    behind_.resize(needed.size());
    for (pd::SetOp set : sets_) {
      llvm::SmallVector<int> before, after;
      for (auto [owner, one] : llvm::enumerate(needed)) {
        if (one.old.contains(set.getVar())) before.push_back(static_cast<int>(owner));
        if (one.set.contains(set.getVar())) after.push_back(static_cast<int>(owner));
      }
      if (before.empty()) {
        clockSets_.push_back(set);
      } else if (before.size() == 1 && after.empty()) {
        behind_[before.front()].push_back(set);
      } else {
        return set.emitError("sets '")
               << set.getVar() << "', of which updates take the value before this step"
               << (after.empty() ? " for several parameters" : " and the one after it it")
               << ": servers that apply every push by itself cannot tell these apart; use "
                  "sync_mode";
      }
    }
    return mlir::success();
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

  // Copies of sets and of the ops before them that they need, each once, in the program's order.
  void copyFor(llvm::ArrayRef<pd::SetOp> sets, mlir::OpBuilder& inside, mlir::IRMapping& map) {
    Needed needed;
    for (pd::SetOp set : sets)
      if (!powerOf(set.getValue())) need(set.getValue(), needed, /*set=*/false);
    needed.ops.insert_range(sets);
    for (mlir::Operation* op : inOrder(needed)) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (!set) {
        if (!map.contains(op->getResult(0))) inside.clone(*op, map);
        continue;
      }
      mlir::Value value = map.lookupOrNull(set.getValue());
      if (const verify::Power* power = powerOf(set.getValue()))
        value = scale(inside, set.getLoc(), map.lookup(power->in), power->factor, set.getVar(),
                      pd::kOptimize, declarations_);
      pd::SetOp::create(inside, set.getLoc(), set.getVarAttr(), value);
    }
  }

  void buildClock() {
    pd::SetOp first = clockSets_.front();
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(beginHandler(variable(first.getVar())));
    mlir::IRMapping map;
    copyFor(clockSets_, inside, map);
    dist::YieldOp::create(inside, first.getLoc(), mlir::ValueRange());
  }

  // g + (w - pulled)*g*g in place of g, for a copy of `op` that is made then.
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
    copyFor(behind_[owner], inside, map);
    dist::YieldOp::create(inside, loc, mlir::ValueRange());
    return mlir::success();
  }

  pd::ProgramOp main_;
  const UpdatePart& part_;
  mlir::OpBuilder builder_;  // in the server loop
  const bool compensate_;
  pd::Declarations declarations_;
  std::vector<pd::SetOp> sets_, clockSets_;
  std::vector<std::vector<pd::SetOp>> behind_;  // by parameter
  llvm::DenseMap<mlir::Value, pd::SetOp> setTo_;
};

}  // namespace

mlir::FailureOr<SinglePlan> buildHandlers(const JobOnAxes& job, const UpdatePart& part,
                                          pd::ProgramOp main, dist::ServeOp serve,
                                          bool compensate) {
  return Handlers(job, part, serve, compensate).build(main);
}

}  // namespace dtranspile::passes
