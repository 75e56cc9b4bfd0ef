#include "compiler/export/edit.h"

namespace dtranspile {

// Results of an op stand in its slots in order; `@EMPTY@` has no result and is passed over.
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

namespace {

// The k-th argument of one slot and of the other are one cell.
bool areOneCell(llvm::StringRef input, llvm::StringRef output) {
  return output == (input + "Out").str() ||
         ((input == "X" || input == "Input") && (output == "Out" || output == "Output"));
}

// Whether an op writes the cell of its k-th argument of a slot, and means another one by it.
bool overwrites(const pd::OpView& op, llvm::StringRef slot, unsigned k, llvm::StringRef cell) {
  bool written = false;
  for (const std::string& output : op.outputSlots())
    for (unsigned i = 0; i < op.outputCount(output); ++i) {
      if (op.outputName(output, i) != cell) continue;
      if (i == k && areOneCell(slot, output)) return false;
      written = true;
    }
  return written;
}

}  // namespace

// In the framework an op whose result has the name of an input writes into that input. Where the op
// would still need the old one, it gets a copy.
void copyOverwrittenInputs(pd::ProgramOp program) {
  pd::Declarations declarations;
  llvm::SmallVector<mlir::Operation*> ops;
  program.walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0) ops.push_back(op);
  });
  for (mlir::Operation* one : ops) {
    pd::OpView op(one);
    llvm::DenseMap<mlir::Value, mlir::Value> copies;
    for (const std::string& slot : op.inputSlots())
      for (unsigned i = 0; i < op.inputCount(slot); ++i) {
        mlir::Value value = op.input(slot, i);
        if (!value || !overwrites(op, slot, i, pd::nameOf(value))) continue;
        mlir::Value& copy = copies[value];
        if (!copy) {
          mlir::OpBuilder builder(one);
          const std::string name =
              declarations.freshName(one->getBlock(), pd::nameOf(value).str() + ".before");
          copy = declarations
                     .create(builder, one->getLoc(), "assign", {{"X", {value}}},
                             {{"Out", {{name, value.getType()}}}}, {}, op.role())
                     .output("Out");
        }
        op.setInput(slot, i, copy);
      }
  }
}

}  // namespace dtranspile
