#include "compiler/export/collective/collective.h"

#include "compiler/export/collective/exporter.h"
#include "compiler/export/edit.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {

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
  }
  return mlir::verify(module);
}

}  // namespace dtranspile
