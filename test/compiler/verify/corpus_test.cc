// No false alarms: every job that the pipeline makes from the programs below is verified, for 2, 4
// and 100,000 ranks, at equal cost.
#include <catch2/catch.hpp>
#include <ctime>

#include "compiler/artifact/job.h"
#include "compiler/verify/relations/relations.h"
#include "compiler/verify/verify.h"
#include "test/compiler/verify/jobs.h"
#include "test/corpus_path.h"

namespace dtranspile::verify::test {
namespace {

const char* const kPrograms[] = {
    "fluid18/fit_a_line",     "fluid18/mnist_mlp",
    "fluid18/lenet",          "fluid18/nesterov_exponential_mlp",
    "fluid18/adamax_mlp",     "fluid18/rmsprop_mlp",
    "fluid18/adadelta_mlp",   "static26/fit_a_line",
    "static26/lenet",         "static26/mlp_regression",
    "static26/mlp_amp_ready",
};

void checkVerified(mlir::ModuleOp job) {
  VerifyReport report = verifyJob(job, nullptr);
  INFO(messagesOf(report));
  CHECK(report.overall() == Verdict::Holds);
  CHECK(exitCode(report.overall()) == 0);
  for (const Rung& rung : report.rungs) CHECK(rung.messages.empty());
}

void checkAll(const std::function<void(Strategy&)>& change) {
  Jobs jobs;
  for (const char* program : kPrograms) {
    INFO(program);
    Strategy strategy;
    strategy.trainers = 4;
    change(strategy);
    checkVerified(*jobs.make(program, strategy));
  }
}

}  // namespace

TEST_CASE("data-parallel jobs of the corpus are verified for every number of ranks") {
  Jobs jobs;
  for (const char* program : kPrograms)
    for (int64_t ranks : {1, 2, 4, 100000}) {
      INFO(program << " on " << ranks);
      checkVerified(*jobs.make(program, ranks));
    }
}

TEST_CASE("one reduction per gradient") {
  checkAll([](Strategy& strategy) { strategy.fuse_all_reduce_ops = false; });
}
TEST_CASE("several communicators") {
  checkAll([](Strategy& strategy) { strategy.nccl_comm_num = 3; });
}
TEST_CASE("hierarchical reduction") {
  checkAll([](Strategy& strategy) {
    strategy.mode = "nccl2";
    strategy.use_hierarchical_allreduce = true;
    strategy.hierarchical_allreduce_inter_nranks = 2;
  });
}
TEST_CASE("averaging of parameters under its contract") {
  checkAll([](Strategy& strategy) { strategy.collective_mode = "local_sgd"; });
}

// What each share has by itself after a branch on data: as a gradient it is the share's term of the
// sum that steps add up in.
TEST_CASE("merged steps behind control flow that depends on data") {
  Jobs jobs;
  for (const char* program : {"fluid18/cond_branch", "fluid18/while_loop"}) {
    Strategy strategy;
    strategy.trainers = 4;
    strategy.gradient_merge = true;
    strategy.gradient_merge_k_steps = 2;
    VerifyReport report = verifyJob(*jobs.make(program, strategy), nullptr);
    INFO(program << ": " << messagesOf(report));
    CHECK(report.overall() == Verdict::Holds);
  }
}

TEST_CASE("batch norm over the whole batch is verified without sites") {
  Jobs jobs;
  for (int64_t ranks : {2, 4, 100000}) {
    Strategy strategy;
    strategy.trainers = ranks;
    strategy.sync_batch_norm = true;
    checkVerified(*jobs.make("static26/resnet_thin", strategy));
  }
}

TEST_CASE(
    "batch norm per rank is verified once its sites are declared, and refuted where the whole "
    "batch is required") {
  Jobs jobs;
  auto job = jobs.make("static26/resnet_thin", 4);
  auto undeclared = jobs.make("static26/resnet_thin", 4);
  dropContract(*undeclared, "parts");
  VerifyReport before = verifyJob(*undeclared, nullptr);
  INFO(messagesOf(before));
  CHECK(before.overall() == Verdict::Refuted);
  CHECK(messageWith(before, Message::Level::Refuted, "site").op == "batch_norm");
  VerifyReport after = verifyJob(*job, nullptr);
  INFO(messagesOf(after));
  CHECK(after.overall() == Verdict::Holds);
  CHECK(messageWith(after, Message::Level::Note, "site").position.find("batch_norm") !=
        std::string::npos);
  VerifyOptions whole;
  whole.whole = true;
  CHECK(verifyJob(*job, nullptr, whole).overall() == Verdict::Refuted);
}

TEST_CASE("every program of the corpora is verified") {
  Jobs jobs;
  for (const char* corpus : {"fluid18", "static26", "pir33"})
    for (const std::string& name : dtranspile::test::CorpusCases(corpus)) {
      std::string program = std::string(corpus) + "/" + name;
      auto job = jobs.make(program, 4);
      VerifyReport report = verifyJob(*job, nullptr);
      INFO(program << "\n" << messagesOf(report));
      CHECK(report.overall() == Verdict::Holds);
    }
}

// The digest of a job leaves locations out, and conversion to text may lose them.
TEST_CASE("a declared site is found again in a job without locations") {
  Jobs jobs;
  auto job = jobs.make("static26/resnet_thin", 4);
  job->walk([&](mlir::Operation* op) { op->setLoc(mlir::UnknownLoc::get(jobs.context())); });
  VerifyReport report = verifyJob(*job, nullptr);
  INFO(messagesOf(report));
  CHECK(report.overall() == Verdict::Holds);
}

TEST_CASE("a job that holds no programs is unknown, not a crash") {
  Jobs jobs;
  auto empty = jobs.parse("module {}");
  VerifyReport report = verifyJob(*empty, nullptr);
  CHECK(exitCode(report.overall()) == 3);
  CHECK(messageWith(report, Message::Level::Unknown, "reference").position == "the job");
  auto job = jobs.make("fluid18/fit_a_line", 2);
  nlohmann::ordered_json manifest = makeManifest(*job, nlohmann::ordered_json::object());
  for (auto module : llvm::make_early_inc_range(job->getOps<mlir::ModuleOp>())) module.erase();
  CHECK(exitCode(verifyJob(*job, nullptr).overall()) == 3);
  CHECK(exitCode(verifyJob(*job, &manifest).overall()) ==
        1);  // it says of fetches what needs the reference
}

// The loss is Σ(w·l) / Σw over the batch: what a rank divides by is its own share of Σw.
TEST_CASE(
    "a weighted mean is a site that says what its ratio is, and is refuted where the whole batch "
    "is required") {
  Jobs jobs;
  Strategy strategy;
  strategy.trainers = 2;
  strategy.scale_strategy = "reference";  // counts stay each rank's own
  auto undeclared = jobs.make("pir33/bert_tiny", strategy);
  dropContract(*undeclared, "parts");
  CHECK(verifyJob(*undeclared, nullptr).overall() == Verdict::Refuted);
  auto job = jobs.make("pir33/bert_tiny", strategy);
  VerifyReport declared = verifyJob(*job, nullptr);
  INFO(messagesOf(declared));
  CHECK(declared.overall() == Verdict::Holds);
  const Message& note = messageWith(declared, Message::Level::Note, "site");
  CHECK(note.op == "elementwise_div");
  CHECK_THAT(note.text,
             Catch::Contains("the mean of the ranks' ratios is not the ratio of the sums"));
  VerifyOptions options;
  options.whole = true;
  VerifyReport whole = verifyJob(*job, nullptr, options);
  CHECK(whole.overall() == Verdict::Refuted);
  CHECK_THAT(messageWith(whole, Message::Level::Refuted, "site").remedy,
             Catch::Contains("the same divisor"));
}

TEST_CASE("a weighted mean whose divisor is added up is that of the whole batch") {
  Jobs jobs;
  VerifyOptions options;
  options.whole = true;
  for (const char* program : {"pir33/bert_tiny", "fluid18/transformer_small"})
    for (int64_t ranks : {2, 4}) {
      const VerifyReport report = verifyJob(*jobs.make(program, ranks), nullptr, options);
      INFO(program << ": " << messagesOf(report));
      CHECK(report.overall() == Verdict::Holds);
    }
}

TEST_CASE("feeds that are cut and feeds that are not do not meet in an op") {
  Jobs jobs;
  for (const char* dims : {"x=none", "x=1"}) {
    INFO(dims);
    Strategy strategy;
    strategy.trainers = 2;
    strategy.batch_dims = {dims};
    auto job = jobs.make("fluid18/fit_a_line", strategy);
    VerifyReport report = verifyJob(*job, nullptr);
    INFO(messagesOf(report));
    CHECK(report.overall() == Verdict::Unknown);
    CHECK_THAT(messageWith(report, Message::Level::Unknown, "misfit").text,
               Catch::Contains("fit only where this one's is 1"));
  }
}

// Labels 0 … 7 are those of the whole batch; scores of pairs are those of a rank's share.
TEST_CASE("a constant of the batch's extent does not meet what a rank's share gives") {
  Jobs jobs;
  Strategy strategy;
  strategy.trainers = 2;
  auto job = jobs.make("whole/batch_negatives", strategy);
  VerifyReport report = verifyJob(*job, nullptr);
  INFO(messagesOf(report));
  CHECK(report.overall() == Verdict::Unknown);
  CHECK(messageWith(report, Message::Level::Unknown, "misfit").op == "softmax_with_cross_entropy");
}

TEST_CASE("recurrent layers keep the batch split, and equal the step on the whole batch") {
  Jobs jobs;
  for (const char* program : {"fluid18/text_lstm", "static26/lstm_lm"}) {
    INFO(program);
    checkVerified(*jobs.make(program, 4));
  }
}

TEST_CASE("the number of ranks changes neither the work nor the time") {
  Jobs jobs;
  auto few = jobs.make("fluid18/lenet", 8), many = jobs.make("fluid18/lenet", 100000);
  // Processor time, so that other work on the machine does not count.
  auto best = [](mlir::ModuleOp job) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      std::clock_t from = std::clock();
      VerifyReport report = verifyJob(job, nullptr);
      best = std::min(best, static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC);
      CHECK(report.overall() == Verdict::Holds);
    }
    return best;
  };
  VerifyReport a = verifyJob(*few, nullptr), b = verifyJob(*many, nullptr);
  REQUIRE(a.rungs.size() == b.rungs.size());
  for (size_t i = 0; i < a.rungs.size(); ++i) CHECK(a.rungs[i].stats == b.rungs[i].stats);
  double forFew = best(*few), forMany = best(*many);
  WARN("8 ranks: " << forFew * 1e3 << " ms, 100000 ranks: " << forMany * 1e3 << " ms");
  CHECK(forMany < 1.5 * forFew + 0.005);
}

TEST_CASE("a manifest that does not belong to its module is refuted") {
  Jobs jobs;
  auto job = jobs.make("fluid18/fit_a_line", 2);
  nlohmann::ordered_json strategy = nlohmann::ordered_json::object();
  nlohmann::ordered_json manifest = makeManifest(*job, strategy);
  CHECK(verifyJob(*job, &manifest).overall() == Verdict::Holds);
  strategy = {{"trainers", 2}, {"collective_mode", "grad_allreduce"}};
  manifest = makeManifest(*job, strategy);
  CHECK(verifyJob(*job, &manifest).overall() == Verdict::Holds);
  for (nlohmann::ordered_json other : {nlohmann::ordered_json{{"trainers", 4}},
                                       nlohmann::ordered_json{{"collective_mode", "local_sgd"}}}) {
    nlohmann::ordered_json contradicting = makeManifest(*job, other);
    VerifyReport refuted = verifyJob(*job, &contradicting);
    CHECK_THAT(messageWith(refuted, Message::Level::Refuted, "manifest").position,
               Catch::Contains("strategy." + other.begin().key()));
  }
  manifest["loss"] = "another";
  VerifyReport report = verifyJob(*job, &manifest);
  CHECK(exitCode(report.overall()) == 1);
  CHECK(messageWith(report, Message::Level::Refuted, "manifest").position.find("loss") !=
        std::string::npos);
}

}  // namespace dtranspile::verify::test
