// Values of the body become terms: an operation on terms, of which equal ones have one number, so
// that comparing two results is comparing two numbers, however ops are ordered, shared and shaped.
// What the reader does not know is a fresh term, which equals nothing: it errs towards a
// difference.
#include "compiler/verify/relations/compressed_update.h"

#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "compiler/analysis/relations/averages.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

std::string bitsOf(double value) {
  const auto single = static_cast<float>(value);
  uint32_t word;
  std::memcpy(&word, &single, sizeof word);
  return std::to_string(word);
}

std::string dimsText(mlir::Type type) {
  std::string text;
  if (mlir::RankedTensorType tensor = pd::tensorOf(type))
    for (int64_t extent : tensor.getShape()) text += std::to_string(extent) + "x";
  return text;
}

// Hash-consed terms. Sums and factors are kept in a normal form: nested sums are flattened and
// ordered, factors multiplied out.
class Terms {
 public:
  int of(const std::string& operation, std::vector<int> operands) {
    auto [at, fresh] = numbers_.try_emplace({operation, operands}, static_cast<int>(made_.size()));
    if (fresh) made_.push_back({operation, std::move(operands)});
    return at->second;
  }
  int fresh() { return of("unknown " + std::to_string(made_.size()), {}); }

  // Sums are flat: the order and grouping of their terms is no matter.
  int sum(const std::vector<int>& terms) {
    std::vector<int> flat;
    for (int term : terms) {
      if (made_[term].first == "sum") llvm::append_range(flat, made_[term].second);
      else flat.push_back(term);
    }
    llvm::sort(flat);
    return of("sum", flat);
  }
  int scaled(int x, double factor) {
    return static_cast<float>(factor) == 1 ? x : of("scale " + bitsOf(factor), {x});
  }

 private:
  std::map<std::pair<std::string, std::vector<int>>, int> numbers_;
  std::vector<std::pair<std::string, std::vector<int>>> made_;
};

// The formula, for one number of elements.
class Formula {
 public:
  Formula(Terms& terms, dist::CompositeOp composite, int64_t ranks)
      : t(terms), composite_(composite), ranks_(static_cast<double>(ranks)) {
    elements_ = pd::tensorOf(operandIn(composite, "Param").getType()).getNumElements();
  }

  int in(llvm::StringRef name) { return t.of(("value " + name).str(), {}); }
  int64_t elements() const { return elements_; }

  // Momentum with the sum of the ranks' gradients.
  int denseParameter() { return dense("ParamOut"); }
  int denseVelocity() { return dense("VelocityOut"); }

  // u' and v' before anything is sent: momentum of the rank's own gradient, and its sum.
  void accumulate(int& u, int& v) {
    std::vector<int> gradient = {t.scaled(in("Grad"), ranks_)};
    if (text("regularization_method") == "l2_decay")
      gradient.push_back(t.scaled(in("Param"), number("regularization_coeff")));
    const int g = gradient.size() == 1 ? gradient[0] : t.sum(gradient);
    const double mu = number("mu");
    if (flag("use_nesterov")) {
      u = t.scaled(t.sum({in("Velocity"), g}), mu);
      v = t.sum({in("residual"), u, g});
    } else {
      u = t.sum({t.scaled(in("Velocity"), mu), g});
      v = t.sum({in("residual"), u});
    }
  }
  // Zero where it was sent.
  int masked(int x, int at, int64_t kept) {
    return t.of("put", {x, at, filled(std::to_string(kept) + "x")});
  }
  int largest(int v, int64_t kept) {
    return t.of("largest " + std::to_string(kept), {t.of("abs", {v})});
  }
  int parameter(int v, int at) {
    const int values = t.of("gather", {v, at});
    const int merged = t.of("add at", {filled(std::to_string(elements_) + "x"),
                                       t.of("all_gather", {at}), t.of("all_gather", {values})});
    return t.of("sgd", {in("Param"), t.scaled(merged, 1 / ranks_), in("LearningRate")});
  }

 private:
  int filled(const std::string& dims) { return t.of("fill " + bitsOf(0) + " " + dims, {}); }
  int dense(const char* slot) {
    return t.of(std::string("momentum ") + slot, {in("Param"), t.of("all_reduce", {in("Grad")}),
                                                  in("Velocity"), in("LearningRate")});
  }
  double number(llvm::StringRef name) {
    auto value = composite_.getAttrs().getAs<mlir::FloatAttr>(name);
    return value ? value.getValueAsDouble() : 0;
  }
  std::string text(llvm::StringRef name) {
    auto value = composite_.getAttrs().getAs<mlir::StringAttr>(name);
    return value ? value.str() : "";
  }
  bool flag(llvm::StringRef name) {
    auto value = composite_.getAttrs().getAs<mlir::BoolAttr>(name);
    return value && value.getValue();
  }

  Terms& t;
  dist::CompositeOp composite_;
  double ranks_;
  int64_t elements_ = 0;
};

// The steps in which a branch is taken: after `after`, up to `last` (0: for good).
struct Steps {
  int64_t after = 0, last = 0;
};

pd::OpView opOf(mlir::Value value) {
  mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
  return pd::OpView(op && pd::OpView::isFrameworkOp(op) ? op : nullptr);
}

// The steps in which a branch runs, as an interval (after, last]: `step <= n`, `step > n`, or both.
// Nothing where the predicate is another one.
std::optional<Steps> stepsOf(mlir::Value predicate) {
  const pd::OpView op = opOf(predicate);
  if (!op.operation()) return std::nullopt;
  if (op.type() == "logical_and") {
    const std::optional<Steps> a = stepsOf(op.input("X")), b = stepsOf(op.input("Y"));
    if (!a || !b || a->last || b->after) return std::nullopt;
    return Steps{a->after, b->last};
  }
  const bool upTo = op.type() == "less_equal";
  if (!upTo && op.type() != "greater_than") return std::nullopt;
  const std::optional<int64_t> limit = numberIn(op.input("Y"));
  if (!limit || *limit < 1 || !countsSteps(op.input("X"))) return std::nullopt;
  return upTo ? Steps{0, *limit} : Steps{*limit, 0};
}

// Executes the body symbolically, once for each interval of steps that its branches tell apart, and
// compares what the variables hold at the end with the formulas of the definition.
class Reader {
 public:
  explicit Reader(dist::CompositeOp composite)
      : composite_(composite),
        ranks_(dist::meshOf(composite).ranks()),
        formula_(terms_, composite, ranks_) {}

  // Finds the state of the composite first: parameter and velocity are the variables of its slots,
  // and the one other variable that the body sets is the residual. Then the body is read with
  // symbols for what these hold at the beginning. Without branches there is one case, and the
  // values are those that the composite yields; with branches each of them is judged where it ends,
  // and the yield may give only what the variables hold.
  CompressedUpdate read() {
    for (auto [variable, slot] :
         {std::pair(&result_.parameter, "Param"), std::pair(&result_.velocity, "Velocity")}) {
      auto get = operandIn(composite_, slot).getDefiningOp<pd::GetOp>();
      if (!get) return fail(composite_, std::string("takes no variable in slot ") + slot);
      *variable = get.getVar().str();
    }
    mlir::Block& body = composite_.getBody().front();
    composite_.walk([&](pd::SetOp set) {
      const std::string name = set.getVar().str();
      if (name == result_.parameter || name == result_.velocity || name == result_.residual) return;
      if (!result_.residual.empty()) fail(set, "sets `" + name + "`, which is none of its state");
      result_.residual = name;
    });
    begin();
    for (auto [slot, operand, argument] :
         llvm::zip(composite_.getInputSlots().getAsValueRange<mlir::StringAttr>(),
                   composite_.getInputs(), body.getArguments()))
      values_[operand] = values_[argument] = formula_.in(slot);
    readBlock(body);
    if (!branches_) {
      auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
      for (const std::string& name : {result_.parameter, result_.velocity})
        if (changed_.count(name)) return fail(composite_, "sets `" + name + "`, and gives it too");
      for (auto [slot, value] : llvm::zip(
               composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(), yield.getValues()))
        held_[slot == "ParamOut" ? result_.parameter : result_.velocity] = of(value);
      judge({}, composite_);
    } else {
      checkGiven(body);
    }
    checkStages();
    return std::move(result_);
  }

 private:
  CompressedUpdate fail(mlir::Operation* at, std::string why) {
    if (!result_.wrong) {
      result_.wrong = at;
      result_.why = std::move(why);
    }
    return result_;
  }

  // What variables hold before the update.
  void begin() {
    held_ = {{result_.parameter, formula_.in("Param")},
             {result_.velocity, formula_.in("Velocity")}};
    if (!result_.residual.empty()) held_[result_.residual] = formula_.in("residual");
    changed_.clear();
    kept_ = 0;
  }

  int of(mlir::Value value) {
    auto [at, fresh] = values_.try_emplace(value, -1);
    if (fresh) at->second = terms_.fresh();
    return at->second;
  }
  void bind(mlir::Value value, int term) { values_[value] = term; }

  // In program order, since variables change: `held_` is the term in each variable at this point.
  // An op that is none of the known kinds is a fault of the body, not merely an unknown term: it
  // might do more than to compute a value.
  void readBlock(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        auto held = held_.find(get.getVar().str());
        values_[get.getValue()] = held == held_.end() ? terms_.fresh() : held->second;
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        held_[set.getVar().str()] = of(set.getValue());
        changed_.insert(set.getVar().str());
      } else if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) {
        if (mlir::Operation* start = wait.getPending().getDefiningOp())
          readCommunication(start, wait.getOutputs());
      } else if (dist::commOf(&op)) {
        readCommunication(&op, op.getResults());
      } else if (pd::OpView::isFrameworkOp(&op)) {
        if (op.getNumRegions()) readBranch(&op);
        else readOp(pd::OpView(&op));
      } else if (!llvm::isa<pd::DeclOp, pd::YieldOp, dist::YieldOp>(op)) {
        fail(&op, "is an op that no compression has");
      }
    }
  }

  // Branches exclude each other (checkStages): each begins with what variables held before.
  void readBranch(mlir::Operation* op) {
    const pd::OpView view(op);
    const std::optional<Steps> steps = stepsOf(view.input("Cond"));
    if (view.type() != "conditional_block" || !view.getBool("is_scalar_condition") || !steps) {
      fail(op, "runs in steps that cannot be read off its predicate");
      return;
    }
    branches_ = true;
    begin();
    mlir::Block& block = op->getRegion(0).front();
    for (auto [i, argument] : llvm::enumerate(block.getArguments()))
      values_[argument] = of(view.input("$capture", i));
    readBlock(block);
    judge(*steps, op);
    begin();
  }

  // Sums over all ranks, and gathers along dim 0 of parts of equal extents: what dense steps and
  // sparse ones exchange.
  void readCommunication(mlir::Operation* op, mlir::ValueRange results) {
    if (llvm::isa_and_nonnull<dist::PendingType>(op->getNumResults() ? op->getResult(0).getType()
                                                                     : mlir::Type()) &&
        results == mlir::ValueRange(op->getResults()))
      return;  // where it is waited for
    auto reduce = llvm::dyn_cast<dist::AllReduceOp>(op);
    auto gather = llvm::dyn_cast<dist::AllGatherOp>(op);
    const bool known = (reduce && reduce.getReduce() == dist::Reduce::Sum) ||
                       (gather && gather.getDim() == 0 && !gather.getRagged());
    if (!known || !joinsAllRanks(op, dist::commOf(op))) {
      fail(op, "is no sum over all ranks, and puts no parts of all of them together");
      return;
    }
    result_.comm = dist::commOf(op);
    for (auto [result, operand] : llvm::zip(results, op->getOperands()))
      values_[result] = terms_.of(reduce ? "all_reduce" : "all_gather", {of(operand)});
  }

  static bool isInteger(mlir::Value value) {
    mlir::RankedTensorType type = pd::tensorOf(value.getType());
    return type && type.getElementType().isInteger();
  }

  // One row per op of the formula. The indices of the largest elements, gathers by them and
  // scatters of what was gathered are terms of their own, whose k is noted for the contract; shapes
  // are ignored where only the order of elements counts.
  void readOp(pd::OpView op) {
    const llvm::StringRef type = op.type();
    const auto in = [&](const char* slot) { return op.input(slot) ? of(op.input(slot)) : -1; };
    if (type == "scale" && op.getFloat("bias") == 0 && !op.hasInput("ScaleTensor"))
      return bind(op.output("Out"), terms_.scaled(in("X"), op.getFloat("scale")));
    const bool adds =
        type == "elementwise_add" && op.input("X").getType() == op.input("Y").getType();
    if (adds || type == "sum") {
      std::vector<int> terms;
      for (mlir::Value operand : op.operation()->getOperands()) terms.push_back(of(operand));
      return bind(op.output("Out"), terms_.sum(terms));
    }
    // Elements keep their places, which is all that follows looks at.
    if (type == "reshape2" && !op.hasInput("Shape") && !op.inputCount("ShapeTensor"))
      return bind(op.output("Out"), in("X"));
    if (type == "abs") return bind(op.output("Out"), terms_.of("abs", {in("X")}));
    if (type == "top_k_v2" && !op.hasInput("K") && op.getBool("largest") && isFlat(op.input("X"))) {
      kept_ = op.getInt("k");
      return bind(op.output("Indices"), terms_.of("largest " + std::to_string(kept_), {in("X")}));
    }
    if (type == "cast" && isInteger(op.input("X")) && holdsPlaces(op.output("Out")))
      return bind(op.output("Out"), in("X"));
    if (type == "gather" && op.getInt("axis") == 0 && !op.hasInput("Axis") && isFlat(op.input("X")))
      return bind(op.output("Out"), terms_.of("gather", {in("X"), in("Index")}));
    if (type == "scatter" && isFlat(op.input("X")))
      return bind(op.output("Out"), terms_.of(op.getBool("overwrite") ? "put" : "add at",
                                              {in("X"), in("Ids"), in("Updates")}));
    if (type == "fill_constant" && op.operation()->getNumOperands() == 0 &&
        op.getString("str_value").empty())
      return bind(op.output("Out"), terms_.of("fill " + bitsOf(op.getFloat("value")) + " " +
                                                  dimsText(op.output("Out").getType()),
                                              {}));
    if (type == "sgd" && !op.hasInput("MasterParam") && !op.getBool("multi_precision"))
      return bind(op.output("ParamOut"),
                  terms_.of("sgd", {in("Param"), in("Grad"), in("LearningRate")}));
    if (type == "momentum" && !op.input("MasterParam") &&
        op.operation()->getAttr("attrs") == composite_.getAttrs()) {
      for (const char* slot : {"ParamOut", "VelocityOut"})
        bind(op.output(slot),
             terms_.of(std::string("momentum ") + slot,
                       {in("Param"), in("Grad"), in("Velocity"), in("LearningRate")}));
      return;
    }
    const pd::OpSpec* spec = op.spec();
    if (!spec || spec->effects != pd::kPure)
      fail(op.operation(), "does more than to compute a value");
  }

  static bool isFlat(mlir::Value value) {
    mlir::RankedTensorType type = pd::tensorOf(value.getType());
    return type && type.getRank() == 1;
  }
  // Integers that hold the place of every element.
  bool holdsPlaces(mlir::Value value) const {
    if (!isInteger(value)) return false;
    const unsigned width = pd::tensorOf(value.getType()).getElementTypeBitWidth();
    return width == 64 ||
           (width == 32 && formula_.elements() <= std::numeric_limits<int32_t>::max());
  }

  // What was set, against the formula.
  void judge(const Steps& steps, mlir::Operation* at) {
    if (result_.wrong) return;
    const int parameter = held_[result_.parameter], velocity = held_[result_.velocity];
    const bool keeps = changed_.count(result_.residual) != 0;
    if (kept_ == 0) {
      if (parameter != formula_.denseParameter() || velocity != formula_.denseVelocity() || keeps)
        fail(at,
             "neither compresses the gradient nor takes the momentum step with the sum of all "
             "ranks' gradients");
    } else {
      int u, v;
      formula_.accumulate(u, v);
      const int place = formula_.largest(v, kept_);
      if (!keeps || held_[result_.residual] != formula_.masked(v, place, kept_))
        fail(at, "does not keep of the accumulated gradient what it does not send: `" +
                     result_.residual +
                     "` must end as the sum of itself and the velocity, zero "
                     "where it was sent");
      else if (velocity != formula_.masked(u, place, kept_))
        fail(at, "does not leave the velocity of its own gradient in `" + result_.velocity +
                     "`, zero where it was sent (factor masking)");
      else if (parameter != formula_.parameter(v, place))
        fail(at, "does not update `" + result_.parameter +
                     "` with the mean over all ranks of what was sent");
    }
    if (steps.after != (result_.stages.empty() ? 0 : result_.stages.back().last) ||
        (!result_.stages.empty() && result_.stages.back().last == 0))
      fail(at, "does not begin in the step after those of the branch before it");
    result_.stages.push_back({steps.last, kept_});
  }

  // After branches the results are what variables hold.
  void checkGiven(mlir::Block& body) {
    auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
    mlir::Operation* last = nullptr;
    for (mlir::Operation& op : body)
      if (op.getNumRegions()) last = &op;
    for (auto [slot, value] : llvm::zip(
             composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(), yield.getValues())) {
      auto get = value.getDefiningOp<pd::GetOp>();
      const std::string& wanted = slot == "ParamOut" ? result_.parameter : result_.velocity;
      // One that was read outside holds what the variable was before the branches.
      if (!get || get.getVar() != wanted || get->getBlock() != &body || !last->isBeforeInBlock(get))
        fail(composite_, "gives in slot " + slot.str() + " something else than what `" + wanted +
                             "` holds after its branches");
    }
    for (auto set : body.getOps<pd::SetOp>()) fail(set, "sets a variable outside of the branches");
  }

  void checkStages() {
    if (result_.wrong) return;
    if (result_.stages.empty() || result_.stages.back().last != 0)
      fail(composite_, "updates nothing from some step on: its branches end");
    for (size_t i = 1; i < result_.stages.size(); ++i)
      if (result_.stages[i].kept == 0)
        fail(composite_, "goes back to dense gradients, and what was kept would never be sent");
  }

  dist::CompositeOp composite_;
  int64_t ranks_;
  Terms terms_;
  Formula formula_;
  llvm::DenseMap<mlir::Value, int> values_;
  std::map<std::string, int> held_;
  std::set<std::string> changed_;
  int64_t kept_ = 0;
  bool branches_ = false;
  CompressedUpdate result_;
};

}  // namespace

mlir::Value operandIn(dist::CompositeOp composite, llvm::StringRef slot) {
  for (auto [name, value] : llvm::zip(composite.getInputSlots().getAsValueRange<mlir::StringAttr>(),
                                      composite.getInputs()))
    if (name == slot) return value;
  return {};
}

bool joinsAllRanks(mlir::Operation* at, mlir::FlatSymbolRefAttr name) {
  dist::CommOp comm = dist::lookupComm(at, name);
  dist::MeshOp mesh = dist::meshOf(at);
  return comm && mesh && !comm.getSubset() && comm.getMesh() == mesh.getSymName() &&
         comm.groupSize(mesh) == mesh.ranks();
}

CompressedUpdate readCompressedUpdate(dist::CompositeOp composite) {
  for (const char* slot : {"Param", "Grad", "Velocity", "LearningRate"})
    if (!operandIn(composite, slot))
      return {{}, {}, {}, {}, {}, composite, std::string("has no operand in slot ") + slot};
  mlir::RankedTensorType type = pd::tensorOf(operandIn(composite, "Param").getType());
  if (!type || !type.hasStaticShape())
    return {{}, {}, {}, {}, {}, composite, "is of a parameter without known extents"};
  return Reader(composite).read();
}

}  // namespace dtranspile::verify
