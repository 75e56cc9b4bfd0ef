// What declared types say, for constraints (declared.h) and for the verifier's view of inference
// (infer.h).
#include "dialects/pd/ops/declared.h"

#include "dialects/pd/integer.h"
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

// A type of dialect pd in the words of inference; -1 for extents that are not declared.
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
  if (auto raw = llvm::dyn_cast<RawType>(type))
    info.kind = raw.getKind() == "LOD_RANK_TABLE" ? Kind::RankTable : Kind::Other;
  return info;
}

std::optional<Dims> declaredDims(const OpView& op, llvm::StringRef slot, unsigned index) {
  return dimsOfValue(op.input(slot, index));
}

bool isUndescribed(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (argument &&
      argument.getOwner()->getParentOp()->getName().getStringRef() == "pd.recurrent_grad")
    return true;
  const TensorInfo info = declaredInfo(value.getType());
  return info.kind == Kind::Other || (!info.rankKnown && info.kind == Kind::Tensor);
}

DeclaredContext::DeclaredContext(OpView op) : op_(op) {
  auto program = op.operation()->getParentOfType<ProgramOp>();
  version_ = program ? program.getVersion() : 0;
}

const TensorInfo* DeclaredContext::in(llvm::StringRef slot, unsigned index) const {
  mlir::Value value = op_.input(slot, index);
  if (!value) return nullptr;
  auto [entry, isNew] = infos_.try_emplace({slot.str(), index});
  if (isNew) {
    entry->second = declaredInfo(value.getType());
    for (int64_t& extent : entry->second.dims)
      if (extent == 0) extent = -1;  // not inferred by the framework
  }
  return &entry->second;
}

// The number that fill_constant gives, so that shapes that come as tensors are known where programs
// compute them from constants.
std::optional<llvm::SmallVector<int64_t>> DeclaredContext::constant(llvm::StringRef slot,
                                                                    unsigned index) const {
  mlir::Value value = op_.input(slot, index);
  mlir::Operation* definition = value ? value.getDefiningOp() : nullptr;
  if (!definition || definition->getName().getStringRef() != "pd.fill_constant")
    return std::nullopt;
  OpView fill(definition);
  std::string text = fill.getString("str_value");
  double number = fill.getFloat("value");
  if (!text.empty() && llvm::StringRef(text).getAsDouble(number)) return std::nullopt;
  const std::optional<int64_t> integer = truncated(number);
  if (!integer) return std::nullopt;
  return llvm::SmallVector<int64_t>{*integer};
}

llvm::LogicalResult DeclaredContext::fail(const llvm::Twine& text) {
  message = text.str();
  return llvm::failure();
}

bool compatible(const TensorInfo& a, const TensorInfo& b) {
  if (a.kind != b.kind) return false;
  if (!a.rankKnown || !b.rankKnown) return true;
  return a.dtype == b.dtype && agree(DimsRef(a.dims), DimsRef(b.dims));
}

namespace {

// Whether an op computes what the declarations of those of its results say that `wanted` holds;
// true where that is not known.
bool computesDeclared(mlir::Operation* definition, const llvm::DenseSet<mlir::Value>& wanted) {
  OpView op(definition);
  if (!op.spec() || !op.spec()->infer || llvm::any_of(definition->getOperands(), isUndescribed))
    return true;
  DeclaredContext context(op);
  if (failed(op.spec()->infer(context))) return true;
  for (const auto& [at, info] : context.results)
    if (mlir::Value value = op.output(at.first, at.second);
        value && wanted.contains(value) && !compatible(info, declaredInfo(value.getType())))
      return false;
  return true;
}

bool areAsComputed(mlir::OperandRange operands) {
  const llvm::DenseSet<mlir::Value> wanted(operands.begin(), operands.end());
  llvm::DenseSet<mlir::Operation*> asked;
  return llvm::all_of(operands, [&](mlir::Value value) {
    mlir::Operation* definition = value.getDefiningOp();
    return !definition || !OpView::isFrameworkOp(definition) || !asked.insert(definition).second ||
           computesDeclared(definition, wanted);
  });
}

}  // namespace

llvm::LogicalResult inferDeclared(const OpView& op, std::string& why) {
  if (!op.spec() || !op.spec()->infer || llvm::any_of(op.operation()->getOperands(), isUndescribed))
    return llvm::success();
  DeclaredContext context(op);
  if (succeeded(op.spec()->infer(context)) || !areAsComputed(op.operation()->getOperands()))
    return llvm::success();
  why = context.message;
  return llvm::failure();
}

}  // namespace dtranspile::pd
