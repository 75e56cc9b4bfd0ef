#include "compiler/export/collective/vocabulary.h"

#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

// The slot whose tensor lies in parts, and the slots in the order of the framework's operator.
struct Operator {
  llvm::StringLiteral type, cut;
  bool looksUp;
  llvm::StringLiteral inputs[3];
};
constexpr Operator kOperators[] = {
    {"c_embedding", "W", true, {"W", "Ids", ""}},
    {"c_embedding_grad", "W", true, {"Ids", "Out@GRAD", "W"}},
    {"c_softmax_with_cross_entropy", "Logits", false, {"Logits", "Label", ""}},
    {"c_softmax_with_cross_entropy_grad", "Softmax", false, {"Softmax", "Label", "Loss@GRAD"}},
};

const Operator* operatorOf(dist::CompositeOp op) {
  const auto* at =
      llvm::find_if(kOperators, [&](const Operator& one) { return one.type == op.getOp(); });
  return at == std::end(kOperators) ? nullptr : at;
}

mlir::Value inputOf(dist::CompositeOp op, llvm::StringRef slot) {
  for (auto [name, value] :
       llvm::zip(op.getInputSlots().getAsValueRange<mlir::StringAttr>(), op.getInputs()))
    if (name == slot) return value;
  return {};
}

int64_t attributeOf(dist::CompositeOp op, llvm::StringRef name, int64_t otherwise) {
  auto value = op.getAttrs().getAs<mlir::IntegerAttr>(name);
  return value ? value.getInt() : otherwise;
}

// The ring of the ranks that have the other parts.
int ringOver(const Emitter& emitter, llvm::StringRef axis) {
  for (const Ring& ring : emitter.rings()) {
    dist::CommOp comm = ring.comm;
    if (comm.getAxes().size() == 1 && !comm.getSubset() && comm.overAxis(axis)) return ring.id;
  }
  return -1;
}

}  // namespace

bool isOfVocabulary(dist::CompositeOp op) { return operatorOf(op) != nullptr; }

// The framework has these composites as single operators (c_embedding, c_softmax_with_cross_entropy
// and their gradients), which compute what the body does by the offset of the rank's part.
mlir::LogicalResult exportVocabulary(Emitter& emitter, dist::CompositeOp op) {
  const Operator& what = *operatorOf(op);
  // The axis is that of the coordinate which the body counts by.
  dist::CoordOp coordinate;
  op.getBody().walk([&](dist::CoordOp one) { coordinate = one; });
  mlir::RankedTensorType cut = inputOf(op, what.cut) ? pd::tensorOf(inputOf(op, what.cut).getType())
                                                     : mlir::RankedTensorType();
  const int ring = coordinate ? ringOver(emitter, coordinate.getAxis()) : -1;
  if (ring < 0 || !cut || cut.getRank() == 0)
    return op.emitError("export: ") << op.getOp()
                                    << " has no ring of the ranks that have the other parts of its "
                                       "vocabulary";
  if (what.looksUp && attributeOf(op, "padding_idx", -1) != -1)
    return op.emitError(
        "export: the framework's c_embedding has no padding_idx; run the job natively, or give "
        "tensor_parallel_min_vocabulary more than the rows of this table");
  dist::MeshOp mesh = emitter.mesh();
  const unsigned axis = *mesh.indexOf(coordinate.getAxis());
  const int64_t part = mesh.coordinatesOf(emitter.rank())[axis], parts = mesh.getSizes()[axis];
  mlir::Builder& builder = emitter.builder();
  Emitter::Attributes attributes;
  if (what.looksUp) {
    attributes = {
        emitter.named("start_index", builder.getI64IntegerAttr(part * cut.getDimSize(0))),
        emitter.named("vocab_size", builder.getI64IntegerAttr(parts * cut.getDimSize(0)))};
  } else {
    attributes = {emitter.named("ignore_index",
                                builder.getI64IntegerAttr(attributeOf(op, "ignore_index", -100))),
                  emitter.named("ring_id", ring), emitter.named("rank", part),
                  emitter.named("nranks", parts)};
  }
  std::vector<pd::InputSlot> inputs;
  for (llvm::StringRef slot : what.inputs)
    if (!slot.empty()) inputs.push_back({slot, {inputOf(op, slot)}});
  std::vector<pd::OutputSlot> outputs;
  for (auto [slot, name, type] :
       llvm::zip(op.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                 op.getOutputNames().getAsValueRange<mlir::StringAttr>(), op.getResultTypes()))
    outputs.push_back({slot, {{name.str(), type}}});
  const auto role = static_cast<int>(attributeOf(op, "op_role", pd::kForward));
  pd::OpView made = emitter.declarations().create(emitter.builder(), op.getLoc(), what.type, inputs,
                                                  outputs, attributes, role);
  if (mlir::Attribute pairs = op.getAttrs().get("op_role_var")) made.setAttr("op_role_var", pairs);
  op->replaceAllUsesWith(made.operation()->getResults());
  return drop(op);
}

}  // namespace dtranspile
