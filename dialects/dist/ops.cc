// Effects of operations, and what meshes and communicators answer.
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::dist {

using Effects = llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance>;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

namespace {

void writesComm(mlir::FlatSymbolRefAttr comm, Effects& effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), comm, CommResource::get());
}

}  // namespace

void AllReduceOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void ReduceOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void BroadcastOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void AllGatherOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void ReduceScatterOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void AllToAllOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void TransferOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void SendOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void RecvOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void BarrierOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void PushOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void PullOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void LookupOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }
void PhaseOp::getEffects(Effects& effects) { writesComm(getCommAttr(), effects); }

// A wait is ordered with the starts of its own communicator only.
void WaitOp::getEffects(Effects& effects) {
  mlir::Operation* start = getPending().getDefiningOp();
  mlir::FlatSymbolRefAttr comm = start ? commOf(start) : mlir::FlatSymbolRefAttr();
  if (comm) effects.emplace_back(mlir::MemoryEffects::Read::get(), comm, CommResource::get());
  else effects.emplace_back(mlir::MemoryEffects::Read::get(), CommResource::get());
}

void MergedOp::getEffects(Effects& effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), CommResource::get());
}
void CopyOp::getEffects(Effects& effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), CopyResource::get());
}

//===----------------------------------------------------------------------===//
// Meshes and communicators
//===----------------------------------------------------------------------===//

namespace {

std::optional<unsigned> position(mlir::ArrayAttr names, llvm::StringRef name) {
  for (auto [index, entry] : llvm::enumerate(names))
    if (llvm::cast<mlir::StringAttr>(entry).getValue() == name) return index;
  return std::nullopt;
}

}  // namespace

std::optional<unsigned> MeshOp::indexOf(llvm::StringRef axis) { return position(getAxes(), axis); }

std::optional<int64_t> MeshOp::sizeOf(llvm::StringRef axis) {
  if (std::optional<unsigned> index = indexOf(axis)) return getSizes()[*index];
  if (std::optional<unsigned> index = position(getTimeAxes(), axis)) return getTimeSizes()[*index];
  return std::nullopt;
}

int64_t MeshOp::ranks() {
  int64_t product = 1;
  for (int64_t size : getSizes()) product *= size;
  return product;
}

llvm::SmallVector<int64_t> MeshOp::coordinatesOf(int64_t rank) {
  llvm::SmallVector<int64_t> coordinates(getSizes().size());
  for (size_t i = coordinates.size(); i-- > 0; rank /= getSizes()[i])
    coordinates[i] = rank % getSizes()[i];
  return coordinates;
}

bool CommOp::overAxis(llvm::StringRef axis) { return position(getAxes(), axis).has_value(); }

int64_t CommOp::groupSize(MeshOp mesh) {
  int64_t product = 1;
  for (mlir::Attribute entry : getAxes()) {
    llvm::StringRef axis = llvm::cast<mlir::StringAttr>(entry).getValue();
    AxisSetAttr part = getSubset() ? getSubset()->lookup(axis) : AxisSetAttr();
    product *= part ? part.count() : mesh.sizeOf(axis).value_or(1);
  }
  return product;
}

}  // namespace dtranspile::dist
