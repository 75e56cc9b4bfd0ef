// Which server holds which blocks. After cut-batch, before ps-split.
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include "passes/ps-place/pass.h"
#include "passes/support/servers.h"
#include "passes/support/trained.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_PSPLACE
#include "passes/ps-place/pass.h.inc"

namespace {

class PsPlace : public impl::PsPlaceBase<PsPlace> {
 public:
  using PsPlaceBase::PsPlaceBase;

  // As the framework's DistributeTranspiler places them: a parameter is cut into blocks of rows,
  // and blocks are dealt out round robin from a running cursor, or by the hash of the parameter's
  // name. Uncut parameters are dealt out in the order of their hashes. Tables that are looked up on
  // servers are dealt out row by row.
  void runOnOperation() override {
    if (mlir::failed(checkOptions())) return signalPassFailure();
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    mlir::FailureOr<std::vector<Served>> parameters = parametersOf(*job);
    if (mlir::failed(parameters)) return signalPassFailure();
    std::vector<const Served*> order;
    for (const Served& served : *parameters) order.push_back(&served);
    if (!slice_var_up)
      llvm::sort(order, [](const Served* a, const Served* b) {
        return std::pair(hash(*a), pd::VarOp(a->var).getSymName()) <
               std::pair(hash(*b), pd::VarOp(b->var).getSymName());
      });
    int64_t cursor = 0;
    for (const Served* served : order) {
      if (!served->whole && isDistributed(*job, *served)) {
        placeCyclic(*served, pd::tensorOf(pd::VarOp(served->var).getType()).getDimSize(0));
        continue;
      }
      const int64_t slices = slice_var_up && !served->whole ? servers.getValue() : 1;
      const Cut cut = cutOf(pd::tensorOf(pd::VarOp(served->var).getType()), slices, min_block_size);
      const int64_t first = split_method == "HashName"
                                ? static_cast<int64_t>(hash(*served) % servers.getValue())
                                : cursor;
      cursor = (cursor + cut.blocks()) % servers;
      place(*served, cut, first);
    }
  }

 private:
  // Of geo-SGD trainers update, in whatever way.
  mlir::FailureOr<std::vector<Served>> parametersOf(const JobOnAxes& job) {
    if (serve != "geo") {
      mlir::FailureOr<UpdatePart> part = UpdatePart::of(job);
      if (mlir::failed(part)) return mlir::failure();
      return part->parameters().vec();
    }
    mlir::FailureOr<std::vector<Trained>> trained = trainedParameters(job);
    if (mlir::failed(trained)) return mlir::failure();
    std::vector<Served> parameters;
    for (const Trained& one : *trained) parameters.push_back({one.var, {}, nullptr, {}});
    return parameters;
  }

  static uint64_t hash(const Served& served) {
    return llvm::xxh3_64bits(pd::VarOp(served.var).getSymName());
  }

  mlir::LogicalResult checkOptions() {
    if (servers < 1) return getOperation().emitError("ps-place: servers is less than 1");
    if (min_block_size < 1)
      return getOperation().emitError("ps-place: min_block_size is less than 1");
    if (split_method != "RoundRobin" && split_method != "HashName")
      return getOperation().emitError("ps-place: split_method is '")
             << split_method.getValue() << "'; RoundRobin and HashName are known";
    return mlir::success();
  }

  // Whether a lookup asks for a distributed table: row i on server i modulo their number.
  static bool isDistributed(const JobOnAxes& job, const Served& served) {
    return pd::ProgramOp(job.main)
        .walk([&](pd::GetOp get) {
          const bool asks = get.getVar() == pd::VarOp(served.var).getSymName() &&
                            llvm::any_of(get->getUsers(), [](mlir::Operation* user) {
                              const pd::OpView view(user);
                              return pd::OpView::isFrameworkOp(user) && view.spec() &&
                                     view.spec()->attribute("is_distributed") &&
                                     view.getBool("is_distributed");
                            });
          return asks ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  void placeCyclic(const Served& served, int64_t rows) {
    pd::VarOp var = served.var;
    var->setAttr(kServerLayout,
                 dist::LayoutAttr::get(&getContext(), dist::LayoutKind::Cyclic, rows, 0, 0));
    if (print_log)
      var.emitRemark("'") << var.getSymName() << "': row i on server i mod " << servers.getValue();
  }

  // Only the layout is noted here, on the trainers' variable; ps-split moves the variable to the
  // servers.
  void place(const Served& served, const Cut& cut, int64_t first) {
    pd::VarOp var = served.var;
    var->setAttr(kServerLayout, dist::LayoutAttr::get(&getContext(), dist::LayoutKind::Blocks,
                                                      cut.extent, cut.per, first));
    if (!print_log) return;
    auto remark = var.emitRemark("'") << var.getSymName() << "': ";
    if (cut.blocks() == 1) remark << "in one piece on server " << first;
    else
      remark << cut.blocks() << " blocks of at most " << cut.per << " rows, from server " << first
             << " on";
    if (served.whole && servers > 1)
      remark << "; " << pd::describe(served.whole) << " takes the whole of it";
  }
};

}  // namespace
}  // namespace dtranspile::passes
