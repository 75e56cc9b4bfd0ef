// Planted bugs under contracts: averaged parameters, statistics, what a contract is not about.
#include "dialects/dist/changes.h"
#include "dialects/pd/declarations.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

}  // namespace

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
  declareSites(*job);
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  pd::ProgramOp main = programOf(*job);
  pd::SetOp statistics = lastSet(main, "batch_norm2d_0.w_1");
  mlir::OpBuilder builder(statistics);
  auto scaled = [&](mlir::Value value, float factor) {
    return pd::Declarations()
        .create(builder, statistics.getLoc(), "scale", {{"X", {value}}},
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
    // The contract still lists it.
    CHECK(exitCode(report.overall()) == 1);
    CHECK_THAT(refuted(report, "contract").text, Contains(statistics.getVar().str()));
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
    refutedBy("reduction", "combines with sum a value that is X(batch_statistics)");
  }
  SECTION("without the contract") {
    (*job)->removeAttr(dist::kContractsAttr);
    declareSites(*job);
    refutedBy("contract", "depends on batch_statistics, which the job does not declare");
  }
  SECTION("scaled before the op that updates it") {
    pd::OpView norm(statistics.getValue().getDefiningOp());
    builder.setInsertionPoint(norm.operation());
    norm.setInput("Mean", 0, scaled(norm.input("Mean"), 1000));
    refutedBy("scale", "takes 1000 times");
  }
}

TEST_CASE("a parameter that drifts apart, whatever the role calls it") {
  for (bool asParameter : {true, false}) {
    VerifyReport report = verifyAveraged([&](mlir::ModuleOp job, pd::ProgramOp main) {
      lastSet(main, "fc_1.w_0")->erase();
      declareDifferent(job, "fc_1.w_0", "local_sgd");
      if (asParameter) return;
      for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
        if (var.getSymName() == "fc_1.w_0") var.setParameter(false);
    });
    CHECK(exitCode(report.overall()) == 1);
  }
}

TEST_CASE("a snapshot that is declared a value of the step") {
  VerifyReport report = verifyAveraged([](mlir::ModuleOp, pd::ProgramOp main) {
    main.walk([](pd::DeclOp decl) {
      if (decl.getName() == "fc_0.w_0@SNAPSHOT") decl.setPersistable(false);
    });
  });
  CHECK_THAT(refuted(report, "declaration").text, Contains("variable of the role"));
}

TEST_CASE("a contract allows what it is about, and no more") {
  SECTION("one that nobody knows") {
    VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
      mlir::Builder builder(job.getContext());
      job->setAttr(dist::kContractsAttr,
                   builder.getArrayAttr({builder.getDictionaryAttr(
                       {builder.getNamedAttr("tag", builder.getStringAttr("anything")),
                        builder.getNamedAttr("statement", builder.getStringAttr("all is well")),
                        builder.getNamedAttr("sites", builder.getArrayAttr({}))})}));
    });
    CHECK(exitCode(report.overall()) == 3);
    CHECK_THAT(messageWith(report, Message::Level::Unknown, "contract").text, Contains("anything"));
  }
  SECTION("statistics that are no statistics") {
    VerifyReport report = verifyEdited(
        [](mlir::ModuleOp job, pd::ProgramOp) {
          for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
            if (var.getSymName().contains("velocity"))
              return declareDifferent(job, var.getSymName(), "batch_statistics");
          FAIL("no velocity");
        },
        "static26/resnet_thin");
    CHECK(exitCode(report.overall()) == 1);
  }
}

// The text of one contract is another one, the rest as it was.
void say(mlir::ModuleOp job, llvm::StringRef tag, llvm::StringRef text) {
  mlir::Builder builder(job.getContext());
  llvm::SmallVector<mlir::Attribute> entries;
  for (auto contract : job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr)
                           .getAsRange<mlir::DictionaryAttr>()) {
    mlir::NamedAttrList fields(contract);
    if (contract.getAs<mlir::StringAttr>("tag").getValue() == tag)
      fields.set("statement", builder.getStringAttr(text));
    entries.push_back(fields.getDictionary(job.getContext()));
  }
  job->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
}

Strategy served(const std::function<void(Strategy&)>& edit) {
  Strategy strategy;
  strategy.trainers = 2;
  strategy.mode = "pserver";
  strategy.pservers = {"127.0.0.1:6170"};
  strategy.sync_mode = false;
  edit(strategy);
  return strategy;
}

TEST_CASE("a contract says what the job does, in these words and with these numbers") {
  Strategy averaged = unfused(4), compressed = unfused(2), rounded = unfused(4),
           summed = unfused(4);
  averaged.collective_mode = "local_sgd";
  averaged.localsgd_k_steps = 3;
  compressed.dgc = true;
  compressed.dgc_min_size = 10000;
  rounded.fp16_allreduce = true;
  summed.scale_strategy = "sum";
  const struct {
    const char* program;
    Strategy strategy;
    std::vector<std::string> tags;
  } rows[] = {
      {"static26/resnet_thin", unfused(4), {"parts", "batch_statistics"}},
      {"fluid18/mnist_mlp", averaged, {"local_sgd"}},
      {"fluid18/mnist_mlp", compressed, {"dgc"}},
      {"fluid18/mnist_mlp", rounded, {"fp16_wire"}},
      {"fluid18/mnist_mlp", summed, {"gradient_sum"}},
      {"fluid18/mnist_mlp", served([](Strategy&) {}), {"staleness"}},
      {"fluid18/mnist_mlp",
       served([](Strategy& s) {
         s.max_merge_var_num = 3;
         s.independent_recv_thread = true;
       }),
       {"staleness"}},
      {"fluid18/fit_a_line",
       served([](Strategy& s) { s.enable_dc_asgd = true; }),
       {"delay_compensation"}},
      {"fluid18/mnist_mlp",
       served([](Strategy& s) {
         s.geo_sgd_mode = true;
         s.geo_sgd_need_push_nums = 3;
       }),
       {"geo"}},
  };
  Jobs jobs;
  for (const auto& row : rows) {
    auto job = jobs.make(row.program, row.strategy);
    const VerifyReport before = verifyJob(*job, nullptr);
    INFO(row.program << ": " << messagesOf(before));
    REQUIRE(before.overall() == Verdict::Holds);
    for (const std::string& tag : row.tags) {
      std::string said;
      for (auto contract : (*job)
                               ->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr)
                               .getAsRange<mlir::DictionaryAttr>())
        if (contract.getAs<mlir::StringAttr>("tag").getValue() == tag)
          said = contract.getAs<mlir::StringAttr>("statement").str();
      CAPTURE(tag, said);
      REQUIRE_FALSE(said.empty());
      // One digit more is another number of steps, of pushes, of times.
      std::string number = said;
      if (auto at = number.find('3'); at != std::string::npos) number.insert(at, "1");
      else number += "; and nothing else";
      for (const std::string& other : {std::string("nothing differs"), std::string(), number}) {
        mlir::OwningOpRef<mlir::ModuleOp> edited(job->clone());
        say(*edited, tag, other);
        const VerifyReport report = verifyJob(*edited, nullptr);
        CAPTURE(other);
        CHECK(exitCode(report.overall()) == 1);
      }
    }
  }
}

TEST_CASE("`whole` refuses every job that holds under a contract") {
  VerifyOptions whole;
  whole.whole = true;
  const Edit nothing = [](mlir::ModuleOp, pd::ProgramOp) {};
  Strategy averaged = unfused(4);
  averaged.collective_mode = "local_sgd";
  for (const auto& [program, strategy] :
       {std::pair("fluid18/mnist_mlp", averaged), std::pair("static26/resnet_thin", unfused(4))}) {
    INFO(program);
    VerifyReport report = verifyEdited(nothing, program, strategy, whole);
    CHECK_THAT(refuted(report, "contract").text, Contains("only"));
    CHECK_FALSE(report.find("relations")->conditions.empty());
  }
  CHECK(verifyEdited(nothing, "fluid18/mnist_mlp", unfused(4), whole).overall() == Verdict::Holds);
}

TEST_CASE("averaging parameters lists the sites that reducing gradients lists") {
  Jobs jobs;
  for (const char* program :
       {"static26/resnet_thin", "static26/bert_tiny", "fluid18/cond_branch"}) {
    INFO(program);
    Strategy strategy = unfused(4);
    strategy.scale_strategy = "reference";  // counts stay each rank's own
    auto reduced = jobs.make(program, strategy);
    strategy.scale_strategy = "avg";
    strategy.collective_mode = "local_sgd";
    auto averaged = jobs.make(program, strategy);
    auto sites = [](const VerifyReport& report) {
      std::vector<std::string> found;
      for (const Message& message : report.find("relations")->messages)
        if (message.rule == "site") found.push_back(message.position);
      return found;
    };
    CHECK(sites(verifyJob(*reduced, nullptr)) == sites(verifyJob(*averaged, nullptr)));
  }
}

// What a contract lists is what it excuses.
TEST_CASE("a contract that lists too much or too little") {
  Jobs jobs;
  Strategy strategy = unfused(4);
  strategy.collective_mode = GENERATE(as<std::string>(), "grad_allreduce", "local_sgd");
  auto job = jobs.make("static26/resnet_thin", strategy);
  INFO(strategy.collective_mode);
  REQUIRE(verifyJob(*job, nullptr).overall() == Verdict::Holds);
  auto edit = [&](llvm::StringRef tag,
                  const std::function<void(std::vector<std::string>&)>& change) {
    mlir::Builder builder(job->getContext());
    llvm::SmallVector<mlir::Attribute> entries;
    bool found = false;
    for (auto contract : (*job)
                             ->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr)
                             .getAsRange<mlir::DictionaryAttr>()) {
      mlir::NamedAttrList fields(contract);
      if (contract.getAs<mlir::StringAttr>("tag").getValue() == tag) {
        std::vector<std::string> sites;
        for (auto name :
             contract.getAs<mlir::ArrayAttr>("sites").getAsValueRange<mlir::StringAttr>())
          sites.push_back(name.str());
        REQUIRE_FALSE(sites.empty());
        change(sites);
        fields.set("sites", builder.getStrArrayAttr(
                                std::vector<llvm::StringRef>(sites.begin(), sites.end())));
        found = true;
      }
      entries.push_back(fields.getDictionary(job->getContext()));
    }
    REQUIRE(found);
    (*job)->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
    return refuted(verifyJob(*job, nullptr), "contract");
  };
  std::vector<const char*> tags = {"batch_statistics"};
  if (strategy.collective_mode == "local_sgd") tags.push_back("local_sgd");
  SECTION("a variable that differs, not listed") {
    for (const char* tag : tags)
      CHECK_THAT(
          edit(tag, [](std::vector<std::string>& sites) { sites.erase(sites.begin()); }).text,
          Contains("which does not list it"));
  }
  SECTION("a variable that is equal on all ranks") {
    for (const char* tag : tags)
      CHECK_THAT(
          edit(tag, [](std::vector<std::string>& sites) { sites.push_back("learning_rate_0"); })
              .text,
          Contains("`learning_rate_0`") || Contains("\"learning_rate_0\""));
  }
  SECTION("what is no name at all") {
    tags.push_back("parts");
    for (const char* tag : tags)
      CHECK_THAT(
          edit(tag, [](std::vector<std::string>& sites) { sites.push_back("nothing"); }).text,
          Contains("lists \"nothing\""));
  }
  SECTION("an op that is no site") {
    CHECK_THAT(
        edit("parts", [](std::vector<std::string>& sites) { sites.push_back("#0 conv2d"); }).text,
        Contains("\"#0 conv2d\""));
  }
}

TEST_CASE("a contract by which nothing deviates") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    mlir::Builder builder(job.getContext());
    const auto word = [&](llvm::StringRef name, llvm::StringRef text) {
      return builder.getNamedAttr(name, builder.getStringAttr(text));
    };
    job->setAttr(dist::kContractsAttr,
                 builder.getArrayAttr({builder.getDictionaryAttr(
                     {builder.getNamedAttr("sites", builder.getArrayAttr({})),
                      word("statement", "gradients are rounded to float16 between ranks"),
                      word("tag", "fp16_wire")})}));
  });
  CHECK_THAT(refuted(report, "contract").text, Contains("nothing deviates by it"));
}

TEST_CASE("a count of exchanges where there are none") {
  VerifyReport report = verifyEdited([](mlir::ModuleOp job, pd::ProgramOp) {
    mlir::Builder builder(job.getContext());
    for (dist::CommOp comm : opsOf<dist::CommOp>(job)) {
      comm->setAttr(dist::kExchangeCounter, builder.getStringAttr("learning_rate_0"));
      comm->setAttr(dist::kExchangeSteps, builder.getI64IntegerAttr(2));
    }
  });
  CHECK_THAT(refuted(report, "geo-schedule").text, Contains("nothing is exchanged by a count"));
}

}  // namespace dtranspile::verify::test
