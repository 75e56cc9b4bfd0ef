#include "compiler/analysis/relations/part_forms.h"

#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

// Op, the composite that stands for it on parts, the dim that is cut and the slot it is counted in,
// which result has parts, and which one is a term of a sum.
constexpr PartForm kForms[] = {
    {"lookup_table_v2", "c_embedding", CutDim::First, "W", "", "Out"},
    {"lookup_table_v2_grad", "c_embedding_grad", CutDim::First, "W", "W@GRAD", ""},
    {"softmax_with_cross_entropy", "c_softmax_with_cross_entropy", CutDim::Last, "Logits",
     "Softmax", ""},
    {"softmax_with_cross_entropy_grad", "c_softmax_with_cross_entropy_grad", CutDim::Last,
     "Softmax", "Logits@GRAD", ""},
};

mlir::RankedTensorType plain(mlir::Value value) {
  return value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
}

// Why the composite cannot stand for this lookup, or its gradient.
std::string lookupHasMore(const pd::OpView& op) {
  if (op.getBool("is_sparse")) return "its gradient is the rows that were asked for";
  if (op.getBool("remote_prefetch") || op.getBool("is_distributed"))
    return "its rows are elsewhere";
  mlir::RankedTensorType table = plain(op.input("W"));
  return table && table.getRank() == 2 ? "" : "its table is no matrix";
}

// Which options of softmax_with_cross_entropy the body on parts of the classes does not have: it is
// written for hard labels along the last dim in single or double precision, with results declared
// as the op computes them. Returns the first one that stands in the way.
std::string lossHasMore(const pd::OpView& op, const PartForm& form) {
  if (op.getBool("soft_label")) return "its labels are probabilities of all classes";
  if (!op.getBool("use_softmax")) return "it takes probabilities";
  mlir::RankedTensorType scores = plain(op.input(form.cut)), label = plain(op.input("Label"));
  if (!scores || !label) return "its labels are no tensor";
  const int64_t rank = scores.getRank(), axis = op.getInt("axis");
  if (axis != -1 && axis != rank - 1) return "its classes are not the last dim";
  if (label.getRank() != rank || label.getDimSize(rank - 1) != 1)
    return "its labels lack the dim of the classes";
  llvm::SmallVector<int64_t> perRow(scores.getShape());
  perRow.back() = 1;
  const mlir::Type row = mlir::RankedTensorType::get(perRow, scores.getElementType());
  for (llvm::StringRef slot : {"Softmax", "Loss", "Logits@GRAD", "Loss@GRAD"}) {
    mlir::Value value = op.hasOutput(slot) ? op.output(slot) : mlir::Value();
    if (!value && op.hasInput(slot)) value = op.input(slot);
    if (value && value.getType() != (slot.starts_with("Loss") ? row : mlir::Type(scores)))
      return "its results are declared otherwise than it computes them";
  }
  const mlir::Type element = scores.getElementType();
  return element.isF32() || element.isF64() ? "" : "it computes in half precision";
}

}  // namespace

int PartForm::dimOf(const pd::OpView& op) const {
  return dim == CutDim::Last ? rankOf(op.input(cut)) - 1 : 0;
}

State PartForm::resultOf(llvm::StringRef output, int dim) const {
  if (output == part) return State::split(dim);
  return output == term ? State::partial(dist::Reduce::Sum) : State();
}

// The form of an op that can be computed on parts of a vocabulary; null where it has none, with the
// reason in `why`.
const PartForm* partForm(const pd::OpView& op, std::string* why) {
  const auto* form =
      llvm::find_if(kForms, [&](const PartForm& one) { return one.type == op.type(); });
  if (form == std::end(kForms)) return nullptr;
  std::string more;
  for (mlir::Value operand : op.operation()->getOperands())
    if (!plain(operand)) more = "it takes sequences";
  if (more.empty() && !plain(op.input(form->cut))) more = "it lacks an operand";
  if (more.empty()) more = form->dim == CutDim::Last ? lossHasMore(op, *form) : lookupHasMore(op);
  if (more.empty()) return form;
  if (why) *why = more;
  return nullptr;
}

const PartForm* partForm(llvm::StringRef composite) {
  const auto* form =
      llvm::find_if(kForms, [&](const PartForm& one) { return one.composite == composite; });
  return form == std::end(kForms) ? nullptr : form;
}

// For the planner of tensor parallelism: the states of the results where the operand that a form
// cuts is split along its dim and all others are replicated. Nothing where the op cannot take these
// operands.
std::optional<llvm::SmallVector<State, 8>> inParts(mlir::Operation* op,
                                                   llvm::ArrayRef<State> operands) {
  const pd::OpView view(op);
  const PartForm* form = partForm(view);
  if (!form) return std::nullopt;
  const int dim = form->dimOf(view);
  for (auto [operand, state] : llvm::zip(op->getOperands(), operands))
    if (!(state == (operand == view.input(form->cut) ? State::split(dim) : State())))
      return std::nullopt;
  llvm::SmallVector<State, 8> results;
  for (mlir::OpResult result : op->getResults())
    results.push_back(form->resultOf(view.slotOf(result).first, dim));
  return results;
}

}  // namespace dtranspile::verify
