// Planted bugs of variables: what they end as, how they begin.
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

}  // namespace

TEST_CASE("a parameter that is no longer set") {
  VerifyReport report =
      verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) { opsOf<pd::SetOp>(main)[0].erase(); });
  CHECK_THAT(refuted(report, "update").position, Contains("fc_0.b_0"));
}

TEST_CASE("replicas that start differently") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    pd::ProgramOp startup = programOf(job, "startup");
    for (dist::BroadcastOp op : opsOf<dist::BroadcastOp>(startup)) bypass(op);
    for (pd::OpView op : opsOfType(startup, "uniform_random"))
      op.operation()->setAttr(dist::kStreamsAttr,
                              mlir::Builder(op.operation()->getContext()).getStrArrayAttr({"dp"}));
  });
  const Message& message = refuted(report, "invariant");
  CHECK_THAT(message.text, Contains("X(random)"));
  CHECK_THAT(message.remedy, Contains("broadcast"));
}

TEST_CASE("a start-up draw with a stream of its own") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    opsOfType(programOf(job, "startup"), "uniform_random")[0].operation()->setAttr(
        dist::kStreamsAttr, mlir::Builder(job.getContext()).getStrArrayAttr({"dp"}));
  });
  CHECK_THAT(refuted(report, "random-streams").text, Contains("the reference draws once"));
}

TEST_CASE("a variable that is a multiple of the reference's") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job))) {
      auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
      if (var.getSymName() == "fc_0.b_0")
        var->setAttr(dist::kRelAttr,
                     dist::RelAttr::get(job.getContext(), relation.getVariable(),
                                        relation.getNumber(), relation.getAxes(), 2, 1, {}));
    }
  });
  CHECK_THAT(refuted(report, "variable").text, Contains("2/1 times `fc_0.b_0`"));
}

// A host that sets a rate between steps sets it under its name.
TEST_CASE("a copy of what no step sets") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job))) {
      if (var.getSymName() != "learning_rate_0") continue;
      mlir::OpBuilder builder(var);
      llvm::cast<pd::VarOp>(builder.clone(*var)).setSymName("learning_rate_of_step");
    }
  });
  CHECK_THAT(refuted(report, "variable").text, Contains("which no step of the reference sets"));
}

TEST_CASE("a root outside of the communicator") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    for (dist::BroadcastOp op : opsOf<dist::BroadcastOp>(programOf(job, "startup")))
      op.setRootAttr(dist::SelAttr::point(op.getContext(), "dp", 7));
  });
  CHECK(exitCode(report.overall()) == 1);
  CHECK(report.find("structure")->verdict == Verdict::Refuted);
}

TEST_CASE("two variables of one shape that change names") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    auto rename = [&](const char* from, const char* to) {
      auto name = mlir::StringAttr::get(job.getContext(), to);
      for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
        if (var.getSymName() == from) var.setSymNameAttr(name);
      for (pd::GetOp get : opsOf<pd::GetOp>(roleOf(job)))
        if (get.getVar() == from) get.setVarAttr(mlir::FlatSymbolRefAttr::get(name));
      for (pd::SetOp set : opsOf<pd::SetOp>(roleOf(job)))
        if (set.getVar() == from) set.setVarAttr(mlir::FlatSymbolRefAttr::get(name));
    };
    rename("fc_0.b_0", "other");  // dist.rel stays, and says what each holds
    rename("fc_1.b_0", "fc_0.b_0");
    rename("other", "fc_1.b_0");
  });
  CHECK_THAT(refuted(report, "lineage").text, Contains("is declared to stand for `fc_"));
}

TEST_CASE("a parameter that is set on some ranks only") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    pd::SetOp update = lastSet(main, "fc_0.w_0");
    mlir::OpBuilder builder(update);
    auto where = dist::SelAttr::point(main.getContext(), "dp", 0);
    auto on = dist::OnOp::create(builder, update.getLoc(), mlir::TypeRange(), where,
                                 mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
    builder.createBlock(&on.getBody());
    update->moveBefore(dist::YieldOp::create(builder, update.getLoc(), mlir::ValueRange()));
  });
  const Message& message = refuted(report, "invariant");
  CHECK_THAT(message.text, Contains("sets `fc_0.w_0` on the ranks of this region only"));
  CHECK_THAT(message.remedy, Contains("after the dist.on"));
}

TEST_CASE("parameters that are drawn without a seed, and not broadcast") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    pd::ProgramOp startup = programOf(job, "startup");
    for (dist::BroadcastOp op : opsOf<dist::BroadcastOp>(startup)) bypass(op);
    mlir::Builder builder(job.getContext());
    for (pd::OpView op : opsOfType(job, "uniform_random"))
      op.setAttr("seed", builder.getI32IntegerAttr(0));  // those of the reference too
    for (pd::OpView op : opsOfType(startup, "uniform_random"))
      op.operation()->setAttr(dist::kStreamsAttr,
                              builder.getArrayAttr({}));  // nothing keeps that promise in start-up
  });
  CHECK_THAT(refuted(report, "invariant").text, Contains("X(random)"));
}

namespace {

// A job that draws without a seed, and broadcasts; edited after that.
VerifyReport verifyDrawn(const Strategy& strategy,
                         const std::function<void(mlir::ModuleOp, pd::ProgramOp)>& edit) {
  Jobs jobs;
  auto job = jobs.make("fluid18/mnist_mlp", strategy, [](mlir::ModuleOp module) {
    for (pd::OpView op : opsOfType(module, "uniform_random"))
      op.setAttr("seed", mlir::Builder(module.getContext()).getI32IntegerAttr(0));
  });
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  edit(*job, programOf(*job, "startup"));
  return verifyJob(*job, nullptr);
}

// What a broadcast of start-up that takes the same values from another rank gives for a variable.
mlir::Value fromRank(pd::ProgramOp startup, llvm::StringRef variable, int64_t rank) {
  dist::BroadcastOp first = opsOf<dist::BroadcastOp>(startup)[0];
  mlir::OpBuilder builder(startup.getContext());
  builder.setInsertionPointAfter(first);
  auto other = llvm::cast<dist::BroadcastOp>(builder.clone(*first));
  other.setRootAttr(dist::SelAttr::point(startup.getContext(), "dp", rank));
  auto chosen = llvm::cast<mlir::OpResult>(lastSet(startup, variable).getValue());
  return other->getResult(chosen.getResultNumber());
}

void setOnOneRank(mlir::OpBuilder& builder, llvm::StringRef variable, mlir::Value value) {
  auto on = dist::OnOp::create(builder, value.getLoc(), mlir::TypeRange(),
                               dist::SelAttr::point(builder.getContext(), "dp", 1),
                               mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
  builder.createBlock(&on.getBody());
  pd::SetOp::create(builder, value.getLoc(),
                    mlir::FlatSymbolRefAttr::get(builder.getContext(), variable), value);
  dist::YieldOp::create(builder, value.getLoc(), mlir::ValueRange());
}

}  // namespace

// The values of two broadcasts are equal on all ranks each, and are two draws.
TEST_CASE("a variable that one rank begins with another draw of") {
  VerifyReport report = verifyDrawn(unfused(4), [](mlir::ModuleOp, pd::ProgramOp startup) {
    mlir::Value other = fromRank(startup, "fc_0.w_0", 2);
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(startup.getBodyBlock());
    setOnOneRank(builder, "fc_0.w_0", other);
  });
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 3);
  CHECK_THAT(messageWith(report, Message::Level::Unknown, "invariant").text,
             Contains("sets `fc_0.w_0`") && Contains("another of the ranks' draws"));
}

TEST_CASE("a variable that is drawn on all ranks but set from a broadcast on one") {
  VerifyReport report = verifyDrawn(unfused(4), [](mlir::ModuleOp, pd::ProgramOp startup) {
    pd::SetOp set = lastSet(startup, "fc_0.w_0");
    mlir::OpBuilder builder(set);
    setOnOneRank(builder, "fc_0.w_0", set.getValue());
    set.erase();
  });
  CHECK_THAT(refuted(report, "invariant").text, Contains("on the ranks of this region only"));
}

TEST_CASE("two variables that stand for one, and begin as two draws") {
  Strategy averaged = unfused(4);
  averaged.collective_mode = "local_sgd";
  VerifyReport report = verifyDrawn(averaged, [](mlir::ModuleOp, pd::ProgramOp startup) {
    mlir::Value other = fromRank(startup, "fc_0.w_0", 2);
    lastSet(startup, "fc_0.w_0@SNAPSHOT").getValueMutable().assign(other);
  });
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 3);
  CHECK_THAT(messageWith(report, Message::Level::Unknown, "invariant").text,
             Contains("both stand for `fc_0.w_0`"));
}

TEST_CASE("an initial value that mixes two draws") {
  VerifyReport report = verifyDrawn(unfused(4), [](mlir::ModuleOp, pd::ProgramOp startup) {
    mlir::Value other = fromRank(startup, "fc_0.w_0", 2);
    pd::SetOp set = lastSet(startup, "fc_0.w_0");
    mlir::OpBuilder builder(set);
    mlir::Value sum = pd::Declarations()
                          .create(builder, set.getLoc(), "elementwise_add",
                                  {{"X", {set.getValue()}}, {"Y", {other}}},
                                  {{"Out", {{"mixed", other.getType()}}}}, {}, pd::kForward)
                          .output("Out");
    set.getValueMutable().assign(scaled(sum, 0.5F));
  });
  notVerified(report);
}

// With a seed of its own the draw is one on all ranks, and what a broadcast of it gives is the
// same: set on some ranks only, it changes nothing.
TEST_CASE("a variable that one rank sets again to what it holds") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    pd::ProgramOp startup = programOf(job, "startup");
    pd::SetOp set = lastSet(startup, "fc_0.w_0");
    mlir::OpBuilder builder(set);
    setOnOneRank(builder, "fc_0.w_0", set.getValue());
    set.erase();
  });
  INFO(messagesOf(report));
  CHECK(report.overall() == Verdict::Holds);
}

TEST_CASE("a variable of the job's own is set at start-up, and read") {
  Strategy everyThird = unfused(4);
  everyThird.collective_mode = "local_sgd";
  everyThird.localsgd_k_steps = 3;
  const auto counter = [](mlir::ModuleOp job) {
    for (auto var : opsOf<pd::VarOp>(roleOf(job)))
      if (var.getSymName() == "local_sgd_step") return var;
    throw std::runtime_error("no local_sgd_step");
  };
  SECTION("nobody reads it") {
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp) {
          mlir::OpBuilder builder(counter(job));
          llvm::cast<pd::VarOp>(builder.clone(*counter(job))).setSymName("undeclared_extra");
        },
        "fluid18/mnist_mlp", everyThird);
    CHECK_THAT(refuted(report, "variable").text, Contains("adds the variable `undeclared_extra`") &&
                                                     Contains("nothing reads or sets it"));
  }
  SECTION("it says that it stands for itself") {
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp) {
          mlir::OpBuilder builder(counter(job));
          auto extra = llvm::cast<pd::VarOp>(builder.clone(*counter(job)));
          extra.setSymName("extra");
          extra->setAttr(dist::kRelAttr, dist::RelAttr::of(extra.getSymNameAttr(), {}));
        },
        "fluid18/mnist_mlp", everyThird);
    CHECK_THAT(refuted(report, "variable").text, Contains("nothing reads or sets it"));
  }
  SECTION("start-up does not set it") {
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp) {
          lastSet(programOf(job, "startup"), "local_sgd_step").erase();
        },
        "fluid18/mnist_mlp", everyThird);
    CHECK_THAT(refuted(report, "variable").text, Contains("no start-up program sets it"));
  }
}

}  // namespace dtranspile::verify::test
