// What an op gives and nobody takes need not be computed.
#include "compiler/specialize/guards.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"

namespace dtranspile {
namespace {

// Slots of results that the op may be without, none of which is read. A slot stays whole: the place
// of an argument within it has a meaning.
llvm::SmallVector<std::string> unreadSlots(const pd::OpView& op) {
  llvm::SmallVector<std::string> slots;
  for (const pd::Slot& slot : op.spec()->outputs) {
    const auto results = op.outputs(slot.name);
    if (slot.dispensable && !results.empty() &&
        llvm::all_of(results, [](mlir::Value result) { return !result || result.use_empty(); }))
      slots.push_back(slot.name);
  }
  return slots;
}

void dropSlots(pd::OpView op, llvm::ArrayRef<std::string> dropped, pd::Declarations& declarations) {
  mlir::Operation* raw = op.operation();
  std::vector<pd::InputSlot> inputs;
  std::vector<pd::OutputSlot> outputs;
  std::vector<mlir::Value> kept;
  for (const std::string& slot : op.inputSlots()) inputs.push_back({slot, op.inputs(slot)});
  for (const std::string& slot : op.outputSlots()) {
    outputs.push_back({slot, {}});
    if (llvm::is_contained(dropped, slot)) continue;
    for (mlir::Value result : op.outputs(slot)) {
      outputs.back().results.push_back({pd::nameOf(result).str(), result.getType()});
      kept.push_back(result);
    }
  }
  mlir::OpBuilder builder(raw);
  mlir::Operation* made =
      declarations
          .create(builder, raw->getLoc(), op.type(), inputs, outputs,
                  raw->getAttrOfType<mlir::DictionaryAttr>("attrs").getValue(), op.role())
          .operation();
  for (mlir::NamedAttribute attribute : raw->getAttrs())
    if (!made->hasAttr(attribute.getName()))
      made->setAttr(attribute.getName(), attribute.getValue());
  for (auto [result, now] : llvm::zip_equal(kept, made->getResults()))
    result.replaceAllUsesWith(now);
  raw->erase();
}

}  // namespace

// Gradient ops compute several gradients, of which a stage may need one: slots that nobody reads
// are left out, where the op's row allows it.
void dropUnreadResults(dist::MicroOp micro) {
  pd::Declarations declarations;
  llvm::SmallVector<mlir::Operation*> ops;
  micro->walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0 && op->getNumResults() > 1 &&
        pd::OpView(op).spec() && pd::OpView(op).spec()->gradient)
      ops.push_back(op);
  });
  for (mlir::Operation* op : ops) {
    const llvm::SmallVector<std::string> slots = unreadSlots(pd::OpView(op));
    const bool whole = llvm::all_of(op->getResults(), [](mlir::Value v) { return v.use_empty(); });
    const bool named = llvm::all_of(
        op->getResults(), [](mlir::Value v) { return pd::nameOf(v) != pd::kEmptyArgument; });
    if (!slots.empty() && !whole && named) dropSlots(pd::OpView(op), slots, declarations);
  }
}

}  // namespace dtranspile
