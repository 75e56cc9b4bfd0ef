// What declared types say, for constraints (declared.h) and for the verifier's view of inference (infer.h).
#include "dialects/pd/ops/declared.h"

#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::pd {
namespace {

std::optional<Dims> dimsOfValue(mlir::Value value) {
  mlir::RankedTensorType tensor = value ? tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor) return std::nullopt;
  Dims result;
  for (int64_t extent : dimsOf(tensor)) result.push_back(extent == 0 ? -1 : extent);
  return result;
}

}  // namespace

TensorInfo declaredInfo(mlir::Type type) {
  TensorInfo info;
  if (mlir::RankedTensorType tensor = tensorOf(type)) {
    llvm::SmallVector<int64_t> dims = dimsOf(tensor);
    info.dims.assign(dims.begin(), dims.end());
    info.dtype = dtypeOf(tensor.getElementType()).value_or(DType::kFloat32);
  } else {
    info.rankKnown = false;
  }
  if (auto lod = llvm::dyn_cast<LodType>(type)) info.lodLevel = lod.getLevels();
  if (llvm::isa<RowsType>(type)) info.kind = Kind::SelectedRows;
  if (auto array = llvm::dyn_cast<ArrayType>(type)) {
    info.kind = Kind::TensorArray;
    info.lodLevel = array.getLevels();
  }
  if (llvm::isa<TapeType>(type)) info.kind = Kind::StepScopes;
  if (auto raw = llvm::dyn_cast<RawType>(type)) info.kind = raw.getKind() == "LOD_RANK_TABLE" ? Kind::RankTable : Kind::Other;
  return info;
}

std::optional<Dims> declaredDims(const OpView& op, llvm::StringRef slot, unsigned index) { return dimsOfValue(op.input(slot, index)); }

}  // namespace dtranspile::pd
