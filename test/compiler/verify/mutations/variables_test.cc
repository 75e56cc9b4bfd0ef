// Planted bugs of variables: what they end as, how they begin.
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
  CHECK_THAT(message.remedy, Contains("behind the dist.on"));
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

}  // namespace dtranspile::verify::test
