// Planted bugs of what is said beside the values: claims on ops, what inserted blocks say of
// themselves, variables that are no parameters, gradients merged where ranks step by themselves.
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// The gradient of fc_1.w_0 before it is reduced, P(sum) along dp.
pd::OpView gradientOp(pd::ProgramOp main) {
  for (pd::OpView op : opsOfType(main, "mul_grad"))
    if (op.output("Y@GRAD") && pd::nameOf(op.output("Y@GRAD")) == "fc_1.w_0@GRAD") return op;
  throw std::runtime_error("no gradient of fc_1.w_0");
}

struct Claim {
  std::string variable = "fc_1.w_0@GRAD";
  int64_t number = 1;
  std::string axis = "dp";
  dist::Reduce reduce = dist::Reduce::Sum;
  int64_t numerator = 1;
  std::vector<std::string> tags = {};
};

dist::RelAttr attributeOf(mlir::MLIRContext* context, const Claim& claim) {
  const auto text = [&](const std::string& word) { return mlir::StringAttr::get(context, word); };
  std::vector<mlir::StringAttr> tags;
  for (const std::string& tag : claim.tags) tags.push_back(text(tag));
  return dist::RelAttr::get(context, text(claim.variable), claim.number,
                            dist::AxisRelAttr::partial(text(claim.axis), claim.reduce),
                            claim.numerator, 1, tags);
}

// The gradient with a claim, its other result with none that says anything.
VerifyReport claiming(const Claim& claim, int64_t trainers = 4) {
  return verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        pd::OpView op = gradientOp(main);
        mlir::MLIRContext* context = main.getContext();
        const dist::RelAttr nothing =
            dist::RelAttr::of(mlir::StringAttr::get(context, "none"),
                              dist::AxisRelAttr::unknown(mlir::StringAttr::get(context, "dp")));
        llvm::SmallVector<mlir::Attribute> all;
        for (mlir::Value result : op.operation()->getResults())
          all.push_back(result == op.output("Y@GRAD") ? attributeOf(context, claim) : nothing);
        op.operation()->setAttr(dist::kRelAttr, mlir::ArrayAttr::get(context, all));
      },
      "fluid18/mnist_mlp", unfused(trainers));
}

Strategy everyThird() {
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  strategy.localsgd_k_steps = 3;
  return strategy;
}

// The branch of an average, its description of the block changed.
VerifyReport describing(const std::string& field, int64_t value) {
  return verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        mlir::Operation* op = opsOfType(main, "conditional_block", true)[0].operation();
        mlir::Builder builder(main.getContext());
        mlir::NamedAttrList words(
            llvm::cast<mlir::DictionaryAttr>(op->getAttrOfType<mlir::ArrayAttr>("blocks")[0]));
        words.set(field, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
        op->setAttr("blocks", builder.getArrayAttr(words.getDictionary(main.getContext())));
      },
      "fluid18/mnist_mlp", everyThird());
}

}  // namespace

TEST_CASE("a claim is held against what is known") {
  VerifyReport right = claiming({});
  INFO(messagesOf(right));
  CHECK(right.overall() == Verdict::Holds);
  CHECK_THAT(refuted(claiming({.reduce = dist::Reduce::Max}), "claim").text,
             Contains("is dp: P(max); it is dp: P(sum)"));
  CHECK_THAT(refuted(claiming({.numerator = 4}), "claim").text, Contains("scale 4"));
  CHECK_THAT(refuted(claiming({.variable = "fc_0.w_0@GRAD"}), "claim").text,
             Contains("it stands for `fc_1.w_0@GRAD`"));
  CHECK_THAT(refuted(claiming({.number = 2}), "claim").text, Contains("number 2"));
  CHECK_THAT(refuted(claiming({.tags = {"parts"}}), "claim").text,
             Contains("of contract parts; it does not depend on that"));
}

TEST_CASE("along an axis of one coordinate a value is R") {
  CHECK_THAT(refuted(claiming({}, 1), "claim").text,
             Contains("dp: P(sum); there is one coordinate of the axis here"));
}

// Parameters of a stage: there is one coordinate of `pp`, and nothing that could differ along it.
TEST_CASE("along an axis of one coordinate a variable is R") {
  Strategy strategy = unfused(4);
  strategy.pipeline = true;
  strategy.accumulate_steps = 2;
  const auto declared = [&](bool different) {
    return verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp) {
          mlir::Builder builder(job.getContext());
          const auto stages = builder.getStringAttr("pp");
          const dist::AxisRelAttr state =
              different ? dist::AxisRelAttr::different(stages, "local_sgd")
                        : dist::AxisRelAttr::partial(stages, dist::Reduce::Max);
          for (auto var : opsOf<pd::VarOp>(roleOf(job)))
            if (var.getSymName() == "linear_4.w_0_velocity_0")
              var->setAttr(dist::kRelAttr,
                           dist::RelAttr::of(builder.getStringAttr(var.getSymName()), {state}));
        },
        "static26/mlp_stages", strategy);
  };
  CHECK_THAT(refuted(declared(false), "location").text,
             Contains("is declared pp: P(max), and exists on one coordinate of axis pp"));
  CHECK_THAT(refuted(declared(true), "location").text, Contains("there it is R"));
}

TEST_CASE("what an inserted block says of itself stands there") {
  CHECK_THAT(refuted(describing("idx", 0), "body").text, Contains("the number 0 of another"));
  CHECK_THAT(refuted(describing("idx", 7), "body").text, Contains("says `sub_block` 1"));
  CHECK_THAT(refuted(describing("parent", 3), "body").text, Contains("says to stand in block 3"));
}

TEST_CASE("a variable that a pass adds is no parameter") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp job, pd::ProgramOp) {
        for (auto var : opsOf<pd::VarOp>(roleOf(job)))
          if (var.getSymName() == "local_sgd_step") var.setParameter(true);
      },
      "fluid18/mnist_mlp", everyThird());
  CHECK_THAT(refuted(report, "variable").text, Contains("it is a parameter"));
}

TEST_CASE("a job holds what it was made from and what it is compared with, and no other module") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job.getBody());
    for (auto module : job.getOps<mlir::ModuleOp>()) {
      auto copy = llvm::cast<mlir::ModuleOp>(builder.clone(*module));
      copy.setSymName("again");
      return;
    }
  });
  CHECK_THAT(refuted(report, "program").text, Contains("neither @source"));
}

TEST_CASE("gradients that are averaged where every rank takes steps of its own") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        mlir::Value gradient = gradientOp(main).output("Y@GRAD");
        replaceUses(gradient, scaled(summed(gradient), 0.25F));
      },
      "fluid18/mnist_mlp", everyThird());
  CHECK_THAT(refuted(report, "contract").text, Contains("combines the ranks' gradients"));
}

}  // namespace dtranspile::verify::test
