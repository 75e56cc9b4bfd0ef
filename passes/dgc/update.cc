#include "passes/dgc/update.h"

#include <cmath>

#include "dialects/pd/types.h"
#include "passes/support/branch.h"

namespace dtranspile::passes {
namespace {

// A composite with the operands and results of the op, an empty body with its arguments, and
// `given` in the place of the operand in `slot`. It keeps the lineage of the op.
dist::CompositeOp compositeFor(pd::OpView op, llvm::StringRef name, llvm::StringRef slot,
                               mlir::Value given) {
  mlir::Operation* old = op.operation();
  mlir::OpBuilder builder(old);
  llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
  llvm::SmallVector<mlir::Value> operands;
  for (const std::string& input : op.inputSlots())
    if (mlir::Value value = op.input(input)) {
      inputSlots.push_back(builder.getStringAttr(input));
      operands.push_back(input == slot ? given : value);
    }
  for (mlir::OpResult value : old->getResults()) {
    outputSlots.push_back(builder.getStringAttr(op.slotOf(value).first));
    outputNames.push_back(builder.getStringAttr(pd::nameOf(value)));
  }
  auto composite = dist::CompositeOp::create(
      builder, old->getLoc(), old->getResultTypes(), builder.getStringAttr(name),
      builder.getArrayAttr(inputSlots), operands, builder.getArrayAttr(outputSlots),
      builder.getArrayAttr(outputNames), old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  if (mlir::Attribute source = old->getAttr(dist::kSrcAttr))
    composite->setAttr(dist::kSrcAttr, source);
  mlir::Block* block = builder.createBlock(&composite.getBody());
  for (mlir::Value operand : operands) block->addArgument(operand.getType(), operand.getLoc());
  return composite;
}

// What a parameter has where an update begins, and what it has after it.
struct State {
  mlir::Value parameter, velocity;
};

// Writes the body by the definition in docs/passes/dgc.md; compiler/verify compares it with the
// same formula.
class Writer {
 public:
  Writer(const CompressedUpdate& what, JobOnAxes& job, mlir::FlatSymbolRefAttr comm,
         pd::Declarations& declarations)
      : what_(what),
        op_(what.update),
        job_(job),
        comm_(comm),
        declarations_(declarations),
        builder_(what.update.operation()->getContext()),
        type_(llvm::cast<mlir::RankedTensorType>(op_.input("Param").getType())),
        ranks_(static_cast<double>(job.ranks)),
        stem_(op_.outputName("ParamOut").str() + "@DGC") {
    for (const char* slot : {"Param", "Velocity"})
      variables_.push_back(op_.input(slot).getDefiningOp<pd::GetOp>().getVarAttr());
  }

  // With one stage the body is straight code; with several it is one branch per stage, each of
  // which sets the variables, and the results are what these hold behind the branches.
  void replace() {
    mlir::Operation* old = op_.operation();
    rate_ = op_.input("LearningRate");
    gradient_ = what_.gradient;
    dist::CompositeOp composite =
        compositeFor(op_, verify::kCompressedUpdate, "Grad", what_.gradient);
    body_ = &composite.getBody().front();
    builder_.setInsertionPointToEnd(body_);
    State after;
    if (what_.stages.size() == 1) {
      after = compressed({op_.input("Param"), op_.input("Velocity")}, what_.stages[0].sent.kept);
    } else {
      for (const Stage& stage : what_.stages) addStage(stage);
      builder_.setInsertionPointToEnd(body_);
      after = held();
    }
    llvm::SmallVector<mlir::Value> results;
    for (mlir::OpResult result : old->getResults())
      results.push_back(op_.slotOf(result).first == "ParamOut" ? after.parameter : after.velocity);
    dist::YieldOp::create(builder_, loc(), results);
    // Inside, what the composite takes goes by its arguments; branches have captures of their own.
    for (auto [argument, operand] : llvm::zip(body_->getArguments(), composite.getInputs()))
      operand.replaceUsesWithIf(argument, [&](mlir::OpOperand& use) {
        return use.getOwner()->getBlock() == body_ && use.getOwner()->getNumRegions() == 0;
      });
    old->replaceAllUsesWith(composite.getResults());
    old->erase();
  }

 private:
  mlir::Location loc() { return op_.operation()->getLoc(); }
  std::string fresh() {
    return declarations_.freshName(body_, stem_ + "." + std::to_string(count_++));
  }
  mlir::NamedAttribute attribute(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }

  State held() {
    return {pd::GetOp::create(builder_, loc(), type_, variables_[0]),
            pd::GetOp::create(builder_, loc(), type_, variables_[1])};
  }

  // Blocks of branches have what they capture as arguments.
  void addStage(const Stage& stage) {
    const std::string scope = declarations_.freshName(job_.main.getBodyBlock(), stem_ + ".scope");
    mlir::Operation* branch =
        addBranch(job_.main, stage.taken, scope, declarations_, {what_.gradient, rate_});
    branch->moveBefore(body_, body_->end());
    mlir::Block& block = branch->getRegion(0).front();
    builder_.setInsertionPointToEnd(&block);
    const mlir::Value outer = rate_;
    gradient_ = block.getArgument(0);
    rate_ = block.getArgument(1);
    const State before = held();
    const State after = stage.sent.kept ? compressed(before, stage.sent.kept) : momentum(before);
    pd::SetOp::create(builder_, loc(), variables_[0], after.parameter);
    pd::SetOp::create(builder_, loc(), variables_[1], after.velocity);
    pd::YieldOp::create(builder_, loc(), mlir::ValueRange());
    rate_ = outer;
    gradient_ = what_.gradient;
  }

  // The update as it was, with the sum of the gradients.
  State momentum(const State& before) {
    mlir::Value sum = sumOver(builder_, loc(), gradient_, comm_);
    std::vector<pd::InputSlot> inputs;
    for (const std::string& slot : op_.inputSlots())
      if (op_.input(slot))  // an empty slot stays away
        inputs.push_back({slot,
                          {slot == "Param"      ? before.parameter
                           : slot == "Velocity" ? before.velocity
                           : slot == "Grad"     ? sum
                                                : rate_}});
    const auto attributes =
        op_.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs").getValue();
    pd::OpView made = declarations_.create(
        builder_, loc(), "momentum", inputs,
        {{"ParamOut", {{fresh(), type_}}}, {"VelocityOut", {{fresh(), type_}}}}, attributes,
        op_.role());
    return {made.output("ParamOut"), made.output("VelocityOut")};
  }

  mlir::Value op(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs, mlir::Type result,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes, llvm::StringRef slot = "Out") {
    return declarations_
        .create(builder_, loc(), type, inputs, {{slot, {{fresh(), result}}}}, attributes,
                op_.role())
        .output(slot);
  }
  mlir::Value sum(mlir::Value x, mlir::Value y) {
    return elementwise(builder_, loc(), "elementwise_add", x, y, fresh(), op_.role(),
                       declarations_);
  }
  mlir::Value times(mlir::Value x, double factor) {
    return scale(builder_, loc(), x, factor, fresh(), op_.role(), declarations_);
  }
  mlir::Value shaped(mlir::Value x, mlir::RankedTensorType type) {
    return op("reshape2", {{"X", {x}}}, type,
              {attribute("shape", builder_.getDenseI32ArrayAttr(llvm::SmallVector<int32_t>(
                                      type.getShape().begin(), type.getShape().end())))});
  }
  mlir::Value zeros(int64_t count) {
    const auto type = mlir::RankedTensorType::get({count}, type_.getElementType());
    return constant(builder_, loc(), type, 0, fresh(), op_.role(), declarations_);
  }
  mlir::Value put(mlir::Value x, mlir::Value places, mlir::Value values, bool overwrite) {
    return op("scatter", {{"X", {x}}, {"Ids", {places}}, {"Updates", {values}}}, x.getType(),
              {attribute("overwrite", builder_.getBoolAttr(overwrite))});
  }
  mlir::Value gathered(mlir::Value value) {
    auto part = llvm::cast<mlir::RankedTensorType>(value.getType());
    auto whole =
        mlir::RankedTensorType::get({part.getDimSize(0) * job_.ranks}, part.getElementType());
    return dist::AllGatherOp::create(builder_, loc(), mlir::TypeRange{whole},
                                     mlir::ValueRange{value}, comm_, builder_.getI64IntegerAttr(0),
                                     mlir::UnitAttr())
        .getResult(0);
  }

  // Deep gradient compression (pass.td). Places travel as 32 bits where these hold them.
  State compressed(const State& before, int64_t kept) {
    const auto flat = mlir::RankedTensorType::get({type_.getNumElements()}, type_.getElementType());
    const double mu = op_.getFloat("mu");
    mlir::Value g = times(gradient_, ranks_);
    if (op_.getString("regularization_method") == "l2_decay")
      g = sum(g, times(before.parameter, op_.getFloat("regularization_coeff")));
    mlir::Value residual = pd::GetOp::create(
        builder_, loc(), type_, mlir::FlatSymbolRefAttr::get(residualVar().getSymNameAttr()));
    mlir::Value u, v;
    if (op_.getBool("use_nesterov")) {
      u = times(sum(before.velocity, g), mu);
      v = sum(sum(residual, u), g);
    } else {
      u = sum(times(before.velocity, mu), g);
      v = sum(residual, u);
    }
    u = shaped(u, flat);
    v = shaped(v, flat);
    const auto some = mlir::RankedTensorType::get({kept}, type_.getElementType());
    const auto wide = mlir::RankedTensorType::get({kept}, builder_.getI64Type());
    mlir::Value size = op("abs", {{"X", {v}}}, flat, {});
    mlir::Value places =
        declarations_
            .create(builder_, loc(), "top_k_v2", {{"X", {size}}},
                    {{"Out", {{fresh(), some}}}, {"Indices", {{fresh(), wide}}}},
                    {attribute("axis", builder_.getI32IntegerAttr(-1)),
                     attribute("k", builder_.getI32IntegerAttr(static_cast<int32_t>(kept))),
                     attribute("largest", builder_.getBoolAttr(true)),
                     attribute("sorted", builder_.getBoolAttr(true))},
                    op_.role())
            .output("Indices");
    if (flat.getNumElements() <= std::numeric_limits<int32_t>::max()) places = narrow(places);
    mlir::Value values = op("gather", {{"X", {v}}, {"Index", {places}}}, some,
                            {attribute("axis", builder_.getI32IntegerAttr(0))});
    mlir::Value allPlaces = gathered(places), allValues = gathered(values);
    mlir::Value merged = put(zeros(flat.getNumElements()), allPlaces, allValues, false);
    mlir::Value none = zeros(kept);
    mlir::Value left = shaped(put(v, places, none, true), type_);
    pd::SetOp::create(builder_, loc(), mlir::FlatSymbolRefAttr::get(residualVar().getSymNameAttr()),
                      left);
    mlir::Value mean = shaped(times(merged, 1 / ranks_), type_);
    mlir::Value parameter =
        op("sgd", {{"Param", {before.parameter}}, {"Grad", {mean}}, {"LearningRate", {rate_}}},
           type_, {}, "ParamOut");
    return {parameter, shaped(put(u, places, none, true), type_)};
  }

  mlir::Value narrow(mlir::Value places) {
    auto wide = llvm::cast<mlir::RankedTensorType>(places.getType());
    mlir::Type narrow = wide.clone(builder_.getI32Type());
    const auto code = [&](mlir::Type type) {
      return builder_.getI32IntegerAttr(static_cast<int32_t>(
          *pd::dtypeOf(llvm::cast<mlir::RankedTensorType>(type).getElementType())));
    };
    return op("cast", {{"X", {places}}}, narrow,
              {attribute("in_dtype", code(wide)), attribute("out_dtype", code(narrow))});
  }
  pd::VarOp residualVar() const { return what_.residual; }

  const CompressedUpdate& what_;
  pd::OpView op_;
  JobOnAxes& job_;
  mlir::FlatSymbolRefAttr comm_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  mlir::RankedTensorType type_;
  double ranks_;
  std::string stem_;
  std::vector<mlir::FlatSymbolRefAttr> variables_;  // parameter, velocity
  mlir::Value rate_, gradient_;
  mlir::Block* body_ = nullptr;
  int count_ = 0;
};

}  // namespace

void replaceByComposite(const CompressedUpdate& what, JobOnAxes& job, mlir::FlatSymbolRefAttr comm,
                        pd::Declarations& declarations) {
  Writer(what, job, comm, declarations).replace();
}

// Each replica clips its own gradient to max_norm / √n: independent gradients of that norm have a
// sum of norm max_norm.
void replaceByLocalClip(pd::OpView clip, mlir::Value gradient, JobOnAxes& job,
                        pd::Declarations& declarations) {
  mlir::Operation* old = clip.operation();
  dist::CompositeOp composite = compositeFor(clip, verify::kLocalClip, "X", gradient);
  mlir::Block& body = composite.getBody().front();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body);
  const double bound = clip.getFloat("max_norm") / std::sqrt(static_cast<double>(job.ranks));
  const std::string name = declarations.freshName(&body, clip.outputName("Out").str() + "@DGC");
  mlir::Value own =
      declarations
          .create(builder, old->getLoc(), "clip_by_norm", {{"X", {body.getArgument(0)}}},
                  {{"Out", {{name, old->getResult(0).getType()}}}},
                  {builder.getNamedAttr("max_norm",
                                        builder.getF32FloatAttr(static_cast<float>(bound)))},
                  clip.role())
          .output("Out");
  dist::YieldOp::create(builder, old->getLoc(), own);
  old->replaceAllUsesWith(composite.getResults());
  old->erase();
}

}  // namespace dtranspile::passes
