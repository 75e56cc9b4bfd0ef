// Feeds that are made up: what the ops of a program demand of them, and the values.
#include "compiler/verify/execution/feeds.h"

#include <catch2/catch.hpp>

#include "compiler/analysis/program_info.h"
#include "compiler/verify/execution/scope.h"
#include "mlir/AsmParser/AsmParser.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

std::vector<FeedDemand> demandsOfCase(Jobs& jobs, const std::string& name) {
  auto job = jobs.make(name, 2);
  return demandsOn(findProgram(referenceModule(*job), "main"));
}

}  // namespace

TEST_CASE("ids stay below the rows of their table, labels below the classes") {
  Jobs jobs;
  const auto words = demandsOfCase(jobs, "fluid18/word2vec");
  REQUIRE_FALSE(words.empty());
  for (const FeedDemand& one : words) {
    INFO(one.name);
    CHECK(one.domain == Domain::Index);
    CHECK(one.bound > 1);
  }
  const auto digits = demandsOfCase(jobs, "fluid18/mnist_mlp");
  bool labelled = false, real = false;
  for (const FeedDemand& one : digits) {
    labelled |= one.domain == Domain::Index && one.bound == 10;
    real |= one.domain == Domain::Real && one.dtype == DType::kFloat32;
  }
  CHECK(labelled);
  CHECK(real);
}

TEST_CASE("values are those of their domain, and a function of seed, feed and step") {
  FeedDemand demand;
  demand.name = "ids";
  demand.dtype = DType::kInt64;
  demand.dims = {-1, 3};
  demand.domain = Domain::Index;
  demand.bound = 5;
  FeedPlan plan;
  plan.parts = 4;
  const auto one = makeFeed(demand, 0, plan, 0), again = makeFeed(demand, 0, plan, 0);
  const auto next = makeFeed(demand, 0, plan, 1);
  REQUIRE(one.ok());
  CHECK(one->dims == std::vector<int64_t>{8, 3});
  CHECK(std::equal(one->bytes.data(), one->bytes.data() + one->bytes.size(), again->bytes.data()));
  CHECK_FALSE(
      std::equal(one->bytes.data(), one->bytes.data() + one->bytes.size(), next->bytes.data()));
  for (int i = 0; i < 24; ++i) CHECK((one->as<int64_t>()[i] >= 0 && one->as<int64_t>()[i] < 5));

  plan.equal = true;
  const auto equal = makeFeed(demand, 0, plan, 0);
  for (int i = 0; i < 24; ++i) CHECK(equal->as<int64_t>()[i] == equal->as<int64_t>()[i % 6]);
  const auto part = firstPart(*equal, 0, 4);
  REQUIRE(part.ok());
  CHECK(part->dims == std::vector<int64_t>{2, 3});
  CHECK(
      std::equal(part->bytes.data(), part->bytes.data() + part->bytes.size(), equal->bytes.data()));

  demand.dims = {6, 3};
  CHECK(makeFeed(demand, 0, plan, 0).status().message() ==
        "declares a batch of 6, which 4 parts do not divide");
}

TEST_CASE("sequences of ragged feeds are cut into parts of equal number") {
  FeedDemand demand;
  demand.name = "x";
  demand.dims = {-1, 2};
  demand.lodLevel = 2;
  FeedPlan plan;
  plan.parts = 2;
  const auto one = makeFeed(demand, 0, plan, 0);
  REQUIRE(one.ok());
  REQUIRE(one->lod.size() == 2);
  CHECK(one->lod[0].size() == 5);
  CHECK(one->lod[1].size() == one->lod[0].back() + 1);
  CHECK(static_cast<int64_t>(one->lod[1].back()) == one->dims[0]);
  plan.equal = true;
  const auto equal = makeFeed(demand, 0, plan, 0);
  REQUIRE(equal.ok());
  CHECK(equal->lod[0][2] * 2 == equal->lod[0][4]);
  const auto part = firstPart(*equal, 0, 2);
  REQUIRE(part.ok());
  CHECK(part->lod[0].size() == 3);
  CHECK(static_cast<int64_t>(part->lod[1].back()) == part->dims[0]);
  CHECK(part->dims[0] * 2 == equal->dims[0]);
}

TEST_CASE("what a job can be held against follows from its contracts and draws") {
  Jobs jobs;
  const auto plain = jobs.make("fluid18/mnist_mlp", 4);
  const ExecutionScope scope = executionScopeOf(*plain);
  CHECK(scope.refused.empty());
  CHECK(scope.parts == 4);
  CHECK_FALSE(scope.equal);
  CHECK(scope.decisive);
  CHECK_FALSE(scope.variables.empty());

  const auto drawing = jobs.make("static26/mlp_dropout", 2);
  const ExecutionScope drawn = executionScopeOf(*drawing);
  INFO(drawn.why);
  CHECK(drawn.equal);
  CHECK(drawn.draws);
  CHECK(drawn.why.find("draws numbers of each rank's own along dp") != std::string::npos);

  Strategy local;
  local.trainers = 2;
  local.collective_mode = "local_sgd";
  const auto averaged = jobs.make("fluid18/mnist_mlp", local);
  const ExecutionScope relaxed = executionScopeOf(*averaged);
  CHECK(relaxed.equal);
  CHECK(relaxed.why == "contract `local_sgd` speaks of each part of the batch by itself");

  (*plain)->setAttr("dist.contracts", mlir::parseAttribute("[{tag = \"stale\", statement = \"\"}]",
                                                           (*plain)->getContext()));
  CHECK(executionScopeOf(*plain).refused ==
        "the job computes something else than its reference by contract `stale`");
}

TEST_CASE("feeds that cannot be made up are refused, and it says why") {
  FeedDemand demand;
  demand.name = "words";
  demand.dtype = DType::kInt64;
  demand.lodLevel = 1;
  FeedPlan plan;
  const auto rows = makeFeed(demand, 0, plan, 0);
  REQUIRE_FALSE(rows.ok());
  CHECK_THAT(std::string(rows.status().message()),
             Catch::Contains("has levels of sequences and no rows"));
  demand.dims = {-1, 2};
  demand.lodLevel = 0;
  demand.dtype = DType::kFloat16;
  const auto half = makeFeed(demand, 0, plan, 0);
  REQUIRE_FALSE(half.ok());
  CHECK_THAT(std::string(half.status().message()), Catch::Contains("no values of type float16"));
}

}  // namespace dtranspile::verify::test
