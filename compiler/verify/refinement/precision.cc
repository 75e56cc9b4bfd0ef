// Half precision stands in the declared type only, never in an update, nor in ops that were to be
// left alone, but for parameters that an update keeps beside a copy in full; and nothing is rounded
// for a reader that takes it in full: a value that is cast down and up again has lost bits that
// nobody asked for.
#include "compiler/verify/refinement/precision.h"

#include "compiler/analysis/position.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

mlir::FloatType floatOf(mlir::Value value) {
  mlir::RankedTensorType tensor = value ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  return tensor ? llvm::dyn_cast<mlir::FloatType>(tensor.getElementType()) : mlir::FloatType();
}

bool isHalf(mlir::Value value) {
  mlir::FloatType type = floatOf(value);
  return type && type.getWidth() < 32;
}

bool isCast(mlir::Operation* op) {
  return op && pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "cast";
}

// What an update gives in half precision beside the same in full, where that is declared.
bool isOfCopies(pd::OpView op, mlir::Value value, const Changes& changes) {
  return changes.copies && op.input("MasterParam") && op.output("MasterParamOut") &&
         (value == op.input("Param") || value == op.output("ParamOut"));
}

// A cast to fewer bits, or to others.
bool narrows(pd::OpView cast) { return !isHalf(cast.input("X")) && isHalf(cast.output("Out")); }

// Why the op may not compute as it does; empty where it may.
std::string wrongIn(mlir::Operation* op, const Changes& changes) {
  const pd::OpView view(op);
  llvm::SmallVector<mlir::Value> values(op->getOperands());
  values.append(op->result_begin(), op->result_end());
  for (mlir::Value value : values) {
    if (!isHalf(value)) continue;
    const bool declared = changes.half == (floatOf(value).isF16() ? "float16" : "bfloat16") &&
                          (floatOf(value).isF16() || floatOf(value).isBF16());
    if (!declared)
      return "has `" + pd::nameOf(value).str() + "` in a precision that is not declared";
  }
  const bool half = llvm::any_of(values, isHalf);
  if (!half) return "";
  if (isCast(op)) {
    if (narrows(view) && (view.role() & pd::kOptimize)) return "rounds what the update takes";
    mlir::Operation* before = view.input("X") ? view.input("X").getDefiningOp() : nullptr;
    if (!narrows(view) && isCast(before) && narrows(pd::OpView(before)))
      return "takes what was rounded for others: its readers take it in full";
    return "";
  }
  if ((view.role() & pd::kOptimize) && llvm::any_of(values, [&](mlir::Value value) {
        return isHalf(value) && !isOfCopies(view, value, changes);
      }))
    return "computes an update in half precision";
  if (llvm::is_contained(changes.kept, view.type().str()))
    return "computes in half precision, and is declared to be left alone";
  return "";
}

}  // namespace

std::set<std::string> parametersWithCopies(pd::ProgramOp main) {
  std::set<std::string> names;
  main.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || !pd::OpView(op).input("MasterParam")) return;
    mlir::Value parameter = pd::OpView(op).input("Param");
    auto get = parameter ? parameter.getDefiningOp<pd::GetOp>() : pd::GetOp();
    if (get) names.insert(get.getVar().str());
  });
  return names;
}

void checkPrecision(const Changes& changes, pd::ProgramOp reference, Rung& rung) {
  bool said = false;
  reference.walk([&](mlir::Operation* op) {
    if (said || !pd::OpView::isFrameworkOp(op) || op->getNumRegions() > 0) return;
    const std::string wrong = wrongIn(op, changes);
    if (wrong.empty()) return;
    said = true;
    rung.add(messageAt(op, Message::Level::Unknown, "refines", wrong,
                       "round where the declared change says so, and nowhere else"));
  });
}

}  // namespace dtranspile::verify
