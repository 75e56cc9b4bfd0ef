#include "compiler/verify/refinement/walk.h"

#include <set>

#include "compiler/verify/refinement/algebra.h"
#include "compiler/verify/refinement/truth.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

// A branch that gives no values: what it does is what it sets. Its scope is read by nobody, and its
// block takes what the op captures.
bool isPlainBranch(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  pd::OpView view(op);
  return view.type() == "conditional_block" && view.getBool("is_scalar_condition") &&
         view.inputCount("Cond") == 1 && op->use_empty() && op->getNumRegions() == 1 &&
         op->getRegion(0).hasOneBlock() &&
         op->getRegion(0).front().getNumArguments() == view.inputs("$capture").size();
}

// The condition of a choice between two values of one type, the second where it holds: a branch
// that sets one variable, as pass select-updates writes it. Null for other ops.
mlir::Value chooses(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return {};
  const pd::OpView view(op);
  if (view.type() != "select_input" || view.inputCount("X") != 2 || !view.input("X", 0) ||
      !view.input("X", 1) || !view.input("Mask") || op->getNumResults() != 1 ||
      view.input("X", 0).getType() != view.input("X", 1).getType() ||
      view.input("X", 1).getType() != op->getResult(0).getType())
    return {};
  mlir::Operation* flag = view.input("Mask").getDefiningOp();
  if (!flag || !pd::OpView::isFrameworkOp(flag) || pd::OpView(flag).type() != "cast") return {};
  mlir::Value condition = pd::OpView(flag).input("X");
  mlir::RankedTensorType from = pd::tensorOf(condition.getType()),
                         to = pd::tensorOf(flag->getResult(0).getType());
  return from && from.getElementType().isInteger(1) && to && to.getElementType().isInteger(32)
             ? condition
             : mlir::Value();
}

// Stops a walk at an op that draws, acts on the outside or communicates, or whose effects are not
// known: two of these are never the same value.
mlir::WalkResult meetsWorld(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return mlir::WalkResult::advance();
  const pd::OpSpec* spec = pd::OpView(op).spec();
  const bool pure = spec && !(spec->effects & (pd::kRandom | pd::kHost | pd::kCommunicates));
  return pure ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
}

// Symbolic execution of a program: every value becomes a term over what variables hold before the
// step and over feeds; ops that the algebra (algebra.h) does not know become atoms, functions
// without laws of their operands' terms. Two programs that end with equal terms compute the same,
// whatever the ops mean; the other way round does not hold. Terms are shared (terms.h), so that the
// walk is linear in the ops.
class Walk {
 public:
  Walk(Terms& terms, const Assumptions& assumptions) : terms_(terms), given_(assumptions) {
    for (const std::string& name : given_.positive) {
      const int64_t atom = terms_.singleId(before(name));
      if (atom >= 0) positive_.insert(static_cast<AtomId>(atom));
    }
  }

  // `own`: the program's own block, whose values have names that a fetch can ask for.
  void block(mlir::Block& body, bool own) {
    for (mlir::Operation& op : body) {
      if (llvm::isa<pd::DeclOp, pd::YieldOp>(op)) continue;
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        values_[get.getResult()] = variable(get.getVar());
        terms_.note(values_[get.getResult()], get.getType());
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        effects_.variables[set.getVar().str()] = termOf(set.getValue());
      } else if (isPlainBranch(&op)) {
        branch(&op);
      } else if (mlir::Value condition = chooses(&op)) {
        choose(&op, termOf(condition));
        if (own) finish(&op);
      } else {
        evaluate(&op);
        if (own) finish(&op);
      }
    }
  }

  Effects take() { return std::move(effects_); }

 private:
  // What a variable holds when the step begins: by assumption, or a symbol of its name.
  TermId before(llvm::StringRef name) {
    auto found = given_.before.find(name.str());
    return found != given_.before.end() ? found->second : variableTerm(terms_, name);
  }
  // What it holds now; the first question enters it among the effects.
  TermId variable(llvm::StringRef name) {
    auto [at, first] = effects_.variables.try_emplace(name.str(), Terms::kZero);
    if (first) at->second = before(name);
    return at->second;
  }
  TermId termOf(mlir::Value value) {
    if (!value) return Terms::kNone;
    auto found = values_.find(value);
    if (found != values_.end()) return found->second;
    // A value of a block around, or of an op that is not understood: itself, and nothing else.
    return values_[value] = terms_.of(terms_.atom("value", "value#" + std::to_string(unknown_++),
                                                  {}, value.getDefiningOp()));
  }

  std::optional<bool> answer(TermId condition) {
    auto [at, first] = effects_.answers.try_emplace(condition);
    if (first) at->second = truthOf(terms_, condition, given_.assumed);
    return at->second;
  }

  // What the program's own block has given.
  void finish(mlir::Operation* op) {
    const bool forward = pd::OpView::isFrameworkOp(op) &&
                         !(pd::OpView(op).role() & (pd::kBackward | pd::kOptimize | pd::kLrSched));
    for (mlir::OpResult result : op->getResults()) {
      if (given_.replace && pd::OpView::isFrameworkOp(op))
        values_[result] = given_.replace(result, values_[result]);
      if (!forward || llvm::isa<pd::TapeType>(result.getType())) continue;
      effects_.names[pd::nameOf(result).str()] = values_[result];
      effects_.makers[pd::nameOf(result).str()] = op;
    }
  }

  // if (condition) { block }: where nothing is known of the condition a variable is the one or the
  // other.
  void branch(mlir::Operation* op) {
    pd::OpView view(op);
    const TermId condition = termOf(view.input("Cond"));
    for (auto [argument, captured] :
         llvm::zip_equal(op->getRegion(0).front().getArguments(), view.inputs("$capture")))
      values_[argument] = termOf(captured);
    effects_.conditions.push_back(condition);
    const std::optional<bool> truth = answer(condition);
    if (truth && !*truth) return;
    std::map<std::string, TermId> old = effects_.variables;
    block(op->getRegion(0).front(), /*own=*/false);
    if (truth) return;
    for (auto& [name, now] : effects_.variables) {
      auto found = old.find(name);
      const TermId was = found == old.end() ? before(name) : found->second;
      if (now != was) now = terms_.of(terms_.atom("if", "if", {condition, now, was}, op));
    }
  }

  // As a branch sets a variable.
  void choose(mlir::Operation* op, TermId condition) {
    const pd::OpView view(op);
    const TermId old = termOf(view.input("X", 0)), now = termOf(view.input("X", 1));
    effects_.conditions.push_back(condition);
    const std::optional<bool> truth = answer(condition);
    give(op, 0,
         truth        ? (*truth ? now : old)
         : now == old ? now
                      : terms_.of(terms_.atom("if", "if", {condition, now, old}, op)));
  }

  // Feeds are symbols by name, values that nobody has written symbols by type; ops without blocks
  // are asked of the algebra first.
  void evaluate(mlir::Operation* op) {
    if (auto input = llvm::dyn_cast<pd::InputOp>(op))
      return give(op, 0, terms_.of(terms_.atom("feed", "feed " + input.getName().str(), {}, op)));
    if (auto undef = llvm::dyn_cast<pd::UndefOp>(op))
      return give(op, 0,
                  terms_.of(terms_.atom(
                      "undef", "undef " + describeType(undef.getType(), given_.anyFloat), {}, op)));
    if (!pd::OpView::isFrameworkOp(op)) return;  // results are atoms of their own
    pd::OpView view(op);
    if (std::optional<TermId> product = masked(view)) return give(op, 0, *product);
    if (op->getNumRegions() == 0) {
      const AlgebraContext context{terms_, positive_, [&](TermId term) { return answer(term); },
                                   given_.anyFloat,
                                   [&](mlir::Value value) { return termOf(value); }};
      if (std::optional<std::vector<TermId>> results = compute(view, context)) {
        for (auto [i, term] : llvm::enumerate(*results)) give(op, i, term);
        return;
      }
    }
    Description description = describeOp(view, given_.anyFloat);
    const bool twice = updatesCopies(view, description);
    if (given_.readAs) given_.readAs(description);
    const std::string draw = given_.sharedDraws ? sharedDraw(view, description) : "";
    atoms(view, description, draw.empty() ? drawOf(view) : draw);
    // Over the reals the copy is the parameter, and the update of one that of the other.
    if (twice) values_[view.output("MasterParamOut")] = values_[view.output("ParamOut")];
  }

  // An update of a parameter in half precision beside its float32 copy is the update of one, where
  // both are one value.
  bool updatesCopies(pd::OpView view, Description& description) {
    mlir::Value copy = view.input("MasterParam"), parameter = view.input("Param");
    if (!given_.anyFloat || !copy || !parameter || view.inputCount("MasterParam") != 1 ||
        !view.output("MasterParamOut") || !view.output("ParamOut") ||
        termOf(copy) != termOf(parameter))
      return false;
    description.inputs.erase("MasterParam");
    const std::map<std::string, std::string> plain =
        defaultAttributes(view.operation()->getContext(), description.type);
    if (auto found = plain.find("multi_precision"); found != plain.end())
      description.attributes["multi_precision"] = found->second;
    return true;
  }

  // x · m of equal shapes, with m a mask.
  std::optional<TermId> masked(pd::OpView op) {
    if (given_.masks.empty() || op.type() != "elementwise_mul" || op.getInt("axis") != -1)
      return std::nullopt;
    mlir::Value x = op.input("X"), y = op.input("Y");
    const Atom* mask = y ? terms_.single(termOf(y)) : nullptr;
    if (!x || !mask || mask->type != "variable" || x.getType() != y.getType() ||
        x.getType() != op.operation()->getResult(0).getType())
      return std::nullopt;
    const std::string name = mask->key.substr(sizeof("variable ") - 1);
    if (!given_.masks.count(name)) return std::nullopt;
    return maskedTerm(terms_, termOf(x), name);
  }

  // A draw that others share is the one that its first op is in the source, with the seed that it
  // has there. Empty for other ops.
  std::string sharedDraw(pd::OpView view, Description& description) {
    mlir::Value seed = view.input("Seed");
    mlir::Operation* maker = seed ? seed.getDefiningOp() : nullptr;
    if (!maker || !pd::OpView::isFrameworkOp(maker) || pd::OpView(maker).type() != "seed" ||
        given_.sharedDraws->count(pd::nameOf(seed).str()) || !description.attributes.count("seed"))
      return "";
    const int64_t number = pd::OpView(maker).getInt("seed");
    description.inputs.erase("Seed");
    description.attributes["seed"] = attributeText({static_cast<double>(number)}, false);
    if (description.attributes.count("fix_seed"))
      description.attributes["fix_seed"] = attributeText({number != 0 ? 1.0 : 0.0}, false);
    auto [at, first] = shared_.try_emplace(termOf(seed));
    if (first) at->second = drawOf(view);
    return at->second;
  }

  // The op as it stands: one atom per result.
  void atoms(pd::OpView view, const Description& description, const std::string& draw) {
    mlir::Operation* op = view.operation();
    std::vector<TermId> operands;
    std::string key = description.type + "|";
    for (const auto& [name, value] : description.attributes) key += name + "=" + value + "|";
    // What is linear in a positive scalar gives it to its results (the loss scale and gradients).
    const std::optional<Factored> factored =
        positive_.empty() ? std::nullopt
                          : factor(view, terms_, [&](mlir::Value value) { return termOf(value); });
    for (const auto& [slot, values] : description.inputs) {
      key += slot + "(";
      for (mlir::Value value : values) {
        TermId term = termOf(value);
        if (factored && value) term = terms_.times(term, terms_.common(term), -1);
        operands.push_back(term);
        key += (value ? describeType(value.getType(), given_.anyFloat) : "-") + ",";
      }
      key += ")";
    }
    std::vector<std::string> written;
    if (op->getNumRegions() > 0) {
      RegionDescription regions = describeRegions(op, given_.anyFloat);
      key += regions.text;
      for (const std::string& name : regions.read) operands.push_back(variable(name));
      for (mlir::Value value : regions.captured) operands.push_back(termOf(value));
      // What is not set in every turn keeps its value.
      for (const std::string& name : regions.written) operands.push_back(variable(name));
      written = std::move(regions.written);
    }
    key += draw;
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (auto same = description.handedOn.find(i); same != description.handedOn.end()) {
        give(op, i, termOf(same->second));
        continue;
      }
      const AtomId atom = terms_.atom(description.type,
                                      key + "->" + description.outputs[i] + ":" +
                                          describeType(result.getType(), given_.anyFloat),
                                      operands, op);
      TermId term = terms_.of(atom);
      if (factored) term = terms_.times(term, factored->scalars, factored->powers[i]);
      give(op, i, term);
    }
    for (const std::string& name : written)
      effects_.variables[name] =
          terms_.of(terms_.atom(description.type, key + "->set " + name, operands, op));
  }

  // An op that draws, or meets the world, gives another value every time that it stands there. The
  // name of what it gives says which one it is.
  std::string drawOf(pd::OpView view) {
    if (!view.operation()
             ->walk([](mlir::Operation* op) { return meetsWorld(op); })
             .wasInterrupted())
      return "";
    std::string name = view.operation()->getNumResults() > 0
                           ? pd::nameOf(view.operation()->getResult(0)).str()
                           : "";
    if (given_.copies)
      if (auto copied = given_.copies->find(name); copied != given_.copies->end())
        name = copied->second;
    const int number = draws_[name]++;
    return "draw " + name + "#" + std::to_string(number);
  }

  // Overwrites: a block in turns would be walked again.
  void give(mlir::Operation* op, unsigned result, TermId term) {
    values_[op->getResult(result)] = term;
    terms_.note(term, op->getResult(result).getType());
  }

  Terms& terms_;
  const Assumptions& given_;
  Effects effects_;
  llvm::DenseMap<mlir::Value, TermId> values_;
  std::set<AtomId> positive_;
  std::map<std::string, int> draws_;
  std::map<TermId, std::string> shared_;  // by seed
  int unknown_ = 0;
};

}  // namespace

TermId variableTerm(Terms& terms, llvm::StringRef name) {
  return terms.of(terms.atom("variable", "variable " + name.str(), {}, nullptr));
}

TermId maskedTerm(Terms& terms, TermId weight, const std::string& mask) {
  return terms.of(terms.atom("masked", "masked by " + mask, {weight}, nullptr));
}

Effects follow(Terms& terms, pd::ProgramOp program, const Assumptions& assumptions) {
  Walk walk(terms, assumptions);
  walk.block(*program.getBodyBlock(), /*own=*/true);
  return walk.take();
}

}  // namespace dtranspile::verify
