// Planted bugs where a count of labels, or a sum of weights that are learned, is added up over the
// ranks (pass reduce-counts).
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

constexpr const char* kWeights = "labels/learned_weights";

// Sums over the ranks of values of the forward part and of their gradients, in program order.
std::vector<dist::AllReduceOp> countsOf(pd::ProgramOp main) {
  std::vector<dist::AllReduceOp> counts;
  for (dist::AllReduceOp op : opsOf<dist::AllReduceOp>(main))
    if (op.getComm() == "counts") counts.push_back(op);
  return counts;
}

VerifyReport verifyCounts(const std::function<void(pd::ProgramOp)>& edit) {
  return verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) { edit(main); }, kWeights);
}

// Readers of a sum with this in their type take what goes into it.
void readOwn(dist::AllReduceOp sum, llvm::StringRef type) {
  bool any = false;
  for (mlir::OpOperand& use : llvm::make_early_inc_range(sum.getResult(0).getUses()))
    if (pd::OpView(use.getOwner()).type() == type) {
      use.set(sum.getInputs()[0]);
      any = true;
    }
  REQUIRE(any);
}

}  // namespace

TEST_CASE("a divisor that is added up over the ranks, as it is") {
  Jobs jobs;
  for (const char* program :
       {"labels/padded_words", "labels/masked_tokens", "labels/mean_over_mean", "labels/two_tasks",
        "labels/counted_tasks", "labels/learned_weights", "labels/overlap"}) {
    auto job = jobs.make(program, unfused(4));
    VerifyOptions whole;
    whole.whole = true;
    const VerifyReport report = verifyJob(*job, nullptr, whole);
    INFO(program << ": " << messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
    CHECK_FALSE(countsOf(programOf(*job)).empty());
  }
}

TEST_CASE("a divisor that is a rank's own") {
  refuted(verifyCounts([](pd::ProgramOp main) { bypass(countsOf(main).front()); }), "site");
  refuted(verifyCounts(
              [](pd::ProgramOp main) { readOwn(countsOf(main).front(), "elementwise_div_grad"); }),
          "site");
  notVerified(
      verifyCounts([](pd::ProgramOp main) { readOwn(countsOf(main).front(), "elementwise_div"); }));
}

TEST_CASE("a divisor that is added up twice, or averaged") {
  notVerified(verifyCounts([](pd::ProgramOp main) { repeat(countsOf(main).front()); }));
  notVerified(verifyCounts([](pd::ProgramOp main) {
    mlir::Value count = countsOf(main).front().getResult(0);
    replaceUses(count, scaled(count, 0.25F));
  }));
}

TEST_CASE("the gradient of a divisor that stays a rank's own, or is added up twice") {
  refuted(verifyCounts([](pd::ProgramOp main) { bypass(countsOf(main).back()); }), "site");
  notVerified(verifyCounts([](pd::ProgramOp main) { repeat(countsOf(main).back()); }));
}

TEST_CASE("a ratio without its factor, in the forward part or in the gradient") {
  const auto factors = [](pd::ProgramOp main) {
    std::vector<pd::OpView> found;
    for (pd::OpView op : opsOfType(main, "scale", /*inserted=*/true))
      if (op.getFloat("scale") == 4) found.push_back(op);
    REQUIRE(found.size() == 2);
    return found;
  };
  refuted(verifyCounts([&](pd::ProgramOp main) { bypass(factors(main)[0].operation()); }), "scale");
  refuted(verifyCounts([&](pd::ProgramOp main) { bypass(factors(main)[1].operation()); }), "scale");
}

TEST_CASE("a divisor that is added up over one axis of two") {
  Strategy strategy = unfused(4);
  strategy.mode = "nccl2";
  strategy.use_hierarchical_allreduce = true;
  strategy.hierarchical_allreduce_inter_nranks = 2;
  strategy.fuse_all_reduce_ops = true;  // levels are of buckets
  notVerified(verifyEdited(
      [](mlir::ModuleOp job, pd::ProgramOp) {
        for (dist::CommOp comm : job.getOps<dist::CommOp>())
          if (comm.getSymName() == "counts")
            comm.setAxesAttr(mlir::Builder(job.getContext()).getStrArrayAttr({"intra"}));
      },
      kWeights, strategy));
}

TEST_CASE("a sum of shares where every rank takes a step of its own") {
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  notVerified(verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        mlir::Value count = opsOfType(main, "reduce_sum")[1].output("Out");
        replaceUses(count, summed(count));
      },
      kWeights, strategy));
}

}  // namespace dtranspile::verify::test
