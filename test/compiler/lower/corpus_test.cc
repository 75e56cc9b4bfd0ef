// Saved programs compiled and run in this process: the losses of every step are the framework's (golden.json), the parameters after the
// last step those of after/.
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "compiler/import/import.h"
#include "compiler/lower/compile.h"
#include "runtime/exec/executor.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "runtime/kernels/cpu/table.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json readJson(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "dtranspile-lower-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A case of the corpus with its compiled plan.
class Case {
 public:
  explicit Case(const std::string& name) : folder_(test::CorpusPath(name)), info_(readJson(folder_ + "/case.json")) {
    context_.loadDialect<pd::PdDialect>();
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    main_ = load("main");
    startup_ = load("startup");
    for (const json& feed : info_["feeds"]) {
      auto file = io::NpyFile::Open(folder_ + "/" + feed["file"].get<std::string>());
      REQUIRE(file.ok());
      const std::string feedName = feed["name"].get<std::string>();
      options_.main.feedDims[feedName] = {file->dims().begin() + 1, file->dims().end()};
      feeds_.emplace(feedName, std::move(*file));
    }
    options_.main.fetches = info_["fetch"].get<std::vector<std::string>>();
    options_.cache = temporary_.path + "/cache";
  }

  CompileStatistics compile() {
    auto statistics = compilePrograms(main_, startup_, options_, plan());
    REQUIRE(mlir::succeeded(statistics));
    return *statistics;
  }

  std::string plan() const { return temporary_.path + "/plan"; }
  const json& info() const { return info_; }

  // Loads the plan and gives the persistables their values: from init/, or by the start-up program.
  std::unique_ptr<exec::Executor> start(bool runStartup) {
    auto read = exec::ReadPlan(plan());
    INFO(read.status().message());
    REQUIRE(read.ok());
    exec::ExecutorOptions options;
    options.find_function = kernels::FindFunction;
    auto executor = exec::Executor::Load(std::move(*read), std::move(options));
    INFO(executor.status().message());
    REQUIRE(executor.ok());
    if (runStartup) {
      absl::Status status = (*executor)->RunStartup();
      INFO(status.message());
      REQUIRE(status.ok());
      return std::move(*executor);
    }
    for (const exec::Persistable& p : (*executor)->plan().persistables) {
      const std::string path = folder_ + "/init/" + p.name;
      if (!fs::exists(path)) continue;
      auto tensor = io::ReadTensorFile(path);
      INFO(path << " " << tensor.status().message());
      REQUIRE(tensor.ok());
      copyIn(**executor, p.buffer, *tensor);
    }
    return std::move(*executor);
  }

  void step(exec::Executor& executor, int64_t step) {
    for (const exec::FeedSlot& feed : executor.plan().main.feeds) {
      const io::NpyFile& file = feeds_.at(feed.name);
      std::vector<int64_t> starts(file.dims().size(), 0), counts = file.dims();
      starts[0] = step;
      counts[0] = 1;
      REQUIRE(file.ReadBox(starts, counts, executor.data(feed.buffer)).ok());
    }
    if (info_.contains("lr_per_step")) {
      const auto rate = info_["lr_per_step"][step].get<float>();
      for (const exec::Persistable& p : executor.plan().persistables) {
        if (p.name == info_["lr_var"].get<std::string>()) std::memcpy(executor.data(p.buffer), &rate, sizeof rate);
      }
    }
    absl::Status status = executor.RunMain();
    INFO(status.message());
    REQUIRE(status.ok());
  }

  // Every fetch of every step against golden.json: 1e-5 + 1e-4·|value|.
  void compareSteps(exec::Executor& executor) {
    const json golden = readJson(folder_ + "/golden.json");
    for (int64_t k = 0; k < info_["steps"].get<int64_t>(); ++k) {
      step(executor, k);
      for (const exec::FetchSlot& fetch : executor.plan().main.fetches) {
        const json& expected = golden[fetch.name][k];
        const double want = expected.is_array() ? expected.at(0).get<double>() : expected.get<double>();
        const double got = valueOf(executor, fetch.buffer);
        INFO(info_["name"] << " step " << k << " " << fetch.name << ": " << got << ", not " << want);
        REQUIRE(std::fabs(got - want) <= 1e-5 + 1e-4 * std::fabs(want));
      }
    }
  }

  void compareParameters(exec::Executor& executor) {
    for (const exec::Persistable& p : executor.plan().persistables) {
      const std::string path = folder_ + "/after/" + p.name + ".npy";
      if (!fs::exists(path)) continue;
      auto expected = io::ReadNpy(path);
      REQUIRE(expected.ok());
      const auto* want = expected->as<float>();
      const auto* got = reinterpret_cast<const float*>(executor.data(p.buffer));
      for (int64_t i = 0; i < executor.plan().buffers[p.buffer].count(); ++i) {
        INFO(info_["name"] << " " << p.name << "[" << i << "]: " << got[i] << ", not " << want[i]);
        REQUIRE(std::fabs(got[i] - want[i]) <= 1e-5 + 1e-3 * std::fabs(want[i]));
      }
    }
  }

 private:
  pd::ProgramOp load(const std::string& which) {
    ImportOptions options;
    options.file = folder_ + "/" + which + ".pdmodel";
    options.symbol = which;
    auto program = importProgram(*module_, readAll(options.file), options);
    REQUIRE(mlir::succeeded(program));
    return *program;
  }

  static void copyIn(exec::Executor& executor, int buffer, const Tensor& tensor) {
    REQUIRE(executor.plan().buffers[buffer].bytes == tensor.view().bytes());
    std::memcpy(executor.data(buffer), tensor.view().data, static_cast<size_t>(tensor.view().bytes()));
  }

  static double valueOf(exec::Executor& executor, int buffer) {
    const std::byte* data = executor.data(buffer);
    switch (executor.plan().buffers[buffer].dtype) {
      case DType::kFloat32: return *reinterpret_cast<const float*>(data);
      case DType::kFloat64: return *reinterpret_cast<const double*>(data);
      case DType::kInt64: return static_cast<double>(*reinterpret_cast<const int64_t*>(data));
      default: return *reinterpret_cast<const int32_t*>(data);
    }
  }

  Folder temporary_;
  std::string folder_;
  json info_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  pd::ProgramOp main_, startup_;
  CompileOptions options_;
  std::map<std::string, io::NpyFile> feeds_;
};

const char* const kCases[] = {"fluid18/fit_a_line",   "fluid18/mnist_mlp",   "static26/fit_a_line", "static26/mlp_regression",
                              "fluid18/lenet",        "fluid18/nesterov_exponential_mlp", "fluid18/adamax_mlp",  "fluid18/rmsprop_mlp",
                              "static26/lenet",       "static26/mlp_amp_ready", "static26/resnet_thin"};

}  // namespace

TEST_CASE("losses and parameters are the framework's") {
  for (const char* name : kCases) {
    DYNAMIC_SECTION(name) {
      Case c(name);
      CompileStatistics cold = c.compile(), warm = c.compile();
      std::cout << name << ": " << cold.nodes << " nodes, " << cold.kernelCalls << " kernel calls of " << cold.library.kernels << " kernels, " << cold.copies
                << " copies; cold " << static_cast<int>(cold.totalMs) << " ms, warm " << static_cast<int>(warm.totalMs) << " ms\n";
      CHECK(warm.library.compiled == 0);
      auto executor = c.start(false);
      c.compareSteps(*executor);
      c.compareParameters(*executor);
    }
  }
}

TEST_CASE("the start-up program in place of init/ gives the same losses") {
  for (const char* name : {"fluid18/fit_a_line", "fluid18/lenet", "fluid18/rmsprop_mlp"}) {
    DYNAMIC_SECTION(name) {
      Case c(name);
      c.compile();
      auto executor = c.start(true);
      c.compareSteps(*executor);
    }
  }
}

TEST_CASE("two compilations give the same plan, byte for byte") {
  Case a("fluid18/lenet"), b("fluid18/lenet");
  a.compile();
  b.compile();
  CHECK(readAll(a.plan() + "/plan.json") == readAll(b.plan() + "/plan.json"));
  CHECK(readAll(a.plan() + "/kernels.so") == readAll(b.plan() + "/kernels.so"));
}

}  // namespace dtranspile::lower
