// Planted bugs: each is refuted, at the right op, with a message that says what to do. Edits are
// made to jobs of the real pipeline.
#include <catch2/catch.hpp>

#include "compiler/verify/relations/relations.h"
#include "compiler/verify/verify.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// fluid18/mnist_mlp on 4 ranks, one reduction per gradient, edited.
VerifyReport verifyEdited(const std::function<void(mlir::ModuleOp, pd::ProgramOp)>& edit,
                          const std::string& program = "fluid18/mnist_mlp") {
  Jobs jobs;
  auto job = jobs.make(program, unfused(4));
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  edit(*job, programOf(*job));
  return verifyJob(*job, nullptr);
}

void bypass(mlir::Operation* op) {
  for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
    result.replaceAllUsesWith(operand);
  op->erase();
}

// A second copy of an op, fed by the first.
void repeat(mlir::Operation* op) {
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  mlir::Operation* again = builder.clone(*op);
  op->getResult(0).replaceAllUsesExcept(again->getResult(0), again);
  again->setOperand(0, op->getResult(0));
}

// The same program with parameters averaged in place of gradients.
VerifyReport verifyAveraged(const std::function<void(mlir::ModuleOp, pd::ProgramOp)>& edit) {
  Jobs jobs;
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  auto job = jobs.make("fluid18/mnist_mlp", strategy);
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  edit(*job, programOf(*job));
  return verifyJob(*job, nullptr);
}

pd::SetOp lastSet(pd::ProgramOp program, llvm::StringRef variable) {
  pd::SetOp last;
  for (pd::SetOp set : opsOf<pd::SetOp>(program))
    if (set.getVar() == variable) last = set;
  REQUIRE(last);
  return last;
}

dist::RoleOp roleOf(mlir::ModuleOp job) { return *job.getOps<dist::RoleOp>().begin(); }

void declareDifferent(mlir::ModuleOp job, llvm::StringRef variable, llvm::StringRef tag) {
  mlir::Builder builder(job.getContext());
  for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
    if (var.getSymName() == variable)
      var->setAttr(dist::kRelAttr,
                   dist::RelAttr::of(var.getSymNameAttr(), {dist::AxisRelAttr::different(
                                                               builder.getStringAttr("dp"), tag)}));
}

const Message& refuted(const VerifyReport& report, const std::string& rule) {
  CHECK(exitCode(report.overall()) == 1);
  const Message& message = messageWith(report, Message::Level::Refuted, rule);
  CHECK_FALSE(message.remedy.empty());
  return message;
}

// A gradient by way of another element type, behind its reduction.
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
          return pd::createOp(builder, value.getLoc(), "cast", {{"X", {value}}},
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
    pd::OpView zeros =
        pd::createOp(builder, gradient.getLoc(), "fill_zeros_like", {{"X", {gradient}}},
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

TEST_CASE("a parameter that is no longer set") {
  VerifyReport report =
      verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) { opsOf<pd::SetOp>(main)[0].erase(); });
  CHECK_THAT(refuted(report, "update").position, Contains("fc_0.b_0"));
}

TEST_CASE("gradients combined with max") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    opsOf<dist::AllReduceOp>(main)[0].setReduce(dist::Reduce::Max);
  });
  const Message& message = refuted(report, "reduction");
  CHECK(message.op == "dist.all_reduce");
  CHECK_THAT(message.text, Contains("P(sum)") && Contains("max"));
}

TEST_CASE("an attribute of an op changed on the way") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    mlir::Builder builder(main.getContext());
    opsOfType(main, "momentum")[0].setAttr("mu", builder.getF32FloatAttr(0.5F));
  });
  CHECK_THAT(refuted(report, "D30").text, Contains("`mu`"));
}

TEST_CASE("another seed of a draw") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    mlir::Builder builder(job.getContext());
    opsOfType(programOf(job, "startup"), "uniform_random")[0].setAttr(
        "seed", builder.getI32IntegerAttr(77));
  });
  CHECK_THAT(refuted(report, "D30").text, Contains("`seed`"));
}

TEST_CASE("an op without the attributes of the reference's") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp main) {
    opsOfType(main, "momentum")[0].operation()->setAttr(
        "attrs", mlir::DictionaryAttr::get(job.getContext()));
  });
  CHECK(exitCode(report.overall()) == 1);
  CHECK(report.find("structure")->verdict == Verdict::Refuted);
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
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "dist.composite");
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

// No class of ranks can be formed of it yet, and that is no fault of the job.
TEST_CASE("an op without a specialisation leaves the verdict open") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    pd::OpView update = opsOfType(main, "momentum")[0];
    mlir::OpBuilder builder(update.operation());
    mlir::Value value = update.input("Grad");
    update.setInput(
        "Grad", 0,
        dist::CopyOp::create(builder, value.getLoc(), value.getType(), value, dist::Memory::Host));
  });
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "specialise").op == "dist.copy");
  CHECK(report.find("relations")->verdict == Verdict::Holds);
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
    VerifyReport report = verifyJob(*job, nullptr);
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) == 3);
    CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "dist.all_reduce");
  }
}

TEST_CASE("a parameter that drifts apart, declared to do so under local SGD") {
  VerifyReport report = verifyAveraged([](mlir::ModuleOp job, pd::ProgramOp main) {
    pd::SetOp average = lastSet(main, "fc_0.b_0");
    average->erase();
    declareDifferent(job, "fc_0.b_0", "local_sgd");
  });
  const Message& message = refuted(report, "invariant");
  CHECK_THAT(message.text, Contains("`fc_0.b_0` is a parameter") && Contains("X(local_sgd)"));
  CHECK_THAT(message.remedy, Contains("average it"));
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

// p := s - mean(s - p): the two differences, the same s, and the mean in between.
TEST_CASE("an average of replicas that is none") {
  std::string text, rule = "lineage";
  std::function<void(pd::ProgramOp, pd::OpView)> edit;
  auto snapshotOf = [](pd::ProgramOp main, llvm::StringRef parameter) {
    for (pd::GetOp get : opsOf<pd::GetOp>(main))
      if (get.getVar() == (parameter + "@SNAPSHOT").str()) return get.getValue();
    FAIL("no snapshot");
    return mlir::Value();
  };
  SECTION("the mean difference itself") {
    edit = [](pd::ProgramOp, pd::OpView outer) {
      outer.output("Out").replaceAllUsesWith(outer.input("Y"));
    };
    text = "ends as the difference of";
  }
  SECTION("parameters that are summed, not differences") {
    edit = [](pd::ProgramOp main, pd::OpView) {
      pd::OpView inner = opsOfType(main, "elementwise_sub", true)[0];
      inner.output("Out").replaceAllUsesWith(inner.input("Y"));
    };
    text = "ends as the difference of";
  }
  SECTION("taken from the snapshot of another parameter") {
    edit = [&](pd::ProgramOp main, pd::OpView outer) {
      outer.setInput("X", 0, snapshotOf(main, "fc_1.b_0"));
    };
    text = "that is no mean of the ranks' values";
  }
  SECTION("the first difference from the snapshot of another parameter") {
    edit = [&](pd::ProgramOp main, pd::OpView) {
      opsOfType(main, "elementwise_sub", true)[0].setInput("X", 0, snapshotOf(main, "fc_1.b_0"));
    };
    text = "that is no mean of the ranks' values";
  }
  SECTION("another factor than 1/n") {
    edit = [](pd::ProgramOp main, pd::OpView outer) {
      pd::OpView(outer.input("Y").getDefiningOp())
          .setAttr("scale", mlir::Builder(main.getContext()).getF32FloatAttr(0.5F));
    };
    text = "takes 2 times the mean difference";
    rule = "scale";
  }
  VerifyReport report = verifyAveraged([&](mlir::ModuleOp, pd::ProgramOp main) {
    // Gets of all snapshots first, so that each can stand for another.
    for (pd::GetOp get : opsOf<pd::GetOp>(main))
      if (get.getVar().ends_with("@SNAPSHOT")) get->moveBefore(&main.getBodyBlock()->front());
    pd::SetOp average = lastSet(main, "fc_0.b_0");
    edit(main, pd::OpView(average.getValue().getDefiningOp()));
  });
  CHECK_THAT(refuted(report, rule).text, Contains(text));
}

TEST_CASE(
    "a variable that differs between ranks has the scale and the contract that it is declared "
    "with") {
  Jobs jobs;
  Strategy strategy = unfused(4);
  auto job = jobs.make("static26/resnet_thin", strategy);
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  pd::ProgramOp main = programOf(*job);
  pd::SetOp statistics = lastSet(main, "batch_norm2d_0.w_1");
  mlir::OpBuilder builder(statistics);
  auto scaled = [&](mlir::Value value, float factor) {
    return pd::createOp(builder, statistics.getLoc(), "scale", {{"X", {value}}},
                        {{"Out", {{"scaled", value.getType()}}}},
                        {builder.getNamedAttr("scale", builder.getF32FloatAttr(factor)),
                         builder.getNamedAttr("bias", builder.getF32FloatAttr(0))},
                        pd::kForward)
        .output("Out");
  };
  auto summed = [&](mlir::Value value) {
    dist::AllReduceOp like = opsOf<dist::AllReduceOp>(main)[0];
    return dist::AllReduceOp::create(builder, statistics.getLoc(), mlir::TypeRange(value.getType()),
                                     like.getReduceAttr(), mlir::ValueRange(value),
                                     like.getCommAttr())
        .getResult(0);
  };
  auto refutedBy = [&](const char* rule, const char* text) {
    CHECK_THAT(refuted(verifyJob(*job, nullptr), rule).text, Contains(text));
  };
  SECTION("taken from one rank, and declared equal") {
    mlir::Value value = statistics.getValue();
    dist::AllReduceOp like = opsOf<dist::AllReduceOp>(main)[0];
    auto spread = dist::BroadcastOp::create(
        builder, statistics.getLoc(), mlir::TypeRange(value.getType()), mlir::ValueRange(value),
        like.getCommAttr(), dist::SelAttr::point(builder.getContext(), "dp", 0));
    statistics.getValueMutable().assign(spread.getResult(0));
    for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(*job)))
      if (var.getSymName() == statistics.getVar())
        var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr()));
    VerifyReport report = verifyJob(*job, nullptr);
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) == 3);
    CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "dist.broadcast");
  }
  SECTION("scaled") {
    statistics.getValueMutable().assign(scaled(statistics.getValue(), 1000));
    refutedBy("scale", "ends as 1000 times");
  }
  SECTION("summed over the ranks") {
    statistics.getValueMutable().assign(summed(statistics.getValue()));
    CHECK(exitCode(verifyJob(*job, nullptr).overall()) == 1);
  }
  SECTION("averaged over the ranks") {
    statistics.getValueMutable().assign(scaled(summed(statistics.getValue()), 0.25F));
    refutedBy("invariant", "the ranks' own values were combined");
  }
  SECTION("without the contract") {
    dropContract(*job, "batch_statistics");
    refutedBy("contract", "depends on batch_statistics, which the job does not declare");
  }
  SECTION("scaled before the op that updates it") {
    pd::OpView norm(statistics.getValue().getDefiningOp());
    builder.setInsertionPoint(norm.operation());
    norm.setInput("Mean", 0, scaled(norm.input("Mean"), 1000));
    CHECK(exitCode(verifyJob(*job, nullptr).overall()) == 3);
  }
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

TEST_CASE("an op without a rule leaves the verdict open") {
  Jobs jobs;
  auto job = jobs.make("fluid18/fit_a_line", unfused(2));
  // An inserted op that changes values and stands for nothing.
  pd::ProgramOp main = programOf(*job);
  dist::AllReduceOp reduction = opsOf<dist::AllReduceOp>(main)[0];
  mlir::OpBuilder builder(reduction);
  mlir::Value value = reduction.getInputs()[0];
  pd::OpView tanh = pd::createOp(builder, reduction.getLoc(), "tanh", {{"X", {value}}},
                                 {{"Out", {{"strange", value.getType()}}}}, {}, pd::kBackward);
  reduction->setOperand(0, tanh.output("Out"));
  VerifyReport report = verifyJob(*job, nullptr);
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "unknown-relation").op == "tanh");
}

}  // namespace dtranspile::verify::test
