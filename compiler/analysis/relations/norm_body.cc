// A body and its formula are the same if both give the same terms: an op with its parameters, of
// terms, each of which has one number. Ops that are in no formula, and attributes that might change
// the meaning of one, are fresh terms, which equal nothing.
#include "compiler/analysis/relations/norm_body.h"

#include <cstring>
#include <map>
#include <optional>

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

class Terms {
 public:
  int of(const std::string& op, const std::vector<int>& operands) {
    return numbers_.try_emplace({op, operands}, static_cast<int>(numbers_.size())).first->second;
  }
  int fresh() { return of("unknown " + std::to_string(numbers_.size()), {}); }
  int operand(llvm::StringRef slot) { return of("operand " + slot.str(), {}); }
  int scaled(int x, float factor, float bias = 0) {
    return of("scale " + bits(factor) + " " + bits(bias), {x});
  }
  int constant(float value) { return of("constant " + bits(value), {}); }

 private:
  static std::string bits(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return std::to_string(word);
  }
  std::map<std::pair<std::string, std::vector<int>>, int> numbers_;
};

// Slots and attributes of the ops that formulas are made of.
struct OpRow {
  llvm::StringLiteral type;
  std::vector<llvm::StringRef> slots;
};
const OpRow kOps[] = {
    {"squared_l2_norm", {"X"}},         {"sqrt", {"X"}},
    {"elementwise_add", {"X", "Y"}},    {"elementwise_sub", {"X", "Y"}},
    {"elementwise_mul", {"X", "Y"}},    {"elementwise_div", {"X", "Y"}},
    {"greater_than", {"X", "Y"}},       {"logical_and", {"X", "Y"}},
    {"where", {"Condition", "X", "Y"}},
};

class Reader {
 public:
  explicit Reader(Terms& terms) : terms_(terms) {}
  void bind(mlir::Value value, int term) { numbers_[value] = term; }
  int of(mlir::Value value) {
    auto [at, fresh] = numbers_.try_emplace(value, -1);
    if (fresh) at->second = terms_.fresh();
    return at->second;
  }
  void read(mlir::Block& body) {
    for (mlir::Operation& op : body) {
      if (auto sum = llvm::dyn_cast<dist::AllReduceOp>(op)) readSum(sum);
      else if (pd::OpView::isFrameworkOp(&op)) readOp(pd::OpView(&op));
    }
  }

 private:
  void readSum(dist::AllReduceOp sum) {
    if (sum.getReduce() != dist::Reduce::Sum || sum->getNumResults() != sum.getInputs().size())
      return;
    for (auto [result, operand] : llvm::zip(sum->getResults(), sum.getInputs()))
      if (result.getType() == operand.getType())
        bind(result, terms_.of("all_reduce", {of(operand)}));
  }
  // As the formulas below are written: `scale` with constant factor and bias, constants, and the
  // ops of kOps without broadcasting along an axis. All else stays a fresh term.
  void readOp(pd::OpView op) {
    mlir::Value out = op.output("Out");
    if (!out || !onlyKnownAttributes(op)) return;
    if (op.type() == "scale" && op.operation()->getNumOperands() == 1 &&
        op.getBool("bias_after_scale"))
      return bind(out, terms_.scaled(of(op.input("X")), static_cast<float>(op.getFloat("scale")),
                                     static_cast<float>(op.getFloat("bias"))));
    if (op.type() == "fill_constant" && op.operation()->getNumOperands() == 0)
      return bind(out, terms_.constant(static_cast<float>(op.getFloat("value"))));
    for (const OpRow& row : kOps) {
      if (row.type != op.type() || op.operation()->getNumOperands() != row.slots.size()) continue;
      if (op.hasAttr("axis") && op.getInt("axis") != -1) return;
      std::vector<int> operands;
      for (llvm::StringRef slot : row.slots) operands.push_back(of(op.input(slot)));
      return bind(out, terms_.of(row.type.str(), operands));
    }
  }
  static bool onlyKnownAttributes(pd::OpView op) {
    constexpr llvm::StringRef kKnown[] = {"axis",  "scale", "bias",    "bias_after_scale", "dtype",
                                          "shape", "value", "op_role", "op_device"};
    auto attributes = op.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs");
    return !attributes || llvm::all_of(attributes, [&](mlir::NamedAttribute attribute) {
      return llvm::is_contained(kKnown, attribute.getName().getValue());
    });
  }

  Terms& terms_;
  llvm::DenseMap<mlir::Value, int> numbers_;
};

// The results of the op, by slot, of its operands.
class Formula {
 public:
  Formula(Terms& terms, dist::CompositeOp composite) : t(terms), composite_(composite) {}

  // Whether the op is one that the formulas are of: with what they take, each once, and a norm in
  // it. A scale of the step, other weights or a decay of nothing are another op.
  bool isOfOp() {
    constexpr llvm::StringLiteral kTaken[] = {"X",       "Param",   "Grad",     "LearningRate",
                                              "Moment1", "Moment2", "Beta1Pow", "Beta2Pow",
                                              "Velocity"};
    llvm::StringSet<> seen;
    for (llvm::StringRef slot : composite_.getInputSlots().getAsValueRange<mlir::StringAttr>())
      if (!llvm::is_contained(kTaken, slot) || !seen.insert(slot).second) return false;
    if (composite_.getOp() == kShardedClip) return number("max_norm", 0) > 0;
    if (composite_.getOp() == kShardedLars) return decay() > 0;
    auto always = composite_.getAttrs().getAs<mlir::BoolAttr>("always_adapt");
    return legacy() || number("weight_decay", 0) > 0 || (always && always.getValue());
  }

  llvm::StringMap<int> results() {
    if (composite_.getOp() == kShardedClip) return clip();
    return composite_.getOp() == kShardedLars ? lars() : lamb();
  }

 private:
  using Results = llvm::StringMap<int>;
  int in(const char* slot) { return t.operand(slot); }
  int op(const char* type, int x, int y) { return t.of(type, {x, y}); }
  int add(int x, int y) { return op("elementwise_add", x, y); }
  int mul(int x, int y) { return op("elementwise_mul", x, y); }
  int div(int x, int y) { return op("elementwise_div", x, y); }
  int norm(int x) { return t.of("sqrt", {t.of("all_reduce", {t.of("squared_l2_norm", {x})})}); }
  int chosen(int condition, int yes, int no) { return t.of("where", {condition, yes, no}); }
  int ifPositive(int p, int q, int ratio) {
    const int zero = t.constant(0);
    return chosen(op("logical_and", op("greater_than", p, zero), op("greater_than", q, zero)),
                  ratio, t.constant(1));
  }
  float number(const char* name, float otherwise) {
    auto value = composite_.getAttrs().getAs<mlir::FloatAttr>(name);
    return value ? static_cast<float>(value.getValueAsDouble()) : otherwise;
  }
  // 1.x: lamb without correction of its moments, and norms without a decay too.
  bool legacy() {
    auto program = composite_->getParentOfType<pd::ProgramOp>();
    const int64_t version = program ? program.getVersion() : 0;
    return version > 0 && version < 2000000;
  }
  float decay() {
    const mlir::Attribute one = composite_.getAttrs().get("lars_weight_decay");
    if (auto value = llvm::dyn_cast_or_null<mlir::FloatAttr>(one))
      return static_cast<float>(value.getValueAsDouble());
    auto list = llvm::dyn_cast_or_null<mlir::DenseF32ArrayAttr>(one);
    return list && !list.empty() ? list[0] : 0.0005F;
  }

  Results clip() {
    const int bound = t.constant(number("max_norm", 0)), n = norm(in("X"));
    return {
        {"Out", mul(in("X"), chosen(op("greater_than", n, bound), div(bound, n), t.constant(1)))}};
  }

  // LARS (You, Gitman and Ginsburg 2017) as the framework's lars_momentum computes it: with p = ‖w‖
  // and q = ‖g‖ of the whole parameter the rate of a layer is lr · coeff · p / (q + decay·p + ε),
  // or lr where either norm is zero.
  Results lars() {
    const int w = in("Param");
    const float rescale = number("rescale_grad", 1), decayed = decay();
    const int g = rescale == 1 ? in("Grad") : t.scaled(in("Grad"), rescale);
    const int p = norm(w), q = norm(g);
    const int divisor = add(q, t.scaled(p, decayed, number("epsilon", 0)));
    const int ratio = div(t.scaled(p, number("lars_coeff", 0.001F)), divisor);
    const int rate = mul(ifPositive(p, q, ratio), in("LearningRate"));
    const int v =
        add(t.scaled(in("Velocity"), number("mu", 0)), mul(add(g, t.scaled(w, decayed)), rate));
    return {{"VelocityOut", v}, {"ParamOut", op("elementwise_sub", w, v)}};
  }

  // LAMB (You et al. 2020) as the framework computes it: Adam's direction with decay, u = m̂/(√v̂ +
  // ε) + decay·w, and a step of lr · ‖w‖/‖u‖ along it. Beta1Pow and Beta2Pow are β^t before the
  // step.
  Results lamb() {
    const bool corrects = !legacy();
    const int w = in("Param"), g = in("Grad");
    const float b1 = number("beta1", 0.9F), b2 = number("beta2", 0.999F);
    const int m = add(t.scaled(in("Moment1"), b1), t.scaled(g, 1 - b1));
    const int v = add(t.scaled(in("Moment2"), b2), t.scaled(mul(g, g), 1 - b2));
    const int first = corrects ? div(m, t.scaled(in("Beta1Pow"), -1, 1)) : m;
    const int second = corrects ? div(v, t.scaled(in("Beta2Pow"), -1, 1)) : v;
    const int root = t.scaled(t.of("sqrt", {second}), 1, number("epsilon", 1e-6F));
    const int u = add(div(first, root), t.scaled(w, number("weight_decay", 0)));
    const int p = norm(w), q = norm(u);
    const int rate = mul(ifPositive(p, q, div(p, q)), in("LearningRate"));
    return {{"Moment1Out", m},
            {"Moment2Out", v},
            {"ParamOut", op("elementwise_sub", w, mul(u, rate))},
            {"Beta1PowOut", t.scaled(in("Beta1Pow"), b1)},
            {"Beta2PowOut", t.scaled(in("Beta2Pow"), b2)}};
  }

  Terms& t;
  dist::CompositeOp composite_;
};

}  // namespace

bool takesNormsOfParts(dist::CompositeOp composite) {
  const llvm::StringRef name = composite.getOp();
  return name == kShardedClip || name == kShardedLars || name == kShardedLamb;
}

// Reads the body and the formula into the same table of terms and compares results by number. The
// norm of the whole is the root of an all_reduce of the squared norms of the parts, which is how
// the formula is written too. Returns what differs; empty where nothing does.
std::string normBodyDiffers(dist::CompositeOp composite) {
  Terms terms;
  Reader reader(terms);
  mlir::Block& body = composite.getBody().front();
  for (auto [slot, argument] : llvm::zip(
           composite.getInputSlots().getAsValueRange<mlir::StringAttr>(), body.getArguments()))
    reader.bind(argument, terms.operand(slot));
  Formula formula(terms, composite);
  if (!formula.isOfOp()) return "sums up norms that its op does not take";
  const llvm::StringMap<int> wanted = formula.results();
  reader.read(body);
  auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
  for (auto [slot, value] : llvm::zip(
           composite.getOutputSlots().getAsValueRange<mlir::StringAttr>(), yield.getValues())) {
    auto found = wanted.find(slot);
    if (found == wanted.end() || reader.of(value) != found->second)
      return "gives in slot " + slot.str() + " something else than the op with norms of the whole";
  }
  return "";
}

}  // namespace dtranspile::verify
