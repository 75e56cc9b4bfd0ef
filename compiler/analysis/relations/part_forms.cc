#include "compiler/analysis/relations/part_forms.h"

#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

constexpr PartForm kForms[] = {
    {"lookup_table_v2", "c_embedding", PartKind::Vocabulary, CutDim::First, {"W"}, {}, "Out"},
    {"lookup_table_v2_grad",
     "c_embedding_grad",
     PartKind::Vocabulary,
     CutDim::First,
     {"W"},
     {"W@GRAD"},
     ""},
    {"softmax_with_cross_entropy",
     "c_softmax_with_cross_entropy",
     PartKind::Vocabulary,
     CutDim::Last,
     {"Logits"},
     {"Softmax"},
     ""},
    {"softmax_with_cross_entropy_grad",
     "c_softmax_with_cross_entropy_grad",
     PartKind::Vocabulary,
     CutDim::Last,
     {"Softmax"},
     {"Logits@GRAD"},
     ""},
    {"lamb",
     "sync_lamb",
     PartKind::Update,
     CutDim::Any,
     {"Param", "Grad", "Moment1", "Moment2"},
     {"ParamOut", "Moment1Out", "Moment2Out"},
     ""},
    {"lars_momentum",
     "sync_lars_momentum",
     PartKind::Update,
     CutDim::Any,
     {"Param", "Grad", "Velocity"},
     {"ParamOut", "VelocityOut"},
     ""},
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

std::string lossHasMore(const pd::OpView& op, const PartForm& form) {
  if (op.getBool("soft_label")) return "its labels are probabilities of all classes";
  if (!op.getBool("use_softmax")) return "it takes probabilities";
  mlir::RankedTensorType scores = plain(op.input(form.cuts[0])), label = plain(op.input("Label"));
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

// One parameter in full precision, whose state is like it.
std::string updateHasMore(const pd::OpView& op, const PartForm& form) {
  if (op.getBool("multi_precision") || (op.hasInput("MasterParam") && op.input("MasterParam")))
    return "it keeps a copy in full precision";
  if (op.hasInput("SkipUpdate") && op.input("SkipUpdate")) return "it may leave a step out";
  mlir::RankedTensorType like = plain(op.input("Param"));
  for (llvm::StringRef slot : form.cuts)
    if (!slot.empty() && (op.inputCount(slot) != 1 || op.input(slot).getType() != like))
      return "it is of several parameters, or its state is not like its parameter";
  for (llvm::StringRef slot : form.parts)
    if (!slot.empty() &&
        (!op.hasOutput(slot) || !op.output(slot) || op.output(slot).getType() != mlir::Type(like)))
      return "its results are not like its parameter";
  if (op.type() == "lars_momentum" &&
      !llvm::isa_and_nonnull<mlir::FloatAttr>(op.attr("lars_weight_decay")) &&
      op.getFloats("lars_weight_decay").size() != 1)
    return "it has several weight decays";
  mlir::RankedTensorType rate = plain(op.input("LearningRate"));
  if (!rate || rate.getElementType() != like.getElementType() || !rate.hasStaticShape() ||
      rate.getNumElements() != 1)
    return "its learning rate is not one number";
  return like.getElementType().isF32() || like.getElementType().isF64()
             ? ""
             : "it computes in half precision";
}

}  // namespace

bool PartForm::isCut(const pd::OpView& op, mlir::Value operand) const {
  return llvm::any_of(cuts, [&](llvm::StringRef slot) {
    return !slot.empty() && op.hasInput(slot) && op.input(slot) == operand;
  });
}

std::optional<int> PartForm::dimOf(const pd::OpView& op, const State& first) const {
  if (dim != CutDim::Any) return dimOf(op);
  if (!first.isSplit() || first.dim < 0 || first.layoutAttr()) return std::nullopt;
  return static_cast<int>(first.dim);
}

int PartForm::dimOf(const pd::OpView& op) const {
  return dim == CutDim::Last ? rankOf(op.input(cuts[0])) - 1 : 0;
}

State PartForm::resultOf(llvm::StringRef output, int dim) const {
  if (llvm::is_contained(parts, output)) return State::split(dim);
  return output == term ? State::partial(dist::Reduce::Sum) : State();
}

const PartForm* partForm(const pd::OpView& op, std::string* why) {
  const auto* form =
      llvm::find_if(kForms, [&](const PartForm& one) { return one.type == op.type(); });
  if (form == std::end(kForms)) return nullptr;
  std::string more;
  for (mlir::Value operand : op.operation()->getOperands())
    if (!plain(operand)) more = "it takes sequences or rows";
  if (more.empty() && !plain(op.input(form->cuts[0]))) more = "it lacks an operand";
  if (more.empty())
    more = form->kind == PartKind::Update ? updateHasMore(op, *form)
           : form->dim == CutDim::Last    ? lossHasMore(op, *form)
                                          : lookupHasMore(op);
  if (more.empty()) return form;
  if (why) *why = more;
  return nullptr;
}

const PartForm* partForm(llvm::StringRef composite) {
  const auto* form =
      llvm::find_if(kForms, [&](const PartForm& one) { return one.composite == composite; });
  return form == std::end(kForms) ? nullptr : form;
}

std::optional<llvm::SmallVector<State, 8>> inParts(mlir::Operation* op,
                                                   llvm::ArrayRef<State> operands) {
  const pd::OpView view(op);
  const PartForm* form = partForm(view);
  if (!form) return std::nullopt;
  const auto at = llvm::find(op->getOperands(), view.input(form->cuts[0])) - op->operand_begin();
  const std::optional<int> dim = form->dimOf(view, operands[at]);
  if (!dim) return std::nullopt;
  for (auto [operand, state] : llvm::zip(op->getOperands(), operands))
    if (!(state == (form->isCut(view, operand) ? State::split(*dim) : State())))
      return std::nullopt;
  llvm::SmallVector<State, 8> results;
  for (mlir::OpResult result : op->getResults())
    results.push_back(form->resultOf(view.slotOf(result).first, *dim));
  return results;
}

}  // namespace dtranspile::verify
