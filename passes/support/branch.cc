#include "passes/support/branch.h"

#include "dialects/pd/op_view.h"

namespace dtranspile::passes {
namespace {

// Blocks of a program are numbered, the program's own is 0; the new one is the last.
int32_t nextBlock(pd::ProgramOp program) {
  int32_t last = 0;
  program.walk([&](mlir::Operation* op) {
    auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
    if (!blocks) return;
    for (auto entry : blocks.getAsRange<mlir::DictionaryAttr>())
      if (auto index = entry.getAs<mlir::IntegerAttr>("idx"))
        last = std::max(last, static_cast<int32_t>(index.getInt()));
  });
  return last + 1;
}

}  // namespace

mlir::Operation* addBranch(pd::ProgramOp program, mlir::Value condition, llvm::StringRef scope,
                           pd::Declarations& declarations) {
  mlir::MLIRContext* context = program.getContext();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(program.getBodyBlock());
  const int32_t index = nextBlock(program);
  const auto slot = [&](llvm::StringRef name, llvm::ArrayRef<mlir::StringAttr> arguments) {
    return pd::SlotAttr::get(context, builder.getStringAttr(name), arguments);
  };
  const auto tape = pd::TapeType::get(context);
  const mlir::StringAttr value = builder.getStringAttr("");
  declarations.declare(program.getBodyBlock(), scope, tape);

  mlir::NamedAttrList attributes;
  attributes.set("is_scalar_condition", builder.getBoolAttr(true));
  attributes.set("op_role", builder.getI32IntegerAttr(pd::kOptimize));
  attributes.set("sub_block", pd::BlockAttr::get(context, index));
  mlir::NamedAttrList block;
  block.set("idx", builder.getI32IntegerAttr(index));
  block.set("parent", builder.getI32IntegerAttr(0));
  for (llvm::StringRef list : {"captures", "locals", "saved", "written"})
    block.set(list, builder.getArrayAttr({}));

  mlir::OperationState state(program.getLoc(), "pd.conditional_block");
  state.operands.push_back(condition);
  state.types.push_back(tape);
  state.addAttribute("attrs", attributes.getDictionary(context));
  state.addAttribute("ins", builder.getArrayAttr(
                                {slot("$capture", {}), slot("Cond", {value}), slot("Input", {})}));
  state.addAttribute("outs", builder.getArrayAttr(
                                 {slot("Out", {}), slot("Scope", {builder.getStringAttr(scope)})}));
  state.addAttribute("blocks", builder.getArrayAttr({block.getDictionary(context)}));
  state.addRegion()->push_back(new mlir::Block());
  return builder.create(state);
}

}  // namespace dtranspile::passes
