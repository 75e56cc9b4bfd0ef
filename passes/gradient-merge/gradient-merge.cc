// Gradients are added up over steps, and every k-th step updates. A semantic pass: after the other
// ones, before form-job. Two parts: sums of gradients where they are complete, then the branch into
// which all that updates moves.
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/IRMapping.h"
#include "passes/gradient-merge/pass.h"
#include "passes/support/branch.h"
#include "passes/support/changes.h"
#include "passes/support/job.h"
#include "passes/support/state.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_GRADIENTMERGE
#include "passes/gradient-merge/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kMerged = "@GRAD@GradientMerge";
constexpr llvm::StringLiteral kStem = "gradient_merge";

// A parameter's gradient where it is complete, and the variable that adds it up.
struct Gradient {
  std::string parameter;
  mlir::Value value;
  pd::VarOp sum;
};

bool isOfUpdate(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  return (pd::OpView(op).role() & (pd::kOptimize | pd::kLrSched)) != 0;
}

// A value that depends on nothing, and so can be made again anywhere.
bool isConstant(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op) || op->getNumOperands() > 0 || op->getNumRegions() > 0)
    return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && spec->effects == pd::kPure;
}

// The branch of steps that overflow or do not (amp): it hands nothing on but what it sets.
bool isSkip(mlir::Operation* op) {
  return isOfUpdate(op) && pd::OpView(op).type() == "conditional_block" && op->getNumResults() == 1;
}

// Adds a variable per parameter that sums its gradients, a counter of steps, and a branch that is
// taken every k-th step: it holds all ops of the update, which take the sum (or mean) in the place
// of the gradient, and empties the sums.
class Merger {
 public:
  Merger(pd::ProgramOp main, pd::ProgramOp startup, int64_t steps, bool average)
      : main_(main),
        startup_(startup),
        block_(main.getBodyBlock()),
        steps_(steps),
        average_(average),
        context_(main.getContext()) {}

  // Everything is checked before anything is changed. Then gradients are added up where they are
  // complete, and the update part moves, as it is, into a branch that every k-th step takes.
  mlir::LogicalResult run() {
    if (mlir::failed(collect()) || mlir::failed(check())) return mlir::failure();
    for (auto& entry : gradients_) addUp(entry.second);
    openBranch();
    return fillBranch();
  }

 private:
  // The last op with role Backward that lists a pair completes its gradient.
  mlir::LogicalResult collect() {
    std::vector<mlir::Operation*> listing;
    for (mlir::Operation& op : *block_) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      pd::OpView view(&op);
      if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
      const std::vector<std::string> names = view.getStrings("op_role_var");
      if (names.size() % 2)
        return op.emitError("op_role_var lists ")
               << names.size() << " names; it holds pairs of parameter and gradient";
      for (size_t i = 0; i < names.size(); i += 2) {
        mlir::Value value;
        for (mlir::Value result : op.getResults())
          if (pd::nameOf(result) == names[i + 1]) value = result;
        if (!value)
          return op.emitError("lists gradient '")
                 << names[i + 1] << "' in op_role_var and does not write it";
        gradients_[mlir::StringAttr::get(context_, names[i])] = {names[i], inFull(value), {}};
      }
      listing.push_back(&op);
    }
    // What adds a gradient up lists it from here on.
    for (mlir::Operation* op : listing) pd::OpView(op).setAttr("op_role_var", {});
    return mlir::success();
  }

  // What travels in half precision (amp) is added up in the type that the update takes it in.
  static mlir::Value inFull(mlir::Value gradient) {
    if (!gradient.hasOneUse()) return gradient;
    mlir::Operation* user = *gradient.user_begin();
    if (!isOfUpdate(user) || pd::OpView(user).type() != "cast") return gradient;
    user->moveAfter(gradient.getDefiningOp());
    pd::OpView(user).setAttr("op_role",
                             mlir::Builder(user->getContext()).getI32IntegerAttr(pd::kBackward));
    return user->getResult(0);
  }

  // k steps must be one step of a batch k times as large: gradients are sums over samples, so these
  // may be added up, and nothing else may happen once in each step. Whatever sets a variable
  // outside of the update, or reads one as the update has left it, would notice.
  mlir::LogicalResult check() {
    mlir::LogicalResult good = mlir::success();
    llvm::StringSet<> updated;
    forEachUpdate(main_, [&](pd::OpView update, llvm::StringRef parameter) {
      updated.insert(parameter);
      if (gradients_.count(mlir::StringAttr::get(context_, parameter))) return;
      update.operation()->emitError("gradient_merge: updates parameter '")
          << parameter << "', but no op with role Backward lists it in op_role_var";
      good = mlir::failure();
    });
    if (mlir::failed(good)) return good;
    gradients_.remove_if([&](auto& entry) { return !updated.contains(entry.first.getValue()); });
    if (gradients_.empty())
      return main_.emitError(
          "gradient_merge: no parameter is updated; is this a training program?");
    for (auto& entry : gradients_) {
      const Gradient& gradient = entry.second;
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(gradient.value.getType());
      if (type && type.hasStaticShape()) continue;
      gradient.value.getDefiningOp()->emitError("gradient_merge: the gradient of parameter '")
          << gradient.parameter
          << "' is no dense tensor of known extents (is_sparse=False makes SelectedRows dense)";
      good = mlir::failure();
    }
    main_.walk([&](pd::SetOp set) {
      if (mlir::failed(checkSet(set))) good = mlir::failure();
    });
    llvm::StringSet<> updates;  // variables that the update has set so far
    for (mlir::Operation& op : *block_) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) updates.insert(set.getVar());
      if (mlir::failed(checkOp(&op, updates))) good = mlir::failure();
    }
    return good;
  }

  // Variables may be set by the update, and in a branch of it that hands nothing on (amp's).
  mlir::LogicalResult checkSet(pd::SetOp set) {
    mlir::Operation *writer = set.getValue().getDefiningOp(),
                    *around = block_->findAncestorOpInBlock(*set);
    if (around == set ? writer && isOfUpdate(writer) : isSkip(around)) return mlir::success();
    return (writer ? writer : set.getOperation())->emitError("gradient_merge: sets variable '")
           << set.getVar()
           << "' outside of the update: merged steps would set it once each, a batch as large "
              "sets it once";
  }

  // The update runs in some steps only, so nothing that runs in all of them may take what it gives.
  static mlir::LogicalResult checkOp(mlir::Operation* op, const llvm::StringSet<>& updates) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(op))
      for (mlir::Operation* user : get->getUsers())
        if (updates.contains(get.getVar()) && !isOfUpdate(user))
          return user->emitError("gradient_merge: takes '")
                 << get.getVar()
                 << "' as the update has left it, which runs in every k-th step only";
    if (llvm::isa<pd::SetOp>(op)) return mlir::success();
    if (isOfUpdate(op) && op->getNumRegions() > 0 && !isSkip(op))
      return op->emitError(
          "gradient_merge: a block within the update or the schedule is not "
          "there yet");
    if (isOfUpdate(op)) return mlir::success();
    for (mlir::Value operand : op->getOperands())
      if (operand.getDefiningOp() && isOfUpdate(operand.getDefiningOp()))
        return op->emitError("gradient_merge: takes '")
               << pd::nameOf(operand) << "' of the update or the schedule, which runs in every "
               << "k-th step only";
    return mlir::success();
  }

  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(mlir::StringAttr::get(context_, name));
  }

  // Of the program's variables, emptied at the end of start-up.
  pd::VarOp addVariable(llvm::StringRef stem, mlir::RankedTensorType type) {
    const std::string name = declarations_.freshName(block_, stem);
    mlir::OpBuilder builder(main_);
    auto var = pd::VarOp::create(builder, main_.getLoc(), builder.getStringAttr(name),
                                 mlir::TypeAttr::get(type), mlir::UnitAttr());
    for (pd::ProgramOp program : {main_, startup_}) {
      declarations_.declare(program.getBodyBlock(), name, type);
      declarations_.find(program.getBodyBlock(), name).setPersistable(true);
    }
    builder.setInsertionPointToEnd(startup_.getBodyBlock());
    empty(builder, var, pd::kForward);
    return var;
  }

  // The variable becomes zero.
  void empty(mlir::OpBuilder& builder, pd::VarOp var, int role) {
    mlir::Value zero =
        constant(builder, main_.getLoc(), llvm::cast<mlir::RankedTensorType>(var.getType()), 0,
                 var.getSymName(), role, declarations_);
    pd::SetOp::create(builder, var.getLoc(), symbol(var.getSymName()), zero);
  }

  // Where the gradient is complete, so that it need not be kept.
  void addUp(Gradient& gradient) {
    auto type = llvm::cast<mlir::RankedTensorType>(gradient.value.getType());
    gradient.sum = addVariable(gradient.parameter + kMerged.str(), type);
    const llvm::StringRef name = gradient.sum.getSymName();
    mlir::OpBuilder builder(context_);
    builder.setInsertionPointAfterValue(gradient.value);
    mlir::Location loc = gradient.value.getLoc();
    mlir::Value old = pd::GetOp::create(builder, loc, type, symbol(name));
    pd::OpView sum = declarations_.create(
        builder, loc, "sum", {{"X", {old, gradient.value}}}, {{"Out", {{name.str(), type}}}},
        {builder.getNamedAttr("op_role_var", builder.getStrArrayAttr({gradient.parameter, name}))},
        pd::kBackward);
    pd::SetOp::create(builder, loc, symbol(name), sum.output("Out"));
  }

  // The branch is empty at first: what moves into it is chosen against what computes its condition.
  void openBranch() {
    conditional_ = addBranchEvery(steps_, kStem, main_, startup_, declarations_);
    branch_ = &conditional_->getRegion(0).front();
  }

  // In the order of the program, so that reads and writes of variables keep theirs.
  mlir::LogicalResult fillBranch() {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(branch_);
    moveDeclarations();
    takeOut(builder);
    for (mlir::Operation& op : llvm::make_early_inc_range(*block_)) {
      if (&op == conditional_) break;
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) takeAlong(builder, get);
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      mlir::Operation* writer = set ? set.getValue().getDefiningOp() : nullptr;
      const bool moves = set ? writer && writer->getBlock() == branch_ : moving_.contains(&op);
      if (!moves) continue;
      if (mlir::failed(rewire(builder, &op))) return mlir::failure();
      op.moveBefore(branch_, branch_->end());
      builder.setInsertionPointToEnd(branch_);
    }
    for (pd::GetOp get : llvm::make_early_inc_range(block_->getOps<pd::GetOp>()))
      if (map_.contains(get.getResult()) && get->use_empty()) get->erase();
    for (auto& entry : gradients_) empty(builder, entry.second.sum, pd::kOptimize);
    pd::YieldOp::create(builder, main_.getLoc(), mlir::ValueRange());
    renumberWithin(conditional_);
    return mlir::success();
  }

  // Names that the branch alone writes are declared there; what others write too, there as well.
  void moveDeclarations() {
    llvm::StringSet<> others;
    for (mlir::Operation& op : *block_) {
      if (&op == conditional_) break;
      // The counter and what follows from it stay.
      if (isOfUpdate(&op) && !isCounting(&op)) moving_.insert(&op);
      else if (pd::OpView::isFrameworkOp(&op))
        for (mlir::Value result : op.getResults()) others.insert(pd::nameOf(result));
    }
    llvm::StringSet<> done;
    for (mlir::Operation* op : moving_)
      for (mlir::Value result : op->getResults()) {
        const llvm::StringRef name = pd::nameOf(result);
        pd::DeclOp decl = declarations_.find(block_, name);
        if (!decl || decl.getPersistable().value_or(false) || !done.insert(name).second) continue;
        if (others.contains(name)) branch_->push_back(decl->clone());
        else decl->moveBefore(branch_, branch_->end());
      }
  }
  // Whether the condition of the branch follows from the op, through values: the counter, its
  // increment, the comparison. Collected once.
  bool isCounting(mlir::Operation* op) {
    mlir::Value due = conditional_->getOperand(0);
    llvm::SmallVector<mlir::Operation*> work = {due.getDefiningOp()};
    if (counting_.empty())
      while (!work.empty()) {
        mlir::Operation* one = work.pop_back_val();
        if (!counting_.insert(one).second) continue;
        for (mlir::Value operand : one->getOperands())
          if (operand.getDefiningOp()) work.push_back(operand.getDefiningOp());
      }
    return counting_.contains(op);
  }

  // All of them first: a job exchanges them together.
  void takeOut(mlir::OpBuilder& builder) {
    for (auto& entry : gradients_) {
      const Gradient& gradient = entry.second;
      mlir::Value merged =
          pd::GetOp::create(builder, gradient.value.getLoc(), gradient.value.getType(),
                            symbol(pd::VarOp(gradient.sum).getSymName()));
      map_.map(gradient.value, merged);
    }
    for (auto& entry : gradients_) {
      const Gradient& gradient = entry.second;
      if (!average_) break;
      mlir::Value mean = scale(builder, gradient.value.getLoc(), map_.lookup(gradient.value),
                               1.0 / static_cast<double>(steps_),
                               declarations_.freshName(branch_, gradient.parameter + "@GRAD@MEAN"),
                               pd::kOptimize, declarations_);
      map_.map(gradient.value, mean);
    }
  }

  // A variable that the update reads is read there.
  void takeAlong(mlir::OpBuilder& builder, pd::GetOp get) {
    const bool wanted = llvm::any_of(get->getUsers(),
                                     [&](mlir::Operation* user) { return moving_.contains(user); });
    if (wanted) map_.map(get.getResult(), builder.clone(*get)->getResult(0));
  }

  // Operands of an op that has moved: values of the branch stay; gradients, variables and constants
  // are those that the branch has of its own; anything else is a value of one step among k.
  mlir::LogicalResult rewire(mlir::OpBuilder& builder, mlir::Operation* op) {
    for (mlir::OpOperand& use : op->getOpOperands()) {
      mlir::Operation* writer = use.get().getDefiningOp();
      if (writer && writer->getBlock() == branch_) continue;
      if (writer && isConstant(writer) && !map_.contains(use.get())) builder.clone(*writer, map_);
      if (!map_.contains(use.get()))
        return op->emitError("gradient_merge: takes '")
               << pd::nameOf(use.get())
               << "' of one step; an update of merged steps has only their gradients, variables "
                  "and constants";
      use.set(map_.lookup(use.get()));
    }
    return mlir::success();
  }

  pd::ProgramOp main_, startup_;
  mlir::Block* block_;
  int64_t steps_;
  bool average_;
  mlir::MLIRContext* context_;
  pd::Declarations declarations_;
  llvm::MapVector<mlir::StringAttr, Gradient> gradients_;  // by parameter
  mlir::Operation* conditional_ = nullptr;
  mlir::Block* branch_ = nullptr;
  llvm::SetVector<mlir::Operation*> moving_;
  llvm::DenseSet<mlir::Operation*> counting_;
  mlir::IRMapping map_;
};

class GradientMerge : public impl::GradientMergeBase<GradientMerge> {
 public:
  using GradientMergeBase::GradientMergeBase;

  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    if (gradient_merge_k_steps < 2) {
      getOperation().emitError("gradient-merge: gradient_merge_k_steps is ")
          << gradient_merge_k_steps.getValue() << "; at least 2 steps are merged";
      return signalPassFailure();
    }
    pd::ProgramOp startup = startupOf(getOperation());
    if (!startup) {
      main->emitError(
          "gradient_merge adds gradients up from zero on: the program needs a pd.program @startup");
      return signalPassFailure();
    }
    if (mlir::failed(Merger(*main, startup, gradient_merge_k_steps, gradient_merge_avg).run()))
      return signalPassFailure();
    declareChange(getOperation(),
                  Change(&getContext(), "gradient-merge")
                      .set("gradient_merge_k_steps", static_cast<int64_t>(gradient_merge_k_steps))
                      .set("gradient_merge_avg", gradient_merge_avg.getValue()));
  }
};

}  // namespace
}  // namespace dtranspile::passes
