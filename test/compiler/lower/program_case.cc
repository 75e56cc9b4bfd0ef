#include "test/compiler/lower/program_case.h"

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "compiler/import/import.h"
#include "mlir/Pass/PassManager.h"
#include "passes/widen-float64/pass.h"
#include "runtime/io/tensor_record.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/tensor/widen.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

void check(const absl::Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + std::string(status.message()));
}

}  // namespace

json readJson(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

std::string readAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProgramCase::ProgramCase(const std::string& name, const std::string& cache)
    : folder_(test::CorpusPath(name)), info_(readJson(folder_ + "/case.json")) {
  std::string pattern = (fs::temp_directory_path() / "dtranspile-lower-test-XXXXXX").string();
  temporary_ = mkdtemp(pattern.data());
  context_.loadDialect<pd::PdDialect>();
  handler_ = std::make_unique<mlir::ScopedDiagnosticHandler>(
      &context_, [this](mlir::Diagnostic& d) { errors += d.str() + "\n"; });
  options_.main.fetches = info_["fetch"].get<std::vector<std::string>>();
  if (info_.contains("fetch_values")) options_.main.fetches.clear();
  for (const json& value : info_.value("fetch_values", json::array())) {
    const std::string name = "#" + std::to_string(value["op_index"].get<int>()) + "." +
                             std::to_string(value["result"].get<int>());
    goldenNames_[name] = value["name"];
    options_.main.fetches.push_back(name);
  }
  options_.cache = cache.empty() ? temporary_ + "/cache" : cache;
}

ProgramCase::~ProgramCase() { fs::remove_all(temporary_); }

std::string ProgramCase::goldenName(const std::string& fetch) const {
  auto found = goldenNames_.find(fetch);
  return found == goldenNames_.end() ? fetch : found->second;
}

bool ProgramCase::import(const std::string& which, pd::ProgramOp& program) {
  ImportOptions options;
  options.file =
      folder_ + "/" + which + (fs::exists(folder_ + "/" + which + ".json") ? ".json" : ".pdmodel");
  options.symbol = which;
  auto imported = importAny(*module_, readAll(options.file), options);
  if (mlir::failed(imported)) return false;
  program = *imported;
  return true;
}

bool ProgramCase::load() {
  module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
  if (!import("main", main_)) return false;
  if ((fs::exists(folder_ + "/startup.pdmodel") || fs::exists(folder_ + "/startup.json")) &&
      !import("startup", startup_))
    return false;
  for (const json& feed : info_["feeds"]) {
    const std::string name = feed["name"];
    const bool dense = feed.contains("file") &&
                       feed["file"].get<std::string>().find("{step}") == std::string::npos;
    auto opened = dense ? io::Feed::OpenNpy(folder_ + "/" + feed["file"].get<std::string>())
                        : io::Feed::Open(folder_ + "/feeds", name);
    check(opened.status(), name);
    options_.main.feedDims[name] = opened->dims();
    feeds_.emplace(name, std::move(*opened));
  }
  return true;
}

bool ProgramCase::widen() {
  mlir::PassManager passes(&context_);
  passes.addPass(passes::createWidenFloat64());
  widened_ = mlir::succeeded(passes.run(*module_));
  return widened_;
}

bool ProgramCase::compile(CompileStatistics& statistics) {
  auto compiled = compilePrograms(main_, startup_, options_, plan());
  if (mlir::failed(compiled)) return false;
  statistics = *compiled;
  return true;
}

std::unique_ptr<exec::Executor> ProgramCase::start(bool runStartup) {
  auto read = exec::ReadPlan(plan());
  check(read.status(), "plan");
  exec::ExecutorOptions options;
  options.find_function = kernels::FindFunction;
  options.element_types = kernels::ElementTypesOf;
  auto executor = exec::Executor::Load(std::move(*read), std::move(options));
  check(executor.status(), "load");
  if (runStartup) {
    check((*executor)->RunStartup(), "start-up");
    return std::move(*executor);
  }
  for (const exec::Persistable& p : (*executor)->plan().persistables) {
    const std::string path = folder_ + "/init/" + p.name;
    if (!fs::exists(path)) continue;
    auto read = io::ReadTensorFile(path);
    check(read.status(), path);
    auto tensor = Widened(std::move(*read), (*executor)->plan().buffers[p.buffer].dtype);
    check(tensor.status(), path);
    const TensorView view = tensor->view();
    if ((*executor)->plan().buffers[p.buffer].bytes != view.bytes())
      throw std::runtime_error(path + " has another size");
    std::memcpy((*executor)->data(p.buffer), view.data, static_cast<size_t>(view.bytes()));
  }
  return std::move(*executor);
}

TensorView ProgramCase::valueOf(const exec::Executor& executor, int buffer, const Lod** lod) {
  if (const exec::Value* value = executor.value(buffer)) {
    if (lod) *lod = &value->lod;
    return value->view();
  }
  const exec::Buffer& b = executor.plan().buffers[buffer];
  return {b.dtype, b.dims, executor.data(buffer)};
}

Tensor ProgramCase::feed(const std::string& name, int64_t step) const {
  auto read = feeds_.at(name).Read(step);
  check(read.status(), name);
  return std::move(*read);
}

void ProgramCase::step(exec::Executor& executor, int64_t step) {
  for (const exec::FeedSlot& slot : executor.plan().step().feeds) {
    auto read = Widened(feed(slot.name, step), executor.plan().buffers[slot.buffer].dtype);
    check(read.status(), slot.name);
    if (exec::Value* value = executor.value(slot.buffer)) {
      check(value->Assign(read->view()), slot.name);
      value->lod = read->lod;
    } else if (read->bytes.size() > 0) {
      std::memcpy(executor.data(slot.buffer), read->bytes.data(),
                  static_cast<size_t>(read->bytes.size()));
    }
  }
  if (info_.contains("lr_per_step")) {
    const auto rate = info_["lr_per_step"][step].get<float>();
    for (const exec::Persistable& p : executor.plan().persistables) {
      if (p.name != info_["lr_var"].get<std::string>()) continue;
      if (executor.plan().buffers[p.buffer].dtype == DType::kFloat64)
        *reinterpret_cast<double*>(executor.data(p.buffer)) = rate;
      else std::memcpy(executor.data(p.buffer), &rate, sizeof rate);
    }
  }
  check(executor.RunMain(), "step");
}

}  // namespace dtranspile::lower
