#include "passes/amp/scaling.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "passes/support/job.h"
#include "passes/support/state.h"

namespace dtranspile::passes {
namespace {

constexpr llvm::StringLiteral kUnscaled = "@UNSCALED";
constexpr llvm::StringLiteral kCheck = "check_finite_and_unscale";

bool isOfUpdate(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kOptimize);
}

class Scaling {
 public:
  Scaling(pd::ProgramOp main, pd::ProgramOp startup, const ScalingOptions& options,
          pd::Declarations& declarations)
      : main_(main),
        startup_(startup),
        block_(main.getBodyBlock()),
        options_(options),
        declarations_(declarations),
        builder_(main.getContext()),
        number_(mlir::RankedTensorType::get({1}, builder_.getF32Type())) {}

  // Adds the loss scale as a variable, multiplies every seed by it, and takes it back from all
  // complete gradients at the beginning of the update. Returns whether a gradient was not finite.
  mlir::FailureOr<mlir::Value> run(llvm::ArrayRef<mlir::Operation*> seeds) {
    if (seeds.empty())
      return main_.emitError(
          "amp: no op has the roles Backward and Loss: nothing seeds the gradients; is this a "
          "training program?");
    // As the loss is, [1] or []: no op stands between the scale and what it scales.
    if (isNumber(seeds[0]->getResult(0).getType()))
      number_ = llvm::cast<mlir::RankedTensorType>(seeds[0]->getResult(0).getType());
    scale_ = addState(main_, startup_, "loss_scaling", number_, options_.initial, declarations_);
    builder_.setInsertionPoint(seeds[0]);
    now_ = read(scale_, main_.getLoc());
    for (mlir::Operation* seed : seeds)
      if (mlir::failed(scaleSeed(pd::OpView(seed)))) return mlir::failure();
    if (mlir::failed(collect())) return mlir::failure();
    builder_.setInsertionPointToEnd(block_);
    return takeBack();
  }

 private:
  mlir::FlatSymbolRefAttr symbol(pd::VarOp var) {
    return mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
  }
  mlir::Value read(pd::VarOp var, mlir::Location loc) {
    return pd::GetOp::create(builder_, loc, var.getType(), symbol(var));
  }

  static bool isNumber(mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1 &&
           tensor.getElementType().isF32();
  }

  // The gradient of loss * scale with regard to the loss, whatever its shape says of one number.
  mlir::LogicalResult scaleSeed(pd::OpView seed) {
    mlir::Value one = seed.operation()->getResult(0);
    if (!isNumber(one.getType()))
      return seed.operation()->emitError("amp: seeds gradients with ")
             << one.getType() << "; a loss that is scaled is one float32 number";
    builder_.setInsertionPointAfter(seed.operation());
    const std::string name = pd::nameOf(one).str();
    auto type = llvm::cast<mlir::RankedTensorType>(one.getType());
    mlir::Value factor = type == number_ ? now_ : reshaped(now_, type, name + "@SCALE");
    mlir::Value scaled = elementwise(builder_, seed.operation()->getLoc(), "elementwise_mul", one,
                                     factor, name, pd::kBackward, declarations_);
    one.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    return mlir::success();
  }

  // The scale in the shape that the program has for one number.
  mlir::Value reshaped(mlir::Value value, mlir::RankedTensorType type, const std::string& stem) {
    const auto fresh = [&](const std::string& name) {
      return declarations_.freshName(block_, name);
    };
    auto shape = mlir::RankedTensorType::get({0, 1}, builder_.getF32Type());
    llvm::SmallVector<int32_t> dims(type.getRank(), 1);
    const bool scalar = dims.empty();
    return declarations_
        .create(builder_, value.getLoc(), scalar ? "squeeze2" : "reshape2", {{"X", {value}}},
                {{"Out", {{fresh(stem), type}}}, {"XShape", {{fresh(stem + ".xshape"), shape}}}},
                {builder_.getNamedAttr(
                    scalar ? "axes" : "shape",
                    builder_.getDenseI32ArrayAttr(scalar ? llvm::ArrayRef<int32_t>{0} : dims))},
                pd::kBackward)
        .output("Out");
  }

  // The gradients of the parameters that are updated: what the last op with role Backward gives
  // that lists the pair, or the cast of it that belongs to the update.
  mlir::LogicalResult collect() {
    llvm::StringMap<mlir::Value> listed;
    std::vector<std::string> order;
    for (mlir::Operation& op : *block_) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      pd::OpView view(&op);
      if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
      const std::vector<std::string> names = view.getStrings("op_role_var");
      for (size_t i = 0; i + 1 < names.size(); i += 2)
        for (mlir::Value result : op.getResults())
          if (pd::nameOf(result) == names[i + 1]) {
            if (listed.insert_or_assign(names[i], result).second) order.push_back(names[i]);
          }
    }
    llvm::StringSet<> updated;
    bool good = true;
    forEachUpdate(main_, [&](pd::OpView update, llvm::StringRef parameter) {
      updated.insert(parameter);
      if (listed.contains(parameter)) return;
      update.operation()->emitError("amp: updates parameter '")
          << parameter << "', but no op with role Backward lists it in op_role_var";
      good = false;
    });
    for (const std::string& parameter : order) {
      if (!updated.contains(parameter)) continue;
      mlir::Value gradient = listed.lookup(parameter);
      if (!llvm::isa<mlir::RankedTensorType>(gradient.getType())) {
        gradient.getDefiningOp()->emitError("amp: the gradient of parameter '")
            << parameter
            << "' is no dense tensor, which is looked at for what is not finite "
               "(is_sparse=False makes SelectedRows dense)";
        good = false;
      }
      gradients_.push_back(gradient);
    }
    if (good && gradients_.empty())
      return main_.emitError("amp: no parameter is updated; is this a training program?");
    return mlir::success(good);
  }

  // Checks all gradients at the end of the program; what updates takes them without the factor.
  mlir::FailureOr<mlir::Value> takeBack() {
    std::vector<mlir::Value> scaled;
    for (mlir::Value gradient : gradients_) scaled.push_back(inFloat32(gradient));
    builder_.setInsertionPointToEnd(block_);
    mlir::Value infinite;
    std::vector<mlir::Value> unscaled;
    if (options_.apart) {
      for (mlir::Value gradient : scaled) {
        pd::OpView one =
            check(gradient, options_.byBlock ? pd::OutputSlot{"Out", {}} : outputsFor(gradient));
        if (options_.byBlock) divideBehind(gradient);
        else unscaled.push_back(one.output("Out"));
        infinite = either(infinite, one.output("FoundInfinite"));
      }
      // What is not finite is in no branch that is taken: X is there since the framework wants one.
      if (options_.dynamic) nextScale({now_}, outputsFor(now_), infinite);
    } else {
      const pd::OutputSlot out = outputsFor(scaled);
      pd::OpView all = check(scaled, out);
      unscaled = all.outputs("Out");
      infinite = all.output("FoundInfinite");
      if (options_.dynamic) unscaled = nextScale(unscaled, out, infinite);
    }
    if (options_.byBlock) return infinite;
    for (auto [before, after] : llvm::zip_equal(scaled, unscaled))
      before.replaceUsesWithIf(after, [&](mlir::OpOperand& use) {
        mlir::Operation* user = use.getOwner();
        const bool checks = pd::OpView::isFrameworkOp(user) && pd::OpView(user).type() == kCheck;
        return !checks && (isOfUpdate(user) || llvm::isa<pd::SetOp>(user));
      });
    return infinite;
  }

  // A check makes zeros of all gradients behind the first one that is not finite, which no block of
  // one could know of. A division of its own for everything that takes the gradient: a block of it
  // is not kept from in front of a norm over servers to behind it.
  void divideBehind(mlir::Value gradient) {
    const llvm::SmallPtrSet<mlir::Operation*, 4> users(gradient.user_begin(), gradient.user_end());
    for (mlir::Operation& user : llvm::make_early_inc_range(*block_)) {
      if (!users.contains(&user) || !isOfUpdate(&user) || pd::OpView(&user).type() == kCheck)
        continue;
      builder_.setInsertionPoint(&user);
      const std::string name =
          declarations_.freshName(block_, (pd::nameOf(gradient) + kUnscaled).str());
      mlir::Value own = elementwise(builder_, user.getLoc(), "elementwise_div", gradient, now_,
                                    name, pd::kOptimize, declarations_);
      user.replaceUsesOfWith(gradient, own);
    }
    builder_.setInsertionPointToEnd(block_);
  }

  // A gradient as the update takes it: its cast, where that belongs to the update.
  mlir::Value inFloat32(mlir::Value gradient) {
    for (mlir::Operation* user : gradient.getUsers())
      if (isOfUpdate(user) && pd::OpView(user).type() == "cast") {
        user->moveBefore(block_, block_->end());
        return user->getResult(0);
      }
    return gradient;
  }

  // Names of gradients without the factor.
  pd::OutputSlot outputsFor(llvm::ArrayRef<mlir::Value> gradients) {
    pd::OutputSlot out{"Out", {}};
    for (mlir::Value gradient : gradients) {
      const std::string name =
          declarations_.freshName(block_, (pd::nameOf(gradient) + kUnscaled).str());
      declarations_.declare(block_, name, gradient.getType());
      out.results.push_back({name, gradient.getType()});
    }
    return out;
  }

  pd::OpView check(llvm::ArrayRef<mlir::Value> scaled, const pd::OutputSlot& out) {
    const std::string found = declarations_.freshName(block_, "find_infinite_scale");
    return declarations_.create(builder_, main_.getLoc(), kCheck,
                                {{"X", scaled.vec()}, {"Scale", {now_}}},
                                {out, {"FoundInfinite", {{found, flag()}}}}, {}, pd::kOptimize);
  }

  mlir::RankedTensorType flag() { return mlir::RankedTensorType::get({1}, builder_.getI1Type()); }

  // The answer so far (null: none) or the next one. Always an op with one result, which travels
  // between stages without the gradient that was looked at.
  mlir::Value either(mlir::Value answer, mlir::Value next) {
    const std::string name = declarations_.freshName(block_, "any_infinite");
    if (!answer)
      return declarations_
          .create(builder_, main_.getLoc(), "assign", {{"X", {next}}}, {{"Out", {{name, flag()}}}},
                  {}, pd::kOptimize)
          .output("Out");
    return declarations_
        .create(builder_, main_.getLoc(), "logical_or", {{"X", {answer}}, {"Y", {next}}},
                {{"Out", {{name, flag()}}}}, {}, pd::kOptimize)
        .output("Out");
  }

  // The framework's op update_loss_scaling: raises the scale after so many good steps and lowers it
  // after so many bad ones, by two counters that are variables too, and zeroes gradients that
  // overflowed.
  std::vector<mlir::Value> nextScale(const std::vector<mlir::Value>& gradients,
                                     const pd::OutputSlot& out, mlir::Value infinite) {
    auto count = mlir::RankedTensorType::get({1}, builder_.getI32Type());
    pd::VarOp good = addState(main_, startup_, "num_good_steps", count, 0, declarations_),
              bad = addState(main_, startup_, "num_bad_steps", count, 0, declarations_);
    mlir::Location loc = main_.getLoc();
    mlir::Value goodNow = read(good, loc), badNow = read(bad, loc);
    const auto whole = [&](int64_t value) {
      return builder_.getI32IntegerAttr(static_cast<int32_t>(value));
    };
    const auto real = [&](double value) {
      return builder_.getF32FloatAttr(static_cast<float>(value));
    };
    pd::OpView update = declarations_.create(
        builder_, loc, "update_loss_scaling",
        {{"X", gradients},
         {"FoundInfinite", {infinite}},
         {"PrevLossScaling", {now_}},
         {"InGoodSteps", {goodNow}},
         {"InBadSteps", {badNow}},
         {"$LossScaling", {now_}}},
        {out,
         {"LossScaling", {{scale_.getSymName().str(), number_}}},
         {"OutGoodSteps", {{good.getSymName().str(), count}}},
         {"OutBadSteps", {{bad.getSymName().str(), count}}}},
        {builder_.getNamedAttr("incr_every_n_steps", whole(options_.increaseEvery)),
         builder_.getNamedAttr("decr_every_n_nan_or_inf", whole(options_.decreaseEvery)),
         builder_.getNamedAttr("incr_ratio", real(options_.increase)),
         builder_.getNamedAttr("decr_ratio", real(options_.decrease)),
         builder_.getNamedAttr("stop_update", builder_.getBoolAttr(false))},
        pd::kOptimize);
    pd::SetOp::create(builder_, loc, symbol(scale_), update.output("LossScaling"));
    pd::SetOp::create(builder_, loc, symbol(good), update.output("OutGoodSteps"));
    pd::SetOp::create(builder_, loc, symbol(bad), update.output("OutBadSteps"));
    return update.outputs("Out");
  }

  pd::ProgramOp main_, startup_;
  mlir::Block* block_;
  const ScalingOptions& options_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  mlir::RankedTensorType number_;
  pd::VarOp scale_;
  mlir::Value now_;  // the scale of this step
  std::vector<mlir::Value> gradients_;
};

}  // namespace

mlir::FailureOr<mlir::Value> scaleLoss(pd::ProgramOp main, pd::ProgramOp startup,
                                       const Classified& classified, const ScalingOptions& options,
                                       pd::Declarations& declarations) {
  return Scaling(main, startup, options, declarations).run(classified.seeds);
}

}  // namespace dtranspile::passes
