// Slow weights. A semantic pass: after amp, lars, lamb and asp, before gradient-merge and form-job.
// Steps are counted where the updates stand, and two branches behind them do what the first step
// and every k-th one do.
#include "llvm/ADT/SetVector.h"
#include "passes/lookahead/pass.h"
#include "passes/support/branch.h"
#include "passes/support/changes.h"
#include "passes/support/job.h"
#include "passes/support/state.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LOOKAHEAD
#include "passes/lookahead/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kSlow = "@SLOW";

// Lookahead (Zhang et al. 2019): beside every parameter (the fast weights) stand slow weights; in
// every k-th step slow becomes alpha · fast + (1 - alpha) · slow, and fast becomes slow.
class Adder {
 public:
  Adder(pd::ProgramOp main, pd::ProgramOp startup, int64_t steps, float alpha, bool apart)
      : main_(main),
        startup_(startup),
        steps_(steps),
        alpha_(alpha),
        apart_(apart),
        builder_(main.getContext()) {}

  mlir::LogicalResult run() {
    if (mlir::failed(collect())) return mlir::failure();
    for (pd::VarOp parameter : parameters_) addSlow(parameter);
    count();
    // What belongs to one parameter in branches of its own, or all of it in two.
    for (size_t i = 0, n = apart_ ? 1 : parameters_.size(); i < parameters_.size(); i += n)
      move(llvm::ArrayRef(parameters_).slice(i, n));
    if (mlir::Operation* around = main_.getBodyBlock()->findAncestorOpInBlock(*branches_[0]);
        around != branches_[0])
      renumberWithin(around);
    return mlir::success();
  }

 private:
  void move(llvm::ArrayRef<pd::VarOp> parameters) {
    mlir::Block* first = branch(first_, "first");
    for (pd::VarOp parameter : parameters) begin(parameter);
    close(first);
    mlir::Block* due = branch(due_, "due");
    for (pd::VarOp parameter : parameters) meet(parameter);
    close(due);
  }

  // Parameters in the order of their updates, and the one block in which they are updated.
  mlir::LogicalResult collect() {
    bool good = true;
    llvm::SetVector<mlir::StringAttr> names;
    forEachUpdate(main_, [&](pd::OpView update, llvm::StringRef parameter) {
      const auto refuse = [&](const llvm::Twine& why) {
        update.operation()->emitError("lookahead: parameter '") << parameter << "' " << why;
        good = false;
      };
      if (!block_) block_ = update.operation()->getBlock();
      if (update.operation()->getBlock() != block_)
        return refuse(
            "is updated in another block than the first one: which of them takes a step?");
      if (update.inputCount("MasterParam") > 0)
        return refuse("has a master copy, which would have to move too; leave lookahead out");
      names.insert(mlir::StringAttr::get(main_.getContext(), parameter));
    });
    for (mlir::StringAttr name : names) {
      auto var = llvm::dyn_cast_or_null<pd::VarOp>(
          mlir::SymbolTable::lookupNearestSymbolFrom(main_, name));
      auto type =
          var ? llvm::dyn_cast<mlir::RankedTensorType>(var.getType()) : mlir::RankedTensorType();
      const auto refuse = [&](const llvm::Twine& why) {
        (var ? var.getOperation() : main_.getOperation())->emitError("lookahead: parameter '")
            << name.getValue() << "' " << why;
        good = false;
      };
      if (!type || !type.hasStaticShape() ||
          !(type.getElementType().isF32() || type.getElementType().isF64()))
        refuse("is no tensor of float32 or float64 with known extents");
      else if (mlir::SymbolTable::lookupNearestSymbolFrom(
                   main_, builder_.getStringAttr(name.getValue() + kSlow)))
        refuse("has slow weights already; leave lookahead out");
      else parameters_.push_back(var);
    }
    if (good && parameters_.empty())
      return main_.emitError("lookahead: no parameter is updated; is this a training program?");
    return mlir::success(good);
  }

  static mlir::FlatSymbolRefAttr symbol(pd::VarOp var) {
    return mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
  }
  mlir::FlatSymbolRefAttr slowOf(pd::VarOp parameter) {
    return mlir::FlatSymbolRefAttr::get(builder_.getStringAttr(parameter.getSymName() + kSlow));
  }
  mlir::Value read(pd::VarOp like, mlir::FlatSymbolRefAttr name) {
    return pd::GetOp::create(builder_, like.getLoc(), like.getType(), name);
  }

  // Start-up leaves slow weights that are the parameter's.
  void addSlow(pd::VarOp parameter) {
    const mlir::FlatSymbolRefAttr slow = slowOf(parameter);
    builder_.setInsertionPointAfter(parameter);
    pd::VarOp::create(builder_, parameter.getLoc(), slow.getAttr(), parameter.getTypeAttr(),
                      mlir::UnitAttr());
    for (pd::ProgramOp program : {main_, startup_}) {
      declarations_.declare(program.getBodyBlock(), slow.getValue(), parameter.getType());
      declarations_.find(program.getBodyBlock(), slow.getValue()).setPersistable(true);
    }
    builder_.setInsertionPointToEnd(startup_.getBodyBlock());
    pd::SetOp::create(builder_, startup_.getLoc(), slow,
                      copied(read(parameter, symbol(parameter)), slow.getValue(), pd::kForward));
  }

  mlir::Value copied(mlir::Value value, llvm::StringRef name, int role) {
    return declarations_
        .create(builder_, value.getLoc(), "assign", {{"X", {value}}},
                {{"Out", {{name.str(), value.getType()}}}}, {}, role)
        .output("Out");
  }

  // n, and whether it is 1, and whether k divides it. Of k = 1 that is every n but the first.
  void count() {
    const auto number = mlir::RankedTensorType::get({1}, builder_.getI64Type());
    pd::VarOp counter = addState(main_, startup_, "lookahead_step", number, 0, declarations_);
    toEnd();
    mlir::Value next =
        declarations_
            .create(builder_, main_.getLoc(), "increment",
                    {{"X", {read(counter, symbol(counter))}}},
                    {{"Out", {{counter.getSymName().str(), number}}}},
                    {builder_.getNamedAttr("step", builder_.getF32FloatAttr(1))}, pd::kOptimize)
            .output("Out");
    pd::SetOp::create(builder_, main_.getLoc(), symbol(counter), next);
    first_ = equal(next, number_("one", 1), "first");
    if (steps_ == 1) {
      due_ = declarations_
                 .create(builder_, main_.getLoc(), "logical_not", {{"X", {first_}}},
                         {{"Out", {{fresh("due"), first_.getType()}}}}, {}, pd::kOptimize)
                 .output("Out");
      return;
    }
    mlir::Value rest = elementwise(builder_, main_.getLoc(), "elementwise_mod", next,
                                   number_("k", static_cast<double>(steps_)), fresh("rest"),
                                   pd::kOptimize, declarations_);
    due_ = equal(rest, number_("zero", 0), "due");
  }
  mlir::Value number_(llvm::StringRef stem, double value) {
    return constant(builder_, main_.getLoc(),
                    mlir::RankedTensorType::get({1}, builder_.getI64Type()), value, fresh(stem),
                    pd::kOptimize, declarations_);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y, llvm::StringRef stem) {
    return declarations_
        .create(builder_, main_.getLoc(), "equal", {{"X", {x}}, {"Y", {y}}},
                {{"Out", {{fresh(stem), mlir::RankedTensorType::get({1}, builder_.getI1Type())}}}},
                {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1))}, pd::kOptimize)
        .output("Out");
  }
  std::string fresh(llvm::StringRef stem) {
    return declarations_.freshName(block_, "lookahead_" + stem.str());
  }

  // Behind the updates.
  void toEnd() {
    if (!block_->empty() && llvm::isa<pd::YieldOp>(block_->back()))
      builder_.setInsertionPoint(&block_->back());
    else builder_.setInsertionPointToEnd(block_);
  }
  mlir::Block* branch(mlir::Value condition, llvm::StringRef stem) {
    mlir::Operation* made =
        addBranch(main_, condition, fresh((stem + "_scope").str()), declarations_);
    toEnd();
    if (block_ != made->getBlock()) made->moveBefore(block_, builder_.getInsertionPoint());
    branches_.push_back(made);
    mlir::Block* inside = &made->getRegion(0).front();
    builder_.setInsertionPointToEnd(inside);
    return inside;
  }
  void close(mlir::Block* inside) {
    builder_.setInsertionPointToEnd(inside);
    pd::YieldOp::create(builder_, main_.getLoc(), mlir::ValueRange());
  }

  void begin(pd::VarOp parameter) {
    const mlir::FlatSymbolRefAttr slow = slowOf(parameter);
    pd::SetOp::create(builder_, parameter.getLoc(), slow,
                      copied(read(parameter, symbol(parameter)), slow.getValue(), pd::kOptimize));
  }
  // slow := alpha · fast + (1 - alpha) · slow, and fast := slow, in the order of the framework's
  // LookaheadOptimizer.
  void meet(pd::VarOp parameter) {
    const mlir::FlatSymbolRefAttr slow = slowOf(parameter);
    const std::string name = parameter.getSymName().str();
    const auto part = [&](mlir::FlatSymbolRefAttr of, float factor, const char* ending) {
      return scale(builder_, parameter.getLoc(), read(parameter, of), factor,
                   declarations_.freshName(builder_.getBlock(), name + ending), pd::kOptimize,
                   declarations_);
    };
    mlir::Value fast = part(symbol(parameter), alpha_, "@SLOW@FAST");
    mlir::Value rest = part(slow, 1.0F - alpha_, "@SLOW@REST");
    mlir::Value sum = elementwise(builder_, parameter.getLoc(), "elementwise_add", fast, rest, name,
                                  pd::kOptimize, declarations_);
    pd::SetOp::create(builder_, parameter.getLoc(), slow, sum);
    pd::SetOp::create(builder_, parameter.getLoc(), symbol(parameter), sum);
  }

  pd::ProgramOp main_, startup_;
  int64_t steps_;
  float alpha_;
  bool apart_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  mlir::Block* block_ = nullptr;
  std::vector<pd::VarOp> parameters_;
  mlir::Value first_, due_;
  std::vector<mlir::Operation*> branches_;
};

class Lookahead : public impl::LookaheadBase<Lookahead> {
 public:
  using LookaheadBase::LookaheadBase;

  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    if (lookahead_k < 1 || !(lookahead_alpha >= 0 && lookahead_alpha <= 1)) {
      main->emitError("lookahead: k is ")
          << lookahead_k.getValue() << " and alpha " << lookahead_alpha.getValue()
          << "; k is at least 1, alpha between 0 and 1";
      return signalPassFailure();
    }
    pd::ProgramOp startup = startupOf(getOperation());
    if (!startup) {
      main->emitError(
          "lookahead keeps slow weights from start-up on: the program needs a pd.program @startup");
      return signalPassFailure();
    }
    const auto alpha = static_cast<float>(lookahead_alpha);
    if (mlir::failed(Adder(*main, startup, lookahead_k, alpha, apart).run()))
      return signalPassFailure();
    declareChange(getOperation(), Change(&getContext(), "lookahead")
                                      .set("lookahead_k", static_cast<int64_t>(lookahead_k))
                                      .set("lookahead_alpha", lookahead_alpha.getValue()));
  }
};

}  // namespace
}  // namespace dtranspile::passes
