// The module of one server: its variables block by block, start-up, and the round as one operator.
#include "compiler/export/servers/reductions.h"
#include "compiler/export/servers/round.h"
#include "compiler/export/servers/servers.h"
#include "compiler/export/servers/startup.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

// Without rounds every gradient has a block of its own, which runs when the gradient has come. The
// handlers of all pushes are put together, as a round would stand there, and divided into blocks
// again like one (planRound); what cannot stand in one of these blocks alone is refused.
mlir::Block* handlersOf(dist::ServeOp serve) {
  mlir::Block* all = nullptr;
  for (auto handle : serve.getBody().getOps<dist::HandleOp>()) {
    mlir::Block& body = handle.getBody().front();
    if (handle.getKind() != dist::Handler::Push)
      return handle.emitError("export: handlers of ")
                 << dist::stringifyHandler(handle.getKind()) << " have no translation yet",
             nullptr;
    if (body.getOps<dist::ForeachBlockOp>().empty())
      return handle.emitError(
                 "export: counts steps, and the framework's servers without rounds run a schedule "
                 "of the rate once, when they start; train with a rate that stays, or with rounds"),
             nullptr;
    bool late = !body.getArgument(0).use_empty();
    body.walk([&](pd::GetOp get) { late |= get->hasAttr(dist::kAsPulledAttr); });
    if (late)
      return handle.emitError(
                 "export: takes what its trainer has pulled (enable_dc_asgd), which has no "
                 "translation yet"),
             nullptr;
    if (!all) {
      all = &body;
      continue;
    }
    mlir::Operation* end = all->getTerminator();
    for (mlir::Operation& op : llvm::make_early_inc_range(body.without_terminator()))
      op.moveBefore(end);
  }
  if (!all) serve.emitError("export: has no handler of a push");
  return all;
}

// A block of listen_and_serv per gradient, and none that waits for another one.
mlir::LogicalResult checkAlone(const RoundPlan& plan) {
  for (const RoundPlan::Part& part : plan.parts)
    if (part.group != 0 || !llvm::isa<dist::ForeachBlockOp>(part.ops.front()))
      return part.ops.front()->emitError(
          "export: is computed beside the updates, and the framework's servers without rounds run "
          "the update of the gradient that has come, and nothing else; use rounds");
  return mlir::success();
}

// The body of `dist.handle round`, or of all pushes; null after a message.
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
  if (serve.getMode() == dist::ServeMode::Async) return handlersOf(serve);
  if (serve.getMode() != dist::ServeMode::Sync)
    return serve.emitError("export: mode ") << dist::stringifyServeMode(serve.getMode())
                                            << " has no translation yet; sync and async have",
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
  if (mlir::failed(plan) || (!tables.rounds() && mlir::failed(checkAlone(*plan))))
    return mlir::failure();

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
