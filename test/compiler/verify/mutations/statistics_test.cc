// Planted bugs in running statistics that go through the micro-batches of a pipeline.
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kProgram = "fluid18/resnet_cifar";

Strategy staged(const std::string& schedule = "1F1B", int64_t trainers = 2, int64_t chunks = 1) {
  Strategy strategy;
  strategy.trainers = trainers;
  strategy.pipeline = true;
  strategy.stages = 2;
  strategy.accumulate_steps = 2;
  strategy.virtual_stages = chunks;
  strategy.schedule_mode = schedule;
  return strategy;
}

dist::YieldOp yieldOf(dist::MicroOp micro) {
  return llvm::cast<dist::YieldOp>(micro.getBody().front().getTerminator());
}

// The loop, and the positions of what it hands on of batch_norm.
struct States {
  explicit States(pd::ProgramOp main) : loop(opsOf<dist::MicroOp>(main)[0]) {
    for (unsigned i = 0; i < loop.getOutputs().size(); ++i)
      if (mlir::Operation* op = maker(i); pd::OpView(op).type() == "batch_norm") at.push_back(i);
    REQUIRE(at.size() > 2);
  }
  mlir::Operation* maker(unsigned i) {
    mlir::Value value = yieldOf(loop)->getOperand(i);
    while (auto on = value.getDefiningOp<dist::OnOp>())
      value = on.getBody().front().getTerminator()->getOperand(
          llvm::cast<mlir::OpResult>(value).getResultNumber());
    return value.getDefiningOp();
  }
  pd::OpView mover(unsigned i) { return pd::OpView(maker(at[i])); }
  dist::MicroOp loop;
  std::vector<unsigned> at;
};

VerifyReport verifyStates(const std::function<void(mlir::ModuleOp, States&)>& edit) {
  Jobs jobs;
  auto job = jobs.make(kProgram, staged());
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  States states(programOf(*job));
  edit(*job, states);
  VerifyReport report = verifyJob(*job, nullptr);
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 1);
  return report;
}

}  // namespace

TEST_CASE("running statistics that go through the micro-batches are verified, and conditions") {
  Jobs jobs;
  for (const Strategy& strategy :
       {staged(), staged("F-then-B"), staged("ZB-H1"), staged("1F1B", 2, 2), staged("1F1B", 4)}) {
    auto job = jobs.make(kProgram, strategy);
    VerifyReport report = verifyJob(*job, nullptr);
    INFO(messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
    bool said = false;
    for (const Condition& condition : report.find("relations")->conditions)
      said |= condition.kind == "contract" && condition.name == "micro_statistics";
    CHECK(said);
  }
}

TEST_CASE("running statistics that do not move as micro-batches say") {
  SECTION("they stay as they were") {
    verifyStates([](mlir::ModuleOp, States& states) {
      yieldOf(states.loop)
          ->setOperand(states.at[0], states.loop.getBody().getArgument(states.at[0]));
    });
  }
  SECTION("every micro-batch takes them as they were before the step") {
    VerifyReport report = verifyStates([](mlir::ModuleOp, States& states) {
      pd::OpView norm = states.mover(0);
      mlir::OpBuilder builder(norm.operation());
      mlir::Value before = norm.input("Mean");
      auto get =
          pd::GetOp::create(builder, before.getLoc(), before.getType(), norm.outputName("MeanOut"));
      norm.setInput("Mean", 0, get.getValue());
    });
    CHECK_THAT(refuted(report, "op").text, Contains("D13") && Contains("nor running statistics"));
  }
  SECTION("every micro-batch moves them twice") {
    VerifyReport report = verifyStates([](mlir::ModuleOp, States& states) {
      pd::OpView norm = states.mover(0);
      mlir::OpBuilder builder(norm.operation());
      pd::OpView first(builder.clone(*norm.operation()));
      norm.setInput("Mean", 0, first.output("MeanOut"));
    });
    CHECK_THAT(refuted(report, "op").text, Contains("D13"));
  }
  SECTION("mean and variance change places") {
    VerifyReport report = verifyStates([](mlir::ModuleOp, States& states) {
      dist::YieldOp yield = yieldOf(states.loop);
      mlir::Value mean = yield->getOperand(states.at[0]);
      yield->setOperand(states.at[0], yield->getOperand(states.at[1]));
      yield->setOperand(states.at[1], mean);
    });
    CHECK_THAT(refuted(report, "op").text, Contains("D13"));
  }
  SECTION("they begin as another variable") {
    verifyStates([](mlir::ModuleOp, States& states) {
      mlir::Value mean = states.loop.getInits()[states.at[0]],
                  variance = states.loop.getInits()[states.at[1]];
      REQUIRE(mean.getType() == variance.getType());
      states.loop.getInitsMutable()[states.at[0]].assign(variance);
    });
  }
  SECTION("another op sees what a micro-batch has left") {
    VerifyReport report = verifyStates([](mlir::ModuleOp, States& states) {
      pd::OpView norm = states.mover(0);
      mlir::OpBuilder builder(norm.operation());
      mlir::Value mean = norm.input("Mean");
      pd::Declarations().create(builder, mean.getLoc(), "assign", {{"X", {mean}}},
                                {{"Out", {{"seen", mean.getType()}}}}, {}, pd::kForward);
    });
    CHECK_THAT(refuted(report, "op").text, Contains("D13"));
  }
  SECTION("a multiple of them is set") {
    verifyStates([](mlir::ModuleOp, States& states) {
      pd::OpView norm = states.mover(0);
      pd::SetOp set =
          lastSet(states.loop->getParentOfType<pd::ProgramOp>(), norm.outputName("MeanOut"));
      mlir::Value value = set.getValue();
      set.getValueMutable().assign(scaled(value, 2));
    });
  }
  SECTION("no contract says so") {
    VerifyReport report =
        verifyStates([](mlir::ModuleOp job, States&) { dropContract(job, "micro_statistics"); });
    CHECK_THAT(refuted(report, "contract").text,
               Contains("depends on micro_statistics, which the job does not declare"));
  }
  SECTION("the contract does not list one") {
    VerifyReport report = verifyStates([](mlir::ModuleOp job, States&) {
      mlir::Builder builder(job.getContext());
      llvm::SmallVector<mlir::Attribute> entries;
      for (auto contract : job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr)
                               .getAsRange<mlir::DictionaryAttr>()) {
        mlir::NamedAttrList words(contract);
        if (contract.getAs<mlir::StringAttr>("tag").getValue() == "micro_statistics")
          words.set("sites", builder.getArrayAttr(
                                 contract.getAs<mlir::ArrayAttr>("sites").getValue().drop_front()));
        entries.push_back(words.getDictionary(job.getContext()));
      }
      job->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
    });
    CHECK_THAT(refuted(report, "contract").text, Contains("which does not list it"));
  }
}

}  // namespace dtranspile::verify::test
