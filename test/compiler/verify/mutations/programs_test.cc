// Planted bugs of form: an op, name, declaration or attribute that is not the reference's.
#include "compiler/analysis/program_info.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

}  // namespace

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

TEST_CASE("a copy to another memory keeps what a value is") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    pd::OpView update = opsOfType(main, "momentum")[0];
    mlir::OpBuilder builder(update.operation());
    mlir::Value value = update.input("Grad");
    update.setInput(
        "Grad", 0,
        dist::CopyOp::create(builder, value.getLoc(), value.getType(), value, dist::Memory::Host));
  });
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 0);
}

TEST_CASE("the reference is not trusted") {
  auto setMu = [](mlir::Operation* root) {
    for (pd::OpView op : opsOfType(root, "momentum"))
      op.setAttr("mu", mlir::Builder(op.operation()->getContext()).getF32FloatAttr(0.5F));
  };
  auto open = [](const VerifyReport& report) -> const Message& {
    INFO(messagesOf(report));
    CHECK(exitCode(report.overall()) == 3);
    return messageWith(report, Message::Level::Unknown, "refines");
  };
  SECTION("an attribute changed in the reference and in the role") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp main) {
      setMu(addReference(job));
      setMu(main);
    });
    CHECK_THAT(open(report).text, Contains("`mu`") && Contains("5.0"));
  }
  SECTION("a seed of the start-up program") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) {
      for (mlir::Operation* root : {addReference(job).getOperation(), roleOf(job).getOperation()})
        for (pd::OpView op : opsOfType(root, "uniform_random"))
          op.setAttr("seed", mlir::Builder(job.getContext()).getI32IntegerAttr(77));
    });
    CHECK_THAT(open(report).text, Contains("`seed`"));
  }
  SECTION("a declaration") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) {
      for (mlir::Operation* root : {addReference(job).getOperation(), roleOf(job).getOperation()})
        root->walk([&](pd::DeclOp decl) {
          if (decl.getName() == "fc_0.tmp_0") decl.setStopGradient(true);
        });
    });
    open(report);
  }
  SECTION("a job without a source") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) {
      for (auto module : job.getOps<mlir::ModuleOp>()) return module.setSymName("reference");
    });
    CHECK_THAT(messageWith(report, Message::Level::Unknown, "reference").text,
               Contains("no source"));
  }
  SECTION("an equal one is no more than the source") {
    VerifyReport report =
        verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) { addReference(job); });
    INFO(messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
  }
}

TEST_CASE("what the reference has and no role has is missed") {
  auto dropOps = [](pd::ProgramOp main, llvm::StringRef type) {
    for (pd::OpView op : opsOfType(main, type)) {
      op.operation()->dropAllUses();
      op.operation()->erase();
    }
  };
  SECTION("a metric that only a fetch reads") {
    for (const char* program :
         {"fluid18/mnist_mlp", "static26/resnet_thin", "fluid18/while_loop"}) {
      INFO(program);
      VerifyReport report = verifyEdited(
          [&](mlir::ModuleOp, pd::ProgramOp main) { dropOps(main, "accuracy"); }, program);
      CHECK_THAT(refuted(report, "missing").text, Contains("accuracy"));
    }
  }
  SECTION("an average of parameters, with its variable") {
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp job, pd::ProgramOp) {
          // What is only set: its value, and whatever reads it, goes.
          std::string name;
          for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
            if (var.getSymName().contains("ema")) name = var.getSymName().str();
          REQUIRE(!name.empty());
          for (pd::SetOp set : opsOf<pd::SetOp>(roleOf(job)))
            if (set.getVar() == name) set.erase();
          for (pd::GetOp get : opsOf<pd::GetOp>(roleOf(job)))
            if (get.getVar() == name) {
              mlir::OpBuilder builder(get);
              get.getValue().replaceAllUsesWith(
                  pd::UndefOp::create(builder, get.getLoc(), get.getValue().getType(), name));
              get.erase();
            }
          for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
            if (var.getSymName() == name) var.erase();
        },
        "fluid18/ema_mlp");
    CHECK_THAT(refuted(report, "missing").text, Contains("ema"));
  }
  SECTION("the start-up program") {
    VerifyReport report =
        verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) { programOf(job, "startup").erase(); });
    CHECK_THAT(refuted(report, "missing").text, Contains("@startup"));
  }
  SECTION("the role") {
    VerifyReport report =
        verifyEdited([&](mlir::ModuleOp job, pd::ProgramOp) { roleOf(job).erase(); });
    refuted(report, "missing");
  }
  SECTION("a feed, under its name") {
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) { opsOf<pd::InputOp>(main)[0].setName("other"); });
    CHECK_THAT(refuted(report, "feed").text, Contains("takes a feed `other`"));
  }
}

TEST_CASE("an op that stands twice on the same ranks") {
  for (const char* type : {"momentum", "relu", "accuracy"}) {
    INFO(type);
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      mlir::Operation* op = opsOfType(main, type)[0].operation();
      mlir::OpBuilder(op).clone(*op);
    });
    CHECK(refuted(report, "repeated").op == type);
  }
}

TEST_CASE("names under which values are fetched, exported and saved") {
  auto rename = [](mlir::Operation* op, unsigned slot, const std::string& name) {
    mlir::Builder builder(op->getContext());
    llvm::SmallVector<mlir::Attribute> outs(op->getAttrOfType<mlir::ArrayAttr>("outs").getValue());
    auto old = llvm::cast<pd::SlotAttr>(outs[slot]);
    outs[slot] = pd::SlotAttr::get(op->getContext(), old.getName(), {builder.getStringAttr(name)});
    op->setAttr("outs", builder.getArrayAttr(outs));
    pd::Declarations().declare(op->getBlock(), name, op->getResult(0).getType());
  };
  SECTION("the loss under another name") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      rename(opsOfType(main, "mean")[0].operation(), 0, "other");
    });
    CHECK_THAT(refuted(report, "D30").text, Contains("`other`"));
  }
  SECTION("a result under the name of a parameter") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      rename(opsOfType(main, "relu")[0].operation(), 0, "fc_0.w_0");
    });
    refuted(report, "D30");
  }
  SECTION("an inserted result under the name of a parameter") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      rename(opsOfType(main, "scale", true)[0].operation(), 0, "fc_0.w_0");
    });
    CHECK_THAT(refuted(report, "name").text, Contains("`fc_0.w_0`"));
  }
  SECTION("a second value of the loss's name, twice as large") {
    VerifyReport report = verifyEdited([&](mlir::ModuleOp, pd::ProgramOp main) {
      mlir::Value loss = opsOfType(main, "mean")[0].output("Out");
      rename(scaled(loss, 2).getDefiningOp(), 0, pd::nameOf(loss).str());
    });
    CHECK_THAT(refuted(report, "name").text, Contains("2 times"));
  }
}

TEST_CASE("declarations, variables and programs that differ from the reference's") {
  SECTION("a declaration changed") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      main.walk([](pd::DeclOp decl) {
        if (decl.getName() == "fc_0.tmp_0") decl.setPersistable(true);
      });
    });
    CHECK_THAT(refuted(report, "declaration").text, Contains("`persistable`"));
  }
  SECTION("an inserted value that is declared persistable") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      mlir::Value value = scaled(opsOfType(main, "relu")[0].output("Out"), 1);
      main.walk([&](pd::DeclOp decl) {
        if (decl.getName() == pd::nameOf(value)) decl.setPersistable(true);
      });
    });
    CHECK_THAT(refuted(report, "declaration").text, Contains("persistable"));
  }
  SECTION("a variable that is no parameter any more") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
      for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
        if (var.getSymName() == "fc_0.w_0") var.setParameter(false);
    });
    CHECK_THAT(refuted(report, "variable").text, Contains("`parameter`"));
  }
  SECTION("pd.parts where the reference has none") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp main) {
      lastSet(main, "fc_0.w_0").erase();
      for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
        if (var.getSymName() == "fc_0.w_0")
          var->setAttr("pd.parts",
                       mlir::ArrayAttr::get(job.getContext(), {mlir::FlatSymbolRefAttr::get(
                                                                  job.getContext(), "fc_1.w_0")}));
    });
    CHECK(exitCode(report.overall()) == 1);
  }
  SECTION("another version of the program") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      main->setAttr("version", mlir::Builder(main.getContext()).getI64IntegerAttr(7));
    });
    CHECK_THAT(refuted(report, "program").text, Contains("`version`"));
  }
  SECTION("a second role") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
      auto other = llvm::cast<dist::RoleOp>(mlir::OpBuilder(roleOf(job)).clone(*roleOf(job)));
      other.setSymName("other");
    });
    notVerified(report);
  }
  SECTION("another element type of a result") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      mlir::Value loss = opsOfType(main, "mean")[0].output("Out");
      auto type = llvm::cast<mlir::RankedTensorType>(loss.getType());
      loss.setType(type.clone(mlir::Float64Type::get(main.getContext())));
    });
    notVerified(report);
  }
  SECTION("a draw that nobody reads") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      mlir::Value like = opsOfType(main, "relu")[0].output("Out");
      mlir::OpBuilder builder(like.getDefiningOp());
      pd::Declarations().create(
          builder, like.getLoc(), "uniform_random", {},
          {{"Out", {{"drawn", mlir::RankedTensorType::get({2}, builder.getF32Type())}}}},
          {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr({2}))}, pd::kForward);
    });
    notVerified(report);
  }
  SECTION("a third program in the role") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
      auto other = llvm::cast<pd::ProgramOp>(mlir::OpBuilder(main).clone(*main));
      other.setSymName("test");
    });
    CHECK(exitCode(report.overall()) == 3);
  }
}

namespace {

// Gives the only result another name, without a declaration.
void rename(mlir::Operation* op, llvm::StringRef name) {
  mlir::Builder builder(op->getContext());
  op->setAttr("outs",
              builder.getArrayAttr({pd::SlotAttr::get(
                  op->getContext(), builder.getStringAttr("Out"), {builder.getStringAttr(name)})}));
}

}  // namespace

TEST_CASE("a multiple under a name of the reference that another value has last") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp, pd::ProgramOp main) {
    mlir::Value loss = lastNamed(main, findLoss(main));
    const std::string name = pd::nameOf(loss).str();
    mlir::Value twice = scaled(loss, 2);
    mlir::Value once = scaled(twice, 0.5F);
    rename(twice.getDefiningOp(), name);
    rename(once.getDefiningOp(), name);
  });
  CHECK_THAT(refuted(report, "name").text, Contains("2 times that of the reference"));
}

// The branch that averages parameters in every third step: what it holds was put in.
TEST_CASE("names that a block of the job gives") {
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  strategy.localsgd_k_steps = 3;
  auto renamed = [&](const std::string& name) {
    return verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          for (pd::OpView branch : opsOfType(main, "conditional_block", true)) {
            mlir::Operation* op = opsOfType(branch.operation(), "scale", true)[0].operation();
            pd::Declarations().declare(op->getBlock(), name, op->getResult(0).getType());
            return rename(op, name);
          }
        },
        "fluid18/mnist_mlp", strategy);
  };
  SECTION("one of its own") { CHECK(renamed("own").overall() == Verdict::Holds); }
  SECTION("that of a variable which is not set to it") {
    CHECK_THAT(refuted(renamed("fc_2.w_0"), "name").text, Contains("which is not set to it"));
  }
  SECTION("that of a value around the block") {
    CHECK_THAT(refuted(renamed("fc_0.tmp_0"), "name").text,
               Contains("which the program around it computes"));
  }
}

}  // namespace dtranspile::verify::test
