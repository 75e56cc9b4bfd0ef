// Planted bugs on the way of gradients: reductions, scales, casts.
#include "compiler/analysis/relations/contract_texts.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// A gradient by way of another element type, after its reduction.
VerifyReport verifyCast(mlir::Type (*type)(mlir::Builder&), int32_t code) {
  return verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        pd::OpView update = opsOfType(main, "sgd")[0];
        mlir::OpBuilder builder(update.operation());
        auto cast = [&](mlir::Value value, mlir::Type to, int32_t from, int32_t into) {
          mlir::Type result = llvm::cast<mlir::RankedTensorType>(value.getType()).clone(to);
          llvm::SmallVector<mlir::NamedAttribute> attributes = {
              builder.getNamedAttr("in_dtype", builder.getI32IntegerAttr(from)),
              builder.getNamedAttr("out_dtype", builder.getI32IntegerAttr(into))};
          return pd::Declarations()
              .create(builder, value.getLoc(), "cast", {{"X", {value}}},
                      {{"Out", {{"cast_" + std::to_string(into), result}}}}, attributes,
                      pd::kBackward)
              .output("Out");
        };
        constexpr int32_t kFloat32 = 5;
        update.setInput("Grad", 0,
                        cast(cast(update.input("Grad"), type(builder), kFloat32, code),
                             builder.getF32Type(), code, kFloat32));
      },
      "fluid18/fit_a_line");
}

// A gradient of equal values on all ranks is cut over both levels, one after the other, and put
// together at once.
VerifyReport verifyCutTwice(llvm::StringRef first, llvm::StringRef second) {
  Jobs jobs;
  Strategy strategy;
  strategy.trainers = 4;
  strategy.mode = "nccl2";
  strategy.use_hierarchical_allreduce = true;
  strategy.hierarchical_allreduce_inter_nranks = 2;
  auto job = jobs.make("fluid18/mnist_mlp", strategy);
  for (pd::OpView update : opsOfType(programOf(*job), "momentum")) {
    mlir::Value value = update.input("Grad");
    auto whole = llvm::cast<mlir::RankedTensorType>(value.getType());
    if (whole.getRank() != 2 || whole.getDimSize(0) % 4) continue;
    mlir::OpBuilder builder(update.operation());
    auto commOver = [&](llvm::StringRef axes) {
      for (dist::CommOp comm : job->getOps<dist::CommOp>()) {
        std::string names;
        for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
          names += axis.str() + " ";
        if (names == axes) return mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr());
      }
      throw std::runtime_error("no comm over " + axes.str());
    };
    mlir::Value part = value;
    for (llvm::StringRef axis : {first, second}) {
      auto partType = llvm::cast<mlir::RankedTensorType>(part.getType());
      mlir::Type half = partType.clone({partType.getDimSize(0) / 2, partType.getDimSize(1)});
      part = dist::ReduceScatterOp::create(
                 builder, value.getLoc(), mlir::TypeRange(half),
                 dist::ReduceAttr::get(job->getContext(), dist::Reduce::Max),
                 mlir::ValueRange(part), commOver(axis), builder.getI64IntegerAttr(0))
                 .getResult(0);
    }
    auto gathered = dist::AllGatherOp::create(builder, value.getLoc(), mlir::TypeRange(whole),
                                              mlir::ValueRange(part), commOver("inter intra "),
                                              builder.getI64IntegerAttr(0), mlir::UnitAttr());
    update.setInput("Grad", 0, gathered.getResult(0));
    return verifyJob(*job, nullptr);
  }
  throw std::runtime_error("no gradient with a dim of 4 parts");
}

}  // namespace

TEST_CASE("a missing all_reduce") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) { bypass(opsOf<dist::AllReduceOp>(main)[0]); });
  const Message& message = refuted(report, "reduced-once");
  CHECK(message.op == "momentum");
  CHECK_THAT(message.text, Contains("fc_2.w_0@GRAD") || Contains("fc_2.b_0@GRAD"));
  CHECK_THAT(message.text, Contains("never reduced"));
  CHECK_THAT(message.remedy, Contains("all_reduce") && Contains("@grad"));
  CHECK(report.find("relations")->messages.size() == 1);
}

TEST_CASE("the loss scaled by 1/n twice") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    repeat(opsOfType(main, "scale", true)[0].operation());
  });
  const Message& message = refuted(report, "scale");
  CHECK(message.op == "scale");
  CHECK_THAT(message.text, Contains("1/4 times"));
  CHECK_THAT(message.remedy, Contains("one too many"));
  CHECK(message.notes.size() == 2);
  CHECK(report.find("relations")->messages.size() == 1);
}

TEST_CASE("the loss never scaled") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    bypass(opsOfType(main, "scale", true)[0].operation());
  });
  const Message& message = refuted(report, "scale");
  CHECK(message.op == "fill_constant");
  CHECK_THAT(message.text, Contains("4 times"));
}

TEST_CASE("a gradient reduced twice") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) { repeat(opsOf<dist::AllReduceOp>(main)[0]); });
  const Message& message = refuted(report, "scale");
  CHECK(message.op == "dist.all_reduce");
  CHECK_THAT(message.text, Contains("already equal on all ranks"));
}

TEST_CASE("a gradient that adds a reduced term and others that are not") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[0];
        for (pd::OpView sum : opsOfType(main, "sum")) {
          if (!(sum.role() & pd::kBackward)) continue;
          mlir::Value term = sum.input("X");
          mlir::OpBuilder builder(sum.operation());
          auto early = dist::AllReduceOp::create(
              builder, sum.operation()->getLoc(), mlir::TypeRange(term.getType()),
              reduction.getReduceAttr(), mlir::ValueRange(term), reduction.getCommAttr());
          return sum.setInput("X", 0, early.getResult(0));
        }
        FAIL("no gradient is a sum");
      },
      "fluid18/word2vec");
  const Message& message = refuted(report, "scale");
  CHECK(message.op == "sum");
  CHECK_THAT(message.text, Contains("adds values of scale"));
  CHECK_THAT(message.notes.front(), Contains("reduced"));
}

TEST_CASE("a gradient replaced by zeros") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    pd::OpView update = opsOfType(main, "momentum")[0];
    mlir::OpBuilder builder(update.operation());
    mlir::Value gradient = update.input("Grad");
    pd::OpView zeros = pd::Declarations().create(
        builder, gradient.getLoc(), "fill_zeros_like", {{"X", {gradient}}},
        {{"Out", {{"zeros", gradient.getType()}}}}, {}, pd::kBackward);
    update.setInput("Grad", 0, zeros.output("Out"));
  });
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "momentum");
}

TEST_CASE("an unreduced gradient into the optimizer, beside a reduction that nobody reads") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[1];
    reduction.getResult(0).replaceAllUsesWith(reduction.getInputs()[0]);
  });
  CHECK(refuted(report, "reduced-once").op == "momentum");
}

TEST_CASE("gradients of two parameters of one shape swapped") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    std::vector<pd::OpView> updates = opsOfType(main, "momentum");
    mlir::Value a = updates[0].input("Grad"), b = updates[2].input("Grad");
    REQUIRE(a.getType() == b.getType());
    updates[0].setInput("Grad", 0, b);
    updates[2].setInput("Grad", 0, a);
  });
  const Message& message = refuted(report, "lineage");
  CHECK(message.op == "momentum");
  CHECK_THAT(message.text, Contains("fc_0.b_0@GRAD") && Contains("fc_1.b_0@GRAD"));
}

TEST_CASE("gradients combined with max") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    opsOf<dist::AllReduceOp>(main)[0].setReduce(dist::Reduce::Max);
  });
  const Message& message = refuted(report, "reduction");
  CHECK(message.op == "dist.all_reduce");
  CHECK_THAT(message.text, Contains("P(sum)") && Contains("max"));
}

TEST_CASE("a clip that sees gradients before they are reduced") {
  VerifyReport report = verifyEdited(
      [](mlir::ModuleOp, pd::ProgramOp main) {
        for (pd::OpView norm : opsOfType(main, "squared_l2_norm"))
          if (auto reduction = norm.input("X").getDefiningOp<dist::AllReduceOp>())
            return norm.setInput("X", 0, reduction.getInputs()[0]);
        FAIL("no norm of a reduced gradient");
      },
      "static26/bert_tiny");
  CHECK(refuted(report, "reduced-once").op == "squared_l2_norm");
}

TEST_CASE("a gradient cast to another type and back") {
  SECTION("integers lose more than precision") {
    VerifyReport report =
        verifyCast([](mlir::Builder& builder) -> mlir::Type { return builder.getI32Type(); }, 2);
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) == 3);
    CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "cast");
  }
  SECTION("so do booleans") {
    VerifyReport report =
        verifyCast([](mlir::Builder& builder) -> mlir::Type { return builder.getI1Type(); }, 0);
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) == 3);
  }
  SECTION("rounding is declared") {
    VerifyReport report =
        verifyCast([](mlir::Builder& builder) -> mlir::Type { return builder.getF16Type(); }, 4);
    CHECK_THAT(refuted(report, "contract").text, Contains("fp16_wire"));
  }
}

TEST_CASE("rounding is for values between ranks, under its contract") {
  auto cast = [](mlir::Value value, mlir::Type element, int32_t from, int32_t into) {
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    mlir::Type type = llvm::cast<mlir::RankedTensorType>(value.getType()).clone(element);
    return pd::Declarations()
        .create(builder, value.getLoc(), "cast", {{"X", {value}}},
                {{"Out", {{"cast_" + std::to_string(into), type}}}},
                {builder.getNamedAttr("in_dtype", builder.getI32IntegerAttr(from)),
                 builder.getNamedAttr("out_dtype", builder.getI32IntegerAttr(into))},
                pd::kBackward)
        .output("Out");
  };
  auto declare = [](mlir::ModuleOp job, mlir::Value rounded) {
    mlir::Builder builder(job.getContext());
    job->setAttr(
        dist::kContractsAttr,
        builder.getArrayAttr({builder.getDictionaryAttr(
            {builder.getNamedAttr("tag", builder.getStringAttr("fp16_wire")),
             builder.getNamedAttr("statement", builder.getStringAttr(contractText("fp16_wire"))),
             builder.getNamedAttr("sites", builder.getStrArrayAttr({pd::nameOf(rounded)}))})}));
  };
  auto around = [&](dist::AllReduceOp reduction) {
    mlir::Builder builder(reduction.getContext());
    mlir::Value result = reduction->getResult(0);
    mlir::Value half = cast(reduction.getInputs()[0], builder.getF16Type(), 5, 4);
    reduction->setOperand(0, half);
    result.setType(half.getType());
    replaceUses(result, cast(result, builder.getF32Type(), 4, 5));
  };
  SECTION("around a reduction") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp main) {
      dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[0];
      declare(job, reduction.getInputs()[0]);
      around(reduction);
    });
    INFO(messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
  }
  SECTION("of another value than is listed") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp main) {
      declare(job, opsOf<dist::AllReduceOp>(main)[1].getInputs()[0]);
      around(opsOf<dist::AllReduceOp>(main)[0]);
    });
    INFO(messagesOf(report));
    CHECK_THAT(refuted(report, "contract").text, Contains("nothing of that name deviates by it"));
  }
  SECTION("of so little that half precision has none of it left") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp main) {
      dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[0];
      mlir::Value little = scaled(reduction.getInputs()[0], 0x1p-10F);
      reduction->setOperand(0, little);
      mlir::Value result = reduction->getResult(0);
      replaceUses(result, scaled(result, 0x1p10F));
      declare(job, little);
      around(reduction);
    });
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) != 0);
    CHECK_THAT(messageWith(report, Message::Level::Unknown, "contract").text,
               Contains("rounds 1/1024 times"));
  }
  SECTION("of an activation") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp main) {
      mlir::Builder builder(job.getContext());
      mlir::Value value = opsOfType(main, "relu")[0].output("Out");
      replaceUses(value, cast(cast(value, builder.getF16Type(), 5, 4), builder.getF32Type(), 4, 5));
      declare(job, value);
    });
    CHECK_THAT(refuted(report, "contract").text, Contains("between ranks"));
  }
}

TEST_CASE("parts that are put together in another order than they were cut") {
  VerifyReport right = verifyCutTwice("inter ", "intra ");
  INFO(messagesOf(right));
  CHECK(right.overall() == Verdict::Holds);
  VerifyReport wrong = verifyCutTwice("intra ", "inter ");
  INFO(messagesOf(wrong));
  CHECK(exitCode(wrong.overall()) == 3);
  CHECK(messageWith(wrong, Message::Level::Unknown, "unknown-relation").op ==
        "dist.reduce_scatter");
}

TEST_CASE("a level of a hierarchical reduction that is left out or stands twice") {
  Jobs jobs;
  Strategy strategy;
  strategy.trainers = 4;
  strategy.mode = "nccl2";
  strategy.use_hierarchical_allreduce = true;
  strategy.hierarchical_allreduce_inter_nranks = 2;
  auto between = [](pd::ProgramOp main) {
    for (dist::AllReduceOp op : opsOf<dist::AllReduceOp>(main))
      if (op.getComm().starts_with("inter")) return op;
    FAIL("no reduction between groups");
    return dist::AllReduceOp();
  };
  SECTION("between the groups") {
    auto job = jobs.make("fluid18/mnist_mlp", strategy);
    dist::AllReduceOp level = between(programOf(*job));
    auto wait = llvm::cast<dist::WaitOp>(*level->getResult(0).user_begin());
    for (auto [result, input] : llvm::zip(wait.getResults(), level.getInputs()))
      result.replaceAllUsesWith(input);
    wait.erase();
    level.erase();
    refuted(verifyJob(*job, nullptr), "reduced-once");
  }
  SECTION("over all ranks instead of between the groups") {
    auto job = jobs.make("fluid18/mnist_mlp", strategy);
    dist::AllReduceOp level = between(programOf(*job));
    for (dist::CommOp comm : job->getOps<dist::CommOp>())
      if (comm.getSymName().starts_with("grad")) level.setComm(comm.getSymName());
    CHECK(refuted(verifyJob(*job, nullptr), "reduction").op == "dist.all_reduce");
  }
}

TEST_CASE("an op without a rule leaves the verdict open") {
  Jobs jobs;
  auto job = jobs.make("fluid18/fit_a_line", unfused(2));
  // An inserted op that changes values and stands for nothing.
  pd::ProgramOp main = programOf(*job);
  dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[0];
  mlir::OpBuilder builder(reduction);
  mlir::Value value = reduction.getInputs()[0];
  pd::OpView tanh =
      pd::Declarations().create(builder, reduction.getLoc(), "tanh", {{"X", {value}}},
                                {{"Out", {{"strange", value.getType()}}}}, {}, pd::kBackward);
  reduction->setOperand(0, tanh.output("Out"));
  VerifyReport report = verifyJob(*job, nullptr);
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "tanh");
}

}  // namespace dtranspile::verify::test
