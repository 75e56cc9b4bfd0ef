#include "compiler/export/servers/edit.h"

namespace dtranspile {

void renameResults(mlir::Operation* op,
                   llvm::function_ref<std::string(mlir::OpResult, llvm::StringRef)> rename) {
  mlir::MLIRContext* context = op->getContext();
  unsigned at = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    llvm::SmallVector<mlir::StringAttr> arguments(slot.getArgs());
    for (mlir::StringAttr& argument : arguments)
      if (argument.getValue() != pd::kEmptyArgument)
        argument = mlir::StringAttr::get(context, rename(op->getResult(at++), argument.getValue()));
    slots.push_back(pd::SlotAttr::get(context, slot.getName(), arguments));
  }
  op->setAttr("outs", mlir::ArrayAttr::get(context, slots));
}

void setVariable(mlir::OpBuilder& builder, pd::Declarations& declarations, mlir::Location loc,
                 llvm::StringRef name, mlir::Value value, int role) {
  if (pd::nameOf(value) != name)
    value = declarations
                .create(builder, loc, "assign", {{"X", {value}}},
                        {{"Out", {{name.str(), value.getType()}}}}, {}, role)
                .output("Out");
  pd::SetOp::create(builder, loc, mlir::FlatSymbolRefAttr::get(builder.getContext(), name), value);
}

}  // namespace dtranspile
