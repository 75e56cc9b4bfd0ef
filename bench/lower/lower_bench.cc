// Figures of the lowering: compile time of the saved programs that train natively, without a cache
// and with a full one, and the speed of generated kernels against memcpy. Goals are printed beside
// the figures; exit status 1 where one is missed.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "compiler/import/import.h"
#include "compiler/lower/compile.h"
#include "compiler/lower/kernel/emit.h"
#include "compiler/lower/kernel/formula.h"
#include "runtime/io/npy.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kColdMs = 3000, kWarmMs = 300;
const char* const kPrograms[] = {
    "fluid18/fit_a_line",      "fluid18/mnist_mlp",
    "fluid18/lenet",           "fluid18/nesterov_exponential_mlp",
    "fluid18/adamax_mlp",      "fluid18/rmsprop_mlp",
    "static26/fit_a_line",     "static26/lenet",
    "static26/mlp_regression", "static26/mlp_amp_ready",
    "static26/resnet_thin",    "fluid18/resnet_cifar",
    "fluid18/bert_tiny",       "static26/bert_tiny",
};

double bestMs(int times, const std::function<void()>& body) {
  double best = 1e30;
  for (int i = 0; i < times; ++i) {
    auto start = Clock::now();
    body();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool benchProgram(const char* program, const std::string& scratch) {
  const std::string folder = test::CorpusPath(program);
  const auto info = nlohmann::json::parse(readAll(folder + "/case.json"));
  mlir::MLIRContext context;
  context.loadDialect<pd::PdDialect>();
  auto module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  mlir::OwningOpRef<mlir::ModuleOp> owner(module);
  auto load = [&](const std::string& which) {
    ImportOptions options;
    options.file = folder + "/" + which + ".pdmodel";
    options.symbol = which;
    return importProgram(module, readAll(options.file), options);
  };
  auto main = load("main"), startup = load("startup");
  if (mlir::failed(main) || mlir::failed(startup)) return false;
  CompileOptions options;
  for (const auto& feed : info["feeds"]) {
    auto file = io::NpyFile::Open(folder + "/" + feed["file"].get<std::string>());
    if (!file.ok()) return false;
    options.main.feedDims[feed["name"]] = {file->dims().begin() + 1, file->dims().end()};
  }
  options.main.fetches = info["fetch"].get<std::vector<std::string>>();
  options.cache = scratch + "/cache-" + std::to_string(std::hash<std::string>()(program));
  auto cold = compilePrograms(*main, *startup, options, scratch + "/plan");
  if (mlir::failed(cold)) return false;
  double warm = cold->totalMs;
  for (int i = 0; i < 3; ++i) {
    auto again = compilePrograms(*main, *startup, options, scratch + "/plan");
    if (mlir::failed(again)) return false;
    warm = std::min(warm, again->totalMs);
  }
  const bool met = cold->totalMs < kColdMs && warm < kWarmMs;
  std::printf("%-34s %6d %8d %10.0f %10.1f%s\n", program, cold->nodes, cold->library.kernels,
              cold->totalMs, warm, met ? "" : "  MISSED");
  return met;
}

struct KernelRow {
  const char* name;
  const char* formula;
  bool rows;      // reduces the last dim
  double arrays;  // read and written once
};
const KernelRow kKernels[] = {
    {"add", "Out = X + Y", false, 3},
    {"gelu", "Out = 0.5 * X * (1 + erf(X * 0.70710678118654752))", false, 2},
    {"softmax", "m = max(X); Out = exp(X - m); Out = Out / sum(Out)", true, 2},
    {"layer_norm",
     "m = sum(X) / count; v = sum(square(X - m)) / count; Out = (X - m) * rsqrt(v + 1e-5)", true,
     2},
};

bool benchKernel(const KernelRow& row, const std::string& scratch) {
  constexpr int64_t kRows = 4096, kColumns = 1024, kBytes = kRows * kColumns * 4;
  void* memory[3];
  for (void*& block : memory) {
    block = aligned_alloc(64, kBytes);
    std::fill_n(static_cast<float*>(block), kRows * kColumns, 0.5f);
  }
  FormulaNames names;
  auto ref = [&](std::string_view name) -> std::optional<TensorRef> {
    const std::string_view all[] = {"X", "Y", "Out"};
    auto at = std::find(std::begin(all), std::end(all), name);
    if (at == std::end(all)) return std::nullopt;
    return TensorRef{static_cast<int>(at - std::begin(all)), DType::kFloat32, {kRows, kColumns}};
  };
  names.input = [&](std::string_view name) { return name == "Out" ? std::nullopt : ref(name); };
  names.output = [&](std::string_view name) { return name == "Out" ? ref(name) : std::nullopt; };
  names.attribute = [](std::string_view) { return std::nullopt; };
  InnerDims inner = [&](const std::vector<int64_t>&) { return std::vector<bool>{false, row.rows}; };
  std::string error;
  auto kernels = buildFormula(row.name, row.formula, names, inner, error);
  LibraryStatistics statistics;
  KernelSource source{kernels ? emitKernel(kernels->front().kernel) : "", row.name};
  const std::string path = scratch + "/" + row.name + ".so";
  if (llvm::failed(buildLibrary({source}, {hostTarget(), ""}, path, statistics, error)))
    return std::fprintf(stderr, "%s\n", error.c_str()), false;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto entry = reinterpret_cast<void (*)(void* const*, int64_t, int64_t)>(
      dlsym(library, symbolOf(source, hostTarget()).c_str()));
  std::vector<void*> arguments;
  for (int buffer : kernels->front().buffers) arguments.push_back(memory[buffer]);
  const double ms = bestMs(20, [&] { entry(arguments.data(), 0, kernels->front().kernel.rows()); });
  const double copy = bestMs(20, [&] { std::memcpy(memory[2], memory[0], kBytes); });
  std::printf("%-12s %8.2f ms %8.1f GB/s   memcpy %8.1f GB/s   ratio %.2f\n", row.name, ms,
              row.arrays * kBytes / ms / 1e6, 2.0 * kBytes / copy / 1e6,
              row.arrays * copy / (2 * ms));
  dlclose(library);
  for (void* block : memory) free(block);
  return true;
}

}  // namespace
}  // namespace dtranspile::lower

int main() {
  using namespace dtranspile::lower;
  std::string pattern = (fs::temp_directory_path() / "dtranspile-bench-XXXXXX").string();
  const std::string scratch = mkdtemp(pattern.data());
  bool ok = true;
  std::printf("float32, 4096 x 1024, one core\n");
  for (const KernelRow& row : kKernels) ok = benchKernel(row, scratch) && ok;
  std::printf("\n%-34s %6s %8s %10s %10s   goals: cold < %.0f, warm < %.0f\n", "program", "nodes",
              "kernels", "cold ms", "warm ms", kColdMs, kWarmMs);
  for (const char* program : kPrograms) ok = benchProgram(program, scratch) && ok;
  fs::remove_all(scratch);
  return ok ? 0 : 1;
}
