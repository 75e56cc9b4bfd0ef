#include "passes/support/job.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::passes {

std::string listOf(mlir::ArrayAttr axes) {
  return "[" + llvm::join(axes.getAsValueRange<mlir::StringAttr>(), ", ") + "]";
}

// Whether the role is one of servers, by its main program.
bool serves(dist::RoleOp role) {
  auto main =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(role, "main"));
  return main && !main.getBodyBlock()->getOps<dist::ServeOp>().empty();
}

namespace {

// Fills in the axes of the mesh that are among `names`.
// In the order of the mesh, whatever order they are named in, so that communicators of one set of
// axes are the same.
mlir::LogicalResult chooseAxes(JobOnAxes& job, llvm::ArrayRef<std::string> names) {
  const std::string known = listOf(job.mesh.getAxes());
  if (names.empty())
    return job.role.emitError("give the pass the axes that it works on, axes=NAME,…; the mesh has ")
           << known;
  llvm::SmallVector<mlir::Attribute> chosen;
  for (auto [axis, size] : llvm::zip(job.mesh.getAxes(), job.mesh.getSizes())) {
    if (!llvm::is_contained(names, llvm::cast<mlir::StringAttr>(axis).getValue())) continue;
    chosen.push_back(axis);
    job.ranks *= size;
  }
  job.axes = mlir::ArrayAttr::get(job.mesh.getContext(), chosen);
  for (const std::string& name : names)
    if (!llvm::is_contained(job.axes.getAsValueRange<mlir::StringAttr>(), name))
      return job.role.emitError("axes: the mesh has no axis '") << name << "'; it has " << known;
  return mlir::success();
}

}  // namespace

// The one role that trains; servers' roles are passed over.
mlir::FailureOr<JobOnAxes> jobOnAxes(mlir::ModuleOp module, llvm::ArrayRef<std::string> axes) {
  JobOnAxes job;
  for (auto role : module.getOps<dist::RoleOp>()) {
    if (serves(role)) continue;
    if (job.role)
      return role.emitError("the job has a second role; this pass works on jobs of one role");
    job.role = role;
  }
  if (!job.role) return module.emitError("is no job: it has no dist.role; run form-job first");
  job.mesh = dist::meshOf(job.role);
  if (!job.mesh) return job.role.emitError("has no mesh");
  job.main =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(job.role, "main"));
  job.startup =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(job.role, "startup"));
  if (!job.main) return job.role.emitError("has no pd.program @main");
  if (mlir::failed(chooseAxes(job, axes))) return mlir::failure();
  return job;
}

// Several of one purpose and the same axes are rings: buckets are dealt out to them in turn.
mlir::FailureOr<std::vector<dist::CommOp>> commsCarrying(mlir::ModuleOp job, llvm::StringRef what,
                                                         mlir::ArrayAttr axes) {
  std::vector<dist::CommOp> comms;
  for (auto comm : job.getOps<dist::CommOp>())
    if (comm.getCarries() == what && comm.getAxes() == axes) comms.push_back(comm);
  if (comms.empty())
    return job.emitError("no communicator over ")
           << listOf(axes) << " carries " << what << "; form-job makes them";
  return comms;
}

mlir::FlatSymbolRefAttr symbolOf(dist::CommOp comm) {
  return mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr());
}

// One value by itself; buckets are made by other passes.
mlir::Value sumOver(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value,
                    mlir::FlatSymbolRefAttr comm) {
  auto sum = dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum);
  return dist::AllReduceOp::create(builder, loc, mlir::TypeRange(value.getType()), sum,
                                   mlir::ValueRange(value), comm)
      .getResult(0);
}

// Updates are known by their slots (Grad, ParamOut), not by their role: users mark ops as they
// like. One that updates several parameters is visited for each.
void forEachUpdate(pd::ProgramOp program,
                   llvm::function_ref<void(pd::OpView, llvm::StringRef)> visit) {
  program.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    pd::OpView view(op);
    if (!view.input("Grad") || !view.output("ParamOut")) return;
    for (mlir::Value parameter : view.inputs("Param"))
      if (parameter) visit(view, dist::nameOf(parameter));
  });
}

// -1 for what is no tensor of known extents, or too large to count.
int64_t bytesOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) return -1;
  std::optional<DType> dtype = pd::dtypeOf(tensor.getElementType());
  int64_t bytes = dtype ? static_cast<int64_t>(SizeOf(*dtype)) : -1;
  for (int64_t extent : tensor.getShape())
    if (bytes < 0 || llvm::MulOverflow(bytes, extent, bytes)) return -1;
  return bytes;
}

// The framework's op with all attributes given, so that the text does not depend on defaults of a
// version.
mlir::Value scale(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value, double factor,
                  llvm::StringRef name, int role, pd::Declarations& declarations) {
  return declarations
      .create(builder, loc, "scale", {{"X", {value}}}, {{"Out", {{name.str(), value.getType()}}}},
              {builder.getNamedAttr("scale", builder.getF32FloatAttr(static_cast<float>(factor))),
               builder.getNamedAttr("bias", builder.getF32FloatAttr(0)),
               builder.getNamedAttr("bias_after_scale", builder.getBoolAttr(true))},
              role)
      .output("Out");
}

// The result has the type of x, to which y broadcasts.
mlir::Value elementwise(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef type,
                        mlir::Value x, mlir::Value y, llvm::StringRef name, int role,
                        pd::Declarations& declarations, int axis) {
  return declarations
      .create(builder, loc, type, {{"X", {x}}, {"Y", {y}}}, {{"Out", {{name.str(), x.getType()}}}},
              {builder.getNamedAttr("axis", builder.getI32IntegerAttr(axis))}, role)
      .output("Out");
}

mlir::Operation* inBlock(mlir::Block* block, mlir::Operation* op) {
  return block->findAncestorOpInBlock(*op);
}

// One contract per tag: the sites of a second call join those of the first, each once, in order.
// The contract moves to the end of the list.
void addContract(mlir::ModuleOp job, llvm::StringRef tag, llvm::StringRef statement,
                 llvm::ArrayRef<std::string> sites) {
  mlir::Builder builder(job.getContext());
  llvm::SmallVector<mlir::Attribute> contracts;
  llvm::SetVector<mlir::Attribute> all;
  if (auto existing = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr))
    for (mlir::Attribute entry : existing) {
      auto contract = llvm::cast<mlir::DictionaryAttr>(entry);
      if (contract.getAs<mlir::StringAttr>("tag").getValue() != tag) contracts.push_back(entry);
      else {
        all.insert_range(contract.getAs<mlir::ArrayAttr>("sites"));
        if (statement.empty()) statement = contract.getAs<mlir::StringAttr>("statement").getValue();
      }
    }
  for (const std::string& site : sites) all.insert(builder.getStringAttr(site));
  contracts.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr("tag", builder.getStringAttr(tag)),
       builder.getNamedAttr("statement", builder.getStringAttr(statement)),
       builder.getNamedAttr("sites", builder.getArrayAttr(all.getArrayRef()))}));
  job->setAttr(dist::kContractsAttr, builder.getArrayAttr(contracts));
}

bool hasContract(mlir::ModuleOp job, llvm::StringRef tag) {
  auto contracts = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  return contracts && llvm::any_of(contracts, [&](mlir::Attribute entry) {
           return llvm::cast<mlir::DictionaryAttr>(entry)
                      .getAs<mlir::StringAttr>("tag")
                      .getValue() == tag;
         });
}

}  // namespace dtranspile::passes
