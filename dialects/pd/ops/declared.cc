#include "dialects/pd/ops/declared.h"

#include "dialects/pd/types.h"

namespace dtranspile::pd {
namespace {

std::optional<Dims> dimsOfValue(mlir::Value value) {
  mlir::RankedTensorType tensor = value ? tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor) return std::nullopt;
  llvm::SmallVector<int64_t> dims = dimsOf(tensor);
  return Dims(dims.begin(), dims.end());
}

}  // namespace

std::optional<Dims> declaredDims(const OpView& op, llvm::StringRef slot, unsigned index) {
  return dimsOfValue(op.input(slot, index));
}

std::optional<Dims> declaredOutputDims(const OpView& op, llvm::StringRef slot, unsigned index) {
  return dimsOfValue(op.output(slot, index));
}

}  // namespace dtranspile::pd
