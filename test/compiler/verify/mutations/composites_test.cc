// Planted bugs in composites.
#include "compiler/analysis/relations/norm_body.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// lamb on parts that two ranks hold.
mlir::OwningOpRef<mlir::ModuleOp> sharded(Jobs& jobs) {
  Strategy strategy = unfused(2);
  strategy.sharding = true;
  strategy.sharding_degree = 2;
  return jobs.make("fluid18/lamb_mlp", strategy);
}

dist::CompositeOp firstNamed(mlir::ModuleOp job, llvm::StringRef name) {
  for (dist::CompositeOp composite : opsOf<dist::CompositeOp>(programOf(job)))
    if (composite.getOp() == name) return composite;
  throw std::runtime_error("no such composite");
}

}  // namespace

TEST_CASE("statistics of a batch that are no longer exchanged") {
  Jobs jobs;
  Strategy strategy = unfused(4);
  strategy.sync_batch_norm = true;
  auto job = jobs.make("static26/resnet_thin", strategy);
  for (dist::CompositeOp composite : opsOf<dist::CompositeOp>(programOf(*job)))
    if (composite.getOp() == "sync_batch_norm") {
      for (dist::AllReduceOp op : opsOf<dist::AllReduceOp>(composite)) bypass(op);
      break;
    }
  VerifyReport report = verifyJob(*job, nullptr);
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 1);
}

TEST_CASE("a composite with another attribute than its op") {
  Jobs jobs;
  Strategy strategy = unfused(4);
  strategy.sync_batch_norm = true;
  auto job = jobs.make("static26/resnet_thin", strategy);
  dist::CompositeOp composite = opsOf<dist::CompositeOp>(programOf(*job))[0];
  mlir::NamedAttrList attributes(composite.getAttrs());
  attributes.set("momentum", mlir::Builder(job->getContext()).getF32FloatAttr(0.1F));
  composite.setAttrsAttr(attributes.getDictionary(job->getContext()));
  CHECK_THAT(refuted(verifyJob(*job, nullptr), "D30").text, Contains("`momentum`"));
}

// Its body gives the parameter back as it was.
TEST_CASE("a composite that is not one of those which are understood") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        pd::OpView sgd = opsOfType(main, "sgd")[0];
        mlir::Operation* op = sgd.operation();
        mlir::OpBuilder builder(op);
        auto composite = dist::CompositeOp::create(
            builder, op->getLoc(), op->getResultTypes(), builder.getStringAttr("sync_sgd"),
            builder.getStrArrayAttr({"Grad", "LearningRate", "Param"}), op->getOperands(),
            builder.getStrArrayAttr({"ParamOut"}),
            builder.getStrArrayAttr({pd::nameOf(op->getResult(0))}),
            op->getAttrOfType<mlir::DictionaryAttr>("attrs"));
        composite->setAttr(dist::kSrcAttr, op->getAttr(dist::kSrcAttr));
        mlir::Block* body = builder.createBlock(&composite.getBody());
        for (mlir::Value operand : op->getOperands())
          body->addArgument(operand.getType(), operand.getLoc());
        REQUIRE(sgd.input("Param") == op->getOperand(2));
        dist::YieldOp::create(builder, op->getLoc(), mlir::ValueRange(body->getArgument(2)));
        op->replaceAllUsesWith(composite.getResults());
        op->erase();
      },
      "fluid18/fit_a_line");
  INFO(messagesOf(report));
  // It stands for an op of another type.
  CHECK(exitCode(report.overall()) == 1);
  CHECK(messageWith(report, Message::Level::Refuted, "D30").op == "dist.composite");
}

TEST_CASE("a value of a body that is declared persistable") {
  Strategy strategy = unfused(4);
  strategy.sync_batch_norm = true;
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        std::vector<pd::DeclOp> inside = opsOf<pd::DeclOp>(opsOf<dist::CompositeOp>(main)[0]);
        REQUIRE(!inside.empty());
        inside[0].setPersistable(true);
      },
      "static26/resnet_thin", strategy);
  CHECK_THAT(refuted(report, "declaration").text, Contains("persistable"));
}

TEST_CASE("a body that is not the formula of its composite") {
  Strategy strategy = unfused(4);
  strategy.sync_batch_norm = true;
  auto in = [](pd::ProgramOp main, llvm::StringRef name, llvm::StringRef type) {
    for (dist::CompositeOp composite : opsOf<dist::CompositeOp>(main))
      if (composite.getOp() == name) return opsOfType(composite, type)[0];
    throw std::runtime_error("no such composite");
  };
  Edit edit;
  SECTION("operands of a difference swapped") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      pd::OpView op = in(main, "sync_batch_norm", "elementwise_sub");
      mlir::Value x = op.input("X"), y = op.input("Y");
      if (x.getType() != y.getType()) op = in(main, "sync_batch_norm_grad", "elementwise_sub");
      op.operation()->setOperands({op.operation()->getOperand(1), op.operation()->getOperand(0)});
    };
  }
  SECTION("a factor") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      pd::OpView op = in(main, "sync_batch_norm", "rsqrt");
      op.setInput("X", 0, scaled(op.input("X"), 2));
    };
  }
  SECTION("an op left out") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      bypass(in(main, "sync_batch_norm", "square").operation());
    };
  }
  SECTION("an op twice") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      repeat(in(main, "sync_batch_norm", "rsqrt").operation());
    };
  }
  SECTION("an attribute") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      in(main, "sync_batch_norm", "scale")
          .setAttr("bias_after_scale", mlir::Builder(main.getContext()).getBoolAttr(false));
    };
  }
  SECTION("results that change places") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      for (dist::CompositeOp composite : opsOf<dist::CompositeOp>(main)) {
        auto yield = llvm::cast<dist::YieldOp>(composite.getBody().front().getTerminator());
        for (unsigned i = 0; i + 1 < yield->getNumOperands(); ++i) {
          mlir::Value a = yield->getOperand(i), b = yield->getOperand(i + 1);
          if (a.getType() != b.getType() || a == b) continue;
          yield->setOperand(i, b);
          yield->setOperand(i + 1, a);
          return;
        }
      }
      FAIL("no two results of one type");
    };
  }
  SECTION("another operand") {
    edit = [&](mlir::ModuleOp, pd::ProgramOp main) {
      pd::OpView op = in(main, "sync_batch_norm_grad", "reduce_sum");
      auto body = op.operation()->getBlock();
      for (mlir::BlockArgument argument : body->getArguments())
        if (argument.getType() == op.input("X").getType() && argument != op.input("X"))
          return op.setInput("X", 0, argument);
      FAIL("no other operand");
    };
  }
  notVerified(verifyEdited(edit, "static26/resnet_thin", strategy));
}

// Without a decay 2.x takes no norms, unless it says so.
TEST_CASE("norms in an update that takes none") {
  Jobs jobs;
  auto job = sharded(jobs);
  dist::CompositeOp composite = firstNamed(*job, kShardedLamb);
  REQUIRE(normBodyDiffers(composite).empty());
  mlir::Builder builder(job->getContext());
  programOf(*job)->setAttr("version", builder.getI64IntegerAttr(2006002));
  mlir::NamedAttrList attributes(composite.getAttrs());
  attributes.set("weight_decay", builder.getF32FloatAttr(0));
  composite.setAttrsAttr(attributes.getDictionary(job->getContext()));
  CHECK_THAT(normBodyDiffers(composite), Contains("norms that its op does not take"));
  attributes.set("always_adapt", builder.getBoolAttr(true));
  composite.setAttrsAttr(attributes.getDictionary(job->getContext()));
  CHECK_THAT(normBodyDiffers(composite), !Contains("norms that its op does not take"));
}

// A step that may be left out is another formula.
TEST_CASE("a composite of norms that takes more than its formula") {
  Jobs jobs;
  auto job = sharded(jobs);
  dist::CompositeOp composite = firstNamed(*job, kShardedLamb);
  mlir::Builder builder(job->getContext());
  llvm::SmallVector<mlir::Attribute> slots(composite.getInputSlots().getValue());
  slots.back() = builder.getStringAttr("SkipUpdate");
  composite.setInputSlotsAttr(builder.getArrayAttr(slots));
  CHECK_THAT(normBodyDiffers(composite), Contains("norms that its op does not take"));
}

}  // namespace dtranspile::verify::test
