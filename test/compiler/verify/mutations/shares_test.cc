// Planted bugs that the reading in shares of the batch must not excuse: means over ranks where the
// reference has none, factors of a loss that is a sum, zeros of another shape.
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// The mean over the ranks in the place of a value.
void average(mlir::Value value) { replaceUses(value, summed(scaled(value, 0.25F))); }

// The op that gives the loss, the constant that seeds its gradient, and the first gradient op.
struct LossOps {
  mlir::Operation *loss = nullptr, *seed = nullptr, *gradient = nullptr;

  explicit LossOps(mlir::Operation* root) {
    root->walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      const int role = pd::OpView(op).role();
      if (!(role & pd::kLoss)) return;
      ((role & pd::kBackward) ? seed : loss) = op;
    });
    REQUIRE(loss);
    REQUIRE(seed);
    for (mlir::Operation* user : seed->getResult(0).getUsers()) gradient = user;
  }
};

// A mean becomes a sum.
void sumInstead(mlir::Operation* op, const char* type, const char* result) {
  mlir::OpBuilder at(op);
  pd::OpView view(op);
  const std::vector<std::string> slots = view.inputSlots();
  std::vector<pd::InputSlot> inputs;
  for (const std::string& slot : slots)
    if (view.inputCount(slot)) inputs.push_back({slot, view.inputs(slot)});
  mlir::Value out = op->getResult(0);
  pd::OpView sum = pd::Declarations().create(at, op->getLoc(), type, inputs,
                                             {{result, {{pd::nameOf(out).str(), out.getType()}}}},
                                             {at.getNamedAttr("reduce_all", at.getBoolAttr(true)),
                                              at.getNamedAttr("dim", at.getDenseI32ArrayAttr({0})),
                                              at.getNamedAttr("keep_dim", at.getBoolAttr(false))},
                                             view.role());
  out.replaceAllUsesWith(sum.operation()->getResult(0));
  op->erase();
}

// The loss of the source becomes a sum over the batch, before the job is made.
void sumLoss(mlir::ModuleOp module) {
  LossOps ops(module);
  REQUIRE(pd::OpView(ops.loss).type().contains("mean"));
  REQUIRE(pd::OpView(ops.gradient).type().ends_with("mean_grad"));
  sumInstead(ops.loss, "reduce_sum", "Out");
  sumInstead(ops.gradient, "reduce_sum_grad", "X@GRAD");
}

}  // namespace

TEST_CASE("values of the forward part that are averaged over the ranks") {
  VerifyOptions whole;
  for (const char* program : {"fluid18/mnist_mlp", "static26/resnet_thin", "fluid18/cond_branch"})
    for (const char* type : {"relu", "elementwise_add"})
      for (bool requireWhole : {false, true}) {
        INFO(program << " " << type);
        whole.whole = requireWhole;
        bool edited = false;
        VerifyReport report = verifyEdited(
            [&](mlir::ModuleOp, pd::ProgramOp main) {
              auto ops = opsOfType(main, type);
              edited = !ops.empty();
              if (edited) average(ops[0].output("Out"));
            },
            program, unfused(4), whole);
        if (edited) notVerified(report);
      }
}

TEST_CASE("an average cannot be declared to be a site") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp main) {
    average(opsOfType(main, "relu")[0].output("Out"));
    declareSites(job);
  });
  CHECK_THAT(refuted(report, "reduction").text, Contains("combines with sum"));
}

TEST_CASE("gradients of activations that are averaged over the ranks") {
  for (const char* program : {"fluid18/mnist_mlp", "static26/resnet_thin"}) {
    INFO(program);
    VerifyReport report = verifyEdited(
        [](mlir::ModuleOp, pd::ProgramOp main) {
          average(opsOfType(main, "relu_grad").back().output("X@GRAD"));
        },
        program);
    CHECK(exitCode(report.overall()) == 1);
  }
}

TEST_CASE("statistics that are averaged over the ranks") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        average(opsOfType(main, "batch_norm")[0].output("SavedMean"));
      },
      "static26/resnet_thin");
  notVerified(report);
}

// What is summed over the batch is summed over the ranks; the factor 1/n would be one too many.
TEST_CASE("a loss that is a sum, after a site and without one") {
  Jobs jobs;
  for (const char* program : {"fluid18/mnist_mlp", "static26/resnet_thin"}) {
    INFO(program);
    auto job = jobs.make(program, unfused(4), sumLoss);
    declareSites(*job);
    VerifyReport right = verifyJob(*job, nullptr);
    INFO(messagesOf(right));
    CHECK(right.overall() == Verdict::Holds);
    mlir::Value seed = LossOps(programOf(*job)).seed->getResult(0);
    replaceUses(seed, scaled(seed, 0.25F));
    CHECK_THAT(refuted(verifyJob(*job, nullptr), "scale").text, Contains("1/4 times"));
  }
}

TEST_CASE("zeros of a larger shape are not added") {
  for (bool larger : {true, false}) {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      pd::OpView update = opsOfType(main, "momentum")[0];
      mlir::Value velocity = update.input("Velocity");
      auto type = llvm::cast<mlir::RankedTensorType>(velocity.getType());
      llvm::SmallVector<int64_t> dims(type.getShape());
      if (larger) dims.insert(dims.begin(), 2);
      mlir::OpBuilder builder(update.operation());
      mlir::Value zeros =
          pd::Declarations()
              .create(builder, velocity.getLoc(), "fill_constant", {},
                      {{"Out", {{"zeros", type.clone(dims)}}}},
                      {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(dims)),
                       builder.getNamedAttr("value", builder.getF32FloatAttr(0)),
                       builder.getNamedAttr("dtype", builder.getI32IntegerAttr(5))},
                      pd::kOptimize)
              .output("Out");
      update.setInput(
          "Velocity", 0,
          pd::Declarations()
              .create(builder, velocity.getLoc(), "elementwise_add",
                      {{"X", {velocity}}, {"Y", {zeros}}}, {{"Out", {{"same", type}}}},
                      {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))}, pd::kOptimize)
              .output("Out"));
    });
    INFO(messagesOf(report));
    CHECK((report.overall() == Verdict::Holds) != larger);
  }
}

TEST_CASE("a factor on the way to what is only fetched") {
  for (const char* program : {"fluid18/mnist_mlp", "static26/resnet_thin"}) {
    INFO(program);
    VerifyReport report = verifyEdited(
        [](mlir::ModuleOp, pd::ProgramOp main) {
          pd::OpView loss(LossOps(main).loss);
          loss.setInput("X", 0, scaled(loss.input("X"), 0.5F));
        },
        program);
    CHECK_THAT(refuted(report, "scale").text, Contains("1/2 times"));
  }
}

TEST_CASE("a communicator that joins some ranks only is not modelled, and said to be") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    for (dist::CommOp comm : job.getOps<dist::CommOp>())
      comm.setSubsetAttr(dist::SelAttr::of(
          job.getContext(),
          {dist::AxisSetAttr::of(mlir::StringAttr::get(job.getContext(), "dp"), {{0, 2}})}));
  });
  notVerified(report);
}

}  // namespace dtranspile::verify::test
