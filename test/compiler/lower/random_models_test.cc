// Models that draw random numbers (tag `random`), run from the framework's own parameters. Where
// every draw has a seed and a generator that we know, losses are the framework's. Elsewhere its
// losses must be such as our draws give: each lies within the spread of many runs of ours.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "test/compiler/lower/statistics.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

constexpr int kRuns = 40;
// The framework's value is one draw more. Six deviations of Student's distribution with 39 degrees
// of freedom: fewer than one in a million.
constexpr double kErrors = 6;

std::vector<std::string> randomModels() {
  std::vector<std::string> names;
  for (const char* corpus : {"fluid18", "static26"}) {
    for (const std::string& name : test::CorpusCases(corpus)) {
      const std::string whole = std::string(corpus) + "/" + name;
      if (isRandom(readJson(test::CorpusPath(whole) + "/case.json"))) names.push_back(whole);
    }
  }
  return names;
}

// Fetch and step -> the values of all runs.
using Draws = std::map<std::pair<std::string, int64_t>, std::vector<double>>;

void runOnce(ProgramCase& c, Draws& draws) {
  auto executor = c.start(false);
  for (int64_t k = 0; k < c.info()["steps"].get<int64_t>(); ++k) {
    c.step(*executor, k);
    for (const exec::FetchSlot& fetch : executor->plan().step().fetches) {
      const TensorView value = ProgramCase::valueOf(*executor, fetch.buffer);
      REQUIRE(value.bytes() == static_cast<int64_t>(SizeOf(value.dtype)));
      const double number = element(value.dtype, value.data, 0);
      INFO(c.folder() << " step " << k << " " << fetch.name);
      REQUIRE(std::isfinite(number));
      draws[{fetch.name, k}].push_back(number);
    }
  }
}

double goldenOf(const json& golden, const std::string& name, int64_t step) {
  const json& value = golden[name][step];
  return value.is_array() ? value.at(0).get<double>() : value.get<double>();
}

std::pair<double, double> meanAndDeviation(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (double value : values) sum += value;
  const auto n = static_cast<double>(values.size());
  const double mean = sum / n;
  for (double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1))};
}

void compareSpread(const ProgramCase& c, const Draws& draws) {
  const json golden = readJson(c.folder() + "/golden.json");
  std::set<std::string> varied;
  for (const auto& [key, values] : draws) {
    const auto [mean, deviation] = meanAndDeviation(values);
    const double want = goldenOf(golden, key.first, key.second);
    INFO(c.folder() << " step " << key.second << " " << key.first << ": the framework has " << want
                    << ", " << values.size() << " runs give " << mean << " with deviation "
                    << deviation);
    CHECK(std::fabs(want - mean) <=
          kErrors * deviation * std::sqrt(1 + 1.0 / kRuns) + 1e-5 + 1e-4 * std::fabs(want));
    if (deviation > 0) varied.insert(key.first);
  }
  CHECK(varied.count(c.info()["loss"].get<std::string>()) ==
        1);  // noise that is not drawn is no noise
}

void compareValues(const ProgramCase& c, const Draws& draws) {
  const json golden = readJson(c.folder() + "/golden.json");
  for (const auto& [key, values] : draws) {
    const double want = goldenOf(golden, key.first, key.second);
    INFO(c.folder() << " step " << key.second << " " << key.first << ": " << values.front()
                    << ", not " << want);
    CHECK(std::fabs(values.front() - want) <= 1e-5 + 1e-4 * std::fabs(want));
  }
}

}  // namespace

TEST_CASE("models with random numbers lose as the framework's do") {
  REQUIRE(randomModels().size() == 4);
  for (const std::string& name : randomModels()) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      CompileStatistics statistics;
      const bool done = c.load() && c.compile(statistics);
      INFO(c.errors);
      REQUIRE(done);
      Draws draws;
      const bool fixed = isReproducible(c);
      for (int run = 0; run < (fixed ? 1 : kRuns); ++run) runOnce(c, draws);
      if (fixed) compareValues(c, draws);
      else compareSpread(c, draws);
    }
  }
}

}  // namespace dtranspile::lower
