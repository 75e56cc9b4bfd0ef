#include "passes/sharding/norms.h"

#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringMap.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
namespace {

constexpr llvm::StringLiteral kParts[] = {"X",           "Param",      "Grad",      "Velocity",
                                          "Moment1",     "Moment2",    "Out",       "ParamOut",
                                          "VelocityOut", "Moment1Out", "Moment2Out"};

// One weight decay in old files, a list in new ones.
double larsDecay(pd::OpView op) {
  if (llvm::isa_and_nonnull<mlir::FloatAttr>(op.attr("lars_weight_decay")))
    return op.getFloat("lars_weight_decay");
  const std::vector<double> decays = op.getFloats("lars_weight_decay");
  return decays.empty() ? 0 : decays[0];
}

// What the body is built of. Numbers have one element.
class Body {
 public:
  Body(pd::OpView op, mlir::FlatSymbolRefAttr comm, pd::Declarations& declarations)
      : op_(op),
        builder_(op.operation()->getContext()),
        comm_(comm),
        declarations_(declarations),
        number_(mlir::RankedTensorType::get({1}, builder_.getF32Type())) {}

  // Names and attributes of the framework op are kept, since exporting puts the op back.
  void replace() {
    mlir::Operation* old = op_.operation();
    llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
    llvm::SmallVector<mlir::Value> operands;
    for (const std::string& slot : op_.inputSlots())
      if (mlir::Value value = op_.input(slot)) {
        inputSlots.push_back(builder_.getStringAttr(slot));
        operands.push_back(value);
      }
    for (mlir::OpResult value : old->getResults()) {
      outputSlots.push_back(builder_.getStringAttr(op_.slotOf(value).first));
      outputNames.push_back(builder_.getStringAttr(pd::nameOf(value)));
    }
    builder_.setInsertionPoint(old);
    auto composite = dist::CompositeOp::create(
        builder_, old->getLoc(), old->getResultTypes(),
        builder_.getStringAttr("sharded_" + op_.type().str()), builder_.getArrayAttr(inputSlots),
        operands, builder_.getArrayAttr(outputSlots), builder_.getArrayAttr(outputNames),
        old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
    if (mlir::Attribute source = old->getAttr(dist::kSrcAttr))
      composite->setAttr(dist::kSrcAttr, source);
    mlir::Block* block = builder_.createBlock(&composite.getBody());
    for (auto [slot, value] : llvm::zip(inputSlots, operands))
      in_[llvm::cast<mlir::StringAttr>(slot).getValue()] =
          block->addArgument(value.getType(), value.getLoc());
    stem_ = llvm::cast<mlir::StringAttr>(outputNames.front()).getValue().str() + ".normed";
    const llvm::StringMap<mlir::Value> made = op_.type() == "clip_by_norm"    ? clip()
                                              : op_.type() == "lars_momentum" ? lars()
                                                                              : lamb();
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Attribute slot : outputSlots)
      results.push_back(made.lookup(llvm::cast<mlir::StringAttr>(slot).getValue()));
    dist::YieldOp::create(builder_, loc(), results);
    old->replaceAllUsesWith(composite.getResults());
    old->erase();
  }

 private:
  using Results = llvm::StringMap<mlir::Value>;

  // k = bound / |X| where that is below 1.
  Results clip() {
    const double bound = op_.getFloat("max_norm");
    mlir::Value norm = norms({in_["X"]})[0];
    mlir::Value factor = chosen(greater(norm, constant(bound)),
                                with("elementwise_div", constant(bound), norm), constant(1));
    return {{"Out", with("elementwise_mul", in_["X"], factor)}};
  }

  // v' = mu·v + rate·|w|·coeff/(|g| + decay·|w| + epsilon)·(g + decay·w); w' = w − v'.
  Results lars() {
    const double decay = larsDecay(op_);
    mlir::Value w = in_["Param"], g = in_["Grad"];
    if (const double rescale = op_.getFloat("rescale_grad"); rescale != 1) g = times(g, rescale);
    const llvm::SmallVector<mlir::Value> both = norms({w, g});
    mlir::Value divisor =
        with("elementwise_add", both[1], times(both[0], decay, op_.getFloat("epsilon")));
    mlir::Value ratio =
        with("elementwise_div", times(both[0], op_.getFloat("lars_coeff")), divisor);
    mlir::Value rate = with("elementwise_mul", ifPositive(both, ratio), in_["LearningRate"]);
    mlir::Value step = with("elementwise_mul", with("elementwise_add", g, times(w, decay)), rate);
    mlir::Value velocity =
        with("elementwise_add", times(in_["Velocity"], op_.getFloat("mu")), step);
    return {{"VelocityOut", velocity}, {"ParamOut", with("elementwise_sub", w, velocity)}};
  }

  // u = m/(√v + epsilon) + decay·w; w' = w − rate·|w|/|u|·u. Programs of 2.x correct m and v first.
  Results lamb() {
    mlir::Value w = in_["Param"], g = in_["Grad"];
    const double b1 = op_.getFloat("beta1"), b2 = op_.getFloat("beta2");
    mlir::Value m = with("elementwise_add", times(in_["Moment1"], b1), times(g, 1 - b1));
    mlir::Value v = with("elementwise_add", times(in_["Moment2"], b2),
                         times(with("elementwise_mul", g, g), 1 - b2));
    mlir::Value first = m, second = v;
    const int64_t version = op_.operation()->getParentOfType<pd::ProgramOp>().getVersion();
    if (!(version > 0 && version < 2000000)) {
      first = with("elementwise_div", m, times(in_["Beta1Pow"], -1, 1));
      second = with("elementwise_div", v, times(in_["Beta2Pow"], -1, 1));
    }
    mlir::Value root = times(unary("sqrt", second), 1, op_.getFloat("epsilon"));
    mlir::Value u = with("elementwise_add", with("elementwise_div", first, root),
                         times(w, op_.getFloat("weight_decay")));
    const llvm::SmallVector<mlir::Value> both = norms({w, u});
    mlir::Value ratio = ifPositive(both, with("elementwise_div", both[0], both[1]));
    mlir::Value rate = with("elementwise_mul", ratio, in_["LearningRate"]);
    Results results = {{"Moment1Out", m},
                       {"Moment2Out", v},
                       {"ParamOut", with("elementwise_sub", w, with("elementwise_mul", u, rate))}};
    results["Beta1PowOut"] = times(in_["Beta1Pow"], b1);
    results["Beta2PowOut"] = times(in_["Beta2Pow"], b2);
    return results;
  }

  // The square roots of what all parts give together: one operation.
  llvm::SmallVector<mlir::Value> norms(llvm::ArrayRef<mlir::Value> values) {
    llvm::SmallVector<mlir::Value> squares;
    llvm::SmallVector<mlir::Type> types(values.size(), number_);
    for (mlir::Value value : values) squares.push_back(made("squared_l2_norm", value, number_));
    auto sum = dist::AllReduceOp::create(
        builder_, loc(), types, dist::ReduceAttr::get(builder_.getContext(), dist::Reduce::Sum),
        squares, comm_);
    llvm::SmallVector<mlir::Value> roots;
    for (mlir::Value one : sum.getResults()) roots.push_back(unary("sqrt", one));
    return roots;
  }

  // 1 where a norm is zero.
  mlir::Value ifPositive(llvm::ArrayRef<mlir::Value> norms, mlir::Value ratio) {
    mlir::Value both = declarations_
                           .create(builder_, loc(), "logical_and",
                                   {{"X", {greater(norms[0], constant(0))}},
                                    {"Y", {greater(norms[1], constant(0))}}},
                                   {{"Out", {{fresh(), flag()}}}}, {}, pd::kOptimize)
                           .output("Out");
    return chosen(both, ratio, constant(1));
  }

  mlir::RankedTensorType flag() { return number_.clone(builder_.getI1Type()); }
  mlir::Value greater(mlir::Value x, mlir::Value y) {
    return declarations_
        .create(builder_, loc(), "greater_than", {{"X", {x}}, {"Y", {y}}},
                {{"Out", {{fresh(), flag()}}}},
                {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1))}, pd::kOptimize)
        .output("Out");
  }
  mlir::Value chosen(mlir::Value condition, mlir::Value yes, mlir::Value no) {
    return declarations_
        .create(builder_, loc(), "where", {{"Condition", {condition}}, {"X", {yes}}, {"Y", {no}}},
                {{"Out", {{fresh(), number_}}}}, {}, pd::kOptimize)
        .output("Out");
  }
  mlir::Value constant(double value) {
    const auto type = static_cast<int32_t>(*pd::dtypeOf(number_.getElementType()));
    return declarations_
        .create(
            builder_, loc(), "fill_constant", {}, {{"Out", {{fresh(), number_}}}},
            {builder_.getNamedAttr("dtype", builder_.getI32IntegerAttr(type)),
             builder_.getNamedAttr("shape", builder_.getDenseI64ArrayAttr({1})),
             builder_.getNamedAttr("value", builder_.getF32FloatAttr(static_cast<float>(value)))},
            pd::kOptimize)
        .output("Out");
  }
  mlir::Value made(llvm::StringRef type, mlir::Value x, mlir::Type result) {
    return declarations_
        .create(builder_, loc(), type, {{"X", {x}}}, {{"Out", {{fresh(), result}}}}, {},
                pd::kOptimize)
        .output("Out");
  }
  mlir::Value unary(llvm::StringRef type, mlir::Value x) { return made(type, x, x.getType()); }
  mlir::Value with(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return elementwise(builder_, loc(), type, x, y, fresh(), pd::kOptimize, declarations_);
  }
  mlir::Value times(mlir::Value x, double factor, double bias = 0) {
    mlir::Value value = scale(builder_, loc(), x, factor, fresh(), pd::kOptimize, declarations_);
    if (bias != 0)
      pd::OpView(value.getDefiningOp())
          .setAttr("bias", builder_.getF32FloatAttr(static_cast<float>(bias)));
    return value;
  }
  mlir::Location loc() { return op_.operation()->getLoc(); }
  std::string fresh() { return stem_ + "." + std::to_string(count_++); }

  pd::OpView op_;
  mlir::OpBuilder builder_;
  mlir::FlatSymbolRefAttr comm_;
  pd::Declarations& declarations_;
  mlir::RankedTensorType number_;
  llvm::StringMap<mlir::Value> in_;
  std::string stem_;
  int count_ = 0;
};

}  // namespace

// Where a norm counts for nothing, or something is looked up that a part does not say, the op takes
// the whole as it did.
bool takesNorms(pd::OpView op) {
  const llvm::StringRef type = op.type();
  if (type != "clip_by_norm" && type != "lars_momentum" && type != "lamb") return false;
  for (const char* slot : {"MasterParam", "SkipUpdate"})
    if (op.hasInput(slot)) return false;
  for (mlir::Value value : op.operation()->getOperands()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!tensor || !tensor.getElementType().isF32()) return false;
  }
  if (type == "clip_by_norm") return op.getFloat("max_norm") > 0;
  if (op.getBool("multi_precision") || op.inputCount("Param") != 1) return false;
  if (type == "lars_momentum") return larsDecay(op) > 0;
  return op.getFloat("weight_decay") > 0 || op.getBool("always_adapt");
}

bool isPartOfNormed(pd::OpView op, mlir::Value value) {
  const auto result = llvm::dyn_cast<mlir::OpResult>(value);
  if (result && result.getOwner() == op.operation())
    return llvm::is_contained(kParts, op.slotOf(result).first);
  for (const std::string& slot : op.inputSlots())
    if (llvm::is_contained(kParts, llvm::StringRef(slot)) && op.input(slot) == value) return true;
  return false;
}

void replaceByNormed(pd::OpView op, mlir::FlatSymbolRefAttr comm, pd::Declarations& declarations) {
  Body(op, comm, declarations).replace();
}

}  // namespace dtranspile::passes
