// Sequences in parts between layers that are split: what is summed behind a product of one layer is
// cut along its sequence by the sum itself (reduce_scatter), norms, dropouts and residual sums work
// on the parts, and the next product gets them put together. Nothing is chosen by name but the
// products: an op works on parts of sequences where its rule gives parts along the same dim.
#include "passes/tensor-parallel/plan.h"

namespace dtranspile::passes {
namespace {

using verify::State;

// Activations are [batch, sequence, hidden].
constexpr int kSequenceDim = 1;
constexpr int kLeastRank = 3;

const State kCut = State::split(kSequenceDim);

bool isSumTerm(const State& state) {
  return state.isPartial() && state.reduce == dist::Reduce::Sum;
}

// A product takes sequences whole: on parts of them the gradient of its parameter would be a sum of
// the size of the parameter. Updates do, since every rank has the whole of what they update.
bool takesSequencesWhole(mlir::Operation* op) {
  const pd::OpView view(op);
  if (view.role() & pd::kOptimize) return true;
  llvm::StringRef type = view.type();
  type.consume_back("_grad");
  constexpr llvm::StringLiteral kProducts[] = {
      "mul", "matmul", "matmul_v2", "bmm", "mv", "addmm", "einsum", "bilinear_tensor_product"};
  return llvm::is_contained(kProducts, type);
}

// Results are parts of sequences, or sums of vectors: gradients of scales and biases, which are
// little to send. (A table's, or that of an embedding of positions, is not.)
bool givesSequences(mlir::Operation* op, const Way& way) {
  bool some = false;
  for (auto [result, state] : llvm::zip(op->getResults(), way.results)) {
    if (state.isReplicated() || result.use_empty()) continue;
    const bool cut = state == kCut;
    if (!cut && !(isSumTerm(state) && verify::rankOf(result) <= 1)) return false;
    some = true;
  }
  return some;
}

}  // namespace

bool TensorPlan::isTermOfSequence(mlir::Value value) const {
  return isSumTerm(states_.lookup(value)) && verify::isFloating(value) &&
         verify::rankOf(value) >= kLeastRank && solver_.divides(value, kSequenceDim);
}

// Gradients of Q, K and V beside that of the residual: terms are added up before they are summed,
// so that one part is sent and not three.
std::optional<Way> TensorPlan::addTermsFirst(mlir::Operation* op, llvm::ArrayRef<State> given) {
  const pd::OpView view(op);
  const mlir::Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : mlir::Type();
  if (view.type() != "sum" || op->getBlock() != job_.main.getBodyBlock() ||
      !(view.role() & pd::kBackward) || !llvm::isa_and_nonnull<mlir::RankedTensorType>(type) ||
      llvm::any_of(op->getOperandTypes(), [&](mlir::Type one) { return one != type; }))
    return std::nullopt;
  Way way;
  unsigned terms = 0;
  for (auto [operand, has] : llvm::zip(op->getOperands(), given)) {
    const bool term = isTermOfSequence(operand);
    if (!term && !has.isReplicated() && !ofSequences_.contains(operand)) return std::nullopt;
    terms += term;
    way.operands.push_back(term ? has : kCut);
  }
  if (terms < 2 || terms == given.size()) return std::nullopt;
  way.results.push_back(kCut);
  return way;
}

std::optional<Way> TensorPlan::keepOnSequences(mlir::Operation* op, llvm::ArrayRef<State> given) {
  if (takesSequencesWhole(op)) return std::nullopt;
  if (std::optional<Way> way = addTermsFirst(op, given)) return way;
  llvm::SmallVector<State, 8> cut(given);
  for (auto [operand, state] : llvm::zip(op->getOperands(), cut))
    if (isTermOfSequence(operand)) state = kCut;
  std::optional<Way> way = solver_.solveInParts(op, cut);
  return way && givesSequences(op, *way) ? way : std::nullopt;
}

// Terms stay terms as long as they can; then they are cut by their sum, and parts stay parts as
// long as they can. Of what only lends its extents a term will do, which has those of the whole.
Way TensorPlan::solveOnSequences(mlir::Operation* op, llvm::ArrayRef<State> given) {
  const auto isOf = [&](mlir::Value value) { return ofSequences_.contains(value); };
  const bool parts = llvm::any_of(op->getOperands(), isOf);
  if (!parts)
    if (std::optional<Way> way = solver_.solveLinear(op, given)) return *way;
  const bool terms =
      llvm::any_of(op->getOperands(), [&](mlir::Value value) { return isTermOfSequence(value); });
  if (!parts && !terms) return solver_.solve(op, given);
  if (std::optional<Way> way = keepOnSequences(op, given)) {
    for (auto [result, state] : llvm::zip(op->getResults(), way->results))
      if (state.isSplit()) ofSequences_.insert(result);
    return *way;
  }
  llvm::SmallVector<State, 8> whole(given);
  for (auto [operand, state] : llvm::zip(op->getOperands(), whole))
    if (isOf(operand)) state = {};
  if (std::optional<Way> way = terms ? solver_.solveAsGiven(op, whole) : std::nullopt;
      way && llvm::all_of(way->results, [](const State& one) { return one.isReplicated(); }))
    return *way;
  return solver_.solve(op, whole);
}

bool TensorPlan::sumsTerms(mlir::Operation* op) const {
  if (!sequences_ || !pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "sum") return false;
  const auto takesAny = [&](bool (State::*is)() const) {
    return llvm::any_of(op->getOpOperands(),
                        [&](mlir::OpOperand& use) { return (takes(use).*is)(); });
  };
  return takesAny(&State::isPartial) && takesAny(&State::isSplit);
}

// Of activations. Gradients of parameters are summed whole in front of their updates.
void TensorPlan::noteSummedWhole(mlir::OpOperand& use) {
  mlir::Value value = use.get();
  const pd::OpView user(use.getOwner());
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!isSumTerm(states_.lookup(value)) || (user.role() & pd::kOptimize) || !type ||
      (type.hasStaticShape() && type.getRank() < kLeastRank) || type.getRank() == 0)
    return;
  const int64_t extent = type.getRank() < kLeastRank ? 0 : type.getDimSize(kSequenceDim);
  std::string why;
  if (type.getRank() < kLeastRank) why = "has no dim of a sequence between batch and hidden";
  else if (type.isDynamicDim(kSequenceDim)) why = "has a sequence of unknown extent";
  else if (extent % size() != 0)
    why = "has a sequence of " + std::to_string(extent) + ", which " + std::to_string(size()) +
          " ranks do not divide";
  else why = "is taken by " + user.type().str() + ", which works on no parts of sequences";
  auto& names = summedWhole_[why];
  const std::string name = pd::nameOf(value).str();
  if (!llvm::is_contained(names, name)) names.push_back(name);
}

}  // namespace dtranspile::passes
