// Planted bugs of words: what an inserted op says of its result and does not make, declarations
// that go, texts that win over numbers; and a strategy that is not the one that was asked for.
#include "compiler/artifact/job.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

// Parameters are averaged in a branch, with constants that passes have put in.
Strategy everyThird() {
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  strategy.localsgd_k_steps = 3;
  return strategy;
}
Strategy merged() {
  Strategy strategy = unfused(4);
  strategy.gradient_merge = true;
  strategy.gradient_merge_k_steps = 2;
  return strategy;
}

pd::OpView constantNamed(pd::ProgramOp main, llvm::StringRef name) {
  for (pd::OpView op : opsOfType(main, "fill_constant"))
    if (pd::nameOf(op.output("Out")) == name) return op;
  throw std::runtime_error("no constant " + name.str());
}

VerifyReport withConstant(const std::function<void(pd::OpView, mlir::Builder)>& edit) {
  return verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        edit(constantNamed(main, "local_sgd_k"), mlir::Builder(main.getContext()));
      },
      "fluid18/mnist_mlp", everyThird());
}

}  // namespace

TEST_CASE("an inserted op gives what it says that it gives") {
  VerifyReport two = withConstant([](pd::OpView op, mlir::Builder builder) {
    op.setAttr("shape", builder.getDenseI64ArrayAttr({2}));
  });
  CHECK_THAT(refuted(two, "op").text, Contains("int64 [2], and says that it is int64 [1]"));
  VerifyReport other = withConstant([](pd::OpView op, mlir::Builder builder) {
    op.setAttr("dtype", builder.getI32IntegerAttr(5));
  });
  CHECK_THAT(refuted(other, "op").text, Contains("float32 [1]"));
}

TEST_CASE("what a constant is, its text says where it has one") {
  VerifyReport report = withConstant([](pd::OpView op, mlir::Builder builder) {
    op.setAttr("str_value", builder.getStringAttr("7"));
  });
  notVerified(report);
  CHECK_THAT(messagesOf(report), Contains("runs in steps that cannot be read off its predicate"));
}

TEST_CASE("a branch of an average that looks at the extents of its condition") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        opsOfType(main, "conditional_block", true)[0].setAttr(
            "is_scalar_condition", mlir::Builder(main.getContext()).getBoolAttr(false));
      },
      "fluid18/mnist_mlp", everyThird());
  notVerified(report);
}

TEST_CASE("what an inserted op gives is declared, as what it is") {
  const auto declared = [](pd::ProgramOp main) {
    for (pd::DeclOp decl : opsOf<pd::DeclOp>(main))
      if (decl.getName() == "local_sgd_k") return decl;
    throw std::runtime_error("local_sgd_k is not declared");
  };
  VerifyReport gone =
      verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) { declared(main).erase(); },
                   "fluid18/mnist_mlp", everyThird());
  CHECK_THAT(refuted(gone, "declaration").text, Contains("its program does not declare"));
  VerifyReport other = verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        declared(main).setDtypeAttr(mlir::Builder(main.getContext()).getI32IntegerAttr(5));
      },
      "fluid18/mnist_mlp", everyThird());
  CHECK_THAT(refuted(other, "declaration").text,
             Contains("as int64 [1], and it is declared float32 [1]"));
}

TEST_CASE("what a pass declares is neither fed nor a parameter, and no larger than the value") {
  const auto edited = [](const std::function<void(pd::DeclOp)>& edit) {
    return verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          for (pd::DeclOp decl : opsOf<pd::DeclOp>(main))
            if (decl.getName() == "local_sgd_k") return edit(decl);
        },
        "fluid18/mnist_mlp", everyThird());
  };
  CHECK_THAT(
      refuted(edited([](pd::DeclOp decl) { decl.setNeedCheckFeed(true); }), "declaration").text,
      Contains("the reference has no such feed"));
  CHECK_THAT(
      refuted(edited([](pd::DeclOp decl) { decl.setIsParameter(true); }), "declaration").text,
      Contains("to be a parameter, and the role has none"));
  CHECK_THAT(
      refuted(edited([](pd::DeclOp decl) {
                decl.setDimsAttr(mlir::Builder(decl.getContext()).getDenseI64ArrayAttr({7, 3}));
              }),
              "declaration")
          .text,
      Contains("as int64 [1], and it is declared int64 [7, 3]"));
}

TEST_CASE("values of parts that are looked at by themselves have names of their own") {
  const auto named = [](const std::string& name) {
    Strategy strategy = unfused(4);
    strategy.adaptive_localsgd = true;
    return verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          mlir::Operation* op = constantNamed(main, "local_sgd_one").operation();
          mlir::Builder builder(main.getContext());
          op->setAttr("outs", builder.getArrayAttr({pd::SlotAttr::get(
                                  main.getContext(), builder.getStringAttr("Out"),
                                  {builder.getStringAttr(name)})}));
          pd::Declarations().declare(op->getBlock(), name, op->getResult(0).getType());
        },
        "fluid18/fit_a_line", strategy);
  };
  CHECK(named("own").overall() == Verdict::Holds);
  notVerified(named("learning_rate_0"));
  notVerified(named("fc_0.tmp_0"));
  notVerified(named("x"));
}

TEST_CASE("a declaration in a block is the reference's") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        for (pd::DeclOp decl : opsOf<pd::DeclOp>(main))
          if (decl.getName().ends_with("@MEAN")) {
            decl.setPersistable(true);
            return;
          }
      },
      "fluid18/mnist_mlp", merged());
  CHECK_THAT(refuted(report, "declaration").text, Contains("in a block otherwise"));
}

TEST_CASE("types of what a pass has changed in the reference are what its ops make") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp job, pd::ProgramOp) {
        job.walk([](mlir::Operation* op) {
          if (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "fill_constant" &&
              pd::nameOf(op->getResult(0)).ends_with("@GradientMerge"))
            pd::OpView(op).setAttr("dtype", mlir::Builder(op->getContext()).getI32IntegerAttr(6));
        });
      },
      "fluid18/mnist_mlp", merged());
  CHECK_THAT(refuted(report, "op").text, Contains("float64"));
}

TEST_CASE("what was asked for is what the module shows") {
  Jobs jobs;
  const auto check = [&](const Strategy& strategy, const Json& asked, const std::string& field,
                         const Json& other, const std::string& says) {
    auto job = jobs.make("fluid18/mnist_mlp", strategy);
    const Json right = makeManifest(*job, asked);
    VerifyReport report = verifyJob(*job, &right);
    INFO(messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
    Json wrong = asked;
    wrong[field] = other;
    const Json manifest = makeManifest(*job, wrong);
    INFO(field << " " << other.dump());
    VerifyReport changed = verifyJob(*job, &manifest);
    CHECK_THAT(refuted(changed, "manifest").text, Contains(says));
  };
  const Json average = {{"trainers", 4},
                        {"collective_mode", "local_sgd"},
                        {"adaptive_localsgd", false},
                        {"localsgd_k_steps", 3},
                        {"localsgd_begin_step", 1}};
  check(everyThird(), average, "trainers", 8, "is 8; the module was made with 4");
  check(everyThird(), average, "localsgd_k_steps", 4, "is 4; the contract \"local_sgd\" says");
  check(everyThird(), average, "localsgd_begin_step", 2, "the contract \"local_sgd\" says");
  const Json merges = {{"trainers", 4},
                       {"collective_mode", "grad_allreduce"},
                       {"gradient_merge", true},
                       {"gradient_merge_k_steps", 2},
                       {"gradient_merge_avg", true}};
  check(merged(), merges, "gradient_merge_k_steps", 3,
        "is 3; pass gradient-merge declares that it took 2");
  check(merged(), merges, "gradient_merge", false,
        "is false; the module declares the change of pass gradient-merge");
}

}  // namespace dtranspile::verify::test
