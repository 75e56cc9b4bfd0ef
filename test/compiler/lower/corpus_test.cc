// Saved programs compiled and run in this process: the losses of every step are the framework's
// (golden.json), the parameters after the last step those of after/.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>

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
    for (const exec::FetchSlot& fetch : executor.plan().step().fetches) {
      const json& expected = golden[c.goldenName(fetch.name)][k];
      const double want =
          expected.is_array() ? expected.at(0).get<double>() : expected.get<double>();
      const double got = valueOf(executor, fetch.buffer);
      INFO(c.folder() << " step " << k << " " << fetch.name << ": " << got << ", not " << want);
      REQUIRE(std::fabs(got - want) <= 1e-5 + 1e-4 * std::fabs(want));
    }
  }
}

// Elements that are rounding noise in the framework, too: test/corpus/rounding_noise.txt.
bool isNoise(const std::string& program, const std::string& parameter, int64_t element) {
  static const std::set<std::vector<std::string>> kRows = [] {
    std::set<std::vector<std::string>> rows;
    std::ifstream file(test::CorpusPath("rounding_noise.txt"));
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      if (line.empty() || line[0] == '#') continue;
      rows.insert({std::istream_iterator<std::string>(words), {}});
    }
    REQUIRE(!rows.empty());
    return rows;
  }();
  return kRows.count({program, parameter, "*"}) +
             kRows.count({program, parameter, std::to_string(element)}) >
         0;
}

void compareParameters(const std::string& name, ProgramCase& c, exec::Executor& executor) {
  for (const exec::Persistable& p : executor.plan().persistables) {
    const std::string path = c.folder() + "/after/" + p.name + ".npy";
    if (!fs::exists(path)) continue;
    auto expected = io::ReadNpy(path);
    REQUIRE(expected.ok());
    const auto* want = expected->as<float>();
    const auto* got = reinterpret_cast<const float*>(executor.data(p.buffer));
    for (int64_t i = 0; i < executor.plan().buffers[p.buffer].count(); ++i) {
      if (std::fabs(got[i] - want[i]) <= 1e-5 + 1e-3 * std::fabs(want[i]) ||
          isNoise(name, p.name, i))
        continue;
      FAIL(p.name << "[" << i << "]: " << got[i] << ", not " << want[i]);
    }
  }
}

const char* const kCases[] = {
    "fluid18/fit_a_line",      "fluid18/mnist_mlp",    "static26/fit_a_line",
    "static26/mlp_regression", "fluid18/lenet",        "fluid18/nesterov_exponential_mlp",
    "fluid18/adamax_mlp",      "fluid18/rmsprop_mlp",  "static26/lenet",
    "static26/mlp_amp_ready",  "static26/resnet_thin", "pir33/fit_a_line",
    "pir33/mlp_regression",    "pir33/lenet",          "pir33/gpt_tiny"};

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const char* corpus : {"fluid18", "static26", "pir33"}) {
    for (const std::string& name : test::CorpusCases(corpus))
      names.push_back(std::string(corpus) + "/" + name);
  }
  return names;
}

// Those beyond kCases.
std::vector<std::string> others() {
  std::vector<std::string> names = models();
  const auto isCase = [](const std::string& name) {
    return std::find(std::begin(kCases), std::end(kCases), name) != std::end(kCases);
  };
  names.erase(std::remove_if(names.begin(), names.end(), isCase), names.end());
  return names;
}

}  // namespace

TEST_CASE("losses and parameters are the framework's") {
  for (const char* name : kCases) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      CompileStatistics cold = compile(c), warm;
      REQUIRE(c.compile(warm));
      std::cout << name << ": " << cold.nodes << " nodes, " << cold.kernelCalls
                << " kernel calls of " << cold.library.kernels << " kernels, " << cold.copies
                << " copies; cold " << static_cast<int>(cold.totalMs) << " ms, warm "
                << static_cast<int>(warm.totalMs) << " ms\n";
      CHECK(warm.library.compiled == 0);
      auto executor = c.start(false);
      compareSteps(c, *executor);
      compareParameters(name, c, *executor);
    }
  }
}

TEST_CASE("every other model program, too") {
  for (const std::string& name : others()) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      const CompileStatistics statistics = compile(c);
      const json tags = c.info()["tags"];
      if (std::find(tags.begin(), tags.end(), "random") != tags.end()) continue;
      std::cout << name << ": cold " << static_cast<int>(statistics.totalMs) << " ms\n";
      auto executor = c.start(false);
      compareSteps(c, *executor);
      compareParameters(name, c, *executor);
    }
  }
}

// Kernels exist in float64: what a model computes in it is what the framework computes in float32,
// but for rounding.
TEST_CASE("every model program in float64") {
  for (const std::string& name : models()) {
    DYNAMIC_SECTION(name) {
      ProgramCase c(name);
      const json tags = c.info()["tags"];
      const bool random = std::find(tags.begin(), tags.end(), "random") != tags.end();
      REQUIRE((c.load() && c.widen()));
      CompileStatistics statistics;
      const bool compiled = c.compile(statistics);
      INFO(name << ": " << c.errors);
      REQUIRE(compiled);
      auto executor = c.start(false);
      for (const exec::Buffer& buffer : executor->plan().buffers) {
        INFO(buffer.name);
        const bool holdsNone = buffer.name == "@EMPTY@" || buffer.kind == exec::Value::Kind::kList;
        CHECK((holdsNone || buffer.dtype != DType::kFloat32));
      }
      // The kernel of lstm_grad that loses gradients is one of float32 (docs/operators/defects.md).
      if (!random && name != "fluid18/text_lstm") compareSteps(c, *executor);
    }
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

// How much the loss of the first step of text_lstm rises per unit along the gradient of the
// recurrent weights, relative to what that gradient says: 1 for a right one; and the square of its
// length.
std::pair<double, double> riseAlongGradient(bool mendDefects) {
  ProgramCase c("fluid18/text_lstm");
  c.request().mendDefects = mendDefects;
  c.request().fetches = {"mean_0.tmp_0", "lstm_0.w_0@GRAD"};
  compile(c);
  auto base = c.start(false);
  c.step(*base, 0);
  const TensorView view = ProgramCase::valueOf(*base, base->plan().step().fetches[1].buffer);
  const auto* gradient = reinterpret_cast<const float*>(view.data);
  const auto count = static_cast<int64_t>(view.bytes() / sizeof(float));
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += gradient[i] * gradient[i];
  const double unit = 0.2 / std::sqrt(squares);
  double losses[2];
  for (int side : {0, 1}) {
    auto executor = c.start(false);
    for (const exec::Persistable& p : executor->plan().persistables) {
      if (p.name != "lstm_0.w_0") continue;
      auto* weight = reinterpret_cast<float*>(executor->data(p.buffer));
      for (int64_t i = 0; i < count; ++i)
        weight[i] += static_cast<float>((side == 0 ? -unit : unit) * gradient[i]);
    }
    c.step(*executor, 0);
    losses[side] = valueOf(*executor, executor->plan().step().fetches[0].buffer);
  }
  return {(losses[1] - losses[0]) / (2 * unit * squares), squares};
}

TEST_CASE("the gradient of lstm is the framework's, or with --mend-defects the right one") {
  const auto [rise, squares] = riseAlongGradient(true);
  CHECK(std::fabs(rise - 1) < 0.02);
  CHECK(riseAlongGradient(false).second < 0.01 * squares);
}

TEST_CASE("two compilations give the same plan, byte for byte") {
  ProgramCase a("fluid18/lenet"), b("fluid18/lenet");
  compile(a);
  compile(b);
  CHECK(readAll(a.plan() + "/plan.json") == readAll(b.plan() + "/plan.json"));
  CHECK(readAll(a.plan() + "/kernels.so") == readAll(b.plan() + "/kernels.so"));
}

}  // namespace dtranspile::lower
