// What a trial compares, and the texts between its processes. Whole trials:
// test/e2e/execution_case.py.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "runtime/trial/compare.h"
#include "runtime/trial/config.h"
#include "runtime/trial/probe.h"
#include "runtime/trial/result.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::trial {
namespace {

Tensor Doubles(std::vector<double> values) {
  auto tensor = Tensor::Zeros(DType::kFloat64, {static_cast<int64_t>(values.size())});
  REQUIRE(tensor.ok());
  std::copy(values.begin(), values.end(), tensor->as<double>());
  return *std::move(tensor);
}

std::string Apartness(const Tensor& got, const Tensor& wanted, double scale = 1) {
  const auto apart = Compare(got.view(), wanted.view(), scale, 1e-9);
  return apart ? apart->text : "";
}

}  // namespace

TEST_CASE("floats agree within a share of the largest element") {
  CHECK(Apartness(Doubles({1, 200}), Doubles({1, 200})).empty());
  CHECK(Apartness(Doubles({1 + 1e-8, 200}), Doubles({1, 200})).empty());
  CHECK(Apartness(Doubles({1 + 1e-6, 200}), Doubles({1, 200})) == "element 0 is 1.000001, not 1");
  CHECK(Apartness(Doubles({2, 4}), Doubles({1, 2}), 2).empty());
  CHECK(Apartness(Doubles({2, 4}), Doubles({1, 2})) == "element 1 is 4, not 2");
  // What is zero but for rounding is no difference.
  CHECK(Apartness(Doubles({1e-11}), Doubles({0})).empty());
  CHECK(Apartness(Doubles({1e-8}), Doubles({0})) == "element 0 is 1e-08, not 0");
}

TEST_CASE("what is no number agrees with nothing") {
  const double nan = std::nan("");
  CHECK_FALSE(Apartness(Doubles({nan}), Doubles({1})).empty());
  CHECK_FALSE(Apartness(Doubles({1}), Doubles({nan})).empty());
  CHECK_FALSE(Apartness(Doubles({nan}), Doubles({nan})).empty());
  CHECK_FALSE(Apartness(Doubles({INFINITY}), Doubles({1})).empty());
  CHECK(IsFinite(Doubles({1, 2}).view()));
  CHECK_FALSE(IsFinite(Doubles({1, nan}).view()));
}

TEST_CASE("other elements agree exactly, and extents do") {
  auto a = Tensor::Zeros(DType::kInt64, {2}), b = Tensor::Zeros(DType::kInt64, {2});
  b->as<int64_t>()[1] = 7;
  CHECK(Apartness(*a, *a).empty());
  CHECK(Apartness(*a, *b) == "element 1 is 0, not 7");
  CHECK(Apartness(Doubles({1, 2}), Doubles({1})) == "is float64[2], not float64[1]");
  CHECK_FALSE(Apartness(*a, Doubles({0, 0})).empty());
}

TEST_CASE("values of ranks are summed") {
  Tensor sum = Doubles({1, 2});
  CHECK(AddTo(sum, Doubles({10, 20}).view()));
  CHECK(Apartness(sum, Doubles({11, 22})).empty());
  CHECK_FALSE(AddTo(sum, Doubles({1}).view()));
}

TEST_CASE("a loss that is no tensor reacts to nothing") {
  const test::TempFolder folder;
  exec::PlanBuilder plan;
  plan.json["library"] = "";
  plan.main()["fetches"] =
      exec::Json::array({{{"name", "loss"}, {"buffer", plan.Rows("loss")}, {"combine", "list"}}});
  std::ofstream(folder / "plan.json") << plan.json.dump();
  exec::WorkerConfig rank;
  rank.plan = folder.path();
  rank.role = "trainer";
  rank.steps = 1;
  CHECK(Probe(rank, "loss", {}, {}).status().message() == "the loss is no tensor");
}

TEST_CASE("CONFIG and result are read as they were written") {
  Config config;
  config.references.resize(1);
  config.references[0].plan = "plan";
  config.ranks = {config.references[0], config.references[0]};
  config.variables = {{"trainer", "w", "w", 0.25, {"dp"}}};
  config.fetches = {{"loss", "mean"}};
  config.loss = "loss";
  config.parameters = {"w"};
  config.equal_draws = true;
  config.limits.cpu_seconds = 7;
  const char* folder = getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/trial.json";
  std::ofstream(path) << ToJson(config).dump();
  const auto read = ReadConfig(path);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  CHECK(ToJson(*read) == ToJson(config));
  CHECK(read->ranks[0].control_fd == -1);
  std::ofstream(path) << "{\"references\": []}";
  CHECK_FALSE(ReadConfig(path).ok());

  Result result;
  result.differences = {{"variable", "w", "w", "trainer", 1, 2, 0, "element 0 is 1, not 2"}};
  result.stops = {{"trainer", 0, "0:3 mul", "fails", 1, true}};
  result.wild = "x";
  result.frozen = {"b"};
  const auto again = ParseResult(ToJson(result).dump());
  REQUIRE(again.ok());
  CHECK(ToJson(*again) == ToJson(result));
  CHECK_FALSE(ParseResult("{}").ok());
  CHECK_FALSE(ParseResult("").ok());
}

}  // namespace dtranspile::trial
