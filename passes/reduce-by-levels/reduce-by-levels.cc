// Sums over [inter, intra] level by level. After bucket.
#include "dialects/dist/lookup.h"
#include "passes/reduce-by-levels/pass.h"
#include "passes/support/job.h"
#include "passes/support/sums.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_REDUCEBYLEVELS
#include "passes/reduce-by-levels/pass.h.inc"

namespace {

// One sum on its way through the levels. Its next level is started at `place`, or later.
struct LevelledSum {
  mlir::Value pending;  // of the level that has been started
  llvm::SmallVector<mlir::Type> whole, part;
  mlir::FlatSymbolRefAttr within, between;
  mlir::Operation* wait;  // of the original sum: the last place
  int level = 0;          // levels started
};

class ReduceByLevels : public impl::ReduceByLevelsBase<ReduceByLevels> {
 public:
  using ReduceByLevelsBase::ReduceByLevelsBase;

  // A sum over [inter, intra] becomes reduce_scatter within the group, all_reduce of a part between
  // groups, all_gather within the group: over the slow links between groups only 1/n of the bytes
  // travel. Each level is started as soon as the one before has ended, at places where other sums
  // start anyway, so that several are under way.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (job->axes.size() != 2) {
      getOperation().emitError(
          "reduce-by-levels: takes two axes, that between the groups and that "
          "within them");
      return signalPassFailure();
    }
    auto level = [&](unsigned axis) {
      return mlir::ArrayAttr::get(&getContext(), job->axes[axis]);
    };
    auto all = commsCarrying(getOperation(), kGradients, job->axes),
         within = commsCarrying(getOperation(), kWithin, level(1)),
         between = commsCarrying(getOperation(), kBetween, level(0));
    if (mlir::failed(all) || mlir::failed(within) || mlir::failed(between))
      return signalPassFailure();
    int64_t size = within->front().groupSize(job->mesh);
    std::vector<LevelledSum> under;
    for (auto op :
         llvm::make_early_inc_range(job->main.getBodyBlock()->getOps<dist::AllReduceOp>())) {
      auto index = indexOf(op, *all);
      dist::AllReduceOp levelled = index ? separate(op, size) : dist::AllReduceOp();
      if (!levelled) continue;
      advanceUpTo(under, levelled);
      begin(levelled, symbolOf((*within)[*index % within->size()]),
            symbolOf((*between)[*index % between->size()]), size, under);
    }
    for (LevelledSum& sum : under)
      while (advance(sum, sum.wait)) {
      }
  }

 private:
  static std::optional<size_t> indexOf(dist::AllReduceOp op, llvm::ArrayRef<dist::CommOp> comms) {
    for (size_t index = 0; index < comms.size(); ++index)
      if (op.getReduce() == dist::Reduce::Sum && op.getCommAttr() == symbolOf(comms[index]))
        return index;
    return std::nullopt;
  }

  // Values that go by levels: dense ones that a group cuts into equal parts.
  static bool goesByLevels(mlir::Type type, int64_t size) {
    return bytesOf(type) >= 0 &&
           llvm::cast<mlir::RankedTensorType>(type).getNumElements() % size == 0;
  }

  // Splits a sum of both kinds of values in two; returns the one whose values go by levels, null if
  // there is none.
  static dist::AllReduceOp separate(dist::AllReduceOp op, int64_t size) {
    llvm::SmallVector<unsigned> byLevels, whole;
    for (auto [index, value] : llvm::enumerate(op.getInputs()))
      (goesByLevels(value.getType(), size) ? byLevels : whole).push_back(index);
    if (byLevels.empty()) return {};
    if (whole.empty()) return op;
    mlir::Operation* results = resultsOf(op);
    (void)takeApart(op, whole);
    dist::AllReduceOp levelled = takeApart(op, byLevels);
    if (results != op.getOperation()) results->erase();
    op.erase();
    return levelled;
  }

  // Sums that are under way start their next level before `place`; those that are waited for before
  // it run to their end.
  static void advanceUpTo(std::vector<LevelledSum>& under, mlir::Operation* place) {
    for (LevelledSum& sum : under) {
      if (sum.wait->isBeforeInBlock(place)) {
        while (advance(sum, sum.wait)) {
        }
      } else {
        advance(sum, place);
      }
    }
    llvm::erase_if(under, [](const LevelledSum& sum) { return sum.level > 3; });
  }

  // Starts the first level where the sum was started; the others follow up to its wait.
  static void begin(dist::AllReduceOp op, mlir::FlatSymbolRefAttr within,
                    mlir::FlatSymbolRefAttr between, int64_t size,
                    std::vector<LevelledSum>& under) {
    LevelledSum sum;
    sum.within = within;
    sum.between = between;
    sum.whole = llvm::to_vector(op.getInputs().getTypes());
    for (mlir::Type type : sum.whole) {
      auto tensor = llvm::cast<mlir::RankedTensorType>(type);
      sum.part.push_back(
          mlir::RankedTensorType::get({tensor.getNumElements() / size}, tensor.getElementType()));
    }
    mlir::OpBuilder builder(op);
    auto pendingPart = dist::PendingType::get(op.getContext(), sum.part);
    sum.pending = dist::ReduceScatterOp::create(builder, op.getLoc(), mlir::TypeRange(pendingPart),
                                                op.getReduceAttr(), op.getInputs(), within,
                                                builder.getI64IntegerAttr(dist::kFlat))
                      .getResult(0);
    sum.level = 1;
    bool started = llvm::isa<dist::PendingType>(op->getResult(0).getType());
    if (started) {
      sum.wait = *op->getResult(0).user_begin();
    } else {
      // A blocking sum waits where it stands: a wait of its own stands for it until the last level
      // ends.
      builder.setInsertionPointAfter(op);
      auto pending = dist::PendingType::get(op.getContext(), sum.whole);
      auto start = dist::AllReduceOp::create(builder, op.getLoc(), mlir::TypeRange(pending),
                                             op.getReduceAttr(), op.getInputs(), op.getCommAttr());
      sum.wait = dist::WaitOp::create(builder, op.getLoc(), sum.whole, start.getResult(0));
      op->replaceAllUsesWith(sum.wait->getResults());
      op.erase();
    }
    under.push_back(sum);
  }

  // Waits for the level that is under way and starts the next one, before `place`; after the last
  // level the results replace those of the original wait. False when there was nothing left to do.
  static bool advance(LevelledSum& sum, mlir::Operation* place) {
    if (sum.level > 3) return false;
    if (sum.level == 3) place = sum.wait;
    mlir::OpBuilder builder(place);
    mlir::Location loc = sum.wait->getLoc();
    bool atWhole = sum.level == 3;
    auto done = dist::WaitOp::create(builder, loc, atWhole ? sum.whole : sum.part, sum.pending);
    ++sum.level;
    if (sum.level == 2) {
      auto pending = dist::PendingType::get(builder.getContext(), sum.part);
      auto added = dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum);
      sum.pending = dist::AllReduceOp::create(builder, loc, mlir::TypeRange(pending), added,
                                              done.getResults(), sum.between)
                        .getResult(0);
    } else if (sum.level == 3) {
      auto pending = dist::PendingType::get(builder.getContext(), sum.whole);
      sum.pending = dist::AllGatherOp::create(
                        builder, loc, mlir::TypeRange(pending), done.getResults(), sum.within,
                        builder.getI64IntegerAttr(dist::kFlat), mlir::UnitAttr())
                        .getResult(0);
    } else {
      mlir::Operation* start = sum.wait->getOperand(0).getDefiningOp();
      sum.wait->replaceAllUsesWith(done.getResults());
      sum.wait->erase();
      start->erase();
      return false;
    }
    return true;
  }
};

}  // namespace
}  // namespace dtranspile::passes
