#include "compiler/import/usable.h"

#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/Support/JSON.h"

namespace dtranspile {
namespace {

using mlir::Operation;

bool namesAreText(Operation* op) {
  for (mlir::NamedAttribute attribute : op->getAttrs()) {
    const mlir::WalkResult strings = attribute.getValue().walk([&](mlir::StringAttr text) {
      if (llvm::json::isUTF8(text.getValue())) return mlir::WalkResult::advance();
      op->emitError() << "'" << llvm::json::fixUTF8(text.getValue()) << "' in "
                      << attribute.getName()
                      << " is not UTF-8: such a program can be converted only";
      return mlir::WalkResult::interrupt();
    });
    if (strings.wasInterrupted()) return false;
  }
  return true;
}

bool isUndeclared(mlir::Type type) {
  auto raw = llvm::dyn_cast<pd::RawType>(type);
  return raw && raw.getKind() == kUndeclared;
}

// Slots that may be empty may also name what is not there: the framework hands its kernels a null
// pointer.
bool readsDeclared(const pd::OpView& op) {
  for (const std::string& slot : op.inputSlots()) {
    const pd::Slot* row = op.spec() ? op.spec()->input(slot) : nullptr;
    if (llvm::StringRef(slot).starts_with("$") || (row && row->dispensable)) continue;
    for (mlir::Value value : op.inputs(slot)) {
      auto undefined = value ? value.getDefiningOp<pd::UndefOp>() : pd::UndefOp();
      if (!undefined || !isUndeclared(value.getType())) continue;
      op.operation()->emitError() << op.type() << ": reads '" << pd::nameOf(value) << "' as "
                                  << slot << ", which no block declares and no op before it writes";
      return false;
    }
  }
  return true;
}

void warnOfUndeclared(const pd::OpView& op) {
  for (mlir::Value result : op.operation()->getResults())
    if (isUndeclared(result.getType()))
      op.operation()->emitWarning()
          << op.type() << ": writes '" << pd::nameOf(result) << "', which no block declares";
}

}  // namespace

mlir::LogicalResult checkUsable(mlir::ModuleOp module) {
  bool good = true;
  module.walk([&](Operation* op) {
    if (!namesAreText(op)) {
      good = false;
      return;
    }
    if (!pd::OpView::isFrameworkOp(op)) return;
    const pd::OpView view(op);
    good &= readsDeclared(view);
    warnOfUndeclared(view);
  });
  return mlir::success(good);
}

}  // namespace dtranspile
