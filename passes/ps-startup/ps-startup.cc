// Initial values come from the servers. After ps-split.
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/xxhash.h"
#include "passes/ps-startup/pass.h"
#include "passes/support/relations.h"
#include "passes/support/servers.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_PSSTARTUP
#include "passes/ps-startup/pass.h.inc"

namespace {

// Ops without a use that do nothing else.
void eraseUnused(mlir::Block& body) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (!op.use_empty() || op.getNumResults() == 0) continue;
    bool idle = llvm::isa<pd::GetOp, pd::UndefOp, pd::InputOp>(op);
    if (pd::OpView::isFrameworkOp(&op) && op.getNumRegions() == 0) {
      const pd::OpSpec* spec = pd::OpView(&op).spec();
      idle = spec && (spec->effects & ~pd::kRandom) == pd::kPure;
    }
    if (idle) op.erase();
  }
}

// Declarations of variables that the role has no more.
void eraseDeclarations(pd::ProgramOp program, const llvm::DenseSet<mlir::StringAttr>& gone) {
  for (auto decl : llvm::make_early_inc_range(program.getBodyBlock()->getOps<pd::DeclOp>()))
    if (gone.contains(decl.getNameAttr())) decl.erase();
}

// Whether every draw that a value is made of has a seed of its own, so that all servers draw it
// alike. Of ops whose draws follow their seed in every version of the framework.
bool isDrawnBySeed(mlir::Value value, mlir::Block& body) {
  static constexpr llvm::StringLiteral kBySeed[] = {"uniform_random", "gaussian_random",
                                                    "truncated_gaussian_random"};
  llvm::SmallVector<mlir::Value> made = {value};
  llvm::DenseSet<mlir::Operation*> seen;
  while (!made.empty()) {
    mlir::Operation* op = made.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &body || !pd::OpView::isFrameworkOp(op) || op->getNumRegions())
      return false;
    if (!seen.insert(op).second) continue;
    const pd::OpView view(op);
    if (!view.spec()) return false;
    if (view.spec()->effects & pd::kRandom)
      if (!llvm::is_contained(kBySeed, view.type()) || view.getInt("seed") == 0) return false;
    llvm::append_range(made, op->getOperands());
  }
  return true;
}

class PsStartup : public impl::PsStartupBase<PsStartup> {
 public:
  using PsStartupBase::PsStartupBase;

  // Servers make the initial values of what they hold, and trainers pull them before the first
  // step, so that all begin with the same. What trainers keep for themselves they make as before.
  void runOnOperation() override {
    mlir::FailureOr<ServedJob> job = servedJob(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (job->startup) {
      job->role.emitError("has a start-up program already");
      return signalPassFailure();
    }
    if (!job->trainers.startup) {
      job->trainers.role.emitError(
          "servers begin with what start-up computes: the job needs a pd.program @startup");
      return signalPassFailure();
    }
    if (mlir::failed(serveFrozen(*job)) || mlir::failed(makeServers(*job)) ||
        mlir::failed(makeTrainers(*job)))
      signalPassFailure();
    for (auto var : job->trainers.role.getBody().front().getOps<pd::VarOp>()) {
      var->removeAttr(kServerLayout);
      var->removeAttr(kSnapshotOf);
    }
  }

 private:
  // Variables of the trainers that begin as one trainer's own and stay so.
  // A variable that start-up draws and nothing sets afterwards must be the same for all trainers:
  // one server takes it, whole, though it trains nothing there, and trainers pull it.
  mlir::LogicalResult serveFrozen(ServedJob& job) {
    const auto differences =
        verify::Differences::ofStartup(job.trainers.role, job.trainers.startup);
    const verify::AxisSet own = axesOf(job.trainers, differences.axes());
    llvm::DenseMap<mlir::StringAttr, mlir::Operation*> set;
    job.trainers.main.walk([&](pd::SetOp op) { set[op.getVarAttr().getAttr()] = op; });
    mlir::OpBuilder builder(job.main);
    for (const verify::Differences::Ending& ending : differences.endings()) {
      const mlir::StringAttr name = pd::SetOp(ending.set).getVarAttr().getAttr();
      auto var = llvm::dyn_cast_or_null<pd::VarOp>(
          mlir::SymbolTable::lookupSymbolIn(job.trainers.role, name));
      if ((verify::AxisSet(own) &= ending.along).none() || !var || !isRead(job, name) ||
          mlir::SymbolTable::lookupSymbolIn(job.role, name))
        continue;
      mlir::RankedTensorType type = pd::tensorOf(var.getType());
      if (mlir::Operation* setter = set.lookup(name))
        return setter->emitError("sets '")
               << name.getValue()
               << "', which start-up draws: every trainer would begin with another value, and "
                  "servers hold parameters only; let start-up begin with a constant";
      if (type != var.getType() || !type.hasStaticShape() || type.getRank() == 0)
        return var.emitError(
            "is drawn by start-up and is no tensor with a dim 0: servers cannot "
            "hold it for the trainers");
      const int64_t extent = type.getDimSize(0);
      const auto first = static_cast<int64_t>(llvm::xxh3_64bits(name.getValue()) %
                                              static_cast<uint64_t>(job.mesh.ranks()));
      addServerVariable(
          builder, var,
          dist::LayoutAttr::get(&getContext(), dist::LayoutKind::Blocks, extent, extent, first));
    }
    return mlir::success();
  }

  static bool isRead(const ServedJob& job, mlir::StringAttr name) {
    return pd::ProgramOp(job.trainers.main)
        .walk([&](pd::GetOp get) {
          return get.getVarAttr().getAttr() == name ? mlir::WalkResult::interrupt()
                                                    : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  // A copy of the whole start-up program, which keeps what servers have.
  mlir::LogicalResult makeServers(ServedJob& job) {
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(job.main);
    job.startup = llvm::cast<pd::ProgramOp>(builder.clone(*job.trainers.startup.getOperation()));
    mlir::Block& body = *job.startup.getBodyBlock();
    const mlir::SymbolTable symbols(job.role);
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (set && !symbols.lookup(set.getVar())) set.erase();
    }
    eraseUnused(body);
    llvm::DenseSet<mlir::StringAttr> gone;
    for (auto var : job.trainers.role.getBody().front().getOps<pd::VarOp>())
      if (!symbols.lookup(var.getSymName())) gone.insert(var.getSymNameAttr());
    eraseDeclarations(job.startup, gone);
    mlir::LogicalResult good = mlir::success();
    job.startup.walk([&](mlir::Operation* op) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (set && op->getBlock() != &body) checkInside(op, symbols, set.getVar(), good);
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) checkInside(op, symbols, get.getVar(), good);
    });
    if (mlir::failed(good)) return mlir::failure();
    shareDraws(job, body);
    for (auto set : llvm::make_early_inc_range(body.getOps<pd::SetOp>()))
      keepBlocks(set, layoutOf(symbols.lookup<pd::VarOp>(set.getVar())));
    return mlir::success();
  }

  // Of what stands inside of control flow, or is read back.
  static void checkInside(mlir::Operation* op, const mlir::SymbolTable& symbols,
                          llvm::StringRef name, mlir::LogicalResult& good) {
    auto var = symbols.lookup<pd::VarOp>(name);
    if (!var)
      good = op->emitError("start-up reads or sets '")
             << name << "' for a variable of the servers, and they do not have it";
    else if (layoutOf(var))
      good = op->emitError("start-up reads '")
             << name
             << "' back, or sets it inside of control flow: servers have blocks of it only; "
                "set it at the top, once";
  }

  // Draws of several servers are those of the first one, unless a seed makes them equal. Without a
  // word between them servers may be started one by one.
  void shareDraws(ServedJob& job, mlir::Block& body) {
    if (job.mesh.ranks() == 1) return;
    const auto differences = verify::Differences::ofStartup(job.role, job.startup);
    llvm::MapVector<mlir::Type, llvm::SmallVector<mlir::Value>> drawn;
    for (const verify::Differences::Ending& ending : differences.endings())
      if (ending.along.any() && !isDrawnBySeed(pd::SetOp(ending.set).getValue(), body)) {
        mlir::Value value = pd::SetOp(ending.set).getValue();
        auto& values = drawn[pd::tensorOf(value.getType()).getElementType()];
        if (!llvm::is_contained(values, value)) values.push_back(value);
      }
    // After all that is computed, before anything is set: sets of what is drawn come last.
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body);
    for (auto& [element, values] : drawn) {
      auto shared = dist::BroadcastOp::create(builder, job.startup.getLoc(),
                                              mlir::ValueRange(values).getTypes(), values,
                                              serverComm(getOperation(), job.mesh),
                                              dist::SelAttr::point(&getContext(), kServerAxis, 0));
      for (auto [value, same] : llvm::zip(values, shared.getResults()))
        for (mlir::OpOperand& use : llvm::make_early_inc_range(value.getUses()))
          if (auto set = llvm::dyn_cast<pd::SetOp>(use.getOwner())) {
            use.set(same);
            set->moveAfter(&body.back());
          }
    }
  }

  // A server computes the whole initial value, as a single device does, and keeps its blocks.
  static void keepBlocks(pd::SetOp set, dist::LayoutAttr layout) {
    if (!layout) return;
    mlir::OpBuilder builder(set);
    mlir::Value value = set.getValue();
    mlir::Value own = dist::SliceOp::create(
        builder, set.getLoc(), blockType(value.getType()), value, builder.getI64IntegerAttr(0),
        layout, builder.getStrArrayAttr({llvm::StringRef(kServerAxis)}));
    set.getValueMutable().assign(own);
  }

  // Trainers compute no value that servers have; they pull what they read. A snapshot (the value as
  // it was last pulled, in geo mode) begins as what was pulled.
  mlir::LogicalResult makeTrainers(ServedJob& job) {
    mlir::Block& body = *job.trainers.startup.getBodyBlock();
    const mlir::SymbolTable servers(job.role);
    llvm::DenseSet<mlir::StringAttr> read;
    job.trainers.main.walk([&](mlir::Operation* op) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) read.insert(get.getVarAttr().getAttr());
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) read.insert(set.getVarAttr().getAttr());
    });
    std::vector<pd::VarOp> pulled;
    llvm::DenseSet<mlir::StringAttr> gone;
    llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> snapshots;
    for (auto var : job.trainers.role.getBody().front().getOps<pd::VarOp>()) {
      if (auto of = var->getAttrOfType<mlir::FlatSymbolRefAttr>(kSnapshotOf))
        snapshots[of.getAttr()] = var.getSymNameAttr();
      auto served = servers.lookup<pd::VarOp>(var.getSymName());
      if (served && !read.contains(var.getSymNameAttr())) gone.insert(var.getSymNameAttr());
      else if (served && layoutOf(served)) pulled.push_back(var);
    }
    llvm::DenseSet<mlir::StringAttr> fromServers(gone);
    for (pd::VarOp var : pulled) fromServers.insert(var.getSymNameAttr());
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (set && fromServers.contains(set.getVarAttr().getAttr())) set.erase();
    }
    eraseUnused(body);
    mlir::LogicalResult good = mlir::success();
    job.trainers.startup.walk([&](mlir::Operation* op) {
      if (op->getNumRegions() || mlir::failed(good)) return;
      const Touched touched = touchedBy(op);
      for (llvm::ArrayRef<mlir::StringAttr> names : {touched.read, touched.set})
        for (mlir::StringAttr name : names)
          if (fromServers.contains(name))
            good = op->emitError("start-up of the trainers reads or sets '")
                   << name.getValue() << "', which servers hold; set it at the top, once";
    });
    if (mlir::failed(good)) return mlir::failure();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body);
    for (pd::VarOp var : pulled) {
      auto table = mlir::SymbolRefAttr::get(builder.getStringAttr(job.role.getSymName()),
                                            {mlir::FlatSymbolRefAttr::get(var.getSymNameAttr())});
      auto pull =
          dist::PullOp::create(builder, var.getLoc(), var.getType(), table, symbolOf(job.rounds));
      pd::SetOp::create(builder, var.getLoc(), mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()),
                        pull.getOutput());
      if (mlir::StringAttr snapshot = snapshots.lookup(var.getSymNameAttr()))
        pd::SetOp::create(builder, var.getLoc(), mlir::FlatSymbolRefAttr::get(snapshot),
                          pull.getOutput());
    }
    bool sync = false;
    job.main.walk([&](dist::ServeOp loop) { sync = loop.getMode() == dist::ServeMode::Sync; });
    if (sync)  // others have no rounds, nor phases
      dist::PhaseOp::create(builder, job.trainers.startup.getLoc(),
                            dist::PhaseKindAttr::get(&getContext(), dist::PhaseKind::Pull),
                            symbolOf(job.rounds));
    for (auto var :
         llvm::make_early_inc_range(job.trainers.role.getBody().front().getOps<pd::VarOp>()))
      if (gone.contains(var.getSymNameAttr())) var.erase();
    for (pd::ProgramOp program : {job.trainers.main, job.trainers.startup})
      eraseDeclarations(program, gone);
    return mlir::success();
  }
};

}  // namespace
}  // namespace dtranspile::passes
