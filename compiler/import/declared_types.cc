// Types of results whose declarations cannot be what their ops compute. Part of the importer
// (importer.h).
//
// A variable has one declaration, that of its last writer (`reshape(..., inplace=True)` writes its
// operand), and the framework declares the batch of a product of batches 1 and -1 as 1. There a
// result has the extents that its op's inference finds, and so has what follows from it; the
// declarations stay as they are in the file.
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
  const bool open = follows || isProduct(kind.name.stripDialect());
  if (!open && llvm::none_of(results, [&](Name name) { return rewritten_.contains(name); })) return;
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
        declared.kind != pd::Kind::Tensor)
      continue;
    const bool stands = pd::agree(pd::DimsRef(declared.dims), pd::DimsRef(info.dims)) &&
                        !(open && onesAreOpen(declared.dims, info.dims));
    if (stands) continue;
    value.setType(withExtents(value.getType(), info.dims));
    corrected_.insert(value);
  }
}

}  // namespace dtranspile
