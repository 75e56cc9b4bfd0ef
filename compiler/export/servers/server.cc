// The module of one server: its variables block by block, start-up, and the round as one operator.
#include "compiler/export/servers/reductions.h"
#include "compiler/export/servers/round.h"
#include "compiler/export/servers/servers.h"
#include "compiler/export/servers/startup.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

// The body of `dist.handle round`; null after a message.
mlir::Block* roundOf(pd::ProgramOp main) {
  dist::ServeOp serve;
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (auto one = llvm::dyn_cast<dist::ServeOp>(op)) serve = one;
    else if (!llvm::isa<pd::DeclOp>(op))
      return op.emitError(
                 "export: stands beside dist.serve, and the framework's servers do "
                 "nothing else"),
             nullptr;
  }
  if (!serve) return main.emitError("export: the servers' program has no dist.serve"), nullptr;
  if (serve.getMode() != dist::ServeMode::Sync)
    return serve.emitError("export: mode ") << dist::stringifyServeMode(serve.getMode())
                                            << " has no translation yet; synchronous rounds have",
           nullptr;
  mlir::Block* round = nullptr;
  for (auto handle : serve.getBody().getOps<dist::HandleOp>()) {
    if (handle.getKind() != dist::Handler::Round)
      return handle.emitError("export: handlers of ")
                 << dist::stringifyHandler(handle.getKind()) << " have no translation yet",
             nullptr;
    round = &handle.getBody().front();
  }
  if (!round) serve.emitError("export: has no handler of the round");
  return round;
}

// One variable per block that the server has; whole ones as they are.
void makeVariables(mlir::ModuleOp module, const Tables& tables, int64_t server,
                   const llvm::StringSet<>& kept) {
  for (auto var : llvm::make_early_inc_range(module.getOps<pd::VarOp>())) {
    const Table* table = tables.find(var.getSymName());
    if (!table && kept.contains(var.getSymName())) continue;
    mlir::OpBuilder builder(var);
    for (const Block* block :
         table&& kept.contains(table->name) ? table->on(server) : std::vector<const Block*>()) {
      auto own = llvm::cast<pd::VarOp>(builder.clone(*var.getOperation()));
      own.setSymName(table->blockName(*block));
      own.setType(table->typeOf(*block));
      own->removeAttr(dist::kRelAttr);
    }
    var.erase();
  }
}

}  // namespace

// The role specialised to one rank, as for a native run; then variables block by block, start-up in
// blocks, and main as one listen_and_serv whose blocks are the round. What neither the round nor a
// trainer asks for is dropped, since the framework's start-up would only fill it.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> exportServer(const Tables& tables,
                                                                int64_t rank) {
  dist::RoleOp role = tables.serverRole();
  dist::MeshOp mesh = dist::meshOf(role);
  SpecializeOptions options;
  options.verify = false;  // what becomes of it is
  auto made = specialize(role, classOfRank(role, mesh, rank), options);
  if (mlir::failed(made)) return mlir::failure();
  mlir::ModuleOp module = **made;
  if (mlir::failed(resolveGroups(module, mesh, "servers"))) return mlir::failure();
  auto program = [&](llvm::StringRef name) {
    return llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(module, name));
  };
  pd::ProgramOp main = program("main"), startup = program("startup");
  if (!main) return role.emitError("export: has no pd.program @main"), mlir::failure();
  mlir::Block* round = roundOf(main);
  if (!round) return mlir::failure();
  mlir::FailureOr<RoundPlan> plan = planRound(*round, tables, rank);
  if (mlir::failed(plan)) return mlir::failure();

  llvm::StringSet<> kept = plan->variables;
  for (const Table& table : tables.tables())
    if (table.travels) kept.insert(table.name);
  if (startup) dropForeignValues(startup, kept);
  makeVariables(module, tables, rank, kept);
  if (startup && mlir::failed(writeStartup(startup, tables, rank))) return mlir::failure();
  mlir::OpBuilder builder(main);
  auto served = pd::ProgramOp::create(builder, main.getLoc(), main.getSymNameAttr());
  served->setAttrs(main->getAttrDictionary());
  builder.createBlock(&served.getBody());
  if (mlir::failed(writeRound(served, *plan, tables, rank, main.getLoc()))) return mlir::failure();
  main.erase();
  for (mlir::Operation& op : llvm::make_early_inc_range(*module.getBody()))
    if (llvm::isa<dist::CommOp, dist::RoleOp>(op)) op.erase();
  if (mlir::failed(mlir::verify(module))) return mlir::failure();
  return std::move(*made);
}

}  // namespace dtranspile
