// Types of results whose declarations cannot be what their ops compute. Part of the importer
// (importer.h).
//
// A variable has one declaration, that of its last writer (`reshape(..., inplace=True)` writes its
// operand), and the framework declares the batch of a product of batches 1 and -1 as 1. Of results
// that it infers nothing of (the saved statistics of a norm that is evaluated, the copies that a
// gradient of `einsum` reads) the declaration has no dims, as that of one number has. There a
// result has the extents that its op's inference finds, and so has what follows from it; the
// declarations stay as they are in the file. What is made of a list of extents is declared without
// any: a 1 among them, which says that the dim is broadcast (a mask of `dropout` along an axis), is
// found as well.
#include "compiler/import/importer.h"
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

mlir::Type withExtents(mlir::Type type, llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> shape;
  for (int64_t extent : dims) shape.push_back(extent < 0 ? mlir::ShapedType::kDynamic : extent);
  auto tensor = mlir::RankedTensorType::get(shape, pd::tensorOf(type).getElementType());
  auto lod = llvm::dyn_cast<pd::LodType>(type);
  return lod ? mlir::Type(pd::LodType::get(type.getContext(), tensor, lod.getLevels())) : tensor;
}

bool isProduct(llvm::StringRef type) { return type == "matmul" || type == "matmul_v2"; }

// Whether a declared 1 stands where the op leaves the extent open.
bool onesAreOpen(llvm::ArrayRef<int64_t> declared, llvm::ArrayRef<int64_t> found) {
  return declared.size() == found.size() &&
         llvm::any_of(llvm::zip_equal(declared, found),
                      [](auto pair) { return std::get<0>(pair) == 1 && std::get<1>(pair) < 0; });
}

// Whether a result may have been left without dims by the framework. One number has no dims
// from 2.5 on, and [1] before.
bool mayBeUnset(const pd::TensorInfo& declared) {
  return declared.rankKnown && declared.kind == pd::Kind::Tensor && declared.dims.empty();
}

bool isUnset(const pd::TensorInfo& declared, const pd::TensorInfo& found) {
  return mayBeUnset(declared) && !found.dims.empty() && pd::DimsRef(found.dims) != pd::DimsRef{1};
}

// Whether a 1 is found where the declaration leaves the extent open.
bool findsOnes(llvm::ArrayRef<int64_t> declared, llvm::ArrayRef<int64_t> found) {
  return onesAreOpen(found, declared);
}

bool isMadeOfList(mlir::Operation* op) {
  const pd::OpView view(op);
  return view.spec() && view.spec()->input("ShapeTensorList") &&
         view.inputCount("ShapeTensorList") > 0;
}

// Inference says [0] of what no run fills: shapes that are kept for gradients (XShape of `einsum`).
bool isNothing(const pd::TensorInfo& found) { return pd::DimsRef(found.dims) == pd::DimsRef{0}; }

}  // namespace

// Values that blocks take keep their declared types, as the blocks' arguments do; so do
// persistables, which have the type of their variable.
void Importer::findRewritten() {
  for (const WireBlock& block : program_.blocks) {
    for (Name name : analysis_.interface(block.idx).captures) captured_.insert(name);
    llvm::DenseSet<Name> written;
    for (const WireOp& op : block.ops)
      for (const WireSlot& slot : op.outputs)
        for (Name name : slot.arguments)
          if (!written.insert(name).second) rewritten_.insert(name);
  }
}

// Replaces the declared extents of a result by those that shape inference gives, only where the
// declaration contradicts them and only for values that nothing outside refers to by name.
void Importer::correctTypes(int block, const OpKind& kind, llvm::ArrayRef<Name> results,
                            mlir::Operation* op) {
  if (!kind.spec || !kind.spec->infer || op->getNumRegions() > 0) return;
  const bool follows = llvm::any_of(op->getOperands(),
                                    [&](mlir::Value value) { return corrected_.contains(value); });
  const bool listed = isMadeOfList(op);
  const bool open = follows || isProduct(kind.name.stripDialect());
  const bool rewritten =
      llvm::any_of(results, [&](Name name) { return rewritten_.contains(name); });
  const bool unset = llvm::any_of(
      op->getResultTypes(), [](mlir::Type type) { return mayBeUnset(pd::declaredInfo(type)); });
  if (!open && !listed && !rewritten && !unset) return;
  if (llvm::any_of(op->getOperands(), pd::isUndescribed)) return;
  pd::OpView view(op);
  pd::DeclaredContext context(view);
  if (mlir::failed(kind.spec->infer(context))) return;
  for (const auto& [at, info] : context.results) {
    auto value = llvm::dyn_cast_or_null<mlir::OpResult>(view.output(at.first, at.second));
    if (!value || !info.rankKnown || info.kind != pd::Kind::Tensor) continue;
    const Name name = results[value.getResultNumber()];
    const pd::TensorInfo declared = pd::declaredInfo(value.getType());
    if (captured_.contains(name) || analysis_.isPersistable(block, name) || !declared.rankKnown ||
        declared.kind != pd::Kind::Tensor || isNothing(info))
      continue;
    if (!open && !listed && !rewritten && !isUnset(declared, info)) continue;
    const bool agrees = pd::agree(pd::DimsRef(declared.dims), pd::DimsRef(info.dims)) &&
                        !(open && onesAreOpen(declared.dims, info.dims));
    const bool refines = agrees && (follows || listed) && findsOnes(declared.dims, info.dims);
    if (agrees && !refines) continue;
    pd::Dims dims = info.dims;
    if (refines)  // what else is declared stays known
      for (auto [extent, said] : llvm::zip_equal(dims, declared.dims))
        if (extent < 0) extent = said;
    value.setType(withExtents(value.getType(), dims));
    corrected_.insert(value);
  }
}

}  // namespace dtranspile
