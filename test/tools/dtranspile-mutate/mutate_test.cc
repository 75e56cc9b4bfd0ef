// The tool that makes wrong jobs: every kind breaks something, somewhere; the same seed breaks the
// same; the job itself stays as it is.
#include "tools/dtranspile-mutate/mutate.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "test/compiler/verify/jobs.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

using verify::test::Jobs;

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

auto strategyNamed(const std::string& name) {
  auto strategy = verify::test::unfused(2);
  if (name == "local_sgd") strategy.collective_mode = "local_sgd";
  strategy.fuse_all_reduce_ops = name == "buckets" || name == "hierarchical";
  strategy.sync_batch_norm = name == "sync";
  if (name == "hierarchical") {
    strategy.trainers = 4;
    strategy.mode = "nccl2";
    strategy.use_hierarchical_allreduce = true;
    strategy.hierarchical_allreduce_inter_nranks = 2;
  }
  return strategy;
}

mlir::OwningOpRef<mlir::ModuleOp> jobOf(Jobs& jobs, const std::string& program,
                                        const std::string& strategy) {
  auto job = jobs.make(program, strategyNamed(strategy));
  declareContract(*job, "parts", {"#7 batch_norm"});
  return job;
}

}  // namespace

// What these jobs have no place for: a factor with several readers, start-up programs that compute,
// a variable that is read after its update, a feed that is not cut, a branch that a pass puts in, a
// claim along an axis of one rank.
const std::set<std::string> kElsewhere = {"scale-one-reader",   "startup-operand-replaced",
                                          "startup-op-dropped", "set-before-get",
                                          "get-after-set",      "batch-added",
                                          "block-said",         "branch-extents",
                                          "claim-alone",        "variable-alone"};

TEST_CASE("every kind finds something to break, and leaves the job itself alone") {
  Jobs jobs;
  mlir::ScopedDiagnosticHandler quiet(jobs.context(),
                                      [](mlir::Diagnostic&) { return mlir::success(); });
  std::set<std::string> made;
  for (auto [program, strategy] : {std::pair("fluid18/mnist_mlp", "plain"),
                                   {"fluid18/mnist_mlp", "local_sgd"},
                                   {"fluid18/mnist_mlp", "buckets"},
                                   {"fluid18/fit_a_line", "hierarchical"},
                                   {"fluid18/while_loop", "plain"},
                                   {"fluid18/ema_mlp", "plain"},
                                   {"fluid18/bert_tiny", "plain"},
                                   {"static26/mlp_dropout", "plain"},
                                   {"static26/resnet_thin", "sync"}}) {
    auto job = jobOf(jobs, program, strategy);
    const std::string before = textOf(*job);
    for (const Choice& choice : choose(*job, 1, 2))
      if (make(*job, 1, choice).module) made.insert(choice.kind->name);
    CHECK(textOf(*job) == before);
  }
  // Jobs of several programs are text (test/jobs), and other strategies are other jobs: their kinds
  // are found in those by test/mutation/run.py.
  const std::set<std::string> others = {"placement", "pipeline", "server",    "semantic",
                                        "amp",       "sharding", "recompute", "layers",
                                        "words",     "order",    "request"};
  for (const Kind& kind : kinds()) {
    if (others.count(kind.group)) continue;
    INFO(kind.name);
    CHECK((made.count(kind.name) == 1) == (kElsewhere.count(kind.name) == 0));
  }
}

// Parameters are averaged in a branch that every third step takes.
TEST_CASE("what an op did not say, and when a branch is taken, is broken where there is a branch") {
  Jobs jobs;
  mlir::ScopedDiagnosticHandler quiet(jobs.context(),
                                      [](mlir::Diagnostic&) { return mlir::success(); });
  auto strategy = strategyNamed("local_sgd");
  strategy.localsgd_k_steps = 3;
  auto job = jobs.make("fluid18/mnist_mlp", strategy);
  std::set<std::string> made;
  for (const Choice& choice : choose(*job, 1, 3))
    if (make(*job, 1, choice).module) made.insert(choice.kind->name);
  for (const char* kind : {"attribute-added", "op-type", "counted-twice", "branch-otherwise",
                           "branch-always", "branch-never"}) {
    INFO(kind);
    CHECK(made.count(kind) == 1);
  }
}

TEST_CASE("the request of a manifest is broken where the job has it") {
  Jobs jobs;
  auto job = jobs.make("fluid18/mnist_mlp", strategyNamed("plain"));
  (*job)->setAttr(kRequestAttr,
                  mlir::StringAttr::get(job->getContext(), R"({"trainers": 2, "amp": false})"));
  std::map<std::string, std::string> asked;
  for (const Choice& choice : choose(*job, 1, 1)) {
    Mutant mutant = make(*job, 1, choice);
    if (mutant.module && std::string(choice.kind->group) == "request")
      asked[choice.kind->name] =
          (*mutant.module)->getAttrOfType<mlir::StringAttr>(kRequestAttr).getValue().str();
  }
  CHECK(asked ==
        std::map<std::string, std::string>{{"request-feature", R"({"trainers":2,"amp":true})"},
                                           {"request-number", R"({"trainers":3,"amp":false})"}});
}

// What is pulled has no operand that could be read in its place.
TEST_CASE("only what gives back what it was given is left out") {
  Jobs jobs;
  auto job = jobs.make("fluid18/mnist_mlp", strategyNamed("plain"));
  job->walk([](mlir::Operation* op) {
    if (llvm::isa<dist::AllReduceOp, dist::BroadcastOp>(op)) CHECK(givesBack(op));
    if (llvm::isa<dist::PullOp, dist::AllGatherOp>(op)) CHECK_FALSE(givesBack(op));
  });
}

TEST_CASE("a mutant is a function of the job, the seed and its number") {
  Jobs jobs;
  auto job = jobOf(jobs, "fluid18/fit_a_line", "plain");
  auto textsOf = [&](uint64_t seed) {
    std::vector<std::string> texts;
    for (const Choice& choice : choose(*job, seed, 3)) {
      Mutant mutant = make(*job, seed, choice);
      texts.push_back(mutant.what + (mutant.module ? textOf(*mutant.module) : ""));
    }
    return texts;
  };
  CHECK(textsOf(7) == textsOf(7));
  CHECK(textsOf(7) != textsOf(8));
}

TEST_CASE("names of kinds are told apart") {
  std::set<std::string> names;
  for (const Kind& kind : kinds()) CHECK(names.insert(kind.name).second);
  CHECK(names.size() > 40);
}

}  // namespace dtranspile::mutate
