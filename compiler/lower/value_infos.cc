#include "compiler/lower/value_infos.h"

#include "compiler/lower/constants.h"

namespace dtranspile::lower {

const pd::TensorInfo* ValueInfos::find(mlir::Value value) const {
  auto it = value ? infos_.find(value) : infos_.end();
  return it == infos_.end() ? nullptr : &it->second;
}

const pd::TensorInfo* InferAdapter::in(llvm::StringRef slot, unsigned index) const {
  return infos_.find(op_.input(slot, index));
}

void InferAdapter::out(llvm::StringRef slot, unsigned index, pd::TensorInfo info) {
  if (mlir::Value value = op_.output(slot, index)) infos_[value] = std::move(info);
}

std::optional<llvm::SmallVector<int64_t>> InferAdapter::constant(llvm::StringRef slot,
                                                                 unsigned index) const {
  mlir::Value value = op_.input(slot, index);
  return value ? constantOf(value, [&](mlir::Value v) { return infos_.find(v); }) : std::nullopt;
}

llvm::LogicalResult InferAdapter::fail(const llvm::Twine& message) {
  if (quiet_) return llvm::failure();
  return op_.operation()->emitError() << op_.type() << ": " << message;
}

}  // namespace dtranspile::lower
