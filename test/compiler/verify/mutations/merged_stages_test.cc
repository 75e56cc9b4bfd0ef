// Planted bugs in pipelines that merge steps: the branch of the update is one for all stages, and
// each has its own part of what stands in it.
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

constexpr llvm::StringLiteral kSums = "@GRAD@GradientMerge";

Strategy mergedOnStages(int64_t trainers, int64_t stages) {
  Strategy strategy = unfused(trainers);
  strategy.pipeline = true;
  strategy.stages = stages;
  strategy.accumulate_steps = 2;
  strategy.gradient_merge = true;
  strategy.gradient_merge_k_steps = 2;
  return strategy;
}

constexpr const char* kClipped = "static26/mlp_stages";  // by a norm over its two stages

// Three stages without a clip, of which two have parameters; the edit gets the branch of the k-th
// step.
VerifyReport verifyMerged(const std::function<void(mlir::Operation*)>& edit, int64_t trainers = 3,
                          const std::string& program = "fluid18/mnist_mlp") {
  return verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        for (pd::OpView op : opsOfType(main, "conditional_block")) return edit(op.operation());
        FAIL("no branch");
      },
      program, mergedOnStages(trainers, program == kClipped ? 0 : 3));
}

// Guards of one stage in the branch that set a variable.
std::vector<dist::OnOp> updatesOf(mlir::Operation* branch, int64_t stage) {
  std::vector<dist::OnOp> found;
  for (dist::OnOp on : opsOf<dist::OnOp>(branch))
    if (on.getWhere().lookup("pp").contains(stage) && !opsOf<pd::SetOp>(on).empty())
      found.push_back(on);
  REQUIRE(!found.empty());
  return found;
}

// An empty guard of one stage.
dist::OnOp guardOf(mlir::OpBuilder& builder, mlir::Location loc, int64_t stage) {
  auto on = dist::OnOp::create(builder, loc, mlir::TypeRange(),
                               dist::SelAttr::point(builder.getContext(), "pp", stage),
                               mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
  builder.createBlock(&on.getBody());
  return on;
}

}  // namespace

TEST_CASE("a stage that updates in every step") {
  const VerifyReport report = verifyMerged([](mlir::Operation* branch) {
    mlir::Block& block = branch->getRegion(0).front();
    for (pd::GetOp get : llvm::make_early_inc_range(block.getOps<pd::GetOp>()))
      get->moveBefore(branch);  // the rate, which it takes
    for (dist::OnOp on : updatesOf(branch, 1)) on->moveBefore(branch);
  });
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 1);
}

TEST_CASE("a stage that does not update") {
  refuted(verifyMerged([](mlir::Operation* branch) {
            for (dist::OnOp on : updatesOf(branch, 0)) on.erase();
          }),
          "missing");
}

TEST_CASE("a stage that does not empty what it has added up") {
  refuted(verifyMerged([](mlir::Operation* branch) {
            for (dist::OnOp on : updatesOf(branch, 1))
              for (pd::SetOp set : opsOf<pd::SetOp>(on))
                if (set.getVar().ends_with(kSums)) return set.erase();
            FAIL("no sum is emptied");
          }),
          "lineage");
}

TEST_CASE("a stage that adds a gradient to itself in place of the sum") {
  refuted(verifyMerged([](mlir::Operation* branch) {
            for (pd::SetOp set : opsOf<pd::SetOp>(branch->getParentOfType<pd::ProgramOp>()))
              if (set.getVar().ends_with(kSums) && !branch->isAncestor(set)) {
                pd::OpView sum(set.getValue().getDefiningOp());
                return sum.setInput("X", 0, sum.input("X", 1));
              }
            FAIL("nothing is added up");
          }),
          "lineage");
}

TEST_CASE("a stage that counts its steps twice") {
  notVerified(verifyMerged([](mlir::Operation* branch) {
    auto main = branch->getParentOfType<pd::ProgramOp>();
    pd::SetOp counted = lastSet(main, "gradient_merge_step");
    mlir::OpBuilder builder(counted->getContext());
    builder.setInsertionPointAfter(counted);
    dist::OnOp on = guardOf(builder, counted.getLoc(), 1);
    mlir::Value next = counted.getValue();
    mlir::Value more =
        pd::Declarations()
            .create(builder, counted.getLoc(), "increment", {{"X", {next}}},
                    {{"Out", {{"gradient_merge_step", next.getType()}}}},
                    {builder.getNamedAttr("step", builder.getF32FloatAttr(1))}, pd::kOptimize)
            .output("Out");
    pd::SetOp::create(builder, counted.getLoc(), counted.getVarAttr(), more);
    dist::YieldOp::create(builder, on.getLoc(), mlir::ValueRange());
  }));
}

TEST_CASE("a stage whose counter begins with one") {
  const VerifyReport report = verifyMerged([](mlir::Operation* branch) {
    auto job = branch->getParentOfType<dist::RoleOp>()->getParentOfType<mlir::ModuleOp>();
    pd::ProgramOp startup = programOf(job, "startup");
    pd::SetOp begun = lastSet(startup, "gradient_merge_step");
    mlir::OpBuilder builder(begun->getContext());
    builder.setInsertionPointAfter(begun);
    dist::OnOp on = guardOf(builder, begun.getLoc(), 1);
    mlir::Operation* zero = builder.clone(*begun.getValue().getDefiningOp());
    pd::OpView(zero).setAttr("value", builder.getF32FloatAttr(1));
    zero->removeAttr(dist::kSrcAttr);
    pd::SetOp::create(builder, begun.getLoc(), begun.getVarAttr(), zero->getResult(0));
    dist::YieldOp::create(builder, on.getLoc(), mlir::ValueRange());
  });
  refuted(report, "invariant");
}

TEST_CASE("a stage whose replicas do not sum what they have added up") {
  refuted(verifyMerged(
              [](mlir::Operation* branch) {
                for (dist::OnOp on : updatesOf(branch, 1))
                  for (dist::AllReduceOp sum : opsOf<dist::AllReduceOp>(on)) return bypass(sum);
                FAIL("nothing is summed");
              },
              6),
          "reduced-once");
}

TEST_CASE("a norm in the branch that is that of one stage") {
  refuted(verifyMerged(
              [](mlir::Operation* branch) {
                for (dist::AllReduceOp sum : opsOf<dist::AllReduceOp>(branch))
                  if (dist::lookupComm(sum, sum.getCommAttr()).overAxis("pp")) return bypass(sum);
                FAIL("no norm is summed");
              },
              2, kClipped),
          "reduced-once");
}

}  // namespace dtranspile::verify::test
