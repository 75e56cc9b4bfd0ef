#include "compiler/export/collective/collective.h"

#include "compiler/export/collective/exporter.h"
#include "compiler/export/edit.h"
#include "dialects/pd/types.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

void declareAs(pd::DeclOp decl, mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  const std::optional<llvm::ArrayRef<int64_t>> dims = decl ? decl.getDims() : std::nullopt;
  if (!tensor || !dims || dims->size() != static_cast<size_t>(tensor.getRank())) return;
  decl.setDims(pd::dimsOf(tensor));
}

// A rank that holds parts declares parts: the passes that cut leave declarations as the program has
// them. What start-up makes whole and keeps a part of is declared as what it keeps.
void declareParts(mlir::ModuleOp module, pd::ProgramOp program) {
  pd::Declarations declarations;
  program.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    for (mlir::Value result : op->getResults())
      declareAs(declarations.resolve(op->getBlock(), pd::nameOf(result)), result.getType());
  });
  for (auto var : module.getOps<pd::VarOp>())
    declareAs(declarations.find(program.getBodyBlock(), var.getSymName()), var.getType());
}

}  // namespace

mlir::LogicalResult exportCollective(mlir::ModuleOp module, int64_t rank,
                                     llvm::ArrayRef<std::string> endpoints) {
  auto meshes = module.getOps<dist::MeshOp>();
  if (meshes.empty())
    return module.emitError("export: the module has no mesh; specialise a job first");
  dist::MeshOp mesh = *meshes.begin();
  if (rank < 0 || rank >= mesh.ranks())
    return module.emitError("export: there is no rank ") << rank << " of " << mesh.ranks();
  if (static_cast<int64_t>(endpoints.size()) != mesh.ranks())
    return module.emitError("export: ")
           << mesh.ranks() << " ranks need as many endpoints, not " << endpoints.size();
  for (auto program : module.getOps<pd::ProgramOp>()) {
    if (mlir::failed(Exporter(module, mesh, rank, endpoints)
                         .run(program, program.getSymName() == "startup")))
      return mlir::failure();
    copyOverwrittenInputs(program);
    declareParts(module, program);
  }
  return mlir::verify(module);
}

}  // namespace dtranspile
