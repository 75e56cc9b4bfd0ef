// What the walk asks a job: contracts, axes, the reference; and what an update is.
#include "compiler/analysis/relations/analysis.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

// Contracts are a list on the job: a bare tag, or a dictionary of a tag, the statement that people
// read, and the names of the sites it speaks of.
Contracts Contracts::of(mlir::ModuleOp job) {
  Contracts contracts;
  auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  if (!list) return contracts;
  for (mlir::Attribute entry : list) {
    if (auto tag = llvm::dyn_cast<mlir::StringAttr>(entry)) contracts.sites[tag.getValue().str()];
    auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
    auto tag = fields ? fields.getAs<mlir::StringAttr>("tag") : mlir::StringAttr();
    if (!tag) continue;
    std::set<std::string>& sites = contracts.sites[tag.getValue().str()];
    if (auto statement = fields.getAs<mlir::StringAttr>("statement"))
      contracts.statements[tag.getValue().str()] = statement.getValue().str();
    if (auto names = fields.getAs<mlir::ArrayAttr>("sites"))
      for (mlir::Attribute name : names)
        if (auto text = llvm::dyn_cast<mlir::StringAttr>(name)) sites.insert(text.getValue().str());
  }
  return contracts;
}

// Rank axes of the mesh in its order, then time axes, then which of them the batch of some feed is
// cut along.
Axes axesOf(dist::RoleOp role) {
  Axes axes;
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return axes;
  auto add = [&](llvm::StringRef name, int64_t size) {
    axes.names.push_back(name.str());
    axes.sizes.push_back(size);
    axes.meshSizes.push_back(size);
    axes.isData.push_back(false);
  };
  for (auto [name, size] :
       llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
    add(name, size);
  // Time has coordinates inside of its loops only.
  for (llvm::StringRef name : mesh.getTimeAxes().getAsValueRange<mlir::StringAttr>()) add(name, 1);
  role->walk([&](pd::InputOp input) {
    if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
      for (mlir::StringAttr name : batch.getAxes())
        if (int axis = axes.indexOf(name.getValue()); axis >= 0) axes.isData[axis] = true;
  });
  return axes;
}

bool isUpdate(const Question& question, mlir::Operation* op, mlir::Operation* reference) {
  if (question.startup) return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return (pd::OpView(reference).role() & pd::kOptimize) != 0 ||
         (spec && spec->family == "optimizer");
}

}  // namespace dtranspile::verify
