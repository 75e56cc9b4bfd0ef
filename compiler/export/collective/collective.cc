#include "compiler/export/collective/collective.h"

#include <map>

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

// A rank that has some of the blocks of a program (a stage of a pipeline has the branches of its
// own parameters) numbers those that it has: in a file they are 0, 1, 2 ….
void closeGaps(pd::ProgramOp program) {
  std::map<int64_t, int32_t> numbers = {{0, 0}};
  const auto forEachBlock =
      [&](llvm::function_ref<mlir::DictionaryAttr(mlir::DictionaryAttr)> change) {
        program.walk([&](mlir::Operation* op) {
          auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
          if (!blocks) return;
          llvm::SmallVector<mlir::Attribute> changed;
          for (auto block : blocks.getAsRange<mlir::DictionaryAttr>())
            changed.push_back(change(block));
          op->setAttr("blocks", mlir::ArrayAttr::get(op->getContext(), changed));
        });
      };
  forEachBlock([&](mlir::DictionaryAttr block) {
    if (auto index = block.getAs<mlir::IntegerAttr>("idx")) numbers[index.getInt()];
    return block;
  });
  int32_t next = 0;
  for (auto& [old, now] : numbers) now = next++;
  if (numbers.rbegin()->first == numbers.rbegin()->second) return;
  mlir::Builder builder(program.getContext());
  forEachBlock([&](mlir::DictionaryAttr block) {
    mlir::NamedAttrList fields(block);
    for (const char* name : {"idx", "parent", "forward"}) {
      auto old = block.getAs<mlir::IntegerAttr>(name);
      if (old && numbers.count(old.getInt()))
        fields.set(name, builder.getI32IntegerAttr(numbers[old.getInt()]));
    }
    return fields.getDictionary(program.getContext());
  });
  program.walk([&](mlir::Operation* op) {
    auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
    if (!attributes || op->getNumRegions() == 0) return;
    mlir::NamedAttrList changed(attributes);
    for (mlir::NamedAttribute attribute : attributes)
      if (auto block = llvm::dyn_cast<pd::BlockAttr>(attribute.getValue());
          block && numbers.count(block.getIdx()))
        changed.set(attribute.getName(),
                    pd::BlockAttr::get(program.getContext(), numbers[block.getIdx()]));
    op->setAttr("attrs", changed.getDictionary(program.getContext()));
  });
}

}  // namespace

// Turns one rank's text into the framework's operators: operations between ranks become c_* ops on
// rings, and values become variables again. Then numbers of blocks are closed up, inputs that an op
// overwrites are copied, and the result must verify.
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
    closeGaps(program);
    copyOverwrittenInputs(program);
    declareParts(module, program);
  }
  return mlir::verify(module);
}

}  // namespace dtranspile
