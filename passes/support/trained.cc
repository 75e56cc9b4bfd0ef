#include "passes/support/trained.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::passes {

// Each parameter once, in the order of the first update. It counts as changed by rows only if all
// of its updates have gradients by rows.
mlir::FailureOr<std::vector<Trained>> trainedParameters(const JobOnAxes& job) {
  std::vector<Trained> found;
  llvm::StringMap<size_t> numbers;
  mlir::LogicalResult result = mlir::success();
  const mlir::SymbolTable symbols(job.role);
  forEachUpdate(job.main, [&](pd::OpView update, llvm::StringRef name) {
    if (mlir::failed(result)) return;
    mlir::Value gradient = update.input("Grad");
    const bool byRows = gradient && llvm::isa<pd::RowsType>(gradient.getType());
    auto [at, fresh] = numbers.try_emplace(name, found.size());
    if (!fresh) {
      found[at->second].byRows &= byRows;
      return;
    }
    mlir::Operation* op = update.operation();
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(symbols.lookup(name));
    mlir::RankedTensorType type = var ? pd::tensorOf(var.getType()) : mlir::RankedTensorType();
    const auto refuse = [&](const llvm::Twine& why) { result = op->emitError(why); };
    if (!type || !type.hasStaticShape())
      return refuse("updates '" + name + "', which is no parameter of known extents");
    if (!llvm::isa<mlir::FloatType>(type.getElementType()))
      return refuse("updates '" + name +
                    "', which holds no floats: a trainer's share of its change "
                    "is none");
    if (type.getRank() == 0)
      return refuse("parameter '" + name +
                    "' has no dim: servers hold blocks of dim 0; give it the shape [1]");
    if (type.getNumElements() == 0)
      return refuse("parameter '" + name + "' has no elements, and so no block to serve");
    found.push_back({var, byRows && type.getRank() == 2});
  });
  if (mlir::failed(result)) return mlir::failure();
  if (found.empty())
    return pd::ProgramOp(job.main).emitError(
        "updates no parameter: servers would have nothing to do; is this a training program?");
  return found;
}

}  // namespace dtranspile::passes
