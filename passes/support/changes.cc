#include "passes/support/changes.h"

#include "dialects/dist/dist.h"
#include "mlir/IR/Builders.h"

namespace dtranspile::passes {

Change::Change(mlir::MLIRContext* context, llvm::StringRef pass) : context_(context) {
  list_.set("pass", mlir::StringAttr::get(context, pass));
}

Change& Change::set(llvm::StringRef name, bool value) {
  list_.set(name, mlir::BoolAttr::get(context_, value));
  return *this;
}
Change& Change::set(llvm::StringRef name, int64_t value) {
  list_.set(name, mlir::Builder(context_).getI64IntegerAttr(value));
  return *this;
}
Change& Change::set(llvm::StringRef name, double value) {
  list_.set(name, mlir::Builder(context_).getF64FloatAttr(value));
  return *this;
}
Change& Change::set(llvm::StringRef name, llvm::ArrayRef<std::string> value) {
  std::vector<llvm::StringRef> entries(value.begin(), value.end());
  list_.set(name, mlir::Builder(context_).getStrArrayAttr(entries));
  return *this;
}

void keepSource(mlir::ModuleOp module) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(module.getBody());
  auto source = mlir::ModuleOp::create(builder, module.getLoc(), "source");
  builder.setInsertionPointToEnd(source.getBody());
  for (mlir::Operation& op : *module.getBody())
    if (&op != source.getOperation()) builder.clone(op);
}

void declareChange(mlir::ModuleOp module, const Change& change) {
  llvm::SmallVector<mlir::Attribute> all;
  if (auto existing = module->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr))
    all.append(existing.begin(), existing.end());
  all.push_back(change.attribute());
  module->setAttr(dist::kChangesAttr, mlir::ArrayAttr::get(module.getContext(), all));
}

}  // namespace dtranspile::passes
