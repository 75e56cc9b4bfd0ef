// Geo-SGD. After ps-place, before ps-startup; ps-split is left out.
#include "compiler/analysis/relations/contract_texts.h"
#include "dialects/dist/changes.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "passes/ps-exchange/pass.h"
#include "passes/support/branch.h"
#include "passes/support/servers.h"
#include "passes/support/trained.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_PSEXCHANGE
#include "passes/ps-exchange/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kStem = "geo_sgd";
// fill_constant holds what it fills with as a float.
constexpr int64_t kMostSteps = int64_t{1} << 24;

// A parameter while its exchange is written.
struct Exchanged {
  pd::VarOp var, snapshot;
  mlir::SymbolRefAttr table;
  bool byRows;
  mlir::Value own, known;  // x; y + m
};

class PsExchange : public impl::PsExchangeBase<PsExchange> {
 public:
  using PsExchangeBase::PsExchangeBase;

  void runOnOperation() override {
    if (mlir::failed(run())) signalPassFailure();
  }

 private:
  // Geo-SGD: trainers train on their own, and in every geo_sgd_need_push_nums-th step push to the
  // servers what they have changed since the last exchange, divided by the number of trainers, and
  // pull what all have together.
  mlir::LogicalResult run() {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return mlir::failure();
    if (mlir::SymbolTable::lookupSymbolIn(getOperation(), kServerRole))
      return getOperation().emitError("has a role @pserver already");
    if (geo_sgd_need_push_nums < 1 || geo_sgd_need_push_nums > kMostSteps)
      return getOperation().emitError("ps-exchange: geo_sgd_need_push_nums is ")
             << geo_sgd_need_push_nums.getValue() << "; it lies between 1 and " << kMostSteps;
    if (!job->startup)
      return pd::ProgramOp(job->main).emitError(
          "ps-exchange: trainers begin with what servers draw at start-up: the job needs a "
          "pd.program @startup");
    mlir::FailureOr<std::vector<Trained>> trained = trainedParameters(*job);
    if (mlir::failed(trained)) return mlir::failure();
    for (const Trained& one : *trained)
      if (!pd::VarOp(one.var)->hasAttr(kServerLayout))
        return pd::VarOp(one.var).emitError(
            "ps-exchange: has no place on the servers; run ps-place first");
    comm_ = addServers(*job, servers);
    Queues queues;
    queues.sendQueueSize = send_queue_size;
    queues.threadPoolSize = thread_pool_size;
    setQueues(comm_, queues);
    comm_->setAttr(
        dist::kExchangeSteps,
        mlir::IntegerAttr::get(mlir::IntegerType::get(&getContext(), 64), geo_sgd_need_push_nums));
    makeServers(*job, *trained);
    exchange(*job, *trained);
    addContract(getOperation(), "geo", verify::geoText(geo_sgd_need_push_nums), {});
    return mlir::success();
  }

  mlir::FlatSymbolRefAttr symbol(pd::VarOp var) {
    return mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
  }

  // Each trained parameter, and for each a handler that adds what comes.
  void makeServers(JobOnAxes& job, llvm::ArrayRef<Trained> trained) {
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(job.role);
    auto role = dist::RoleOp::create(builder, job.role.getLoc(), builder.getStringAttr(kServerRole),
                                     mlir::FlatSymbolRefAttr::get(&getContext(), "servers"));
    builder.createBlock(&role.getBody());
    llvm::StringSet<> names;
    for (const Trained& one : trained) {
      pd::VarOp var = one.var;
      names.insert(var.getSymName());
      addServerVariable(builder, var, var->getAttrOfType<dist::LayoutAttr>(kServerLayout));
    }
    auto main = pd::ProgramOp::create(builder, job.main.getLoc(), job.main.getSymNameAttr());
    main->setAttrs(job.main->getAttrDictionary());
    builder.createBlock(&main.getBody());
    copyDeclarations(job.main, main, [&](llvm::StringRef name) { return names.contains(name); });
    builder.setInsertionPointToEnd(main.getBodyBlock());
    auto loop =
        dist::ServeOp::create(builder, job.main.getLoc(), symbolOf(comm_),
                              dist::ServeModeAttr::get(&getContext(), dist::ServeMode::Geo));
    builder.createBlock(&loop.getBody());
    for (const Trained& one : trained) addHandler(builder, one.var);
  }

  // w += what came, block by block; a server has no optimizer.
  void addHandler(mlir::OpBuilder& builder, pd::VarOp var) {
    const mlir::OpBuilder::InsertionGuard guard(builder);
    const mlir::Location loc = var.getLoc();
    const auto number = mlir::RankedTensorType::get({1}, builder.getI64Type());
    auto handler = dist::HandleOp::create(
        builder, loc, dist::HandlerAttr::get(&getContext(), dist::Handler::Push), symbol(var));
    builder.createBlock(&handler.getBody())->addArgument(number, loc);
    auto each = dist::ForeachBlockOp::create(builder, loc, mlir::TypeRange(), symbol(var),
                                             mlir::ValueRange());
    dist::YieldOp::create(builder, loc, mlir::ValueRange());
    builder.createBlock(&each.getBody())->addArgument(number, loc);
    const mlir::Type block = blockType(var.getType());
    mlir::Value share = dist::MergedOp::create(builder, loc, block, symbol(var));
    mlir::Value old = pd::GetOp::create(builder, loc, block, symbol(var));
    mlir::Value sum = elementwise(builder, loc, "elementwise_add", old, share, var.getSymName(),
                                  pd::kOptimize, declarations_);
    pd::SetOp::create(builder, loc, symbol(var), sum);
    dist::YieldOp::create(builder, loc, mlir::ValueRange());
  }

  // `<p>@SNAPSHOT`, declared to be the parameter: a run that is given values for parameters only
  // begins with it equal to them.
  pd::VarOp addSnapshot(JobOnAxes& job, pd::VarOp var) {
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(var);
    const auto name = builder.getStringAttr(
        declarations_.freshName(job.main.getBodyBlock(), (var.getSymName() + "@SNAPSHOT").str()));
    auto snapshot =
        pd::VarOp::create(builder, var.getLoc(), name, var.getTypeAttr(), mlir::UnitAttr());
    snapshot->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr()));
    snapshot->setAttr(kSnapshotOf, symbol(var));
    for (pd::ProgramOp program : {job.main, job.startup}) {
      declarations_.declare(program.getBodyBlock(), name.getValue(), var.getType());
      declarations_.find(program.getBodyBlock(), name.getValue()).setPersistable(true);
    }
    return snapshot;
  }

  // A branch at the end of the step. All pushes stand in front of all pulls: what is pulled has
  // this trainer's own change in it.
  void exchange(JobOnAxes& job, llvm::ArrayRef<Trained> trained) {
    std::vector<Exchanged> parameters;
    for (const Trained& one : trained) {
      pd::VarOp var = one.var;
      parameters.push_back({var,
                            addSnapshot(job, var),
                            mlir::SymbolRefAttr::get(
                                mlir::StringAttr::get(&getContext(), kServerRole), {symbol(var)}),
                            one.byRows,
                            {},
                            {}});
    }
    // The run-time system makes the last step of a run one that exchanges.
    comm_->setAttr(
        dist::kExchangeCounter,
        mlir::StringAttr::get(&getContext(), declarations_.freshName(job.main.getBodyBlock(),
                                                                     (kStem + "_step").str())));
    mlir::Operation* branch =
        addBranchEvery(geo_sgd_need_push_nums, kStem, job.main, job.startup, declarations_);
    block_ = &branch->getRegion(0).front();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(block_);
    const double share = 1.0 / static_cast<double>(job.ranks);
    for (Exchanged& one : parameters) push(builder, one, share);
    for (Exchanged& one : parameters) pull(builder, one);
    pd::YieldOp::create(builder, job.main.getLoc(), mlir::ValueRange());
  }

  mlir::Value combine(mlir::OpBuilder& builder, llvm::StringRef type, mlir::Value x, mlir::Value y,
                      const std::string& name) {
    return elementwise(builder, x.getLoc(), type, x, y, name, pd::kOptimize, declarations_);
  }

  // m = (x − y)/N with x the trainer's value and y the servers' at the last exchange. All pushes
  // stand before all pulls, so that waiting for one table's answer does not delay what the others
  // send.
  void push(mlir::OpBuilder& builder, Exchanged& one, double share) {
    const mlir::Location loc = one.var.getLoc();
    const auto named = [&](llvm::StringRef ending) {
      return declarations_.freshName(block_, (one.var.getSymName() + ending).str());
    };
    one.own = pd::GetOp::create(builder, loc, one.var.getType(), symbol(one.var));
    mlir::Value last = pd::GetOp::create(builder, loc, one.var.getType(), symbol(one.snapshot));
    mlir::Value way = combine(builder, "elementwise_sub", one.own, last, named("@WAY"));
    mlir::Value delta =
        scale(builder, loc, way, share, named("@DELTA"), pd::kOptimize, declarations_);
    one.known = combine(builder, "elementwise_add", last, delta, named("@KNOWN"));
    auto push = dist::PushOp::create(builder, loc, delta, one.table,
                                     dist::MergeAttr::get(&getContext(), dist::Merge::Each),
                                     symbolOf(comm_));
    if (!one.byRows) return;
    // Rows that nobody else changes are then what the servers have, and need not come back.
    push->setAttr(dist::kChangedRowsAttr, builder.getUnitAttr());
    pd::SetOp::create(builder, loc, symbol(one.snapshot), one.known);
  }

  // x + (z − (y + m)), with z what the servers have now: the trainer keeps its own way, and adds
  // what others have added since. y becomes z.
  void pull(mlir::OpBuilder& builder, Exchanged& one) {
    const mlir::Location loc = one.var.getLoc();
    auto pull = dist::PullOp::create(builder, loc, one.var.getType(), one.table, symbolOf(comm_));
    if (one.byRows) pull->setAttr(dist::kKnownAttr, symbol(one.snapshot));
    mlir::Value now = pull.getOutput();
    mlir::Value others =
        combine(builder, "elementwise_sub", now, one.known,
                declarations_.freshName(block_, (one.var.getSymName() + "@OTHERS").str()));
    mlir::Value next =
        combine(builder, "elementwise_add", one.own, others, one.var.getSymName().str());
    pd::SetOp::create(builder, loc, symbol(one.var), next);
    pd::SetOp::create(builder, loc, symbol(one.snapshot), now);
  }

  dist::CommOp comm_;
  pd::Declarations declarations_;
  mlir::Block* block_ = nullptr;  // of the branch
};

}  // namespace
}  // namespace dtranspile::passes
