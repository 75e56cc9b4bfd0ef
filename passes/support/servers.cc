#include "passes/support/servers.h"

#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::passes {

Cut cutOf(mlir::RankedTensorType type, int64_t slices, int64_t least) {
  const int64_t elements = type.getNumElements(), extent = type.getDimSize(0),
                row = elements / extent;
  const int64_t blocks = std::min(slices, std::max<int64_t>(1, elements / least));
  return {extent, static_cast<int64_t>(llvm::divideCeil(llvm::divideCeil(elements, blocks), row))};
}

mlir::FailureOr<ServedJob> servedJob(mlir::ModuleOp module, llvm::ArrayRef<std::string> axes) {
  mlir::FailureOr<JobOnAxes> trainers = jobOnAxes(module, axes);
  if (mlir::failed(trainers)) return mlir::failure();
  ServedJob job{*trainers, {}, {}, {}, {}, {}};
  for (auto role : module.getOps<dist::RoleOp>())
    if (role != job.trainers.role) job.role = role;
  for (auto comm : module.getOps<dist::CommOp>())
    if (comm.getCarries() == llvm::StringRef(kRounds)) job.rounds = comm;
  if (!job.role || !job.rounds)
    return module.emitError("has no parameter servers; run ps-place and ps-split first");
  job.mesh = dist::meshOf(job.role);
  job.main =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(job.role, "main"));
  job.startup =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(job.role, "startup"));
  if (!job.main || !job.mesh) return job.role.emitError("has no mesh, or no pd.program @main");
  return job;
}

// The mesh of the servers has one axis; where the job's trainers ask, they do so over this
// communicator, which carries all requests of a step.
dist::CommOp addServers(const JobOnAxes& job, int64_t servers) {
  dist::MeshOp workers = job.mesh;
  mlir::OpBuilder builder(workers.getContext());
  builder.setInsertionPointAfter(workers);
  const mlir::Location loc = workers.getLoc();
  dist::MeshOp::create(builder, loc, builder.getStringAttr("servers"),
                       builder.getStrArrayAttr({llvm::StringRef(kServerAxis)}),
                       builder.getDenseI64ArrayAttr({servers}), builder.getArrayAttr({}),
                       builder.getDenseI64ArrayAttr({}));
  return dist::CommOp::create(builder, loc, builder.getStringAttr(kRounds),
                              mlir::FlatSymbolRefAttr::get(workers.getSymNameAttr()),
                              workers.getAxes(), dist::SelAttr(),
                              dist::CommKindAttr::get(builder.getContext(), dist::CommKind::Rpc),
                              mlir::FlatSymbolRefAttr::get(builder.getContext(), kServerRole),
                              builder.getStringAttr(kRounds));
}

// Only what differs from the default is written, so that jobs that ask for nothing special have no
// such attribute.
void setQueues(dist::CommOp comm, const Queues& queues) {
  mlir::Builder builder(comm.getContext());
  mlir::NamedAttrList entries;
  const auto number = [&](llvm::StringRef name, int64_t value, int64_t otherwise) {
    if (value != otherwise) entries.set(name, builder.getI64IntegerAttr(value));
  };
  const Queues usual;
  number("max_merge_var_num", queues.maxMergeVarNum, usual.maxMergeVarNum);
  number("send_queue_size", queues.sendQueueSize, usual.sendQueueSize);
  number("send_wait_times", queues.sendWaitTimes, usual.sendWaitTimes);
  number("thread_pool_size", queues.threadPoolSize, usual.threadPoolSize);
  number("min_send_grad_num_before_recv", queues.minSendGradNumBeforeRecv,
         usual.minSendGradNumBeforeRecv);
  if (queues.independentRecvThread) entries.set("independent_recv_thread", builder.getUnitAttr());
  if (!queues.isSgdOptimizer) entries.set("average", builder.getUnitAttr());
  if (!entries.empty()) comm->setAttr(dist::kSendingAttr, entries.getDictionary(comm.getContext()));
}

// One communicator for all sums among servers, made when the first of them is asked for.
mlir::FlatSymbolRefAttr serverComm(mlir::ModuleOp job, dist::MeshOp mesh) {
  mlir::Operation* last = mesh;
  for (auto comm : job.getOps<dist::CommOp>()) {
    if (comm.getCarries() == llvm::StringRef(kServerSums)) return symbolOf(comm);
    last = comm;
  }
  mlir::OpBuilder builder(job.getContext());
  builder.setInsertionPointAfter(last);
  return symbolOf(dist::CommOp::create(
      builder, mesh.getLoc(), builder.getStringAttr("servers_sum"),
      mlir::FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getAxes(), dist::SelAttr(),
      dist::CommKindAttr::get(job.getContext(), dist::CommKind::Group), mlir::FlatSymbolRefAttr(),
      builder.getStringAttr(kServerSums)));
}

mlir::Type blockType(mlir::Type type) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = mlir::ShapedType::kDynamic;
  return mlir::RankedTensorType::get(shape, tensor.getElementType());
}

dist::RelAttr blocksOf(mlir::StringAttr variable, dist::LayoutAttr layout) {
  auto axis = mlir::StringAttr::get(variable.getContext(), kServerAxis);
  return dist::RelAttr::of(variable, dist::AxisRelAttr::split(axis, 0, layout));
}

pd::VarOp addServerVariable(mlir::OpBuilder& builder, pd::VarOp like, dist::LayoutAttr layout) {
  auto var = llvm::cast<pd::VarOp>(builder.clone(*like.getOperation()));
  var->removeAttr(kServerLayout);
  const mlir::StringAttr name = var.getSymNameAttr();
  var->setAttr(dist::kRelAttr, layout ? blocksOf(name, layout) : dist::RelAttr::of(name));
  if (layout) var.setType(blockType(var.getType()));
  return var;
}

dist::LayoutAttr layoutOf(pd::VarOp variable) {
  auto relation = variable->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  dist::AxisRelAttr state = relation ? relation.lookup(kServerAxis) : dist::AxisRelAttr();
  return state ? state.getLayout() : dist::LayoutAttr();
}

void copyDeclarations(pd::ProgramOp from, pd::ProgramOp to,
                      llvm::function_ref<bool(llvm::StringRef)> wanted) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(to.getBodyBlock());
  for (auto decl : from.getBodyBlock()->getOps<pd::DeclOp>())
    if (wanted(decl.getName())) builder.clone(*decl.getOperation());
}

}  // namespace dtranspile::passes
