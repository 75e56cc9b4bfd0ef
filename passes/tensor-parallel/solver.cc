#include "passes/tensor-parallel/solver.h"

#include "compiler/analysis/relations/part_forms.h"
#include "dialects/pd/types.h"
#include "passes/sharding/norms.h"

namespace dtranspile::passes {
namespace {

using verify::State;

constexpr int kEvaluations = 200;  // most that are tried for one op
constexpr unsigned kSubsets = 4;   // operands in parts of which every subset is tried

bool isTerm(const State& state) { return state.isPartial(); }

bool anyOf(llvm::ArrayRef<State> states, bool (State::*is)() const) {
  return llvm::any_of(states, [&](const State& state) { return (state.*is)(); });
}

mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}

}  // namespace

Solver::Solver(verify::Axes axes, int axis, std::optional<int64_t> minVocabulary)
    : axes_(std::move(axes)), axis_(axis), minVocabulary_(minVocabulary) {
  // A value per share is no answer here: either an op works on parts of a tensor, or it does not.
  for (bool& data : axes_.isData) data = false;
}

bool Solver::divides(mlir::Value value, int dim) const {
  mlir::RankedTensorType type = tensorOf(value);
  return type && dim >= 0 && dim < type.getRank() && !type.isDynamicDim(dim) &&
         type.getDimSize(dim) > 0 && type.getDimSize(dim) % size() == 0;
}

bool Solver::isVocabulary(mlir::Value value, int dim) const {
  return minVocabulary_ && divides(value, dim) &&
         tensorOf(value).getDimSize(dim) >= *minVocabulary_;
}

// Of small vocabularies the parts are not worth what is sent.
std::optional<llvm::SmallVector<State, 8>> Solver::inForm(mlir::Operation* op,
                                                          llvm::ArrayRef<State> operands) {
  const pd::OpView view(op);
  const verify::PartForm* form = verify::partForm(view);
  if (!form || !isVocabulary(view.input(form->cut), form->dimOf(view))) return std::nullopt;
  return verify::inParts(op, operands);
}

const verify::Relation& Solver::relation(const State& state) {
  auto [at, made] = relations_.try_emplace({static_cast<int>(state.kind), state.dim});
  if (made) {
    verify::Reading reading = verify::Reading::replicated(axes_);
    reading.states[axis_] = state;
    at->second.whole = at->second.parts = reading;
  }
  return at->second;
}

// What an op gives for operands in these states, by the same relation rules that verification uses:
// nothing where the rule gives no relation, one of another scale, or a dim that the ranks do not
// divide. The number of questions is bounded (`left_`).
std::optional<llvm::SmallVector<State, 8>> Solver::results(mlir::Operation* op,
                                                           llvm::ArrayRef<State> operands) {
  llvm::SmallVector<State, 8> found(op->getNumResults());
  if (llvm::all_of(operands, [](const State& one) { return one.isReplicated(); })) return found;
  blamed_ = {};
  if (auto given = inForm(op, operands)) return given;
  const verify::ParsedRule* rule = verify::findRule(pd::OpView(op).type());
  if (!rule || op->getNumRegions() || --left_ < 0) return std::nullopt;
  llvm::DenseMap<mlir::Value, State> given;
  for (auto [value, state] : llvm::zip(op->getOperands(), operands)) given[value] = state;
  verify::RuleContext context(op, *rule, axes_, [&](mlir::Value value) -> const verify::Relation& {
    return relation(given.lookup(value));
  });
  context.apply();
  // Draws for parts differ between the ranks: the rewrite says so.
  for (const verify::Violation& one : context.violations())
    if (one.rule != "random-streams") return std::nullopt;
  const std::vector<verify::Relation> relations = context.takeResults();
  for (auto [result, relation, state] : llvm::zip(op->getResults(), relations, found)) {
    if (!relation.whole.known && result.use_empty()) continue;
    if (!relation.whole.known) {
      blamed_ = context.reasons()[result.getResultNumber()].operand;
      return std::nullopt;
    }
    state = relation.whole.states[axis_];
    const bool sum = state.isPartial() &&
                     (state.reduce == dist::Reduce::Sum || state.reduce == dist::Reduce::Or);
    const bool part = state.isSplit() && state.dim >= 0 && !state.layoutAttr();
    if (!relation.whole.scale.isOne() || (!state.isReplicated() && !sum && !part))
      return std::nullopt;
    // Side outputs without declared extents have none to cut.
    mlir::RankedTensorType type = tensorOf(result);
    if (!part || !cuts_ || (type && type.getRank() == 0) || divides(result, state.dim)) continue;
    if (type && state.dim < type.getRank() && !type.isDynamicDim(state.dim))
      indivisible_ = {result, state.dim, type.getDimSize(state.dim)};
    return std::nullopt;
  }
  return found;
}

std::optional<llvm::SmallVector<State, 8>> Solver::resultsOfParts(mlir::Operation* op,
                                                                  llvm::ArrayRef<State> operands) {
  left_ = 1;
  cuts_ = false;
  std::optional<llvm::SmallVector<State, 8>> found = results(op, operands);
  cuts_ = true;
  return found;
}

// Beside parts other operands are taken in parts as well: the rule names the one that it misses.
std::optional<Way> Solver::cutBeside(mlir::Operation* op, llvm::SmallVector<State, 8> operands,
                                     unsigned depth) {
  if (auto given = results(op, operands)) return Way{std::move(operands), std::move(*given)};
  mlir::Value blamed = blamed_;
  if (!blamed || depth == 0 || !anyOf(operands, &State::isSplit)) return std::nullopt;
  for (int dim = 0, rank = verify::rankOf(blamed); dim < rank; ++dim) {
    if (!divides(blamed, dim)) continue;
    llvm::SmallVector<State, 8> cut = operands;
    bool changed = false;
    for (auto [value, state] : llvm::zip(op->getOperands(), cut))
      if (value == blamed && state.isReplicated()) state = State::split(dim), changed = true;
    if (!changed) return std::nullopt;
    if (std::optional<Way> way = cutBeside(op, std::move(cut), depth - 1)) return way;
  }
  return std::nullopt;
}

// Terms stay terms where nothing is summed more often by it: through an op that takes nothing else
// and gives one value; and in a sum of several gradients, where what is whole counts 1/n on each
// rank.
std::optional<Way> Solver::withTerms(mlir::Operation* op, llvm::ArrayRef<State> given) {
  const auto terms = llvm::count_if(given, isTerm);
  if (terms == 0 || anyOf(given, &State::isSplit)) return std::nullopt;
  const auto used =
      llvm::count_if(op->getResults(), [](mlir::Value one) { return !one.use_empty(); });
  llvm::SmallVector<State, 8> operands(given);
  if (used != 1) return std::nullopt;
  if (terms < static_cast<int64_t>(given.size())) {
    mlir::RankedTensorType type = tensorOf(op->getResult(0));
    const bool alike =
        type && type.getElementType().isF32() &&
        llvm::all_of(op->getOperandTypes(), [&](mlir::Type one) { return one == type; });
    const bool backward = (pd::OpView(op).role() & pd::kBackward) != 0;
    if (terms < 2 || pd::OpView(op).type() != "sum" || !backward || !alike) return std::nullopt;
    for (State& state : operands) state = State::partial(dist::Reduce::Sum);
  }
  std::optional<llvm::SmallVector<State, 8>> results = this->results(op, operands);
  if (!results) return std::nullopt;
  return Way{std::move(operands), std::move(*results)};
}

bool Solver::canSumNorms(mlir::Operation* op) const {
  if (!minVocabulary_ || !pd::OpView::isFrameworkOp(op) ||
      !llvm::isa_and_nonnull<pd::ProgramOp>(op->getParentOp()))
    return false;
  const pd::OpView view(op);
  return (view.role() & pd::kOptimize) && !(view.role() & pd::kBackward) && takesNorms(view);
}

// Parameter, gradient and state lie in parts along one dim, numbers are whole: that costs one sum
// of a number per norm, where a gradient put together would cost all of it. (A part of one element
// has the shape of every number: no rule tells it from one.)
std::optional<Way> Solver::withNorms(mlir::Operation* op, llvm::ArrayRef<State> given) const {
  if (!canSumNorms(op)) return std::nullopt;
  const auto* cut = llvm::find_if(given, [](const State& one) { return one.isSplit(); });
  if (cut == given.end()) return std::nullopt;
  const pd::OpView view(op);
  for (auto [operand, state] : llvm::zip(op->getOperands(), given))
    if (state.isSplit() && (!(state == *cut) || !isPartOfNormed(view, operand)))
      return std::nullopt;
  const auto stateOf = [&](mlir::Value value) {
    return isPartOfNormed(view, value) ? *cut : State();
  };
  Way way;
  for (mlir::Value operand : op->getOperands()) way.operands.push_back(stateOf(operand));
  for (mlir::Value result : op->getResults()) way.results.push_back(stateOf(result));
  const auto fits = [&](mlir::Value value) {
    return !isPartOfNormed(view, value) ||
           (divides(value, cut->dim) && tensorOf(value).hasStaticShape() &&
            tensorOf(value).getNumElements() > size());
  };
  if (!llvm::all_of(op->getOperands(), fits) || !llvm::all_of(op->getResults(), fits))
    return std::nullopt;
  return way;
}

std::optional<Way> Solver::solveInParts(mlir::Operation* op, llvm::ArrayRef<State> given) {
  left_ = kEvaluations;
  if (std::optional<Way> way = withTerms(op, given)) return way;
  if (std::optional<Way> way = withNorms(op, given)) return way;
  llvm::SmallVector<State, 8> operands(given);
  for (State& state : operands)
    if (isTerm(state)) state = {};
  return cutBeside(op, std::move(operands), static_cast<unsigned>(given.size()));
}

std::optional<Way> Solver::solveLinear(mlir::Operation* op, llvm::ArrayRef<State> given) {
  left_ = kEvaluations;
  return withTerms(op, given);
}

std::optional<Way> Solver::solveAsGiven(mlir::Operation* op, llvm::ArrayRef<State> given) {
  left_ = 1;
  std::optional<llvm::SmallVector<State, 8>> results = this->results(op, given);
  if (!results) return std::nullopt;
  return Way{llvm::SmallVector<State, 8>(given), std::move(*results)};
}

// Takes the operands as they are if that works, else puts as few of them together as possible:
// subsets by size, smallest first, and everything whole if all else fails.
Way Solver::solve(mlir::Operation* op, llvm::ArrayRef<State> given) {
  if (std::optional<Way> way = solveInParts(op, given)) return *way;
  llvm::SmallVector<unsigned> parts;
  for (auto [i, state] : llvm::enumerate(given))
    if (state.isSplit()) parts.push_back(i);
  // Fewer operands put together first; all of them at last.
  for (unsigned count = 1; parts.size() <= kSubsets && count < parts.size(); ++count)
    for (unsigned set = 1; set < 1U << parts.size(); ++set) {
      if (static_cast<unsigned>(llvm::popcount(set)) != count) continue;
      llvm::SmallVector<State, 8> operands(given);
      for (auto [i, operand] : llvm::enumerate(parts))
        if (set >> i & 1U) operands[operand] = {};
      if (std::optional<Way> way = solveInParts(op, operands)) {
        way->gathers = true;
        return *way;
      }
    }
  Way whole;
  whole.operands.resize(given.size());
  whole.results.resize(op->getNumResults());
  whole.gathers = !parts.empty();
  return whole;
}

}  // namespace dtranspile::passes
