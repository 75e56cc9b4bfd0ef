// If-conversion of updates. A semantic pass: after amp and lookahead, before write-out-norms and
// form-job.
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"
#include "passes/select-updates/pass.h"
#include "passes/support/branch.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SELECTUPDATES
#include "passes/select-updates/pass.h.inc"

namespace {

// The result is called `name` from now on.
void rename(mlir::OpResult result, const std::string& name) {
  mlir::Operation* op = result.getOwner();
  mlir::MLIRContext* context = op->getContext();
  unsigned number = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (auto slot : op->getAttrOfType<mlir::ArrayAttr>("outs").getAsRange<pd::SlotAttr>()) {
    llvm::SmallVector<mlir::StringAttr> names(slot.getArgs());
    for (mlir::StringAttr& each : names)
      if (each.getValue() != pd::kEmptyArgument && number++ == result.getResultNumber())
        each = mlir::StringAttr::get(context, name);
    slots.push_back(pd::SlotAttr::get(context, slot.getName(), names));
  }
  op->setAttr("outs", mlir::ArrayAttr::get(context, slots));
}

// A fault of the processor where the divisor is zero, which it may be where the branch is not
// taken.
bool dividesIntegers(pd::OpView op) {
  static constexpr llvm::StringLiteral kTypes[] = {"elementwise_div", "elementwise_mod",
                                                   "elementwise_floordiv"};
  mlir::RankedTensorType type = pd::tensorOf(op.operation()->getResult(0).getType());
  return llvm::is_contained(kTypes, op.type()) && type && type.getElementType().isInteger();
}

// Why an op cannot run where its branch is not taken; empty where it can.
llvm::StringRef objectionTo(mlir::Operation& op) {
  if (llvm::isa<pd::GetOp, pd::SetOp, pd::DeclOp, pd::YieldOp>(op)) return "";
  if (!pd::OpView::isFrameworkOp(&op)) return "is no operator of the framework";
  const pd::OpView view(&op);
  if (op.getNumRegions()) return "has blocks of its own";
  if (!view.spec() || view.spec()->effects != pd::kPure) return "does more than to give values";
  if (op.getNumResults() && dividesIntegers(view)) return "divides integers";
  return "";
}

class SelectUpdates : public impl::SelectUpdatesBase<SelectUpdates> {
 public:
  using SelectUpdatesBase::SelectUpdatesBase;

  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    main_ = *main;
    block_ = main_.getBodyBlock();
    for (mlir::Operation& op : llvm::make_early_inc_range(*block_))
      if (isBranchOfUpdate(&op) && op.use_empty() &&
          pd::OpView(&op).getBool("is_scalar_condition") && mlir::failed(convert(&op)))
        return signalPassFailure();
    for (mlir::StringAttr name : selected_) forward(name);
  }

 private:
  // If-conversion: the ops of the branch run in every step, and what it sets is set to a selection
  // of the new value and the old one by the condition. Ops that must not run otherwise (they have
  // effects, or may fault) are refused.
  mlir::LogicalResult convert(mlir::Operation* branch) {
    mlir::Block& inside = branch->getRegion(0).front();
    for (mlir::Operation& op : inside) {
      if (llvm::StringRef why = objectionTo(op); !why.empty())
        return op.emitError("select-updates: stands in a branch of the update and ")
               << why
               << ": it cannot run where the branch is not taken, and servers take over no "
                  "branches; "
                  "save the program with the update outside of control flow";
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (set && !llvm::isa<mlir::RankedTensorType>(set.getValue().getType()))
        return set.emitError("select-updates: sets '")
               << set.getVar() << "', which is no dense tensor, in a branch of the update";
    }
    const pd::OpView view(branch);
    mlir::Value taken = flagOf(view.input("Cond"), branch);
    for (auto [argument, value] : llvm::zip_equal(inside.getArguments(), view.inputs("$capture")))
      argument.replaceAllUsesWith(value);
    for (mlir::Operation& op : llvm::make_early_inc_range(inside)) {
      if (llvm::isa<pd::YieldOp>(op)) continue;
      if (auto decl = llvm::dyn_cast<pd::DeclOp>(op)) {
        lift(decl);
        continue;
      }
      op.moveBefore(branch);
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) select(set, taken);
    }
    const llvm::StringRef scope = pd::nameOf(branch->getResult(0));
    for (auto decl : llvm::make_early_inc_range(block_->getOps<pd::DeclOp>()))
      if (decl.getName() == scope) decl.erase();
    branch->erase();
    return mlir::success();
  }

  void lift(pd::DeclOp decl) {
    const bool there = llvm::any_of(block_->getOps<pd::DeclOp>(), [&](pd::DeclOp other) {
      return other.getName() == decl.getName();
    });
    if (there) decl.erase();
    else decl->moveBefore(&block_->front());
  }

  // The condition as a number, 1 where it holds: one per condition.
  mlir::Value flagOf(mlir::Value condition, mlir::Operation* before) {
    mlir::Value& flag = flags_[condition];
    if (flag) return flag;
    mlir::OpBuilder builder(before);
    pd::Declarations declarations;
    auto type = mlir::RankedTensorType::get(pd::dimsOf(pd::tensorOf(condition.getType())),
                                            builder.getI32Type());
    const auto code = [&](DType dtype) {
      return builder.getI32IntegerAttr(static_cast<int32_t>(dtype));
    };
    return flag = declarations
                      .create(builder, before->getLoc(), "cast", {{"X", {condition}}},
                              {{"Out", {{declarations.freshName(block_, "branch_taken"), type}}}},
                              {builder.getNamedAttr("in_dtype", code(DType::kBool)),
                               builder.getNamedAttr("out_dtype", code(DType::kInt32))},
                              pd::kOptimize)
                      .output("Out");
  }

  // The new value, or the one that the variable has in front of it.
  void select(pd::SetOp set, mlir::Value taken) {
    mlir::OpBuilder builder(set);
    pd::Declarations declarations;
    mlir::Value next = set.getValue();
    const std::string name = set.getVar().str();
    selected_.insert(set.getVarAttr().getAttr());
    if (auto made = llvm::dyn_cast<mlir::OpResult>(next);
        made && pd::OpView::isFrameworkOp(made.getOwner()) && pd::nameOf(next) == name) {
      const std::string own = declarations.freshName(block_, name + "@NEXT");
      rename(made, own);
      declarations.declare(block_, own, next.getType());
    }
    mlir::Value old =
        pd::GetOp::create(builder, set.getLoc(), next.getType(), set.getVarAttr()).getResult();
    set.getValueMutable().assign(declarations
                                     .create(builder, set.getLoc(), "select_input",
                                             {{"X", {old, next}}, {"Mask", {taken}}},
                                             {{"Out", {{name, next.getType()}}}}, {}, pd::kOptimize)
                                     .output("Out"));
  }

  // A block of a variable is read and set once per loop of a round: what is read behind a set is
  // what was set, and of several sets the last one stays.
  void forward(mlir::StringAttr name) {
    mlir::Value now;
    pd::SetOp last;
    for (mlir::Operation& op : llvm::make_early_inc_range(*block_)) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op); get && get.getVarAttr().getAttr() == name) {
        if (!now || now.getType() != get.getType()) continue;
        get.replaceAllUsesWith(now);
        get.erase();
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op);
                 set && set.getVarAttr().getAttr() == name) {
        if (last) last.erase();
        last = set;
        now = set.getValue();
      } else if (touchesWithin(op, name)) {
        now = {};
        last = {};
      }
    }
  }
  static bool touchesWithin(mlir::Operation& op, mlir::StringAttr name) {
    if (op.getNumRegions() == 0) return false;
    return op
        .walk([&](mlir::Operation* inner) {
          auto get = llvm::dyn_cast<pd::GetOp>(inner);
          auto set = llvm::dyn_cast<pd::SetOp>(inner);
          const bool touches = (get && get.getVarAttr().getAttr() == name) ||
                               (set && set.getVarAttr().getAttr() == name);
          return touches ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  pd::ProgramOp main_;
  mlir::Block* block_ = nullptr;
  llvm::SetVector<mlir::StringAttr> selected_;
  llvm::DenseMap<mlir::Value, mlir::Value> flags_;
};

}  // namespace
}  // namespace dtranspile::passes
