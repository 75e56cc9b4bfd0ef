// Trainers and servers out of one role. After ps-place, before ps-startup.
#include "compiler/analysis/relations/contract_texts.h"
#include "compiler/analysis/relations/table_sum.h"
#include "dialects/dist/changes.h"
#include "dialects/pd/types.h"
#include "passes/ps-split/lookups.h"
#include "passes/ps-split/pass.h"
#include "passes/ps-split/round.h"
#include "passes/ps-split/single.h"
#include "passes/support/relations.h"
#include "passes/support/seeds.h"
#include "passes/support/servers.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_PSSPLIT
#include "passes/ps-split/pass.h.inc"

namespace {

// Everything is checked before anything is changed: what the update part is (UpdatePart), that
// trainers can do without it, how gradients combine. Then servers are made of the update part and
// trainers of the rest; of the state between the two only parameters travel.
class PsSplit : public impl::PsSplitBase<PsSplit> {
 public:
  using PsSplitBase::PsSplitBase;

  void runOnOperation() override {
    if (mlir::failed(run())) signalPassFailure();
  }

 private:
  // In mode sync servers wait for all trainers and update in rounds, with the gradients merged as
  // `chooseMerge` finds; otherwise they take each push as it comes, with queues on the trainers'
  // side, and the staleness of that is a contract.
  mlir::LogicalResult run() {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return mlir::failure();
    if (mlir::SymbolTable::lookupSymbolIn(getOperation(), kServerRole))
      return getOperation().emitError("has a role @pserver already");
    mlir::FailureOr<UpdatePart> part = UpdatePart::of(*job);
    if (mlir::failed(part) || mlir::failed(checkLayouts(*part)) ||
        mlir::failed(checkTrainers(*job, *part)))
      return mlir::failure();
    mode_ = dist::symbolizeServeMode(serve.getValue());
    if (!mode_ || *mode_ == dist::ServeMode::Geo)
      return getOperation().emitError("ps-split: no servers work in mode '")
             << serve.getValue() << "'; known are sync, async, half_async";
    if (enable_dc_asgd && isSync())
      return getOperation().emitError(
          "ps-split: enable_dc_asgd corrects gradients that come late, and in rounds none does");
    mlir::FailureOr<dist::Merge> merge = dist::Merge::Each;
    if (isSync()) merge = chooseMerge(*job, *part);
    if (mlir::failed(merge) || mlir::failed(checkTableSum(*part))) return mlir::failure();
    dist::CommOp comm = addServers(*job, servers);
    if (!isSync())
      setQueues(comm, {max_merge_var_num, send_queue_size, send_wait_times, thread_pool_size,
                       min_send_grad_num_before_recv, independent_recv_thread, is_sgd_optimizer});
    const mlir::FlatSymbolRefAttr rounds = symbolOf(comm);
    pd::VarOp clock;
    if (mlir::failed(makeServers(*job, *part, rounds, clock))) return mlir::failure();
    makeTrainers(*job, *part, rounds, *merge, clock);
    if (!isSync()) declareStaleness(*part);
    if (*merge == dist::Merge::Mean) declareTableSum(*part, job->ranks);
    return mlir::success();
  }

  static bool isDistributed(const Served& served) {
    return pd::VarOp(served.var)->getAttrOfType<dist::LayoutAttr>(kServerLayout).getKind() ==
           dist::LayoutKind::Cyclic;
  }

  mlir::LogicalResult checkTableSum(const UpdatePart& part) {
    if (!sum_distributed_tables) return mlir::success();
    if (!isSync())
      return getOperation().emitError(
          "ps-split: sum_distributed_tables: only in rounds gradients of several trainers are "
          "combined");
    if (llvm::none_of(part.parameters(), isDistributed))
      return getOperation().emitError(
          "ps-split: sum_distributed_tables: no lookup of this program is is_distributed, so that "
          "no gradient would be summed; leave it out");
    return mlir::success();
  }

  // What is not divided by their number is as many times the reference's.
  void declareTableSum(const UpdatePart& part, int64_t trainers) {
    if (!sum_distributed_tables || trainers == 1) return;
    std::vector<std::string> tables;
    for (const Served& served : part.parameters())
      if (isDistributed(served)) tables.push_back(pd::VarOp(served.var).getSymName().str());
    addContract(getOperation(), verify::kTableSumTag,
                verify::tableSumText(verify::Rational(trainers)), tables);
  }

  bool isSync() const { return *mode_ == dist::ServeMode::Sync; }

  // What trainers read and servers hold depends on when pushes come.
  void declareStaleness(const UpdatePart& part) {
    std::vector<std::string> sites;
    for (const Served& served : part.parameters())
      for (mlir::StringAttr name : served.state) sites.push_back(name.str());
    const bool ahead = independent_recv_thread || min_send_grad_num_before_recv > 1;
    addContract(getOperation(), "staleness",
                verify::stalenessText(max_merge_var_num, !is_sgd_optimizer, ahead), sites);
    if (!enable_dc_asgd) return;
    sites.clear();
    for (const Served& served : part.parameters())
      if (served.gradient) sites.push_back(pd::VarOp(served.var).getSymName().str());
    addContract(getOperation(), "delay_compensation", verify::contractText("delay_compensation"),
                sites);
  }

  static mlir::LogicalResult checkLayouts(const UpdatePart& part) {
    for (const Served& served : part.parameters())
      if (!pd::VarOp(served.var)->hasAttr(kServerLayout))
        return pd::VarOp(served.var)
            .emitError(
                "ps-split: has no place on the servers; run "
                "ps-place first");
    return mlir::success();
  }

  // What trainers keep on doing must not need what servers do from now on.
  // What rounds set alike on all servers, and trainers read in front of it (the scale of a loss):
  // they pull it like a parameter. Without rounds servers agree on no such value.
  bool isPulled(const JobOnAxes& job, mlir::StringAttr name) const {
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(job.role, name));
    auto type =
        var ? llvm::dyn_cast<mlir::RankedTensorType>(var.getType()) : mlir::RankedTensorType();
    return serve.getValue() == "sync" && type && type.hasStaticShape();
  }

  // Trainers keep what is not the update part, and know of it only what they pull at the end of a
  // step. So they may take none of its values, read no variable that it has set in this step, and
  // set none that it reads.
  mlir::LogicalResult checkTrainers(const JobOnAxes& job, const UpdatePart& part) {
    llvm::DenseSet<mlir::StringAttr> set;  // by the update part, so far
    for (mlir::Operation& op : *pd::ProgramOp(job.main).getBodyBlock()) {
      if (op.getName().stripDialect() == "orphan_block") continue;  // is never run
      mlir::Operation* writer = &op;
      if (auto assign = llvm::dyn_cast<pd::SetOp>(op)) writer = assign.getValue().getDefiningOp();
      const Touched touched = touchedBy(&op);
      if (writer && part.contains(writer)) {
        set.insert_range(touched.set);
        continue;
      }
      for (mlir::Value value : takenBy(&op)) {
        mlir::Operation* maker = value.getDefiningOp();
        if (maker && part.contains(maker))
          return op.emitError("takes '") << pd::nameOf(value)
                                         << "', which the update part computes: it is on servers, "
                                            "and trainers pull parameters only";
      }
      for (mlir::StringAttr name : touched.read) {
        auto get = llvm::dyn_cast<pd::GetOp>(op);
        const bool forUpdates = get && llvm::all_of(get->getUsers(), [&](mlir::Operation* user) {
                                  mlir::Operation* top = inBlock(op.getBlock(), user);
                                  return part.contains(top);
                                });
        if (forUpdates) continue;
        if (set.contains(name))
          return op.emitError("reads '") << name.getValue()
                                         << "' after its update: trainers have "
                                            "the new value from the next step on";
        if (part.sets(name) && part.ownerOf(name.getValue()) < 0 && !isPulled(job, name))
          return op.emitError("reads '")
                 << name.getValue()
                 << "', which the update part sets too: it is on servers, and trainers pull "
                    "parameters only; in rounds (sync_mode) they pull tensors of known extents too";
      }
      auto assign = llvm::dyn_cast<pd::SetOp>(op);
      const bool same = assign && variableBehind(assign.getValue()) == assign.getVarAttr();
      for (mlir::StringAttr name : touched.set)
        if (part.touches(name) && !same)
          return op.emitError("sets '") << name.getValue()
                                        << "', which the update part reads: servers would not see "
                                           "it";
    }
    return mlir::success();
  }

  // The mean over trainers is what a factor of 1/N before a sum does.
  mlir::FailureOr<dist::Merge> chooseMerge(const JobOnAxes& job, const UpdatePart& part) {
    mlir::Operation* loss = lossOf(job.main);
    if (!loss || job.ranks == 1) return dist::Merge::Mean;
    mlir::FailureOr<double> factor = lossFactor(loss, job);
    if (mlir::failed(factor)) return mlir::failure();
    if (*factor == 1.0 / static_cast<double>(job.ranks)) return meanOrSum(job, part, *factor);
    if (*factor == 1.0) return dist::Merge::Sum;
    return loss->emitError(
               "its parts, added up over the trainers, are neither the "
               "reference's loss nor ")
           << job.ranks << " times it: no server can combine the gradients";
  }

  // The mean takes the factor back behind the backward part, which is the same where that is linear
  // in the gradients. A gradient that it rounds to an integer, or clips, or that half precision has
  // to hold, has to have the size that it has on one device: there the factor stands in front, and
  // servers add up.
  mlir::FailureOr<dist::Merge> meanOrSum(const JobOnAxes& job, const UpdatePart& part,
                                         double factor) {
    const bool half = givesHalf(job.main);
    if (!half && !unknownGradient(job, part)) return dist::Merge::Mean;
    const std::vector<mlir::Operation*> scales = scaleSeeds(seedsOf(job.main), factor);
    if (scales.empty() || (!half && unknownGradient(job, part))) {
      unscaleSeeds(scales);
      return dist::Merge::Mean;
    }
    if (sum_distributed_tables)
      return getOperation().emitError(
          "ps-split: sum_distributed_tables: the backward part is not linear in the gradients, "
          "which "
          "therefore are scaled before they are summed up; leave it out");
    return dist::Merge::Sum;
  }

  // Whether a gradient is in half precision on its way.
  static bool givesHalf(pd::ProgramOp main) {
    return llvm::any_of(*main.getBodyBlock(), [](mlir::Operation& op) {
      if (!pd::OpView::isFrameworkOp(&op) || !(pd::OpView(&op).role() & pd::kBackward))
        return false;
      return llvm::any_of(op.getResultTypes(), [](mlir::Type type) {
        mlir::RankedTensorType tensor = pd::tensorOf(type);
        return tensor && (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
      });
    });
  }

  // One that is pushed, and of which it is not known what part of the reference's it is.
  static mlir::Value unknownGradient(const JobOnAxes& job, const UpdatePart& part) {
    const MainQuestion question(job);
    const verify::Store store = verify::analyse(*question);
    for (const Served& served : part.parameters())
      if (served.gradient && !store.of(served.gradient).whole.known) return served.gradient;
    return {};
  }

  // The servers' role: variables that the update touches, with the layout of the parameter that
  // they belong to (none: every server has the whole), and a main program that is one loop,
  // dist.serve, with a handler per kind of request.
  mlir::LogicalResult makeServers(JobOnAxes& job, const UpdatePart& part,
                                  mlir::FlatSymbolRefAttr rounds, pd::VarOp& clock) {
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(job.role);
    auto role = dist::RoleOp::create(builder, job.role.getLoc(), builder.getStringAttr(kServerRole),
                                     mlir::FlatSymbolRefAttr::get(&getContext(), "servers"));
    builder.createBlock(&role.getBody());
    for (auto var : job.role.getBody().front().getOps<pd::VarOp>()) {
      if (!part.touches(var.getSymName())) continue;
      const int owner = part.ownerOf(var.getSymName());
      dist::LayoutAttr layout;
      if (owner >= 0)
        layout =
            pd::VarOp(part.parameters()[owner].var)->getAttrOfType<dist::LayoutAttr>(kServerLayout);
      addServerVariable(builder, var, layout);
    }
    auto main = pd::ProgramOp::create(builder, job.main.getLoc(), job.main.getSymNameAttr());
    main->setAttrs(job.main->getAttrDictionary());
    builder.createBlock(&main.getBody());
    auto loop = dist::ServeOp::create(builder, job.main.getLoc(), rounds,
                                      dist::ServeModeAttr::get(&getContext(), *mode_));
    if (!isSync()) {
      mlir::FailureOr<SinglePlan> plan = buildHandlers(job, part, main, loop, enable_dc_asgd);
      if (mlir::succeeded(plan)) clock = plan->clock;
      return mlir::LogicalResult(plan);
    }
    builder.createBlock(&loop.getBody());
    auto round = dist::HandleOp::create(builder, job.main.getLoc(),
                                        dist::HandlerAttr::get(&getContext(), dist::Handler::Round),
                                        mlir::FlatSymbolRefAttr());
    builder.createBlock(&round.getBody());
    if (mlir::failed(buildRound(getOperation(), job, part, role, main, round)))
      return mlir::failure();
    // What a round draws is what the step of one device draws, whichever server does.
    main.walk([&](mlir::Operation* op) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
      if (spec && (spec->effects & pd::kRandom))
        op->setAttr(dist::kStreamsAttr, builder.getArrayAttr({}));
    });
    return mlir::success();
  }

  mlir::SymbolRefAttr tableOf(pd::VarOp var) {
    return mlir::SymbolRefAttr::get(mlir::StringAttr::get(&getContext(), kServerRole),
                                    {mlir::FlatSymbolRefAttr::get(var.getSymNameAttr())});
  }

  // A step of a trainer begins: the servers count it. In front of the first gradient, since pushes
  // of a trainer are applied in their order.
  void pushClock(mlir::Block& body, const UpdatePart& part, pd::VarOp clock,
                 mlir::FlatSymbolRefAttr rounds) {
    mlir::Operation* first = nullptr;
    for (const Served& served : part.parameters())
      if (mlir::Operation* maker = served.gradient ? served.gradient.getDefiningOp() : nullptr)
        if (!first || maker->isBeforeInBlock(first)) first = maker;
    if (!first) return;
    mlir::OpBuilder builder(first);
    mlir::RankedTensorType type = pd::tensorOf(clock.getType());
    pd::Declarations declarations;
    const std::string name = declarations.freshName(&body, clock.getSymName().str() + "@STEP");
    mlir::Value one =
        declarations
            .create(builder, clock.getLoc(), "fill_constant", {}, {{"Out", {{name, type}}}},
                    {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())),
                     builder.getNamedAttr("dtype", builder.getI32IntegerAttr(static_cast<int32_t>(
                                                       *pd::dtypeOf(type.getElementType())))),
                     builder.getNamedAttr("value", builder.getF32FloatAttr(1))},
                    pd::kBackward)
            .output("Out");
    auto push =
        dist::PushOp::create(builder, clock.getLoc(), one, tableOf(clock),
                             dist::MergeAttr::get(&getContext(), dist::Merge::Each), rounds);
    // Steps are counted one by one, also where their gradients are merged.
    push->setAttr(dist::kAtOnceAttr, builder.getUnitAttr());
  }

  dist::Merge mergeOf(const Served& served, dist::Merge merge) {
    const bool summed =
        sum_distributed_tables && merge == dist::Merge::Mean && isDistributed(served);
    return summed ? dist::Merge::Sum : merge;
  }

  // Each gradient is pushed right behind the op that makes it, so that it travels while the
  // backward part goes on. Pulls come last: the next step begins with what they give. Parameters
  // that no op of the trainer reads are not pulled.
  void makeTrainers(JobOnAxes& job, const UpdatePart& part, mlir::FlatSymbolRefAttr rounds,
                    dist::Merge merge, pd::VarOp clock) {
    mlir::Block& body = *job.main.getBodyBlock();
    mlir::OpBuilder builder(&getContext());
    auto table = [&](const Served& served) { return tableOf(served.var); };
    if (clock) pushClock(body, part, clock, rounds);
    // Gradients of one op are pushed in the order of the parameters.
    llvm::DenseMap<mlir::Operation*, mlir::Operation*> last;
    for (const Served& served : part.parameters()) {
      if (!served.gradient) continue;
      mlir::Operation* maker = served.gradient.getDefiningOp();
      mlir::Operation*& after = last.try_emplace(maker, maker).first->second;
      builder.setInsertionPointAfter(after);
      after =
          dist::PushOp::create(builder, maker->getLoc(), served.gradient, table(served),
                               dist::MergeAttr::get(&getContext(), mergeOf(served, merge)), rounds);
    }
    eraseUpdates(body, part);
    for (const Served& served : part.parameters())
      if (isTable(job, served)) lookUpOnServers(job, served, table(served), rounds);
    gatherLookups(job);
    llvm::DenseSet<mlir::StringAttr> read;
    job.main.walk([&](pd::GetOp get) { read.insert(get.getVarAttr().getAttr()); });
    builder.setInsertionPointToEnd(&body);
    auto end = [&](dist::PhaseKind kind) {
      dist::PhaseOp::create(builder, job.main.getLoc(),
                            dist::PhaseKindAttr::get(&getContext(), kind), rounds);
    };
    // Without rounds a pull waits for the pushes of its own trainer that stand before it.
    if (*mode_ != dist::ServeMode::Async) end(dist::PhaseKind::Push);
    const auto pull = [&](pd::VarOp var) {
      auto pulled =
          dist::PullOp::create(builder, var.getLoc(), var.getType(), tableOf(var), rounds);
      pd::SetOp::create(builder, var.getLoc(), mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()),
                        pulled.getOutput());
    };
    for (const Served& served : part.parameters()) {
      pd::VarOp var = served.var;
      if (!read.contains(var.getSymNameAttr())) continue;
      if (mlir::Operation* taker = takerOfWhole(job, served))
        var.emitRemark("'") << var.getSymName()
                            << "' is pulled whole in every step: " << pd::describe(taker)
                            << " takes it, and is no lookup of rows at the top of the program";
      pull(var);
    }
    for (auto var : job.role.getBody().front().getOps<pd::VarOp>())
      if (read.contains(var.getSymNameAttr()) && part.sets(var.getSymName()) &&
          part.ownerOf(var.getSymName()) < 0 && isPulled(job, var.getSymNameAttr()))
        pull(var);
    if (isSync()) end(dist::PhaseKind::Pull);
  }

  // From the back, so that constants and reads that only updates took have lost their users by the
  // time that they are looked at.
  static void eraseUpdates(mlir::Block& body, const UpdatePart& part) {
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      mlir::Operation* writer = set ? set.getValue().getDefiningOp() : nullptr;
      const bool constant = part.isShared(&op) || llvm::isa<pd::GetOp, pd::UndefOp>(op);
      if ((writer && part.contains(writer)) || part.contains(&op) || (constant && op.use_empty()))
        op.erase();
    }
  }

  std::optional<dist::ServeMode> mode_;
};

}  // namespace
}  // namespace dtranspile::passes
