// Positive scalars that go through ops: the loss scale, which gradients carry.
#include <map>

#include "compiler/analysis/relations/rule.h"
#include "compiler/verify/refinement/algebra.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// The power of the scalar that a value carries; zero carries any.
struct Power {
  int power = 0;
  bool zero = false;
};
using PowerOf = llvm::function_ref<std::optional<Power>(mlir::Value)>;

// Of the results of an op. The question is asked of the op's rule of the relation analysis, which
// carries scales of shares of a batch through ops: an axis of two ranks is made up on which values
// with the factor have scale 2, and log2 of a result's scale is the power. So every op with a rule
// is known here, and no second table has to agree with the first. A rule may ask for more than the
// operands: those of the forward op, or the tensor that an extent comes from.
std::optional<std::vector<Power>> powersThrough(pd::OpView op, PowerOf powerOf) {
  const ParsedRule* rule = findRule(op.type());
  if (!rule || !rule->rule) return std::nullopt;
  Axes axes;
  axes.names.push_back("factor");
  axes.sizes.push_back(2);
  axes.meshSizes.push_back(2);
  axes.isData.push_back(false);
  std::map<const void*, Relation> relations;
  RuleContext context(op.operation(), *rule, axes, [&](mlir::Value value) -> const Relation& {
    auto [at, first] = relations.try_emplace(value.getAsOpaquePointer());
    const std::optional<Power> given = first && value ? powerOf(value) : std::nullopt;
    if (!given) return at->second;
    Relation& relation = at->second;
    relation.whole = Reading::replicated(axes);
    relation.isZero = given->zero;
    // Any number that no rule brings in by itself stands for the scalar.
    for (int i = 0; i < given->power; ++i)
      relation.whole.scale = relation.whole.scale * Rational(2);
    relation.parts = relation.whole;
    return relation;
  });
  context.apply();
  if (!context.violations().empty()) return std::nullopt;
  std::vector<Power> powers;
  for (const Relation& relation : context.takeResults()) {
    const Reading& whole = relation.whole;
    Power& result = powers.emplace_back();
    result.zero = relation.isZero;
    if (result.zero) continue;
    if (!whole.known || !whole.isReplicated() || whole.scale.isLost()) return std::nullopt;
    for (Rational rest = whole.scale; !rest.isOne(); ++result.power) {
      if (result.power == 4) return std::nullopt;
      rest = rest * Rational(1, 2);
    }
  }
  return powers;
}

constexpr llvm::StringLiteral kGradient = "@GRAD";

std::vector<std::string> namesIn(mlir::Operation* op, llvm::StringRef list) {
  std::vector<std::string> names;
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  if (!blocks || blocks.size() != 1) return names;
  if (auto all = llvm::cast<mlir::DictionaryAttr>(blocks[0]).getAs<mlir::ArrayAttr>(list))
    for (auto name : all.getAsValueRange<mlir::StringAttr>()) names.push_back(name.str());
  return names;
}

// The gradient of a StaticRNN is linear in its gradients where every turn of its block is: by
// induction over the turns, from the last one, in which the gradient of a state is zero. A turn
// takes the gradients of outputs, which carry the scalar once, and that of each state, which the
// turn before has given as the gradient of the state's memory; what it hands on carries it once
// again. What the op gives is put together of what turns hand on, and added up.
bool isLinearInTurns(pd::OpView op, PowerOf powerOf) {
  mlir::Operation* raw = op.operation();
  const std::vector<std::string> captures = namesIn(raw, "captures"),
                                 locals = namesIn(raw, "locals"), saved = namesIn(raw, "saved");
  if (raw->getNumRegions() != 1 || raw->getRegion(0).empty()) return false;
  mlir::Block& turn = raw->getRegion(0).front();
  if (turn.getNumArguments() != captures.size() + locals.size()) return false;
  llvm::StringSet<> states, memories;
  for (const std::string& state : op.getStrings("states")) states.insert(state + kGradient.str());
  for (const std::string& memory : op.getStrings("ex_states"))
    memories.insert(memory + kGradient.str());
  llvm::DenseMap<mlir::Value, Power> powers;
  for (mlir::BlockArgument argument : turn.getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (number < captures.size()) {
      const std::optional<Power> outside = powerOf(op.input("$capture", number));
      if (!outside) return false;
      powers[argument] = *outside;
      continue;
    }
    const llvm::StringRef name = locals[number - captures.size()];
    const bool carries = states.contains(name);
    if (!carries && name.contains(kGradient)) return false;  // of which nothing is known
    powers[argument].power = carries;
  }
  const auto within = [&](mlir::Value value) -> std::optional<Power> {
    if (value && value.getDefiningOp<pd::GetOp>()) return Power();
    auto found = powers.find(value);
    return found == powers.end() ? std::nullopt : std::optional<Power>(found->second);
  };
  const auto carriesOnce = [&](mlir::Value value) {
    const std::optional<Power> given = within(value);
    return given && (given->zero || given->power == 1);
  };
  for (mlir::Operation& inner : turn.without_terminator()) {
    if (llvm::isa<pd::DeclOp, pd::GetOp>(inner)) continue;
    if (!pd::OpView::isFrameworkOp(&inner) || inner.getNumRegions() > 0) return false;
    const std::optional<std::vector<Power>> given = powersThrough(pd::OpView(&inner), within);
    if (!given) return false;
    for (auto [result, power] : llvm::zip_equal(inner.getResults(), *given)) {
      powers[result] = power;
      if (memories.contains(pd::nameOf(result)) && !carriesOnce(result)) return false;
    }
  }
  mlir::OperandRange handed = turn.getTerminator()->getOperands();
  if (handed.size() != saved.size()) return false;
  for (auto [name, value] : llvm::zip_equal(saved, handed))
    if (llvm::StringRef(name).contains(kGradient) && !carriesOnce(value)) return false;
  return true;
}

// Zeros of extents that only the run knows are no zero term, and yet zeros.
bool isZero(const Terms& terms, TermId term) {
  if (term == Terms::kZero) return true;
  const Atom* atom = terms.single(term);
  if (!atom || !atom->op || !pd::OpView::isFrameworkOp(atom->op)) return false;
  if (atom->type == "fill_zeros_like" || atom->type == "fill_zeros_like2") return true;
  return (atom->type == "fill_any_like" || atom->type == "fill_constant_batch_size_like") &&
         pd::OpView(atom->op).getFloat("value") == 0 &&
         (atom->type == "fill_any_like" || pd::OpView(atom->op).getString("str_value").empty());
}

}  // namespace

// The scalars that all operands of an op which carry any have in common, and the power to which
// each result carries them. Nothing where operands carry different ones, or the op is not
// homogeneous in what carries them.
std::optional<Factored> factor(pd::OpView op, const Terms& terms,
                               llvm::function_ref<TermId(mlir::Value)> termOf) {
  Factored result;
  for (mlir::Value operand : op.operation()->getOperands()) {
    const Scalars scalars = terms.common(termOf(operand));
    if (scalars.empty()) continue;
    if (!result.scalars.empty() && result.scalars != scalars) return std::nullopt;
    result.scalars = scalars;
  }
  if (result.scalars.empty()) return std::nullopt;
  const auto powerOf = [&](mlir::Value value) -> std::optional<Power> {
    if (!value) return std::nullopt;
    const TermId term = termOf(value);
    const Scalars scalars = terms.common(term);
    if (!scalars.empty() && scalars != result.scalars) return std::nullopt;
    return Power{scalars.empty() ? 0 : 1, isZero(terms, term)};
  };
  if (op.type() == "recurrent_grad") {
    if (!isLinearInTurns(op, powerOf)) return std::nullopt;
    result.powers.assign(op.operation()->getNumResults(), 1);
    return result;
  }
  const std::optional<std::vector<Power>> powers = powersThrough(op, powerOf);
  if (!powers) return std::nullopt;
  for (const Power& one : *powers) result.powers.push_back(one.power);
  return result;
}

}  // namespace dtranspile::verify
