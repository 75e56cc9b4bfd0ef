// Saved programs compiled and run in this process: the losses of every step are the framework's (golden.json), the parameters after the
// last step those of after/.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <set>

#include "test/compiler/lower/program_case.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

double valueOf(exec::Executor& executor, int buffer) {
  const std::byte* data = executor.data(buffer);
  switch (executor.plan().buffers[buffer].dtype) {
    case DType::kFloat32: return *reinterpret_cast<const float*>(data);
    case DType::kFloat64: return *reinterpret_cast<const double*>(data);
    case DType::kInt64: return static_cast<double>(*reinterpret_cast<const int64_t*>(data));
    default: return *reinterpret_cast<const int32_t*>(data);
  }
}

CompileStatistics compile(ProgramCase& c) {
  CompileStatistics statistics;
  const bool done = c.load() && c.compile(statistics);
  INFO(c.errors);
  REQUIRE(done);
  return statistics;
}

// Every fetch of every step against golden.json: 1e-5 + 1e-4·|value|.
void compareSteps(ProgramCase& c, exec::Executor& executor) {
  const json golden = readJson(c.folder() + "/golden.json");
  for (int64_t k = 0; k < c.info()["steps"].get<int64_t>(); ++k) {
    c.step(executor, k);
    for (const exec::FetchSlot& fetch : executor.plan().main.fetches) {
      const json& expected = golden[c.goldenName(fetch.name)][k];
      const double want = expected.is_array() ? expected.at(0).get<double>() : expected.get<double>();
      const double got = valueOf(executor, fetch.buffer);
      INFO(c.folder() << " step " << k << " " << fetch.name << ": " << got << ", not " << want);
      REQUIRE(std::fabs(got - want) <= 1e-5 + 1e-4 * std::fabs(want));
    }
  }
}

// Biases of attention keys: softmax does not feel them, so their exact gradient is 0 and the computed one rounding noise, which adam makes steps of.
const std::pair<std::string, std::string> kRoundingNoise[] = {{"pir33/gpt_tiny", "linear_1.b_0"}, {"pir33/gpt_tiny", "linear_7.b_0"}};

void compareParameters(const std::string& name, ProgramCase& c, exec::Executor& executor) {
  for (const exec::Persistable& p : executor.plan().persistables) {
    const std::string path = c.folder() + "/after/" + p.name + ".npy";
    if (!fs::exists(path) || std::count(std::begin(kRoundingNoise), std::end(kRoundingNoise), std::pair(name, p.name)) != 0) continue;
    auto expected = io::ReadNpy(path);
    REQUIRE(expected.ok());
    const auto* want = expected->as<float>();
    const auto* got = reinterpret_cast<const float*>(executor.data(p.buffer));
    for (int64_t i = 0; i < executor.plan().buffers[p.buffer].count(); ++i) {
      INFO(p.name << "[" << i << "]: " << got[i] << ", not " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= 1e-5 + 1e-3 * std::fabs(want[i]));
    }
  }
}

const char* const kCases[] = {"fluid18/fit_a_line",   "fluid18/mnist_mlp",   "static26/fit_a_line", "static26/mlp_regression",
                              "fluid18/lenet",        "fluid18/nesterov_exponential_mlp", "fluid18/adamax_mlp",  "fluid18/rmsprop_mlp",
                              "static26/lenet",       "static26/mlp_amp_ready", "static26/resnet_thin", "pir33/fit_a_line",   "pir33/mlp_regression",
                              "pir33/lenet",          "pir33/gpt_tiny"};

// Programs that every op has a lowering for, beyond those above.
std::vector<std::string> others() {
  std::vector<std::string> names;
  for (const char* corpus : {"fluid18", "static26", "pir33"}) {
    for (const std::string& name : test::CorpusCases(corpus)) {
      const std::string whole = std::string(corpus) + "/" + name;
      if (std::find(std::begin(kCases), std::end(kCases), whole) == std::end(kCases)) names.push_back(whole);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("losses and parameters are the framework's") {
  for (const char* name : kCases) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      CompileStatistics cold = compile(c), warm;
      REQUIRE(c.compile(warm));
      std::cout << name << ": " << cold.nodes << " nodes, " << cold.kernelCalls << " kernel calls of " << cold.library.kernels << " kernels, " << cold.copies
                << " copies; cold " << static_cast<int>(cold.totalMs) << " ms, warm " << static_cast<int>(warm.totalMs) << " ms\n";
      CHECK(warm.library.compiled == 0);
      auto executor = c.start(false);
      compareSteps(c, *executor);
      compareParameters(name, c, *executor);
    }
  }
}

// Programs whose losses are known to be wrong (docs/status.md): the first step is right, the next ones are not.
const std::set<std::string> kWrong = {"fluid18/text_lstm"};

TEST_CASE("a program runs right or is refused by name") {
  for (const std::string& name : others()) {
    if (kWrong.count(name) > 0) {
      std::cout << name << " NOT COMPARED: known to be wrong (docs/status.md)\n";
      continue;
    }
    ProgramCase c(name);
    CompileStatistics statistics;
    if (!c.load() || !c.compile(statistics)) {
      INFO(name << ": " << c.errors);
      CHECK((c.errors.find("not supported") != std::string::npos || c.errors.find("no lowering for") != std::string::npos));
      std::cout << name << " refused: " << c.errors.substr(0, c.errors.find('\n')) << "\n";
      continue;
    }
    const json tags = c.info()["tags"];
    if (std::find(tags.begin(), tags.end(), "random") != tags.end()) continue;
    std::cout << name << ": cold " << static_cast<int>(statistics.totalMs) << " ms\n";
    auto executor = c.start(false);
    compareSteps(c, *executor);
  }
}

TEST_CASE("the start-up program in place of init/ gives the same losses") {
  for (const char* name : {"fluid18/fit_a_line", "fluid18/lenet", "fluid18/rmsprop_mlp"}) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      compile(c);
      auto executor = c.start(true);
      compareSteps(c, *executor);
    }
  }
}

TEST_CASE("two compilations give the same plan, byte for byte") {
  ProgramCase a("fluid18/lenet"), b("fluid18/lenet");
  compile(a);
  compile(b);
  CHECK(readAll(a.plan() + "/plan.json") == readAll(b.plan() + "/plan.json"));
  CHECK(readAll(a.plan() + "/kernels.so") == readAll(b.plan() + "/kernels.so"));
}

}  // namespace dtranspile::lower
