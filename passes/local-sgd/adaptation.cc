// Wang & Joshi, Adaptive Communication Strategies to Achieve the Best Error-Runtime Trade-off in
// Local-Update SGD (2019, arXiv:1810.08313), as the framework's optimizer has it.
#include "passes/local-sgd/adaptation.h"

#include "compiler/analysis/program_info.h"
#include "dialects/pd/types.h"
#include "passes/support/branch.h"

namespace dtranspile::passes {

Adaptation::Adaptation(JobOnAxes& job, const verify::AdaptivePeriod& period,
                       mlir::FlatSymbolRefAttr comm, pd::Declarations& declarations)
    : job_(job), period_(period), comm_(comm), declarations_(declarations) {
  mlir::Builder builder(job.main.getContext());
  count_ = mlir::RankedTensorType::get({1}, builder.getI64Type());
  flag_ = mlir::RankedTensorType::get({1}, builder.getI1Type());
  real_ = mlir::RankedTensorType::get({1}, builder.getF32Type());
}

// The period follows the loss and the learning rate, so that there must be one of each: a float32
// of one element.
mlir::LogicalResult Adaptation::find() {
  const std::string name = findLoss(job_.main);
  loss_ = name.empty() ? mlir::Value() : lastNamed(job_.main, name);
  // [1] or []: programs of 2.x have numbers without dims.
  const auto isNumber = [](mlir::Value value) {
    auto type =
        value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
    return type && type.hasStaticShape() && type.getNumElements() == 1 &&
           type.getElementType().isF32();
  };
  if (!isNumber(loss_))
    return job_.main.emitError(
        "adaptive_localsgd: the program has no loss of one float32 element to follow");
  mlir::LogicalResult good = mlir::success();
  forEachUpdate(job_.main, [&](pd::OpView update, llvm::StringRef) {
    mlir::Value rate = update.input("LearningRate");
    const auto behind = [](mlir::Value value) {
      auto get = value.getDefiningOp<pd::GetOp>();
      return get ? get.getVarAttr() : mlir::FlatSymbolRefAttr();
    };
    if (rate && !rate_) rate_ = rate;
    if (mlir::failed(good) ||
        (isNumber(rate) && (rate == rate_ || (behind(rate) && behind(rate) == behind(rate_)))))
      return;
    update.operation()->emitError(
        "adaptive_localsgd: follows one learning rate of one float32 element; this update has "
        "none, "
        "or another one");
    good = mlir::failure();
  });
  if (mlir::succeeded(good) && !rate_)
    return job_.main.emitError("adaptive_localsgd: no parameter is updated");
  return good;
}

// A variable of the job's own that start-up sets to `value`.
pd::VarOp Adaptation::addVariable(llvm::StringRef stem, mlir::RankedTensorType type, double value) {
  const std::string name = declarations_.freshName(job_.main.getBodyBlock(), stem);
  mlir::OpBuilder builder(job_.main);
  auto var = pd::VarOp::create(builder, job_.main.getLoc(), builder.getStringAttr(name),
                               mlir::TypeAttr::get(type), mlir::UnitAttr());
  for (pd::ProgramOp program : {job_.main, job_.startup}) {
    declarations_.declare(program.getBodyBlock(), name, type);
    declarations_.find(program.getBodyBlock(), name).setPersistable(true);
  }
  builder.setInsertionPointToEnd(job_.startup.getBodyBlock());
  set(builder, var,
      constant(builder, var.getLoc(), type, value, name, pd::kForward, declarations_));
  return var;
}

mlir::Value Adaptation::get(mlir::OpBuilder& builder, pd::VarOp var) {
  return pd::GetOp::create(builder, job_.main.getLoc(), var.getType(),
                           mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()));
}
void Adaptation::set(mlir::OpBuilder& builder, pd::VarOp var, mlir::Value value) {
  pd::SetOp::create(builder, job_.main.getLoc(), mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()),
                    value);
}

mlir::Value Adaptation::make(mlir::OpBuilder& builder, llvm::StringRef type,
                             llvm::ArrayRef<pd::InputSlot> inputs, llvm::StringRef stem,
                             mlir::Type result, llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  const std::string name = declarations_.freshName(builder.getInsertionBlock(), stem);
  return declarations_
      .create(builder, job_.main.getLoc(), type, inputs, {{"Out", {{name, result}}}}, attributes,
              pd::kOptimize)
      .output("Out");
}

mlir::Value Adaptation::two(mlir::OpBuilder& builder, llvm::StringRef type, mlir::Value x,
                            mlir::Value y, llvm::StringRef stem, mlir::Type result) {
  return make(builder, type, {{"X", {x}}, {"Y", {y}}}, stem, result,
              {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))});
}

mlir::Value Adaptation::number(mlir::OpBuilder& builder, mlir::RankedTensorType type, double value,
                               llvm::StringRef stem) {
  return constant(builder, job_.main.getLoc(), type, value,
                  declarations_.freshName(builder.getInsertionBlock(), stem), pd::kOptimize,
                  declarations_);
}

mlir::Operation* Adaptation::addBlock(mlir::Value taken, llvm::ArrayRef<mlir::Value> captures) {
  return addBranch(job_.main, taken,
                   declarations_.freshName(job_.main.getBodyBlock(), "local_sgd_scope"),
                   declarations_, captures);
}

// step <= begin, or step - last == k, where k is as many steps as the last average has said.
mlir::Operation* Adaptation::addAverage() {
  pd::VarOp counter = addVariable("local_sgd_step", count_, 0);
  last_ = addVariable("local_sgd_last", count_, 0);
  next_ = addVariable("local_sgd_k", count_, static_cast<double>(period_.first));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job_.main.getBodyBlock());
  step_ = declarations_
              .create(builder, job_.main.getLoc(), "increment", {{"X", {get(builder, counter)}}},
                      {{"Out", {{counter.getSymName().str(), count_}}}},
                      {builder.getNamedAttr("step", builder.getF32FloatAttr(1))}, pd::kOptimize)
              .output("Out");
  set(builder, counter, step_);
  mlir::Value begin =
      number(builder, count_, static_cast<double>(period_.begin), "local_sgd_begin");
  early_ = two(builder, "less_equal", step_, begin, "local_sgd_early", flag_);
  mlir::Value since =
      two(builder, "elementwise_sub", step_, get(builder, last_), "local_sgd_since", count_);
  due_ = two(builder, "equal", since, get(builder, next_), "local_sgd_due", flag_);
  mlir::Value taken =
      make(builder, "logical_or", {{"X", {early_}}, {"Y", {due_}}}, "local_sgd_cond", flag_);
  mlir::Operation* branch = addBlock(taken, {});
  builder.setInsertionPointToEnd(&branch->getRegion(0).front());
  set(builder, last_, get(builder, counter));
  return branch;
}

mlir::Value Adaptation::asReal(mlir::OpBuilder& builder, mlir::Value number) {
  if (number.getType() == real_) return number;
  return make(builder, "reshape", {{"X", {number}}}, "local_sgd_number", real_,
              {builder.getNamedAttr("shape", builder.getDenseI32ArrayAttr({1}))});
}

mlir::Value Adaptation::meanLoss(mlir::OpBuilder& builder, mlir::Value own) {
  mlir::Value sum = sumOver(builder, job_.main.getLoc(), asReal(builder, own), comm_);
  return scale(builder, job_.main.getLoc(), sum, 1.0 / static_cast<double>(job_.ranks),
               declarations_.freshName(builder.getInsertionBlock(), "local_sgd_loss"),
               pd::kOptimize, declarations_);
}

// Step 1 comes first: an average in that step asks for what it has seen.
void Adaptation::addRest() {
  firstLoss_ = addVariable("local_sgd_loss_1", real_, 0);
  firstRate_ = addVariable("local_sgd_rate_1", real_, 0);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job_.main.getBodyBlock());
  mlir::Value one = number(builder, count_, 1, "local_sgd_one");
  mlir::Value first = two(builder, "equal", step_, one, "local_sgd_first", flag_);
  mlir::Operation* branch = addBlock(first, {loss_, rate_});
  mlir::Block* block = &branch->getRegion(0).front();
  builder.setInsertionPointToEnd(block);
  set(builder, firstLoss_, meanLoss(builder, block->getArgument(0)));
  set(builder, firstRate_, asReal(builder, block->getArgument(1)));
  pd::YieldOp::create(builder, job_.main.getLoc(), mlir::ValueRange());

  builder.setInsertionPointToEnd(job_.main.getBodyBlock());
  mlir::Value late = make(builder, "logical_not", {{"X", {early_}}}, "local_sgd_late", flag_);
  mlir::Value adapts =
      make(builder, "logical_and", {{"X", {late}}, {"Y", {due_}}}, "local_sgd_adapts", flag_);
  branch = addBlock(adapts, {loss_, rate_});
  block = &branch->getRegion(0).front();
  builder.setInsertionPointToEnd(block);
  mlir::Value loss = meanLoss(builder, block->getArgument(0)),
              rate = asReal(builder, block->getArgument(1));
  mlir::Value over =
      two(builder, "elementwise_mul", get(builder, firstRate_), loss, "local_sgd_over", real_);
  over = scale(builder, job_.main.getLoc(), over, static_cast<double>(period_.first),
               declarations_.freshName(block, "local_sgd_over"), pd::kOptimize, declarations_);
  mlir::Value under =
      two(builder, "elementwise_mul", rate, get(builder, firstLoss_), "local_sgd_under", real_);
  under = two(builder, "elementwise_max", under,
              number(builder, real_, verify::kLeastDivisor, "local_sgd_tiny"), "local_sgd_under",
              real_);
  mlir::Value ratio = two(builder, "elementwise_div", over, under, "local_sgd_ratio", real_);
  // Within bounds before the root: it is taken of no negative number, and the result is a count.
  constexpr auto kMost = static_cast<double>(verify::kMostLocalSteps * verify::kMostLocalSteps);
  ratio = two(builder, "elementwise_max", ratio, number(builder, real_, 1, "local_sgd_least"),
              "local_sgd_ratio", real_);
  ratio = two(builder, "elementwise_min", ratio, number(builder, real_, kMost, "local_sgd_most"),
              "local_sgd_ratio", real_);
  mlir::Value root = make(builder, "sqrt", {{"X", {ratio}}}, "local_sgd_root", real_);
  mlir::Value steps = make(builder, "ceil", {{"X", {root}}}, "local_sgd_steps", real_);
  const auto code = [&](mlir::RankedTensorType type) {
    return builder.getI32IntegerAttr(static_cast<int32_t>(*pd::dtypeOf(type.getElementType())));
  };
  set(builder, next_,
      make(builder, "cast", {{"X", {steps}}}, "local_sgd_next", count_,
           {builder.getNamedAttr("in_dtype", code(real_)),
            builder.getNamedAttr("out_dtype", code(count_))}));
  pd::YieldOp::create(builder, job_.main.getLoc(), mlir::ValueRange());
}

}  // namespace dtranspile::passes
