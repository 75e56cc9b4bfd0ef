#include "compiler/analysis/norms.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/IRMapping.h"

namespace dtranspile {
namespace {

constexpr int64_t kVersion2 = 2000000;
// What the saved program says of every op, beside what the op computes.
constexpr llvm::StringLiteral kCommon[] = {"op_role_var", "op_device", "op_namescope",
                                           "op_callstack"};

// Builds the ops that stand for one op, in front of it.
class Writer {
 public:
  Writer(pd::OpView op, pd::Declarations& declarations)
      : op_(op),
        declarations_(declarations),
        builder_(op.operation()),
        stem_(normedResult(op).str() + "@NORM"),
        number_(
            mlir::RankedTensorType::get({1}, pd::tensorOf(normed(op).getType()).getElementType())) {
    const int64_t version = op.operation()->getParentOfType<pd::ProgramOp>().getVersion();
    legacy_ = version > 0 && version < kVersion2;
  }

  void lamb();
  void lars();
  void clip();

 private:
  mlir::Value make(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs, mlir::Type result,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    const std::string name = declarations_.freshName(op_.operation()->getBlock(), stem_);
    return declarations_
        .create(builder_, op_.operation()->getLoc(), type, inputs, {{"Out", {{name, result}}}},
                attributes, op_.role())
        .output("Out");
  }
  mlir::Value unary(llvm::StringRef type, mlir::Value x) {
    return make(type, {{"X", {x}}}, x.getType());
  }
  // The result is of the type of x, to which y broadcasts.
  mlir::Value binary(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return make(type, {{"X", {x}}, {"Y", {y}}}, x.getType(),
                {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1))});
  }
  mlir::Value add(mlir::Value x, mlir::Value y) { return binary("elementwise_add", x, y); }
  mlir::Value times(mlir::Value x, mlir::Value y) { return binary("elementwise_mul", x, y); }
  mlir::Value over(mlir::Value x, mlir::Value y) { return binary("elementwise_div", x, y); }
  // factor * x + bias
  mlir::Value scale(mlir::Value x, double factor, double bias = 0) {
    if (factor == 1 && bias == 0) return x;
    return make("scale", {{"X", {x}}}, x.getType(),
                {number("scale", factor), number("bias", bias),
                 builder_.getNamedAttr("bias_after_scale", builder_.getBoolAttr(true))});
  }
  mlir::Value constant(double value) {
    return make(
        "fill_constant", {}, number_,
        {builder_.getNamedAttr("shape", builder_.getDenseI64ArrayAttr({1})),
         builder_.getNamedAttr("dtype", builder_.getI32IntegerAttr(static_cast<int32_t>(
                                            pd::dtypeOf(number_.getElementType()).value()))),
         number("value", value)});
  }
  mlir::NamedAttribute number(llvm::StringRef name, double value) {
    return builder_.getNamedAttr(name, builder_.getF32FloatAttr(static_cast<float>(value)));
  }
  mlir::Value norm(mlir::Value x) {
    return unary("sqrt", make("squared_l2_norm", {{"X", {x}}}, number_));
  }
  // 1 where both norms are above zero, else 0.
  mlir::Value bothPositive(mlir::Value p, mlir::Value q) {
    return times(unary("sign", p), unary("sign", q));
  }
  // counts ? ratio : 1, of numbers.
  mlir::Value ratioOrOne(mlir::Value ratio, mlir::Value counts) {
    return add(times(ratio, counts), scale(counts, -1, 1));
  }

  mlir::Value again(mlir::Value value);
  mlir::Value readAgain(llvm::StringRef slot, mlir::Value value);
  void update(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs,
              llvm::ArrayRef<llvm::StringRef> outputs, mlir::NamedAttrList attributes);

  pd::OpView op_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  std::string stem_;
  mlir::RankedTensorType number_;
  bool legacy_ = false;
};

// A pure op of the update, of one dense result of known extents.
bool canBeMadeAgain(mlir::Operation* maker) {
  if (!maker || !pd::OpView::isFrameworkOp(maker) || maker->getNumRegions() ||
      maker->getNumResults() != 1)
    return false;
  mlir::RankedTensorType type = pd::tensorOf(maker->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() == 1) return false;
  const pd::OpView view(maker);
  return view.spec() && view.spec()->effects == pd::kPure && !(view.role() & pd::kBackward);
}

// The value computed once more where the builder is: up to gradients, variables and numbers. What
// is made of the merged gradient (a clip, a decay) is not kept from in front of a norm to behind
// it. Each op is made once, in the order of the program.
mlir::Value Writer::again(mlir::Value value) {
  llvm::SetVector<mlir::Operation*> makers;
  const auto ask = [&](mlir::Value of) {
    if (of && canBeMadeAgain(of.getDefiningOp()) &&
        of.getDefiningOp()->getBlock() == op_.operation()->getBlock())
      makers.insert(of.getDefiningOp());
  };
  ask(value);
  for (size_t i = 0; i < makers.size(); ++i)
    for (mlir::Value operand : makers[i]->getOperands()) ask(operand);
  llvm::SmallVector<mlir::Operation*> inOrder = makers.takeVector();
  llvm::sort(inOrder, [](auto* one, auto* other) { return one->isBeforeInBlock(other); });
  mlir::IRMapping made;
  for (mlir::Operation* maker : inOrder) {
    const pd::OpView view(maker);
    std::vector<pd::InputSlot> inputs;
    for (const std::string& slot : view.inputSlots()) {
      std::vector<mlir::Value> values = view.inputs(slot);
      for (mlir::Value& one : values)
        if (one) one = made.lookupOrDefault(one);
      inputs.push_back({slot, values});
    }
    mlir::NamedAttrList attributes(maker->getAttrOfType<mlir::DictionaryAttr>("attrs"));
    attributes.erase("op_role");
    const mlir::OpResult result = maker->getResult(0);
    const std::string slot = view.slotOf(result).first;
    const std::string name = declarations_.freshName(op_.operation()->getBlock(), stem_);
    made.map(result,
             declarations_
                 .create(builder_, maker->getLoc(), view.type(), inputs,
                         {{slot, {{name, result.getType()}}}}, attributes.getAttrs(), view.role())
                 .output(slot));
  }
  return made.lookupOrDefault(value);
}

// The op's output in `slot` becomes `value`; what its variable holds then. A moment is state, so
// that the step behind the norm reads it and is handed nothing.
mlir::Value Writer::readAgain(llvm::StringRef slot, mlir::Value value) {
  mlir::Value old = op_.output(slot);
  pd::SetOp kept;
  for (mlir::Operation* user : llvm::make_early_inc_range(old.getUsers()))
    if (auto set = llvm::dyn_cast<pd::SetOp>(user)) kept = set;
  old.replaceAllUsesWith(value);
  if (!kept || kept->getBlock() != op_.operation()->getBlock()) return value;
  kept->moveBefore(op_.operation());
  return pd::GetOp::create(builder_, op_.operation()->getLoc(), value.getType(), kept.getVarAttr())
      .getValue();
}

// The update that is left, under the names of the op's results.
void Writer::update(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs,
                    llvm::ArrayRef<llvm::StringRef> outputs, mlir::NamedAttrList attributes) {
  std::vector<pd::OutputSlot> results;
  for (llvm::StringRef slot : outputs)
    results.push_back({slot, {{op_.outputName(slot).str(), op_.output(slot).getType()}}});
  for (llvm::StringRef name : kCommon)
    if (mlir::Attribute value = op_.attr(name)) attributes.set(name, value);
  const pd::OpView made = declarations_.create(builder_, op_.operation()->getLoc(), type, inputs,
                                               results, attributes.getAttrs(), op_.role());
  for (llvm::StringRef slot : outputs) op_.output(slot).replaceAllUsesWith(made.output(slot));
  op_.operation()->erase();
}

// You et al., arXiv:1904.00962; passes/lamb/pass.td has the formulas. The step r is made twice, of
// the moments as they are then: once for its norm, once for the update.
void Writer::lamb() {
  const double beta1 = op_.getFloat("beta1"), beta2 = op_.getFloat("beta2"),
               decay = op_.getFloat("weight_decay");
  mlir::Value w = op_.input("Param"), g = op_.input("Grad");
  mlir::Value pow1 = op_.input("Beta1Pow"), pow2 = op_.input("Beta2Pow");
  mlir::Value one = legacy_ ? mlir::Value() : scale(pow1, -1, 1),
              two = legacy_ ? mlir::Value() : scale(pow2, -1, 1);
  mlir::Value m = add(scale(op_.input("Moment1"), beta1), scale(g, 1 - beta1));
  mlir::Value v = add(scale(op_.input("Moment2"), beta2), scale(unary("square", g), 1 - beta2));
  for (auto [in, out, factor] :
       {std::tuple("Beta1Pow", "Beta1PowOut", beta1), std::tuple("Beta2Pow", "Beta2PowOut", beta2)})
    if (mlir::Value handedOn = op_.output(out))
      handedOn.replaceAllUsesWith(scale(op_.input(in), factor));
  const auto step = [&](mlir::Value moment, mlir::Value square) {
    mlir::Value top = legacy_ ? moment : over(moment, one);
    mlir::Value root = unary("sqrt", legacy_ ? square : over(square, two));
    mlir::Value r = over(top, scale(root, 1, op_.getFloat("epsilon")));
    return decay == 0 ? r : add(r, scale(w, decay));
  };
  mlir::Value mThen = readAgain("Moment1Out", m), vThen = readAgain("Moment2Out", v);
  mlir::Value r = step(m, v);
  // 2.x: without decay the rate is everybody's, unless it says otherwise.
  if (legacy_ || decay > 0 || op_.getBool("always_adapt")) {
    mlir::Value p = norm(w), q = norm(r), counts = bothPositive(p, q);
    mlir::Value ratio = over(p, add(q, scale(unary("sign", q), -1, 1)));
    r = times(step(mThen, vThen), ratioOrOne(ratio, counts));
  }
  update("sgd", {{"Grad", {r}}, {"LearningRate", {op_.input("LearningRate")}}, {"Param", {w}}},
         {"ParamOut"}, {});
}

// You, Gitman, Ginsburg 2017; passes/lars/pass.td has the formulas. Momentum at rate 1, of a
// gradient that has the layer's rate in it.
void Writer::lars() {
  const std::vector<double> decays =
      llvm::isa_and_nonnull<mlir::FloatAttr>(op_.attr("lars_weight_decay"))
          ? std::vector<double>{op_.getFloat("lars_weight_decay")}
          : op_.getFloats("lars_weight_decay");
  const double decay = decays.front();
  const double rescale = op_.getFloat("rescale_grad");
  mlir::Value w = op_.input("Param"), g = op_.input("Grad"), rate = op_.input("LearningRate");
  if (legacy_ || decay > 0) {
    mlir::Value p = norm(w), q = norm(scale(g, rescale)), counts = bothPositive(p, q);
    mlir::Value below = scale(add(q, scale(p, decay)), 1, op_.getFloat("epsilon"));
    mlir::Value ratio =
        over(scale(p, op_.getFloat("lars_coeff")), add(below, scale(counts, -1, 1)));
    rate = times(rate, ratioOrOne(ratio, counts));
    g = again(g);
  }
  g = scale(g, rescale);
  if (decay != 0) g = add(g, scale(w, decay));
  mlir::NamedAttrList attributes;
  attributes.append(number("mu", op_.getFloat("mu")));
  attributes.append("use_nesterov", builder_.getBoolAttr(false));
  update("momentum",
         {{"Grad", {times(g, rate)}},
          {"LearningRate", {constant(1)}},
          {"Param", {w}},
          {"Velocity", {op_.input("Velocity")}}},
         {"ParamOut", "VelocityOut"}, attributes);
}

// X · max_norm / max(‖X‖, max_norm)
void Writer::clip() {
  mlir::Value x = op_.input("X"), most = constant(op_.getFloat("max_norm"));
  mlir::Value factor = over(most, binary("elementwise_max", norm(x), most));
  mlir::Value clipped =
      declarations_
          .create(builder_, op_.operation()->getLoc(), "elementwise_mul",
                  {{"X", {again(x)}}, {"Y", {factor}}},
                  {{"Out", {{op_.outputName("Out").str(), op_.output("Out").getType()}}}},
                  {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1))}, op_.role())
          .output("Out");
  op_.output("Out").replaceAllUsesWith(clipped);
  op_.operation()->erase();
}

struct Row {
  llvm::StringLiteral type, tensor, result;
  void (Writer::*write)();
};
constexpr Row kRows[] = {
    {"clip_by_norm", "X", "Out", &Writer::clip},
    {"lamb", "Param", "ParamOut", &Writer::lamb},
    {"lars_momentum", "Param", "ParamOut", &Writer::lars},
};

const Row* rowOf(pd::OpView op) {
  const Row* row = llvm::find_if(kRows, [&](const Row& one) { return one.type == op.type(); });
  return row == std::end(kRows) ? nullptr : row;
}

bool isFloat32(mlir::Value value) {
  auto type = value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : nullptr;
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

}  // namespace

bool takesNorm(pd::OpView op) { return rowOf(op) != nullptr; }
mlir::Value normed(pd::OpView op) { return op.input(rowOf(op)->tensor); }
llvm::StringRef normedResult(pd::OpView op) { return op.outputName(rowOf(op)->result); }

// Null where the op takes no norm, an empty text where the norm can be written out as a value of
// its own, and else what stands in the way.
const char* whyNotWrittenOut(pd::OpView op) {
  if (!takesNorm(op)) return nullptr;
  for (llvm::StringRef slot : {"MasterParam", "SkipUpdate"})
    if (op.inputCount(slot) > 0) return "it has a MasterParam or SkipUpdate";
  if (op.inputCount("Param") > 1) return "it updates several parameters";
  if (!llvm::all_of(op.operation()->getOperands(), isFloat32))
    return "not all that it takes is dense float32 of known extents";
  if (op.type() == "lars_momentum" &&
      !llvm::isa_and_nonnull<mlir::FloatAttr>(op.attr("lars_weight_decay")) &&
      op.getFloats("lars_weight_decay").size() != 1)
    return "it has several decays";
  return "";
}

void writeOut(pd::OpView op, pd::Declarations& declarations) {
  Writer writer(op, declarations);
  (writer.*rowOf(op)->write)();
}

}  // namespace dtranspile
