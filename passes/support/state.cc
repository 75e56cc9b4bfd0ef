#include "passes/support/state.h"

#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::passes {

pd::ProgramOp startupOf(mlir::ModuleOp module) {
  return llvm::dyn_cast_or_null<pd::ProgramOp>(
      mlir::SymbolTable::lookupSymbolIn(module, "startup"));
}

// Declared in both programs, which is how the framework's programs carry state from one to the
// other.
pd::VarOp addState(pd::ProgramOp main, pd::ProgramOp startup, llvm::StringRef stem,
                   mlir::RankedTensorType type, double value, pd::Declarations& declarations) {
  const std::string name = declarations.freshName(main.getBodyBlock(), (stem + "_0").str());
  mlir::OpBuilder builder(main);
  auto var = pd::VarOp::create(builder, main.getLoc(), builder.getStringAttr(name),
                               mlir::TypeAttr::get(type), mlir::UnitAttr());
  for (pd::ProgramOp program : {main, startup}) {
    declarations.declare(program.getBodyBlock(), name, type);
    declarations.find(program.getBodyBlock(), name).setPersistable(true);
  }
  builder.setInsertionPointToEnd(startup.getBodyBlock());
  const auto dtype = static_cast<int32_t>(*pd::dtypeOf(type.getElementType()));
  mlir::Value initial =
      declarations
          .create(
              builder, startup.getLoc(), "fill_constant", {}, {{"Out", {{name, type}}}},
              {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(dtype)),
               builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())),
               builder.getNamedAttr("value", builder.getF32FloatAttr(static_cast<float>(value)))},
              pd::kForward)
          .output("Out");
  pd::SetOp::create(builder, startup.getLoc(),
                    mlir::FlatSymbolRefAttr::get(builder.getContext(), name), initial);
  return var;
}

}  // namespace dtranspile::passes
