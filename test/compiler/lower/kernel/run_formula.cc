#include "test/compiler/lower/kernel/run_formula.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "compiler/lower/codegen/kernel_library.h"
#include "compiler/lower/kernel/emit.h"
#include "runtime/exec/abi.h"

namespace dtranspile::lower {
namespace {

using EntryPoint = void (*)(void* const*, int64_t, int64_t);

struct Aligned {
  explicit Aligned(size_t bytes) : data(aligned_alloc(64, (bytes + 127) / 64 * 64)) {
    std::memset(data, 0, bytes);
  }
  ~Aligned() { free(data); }
  void* data;
};

}  // namespace

std::string runFormula(const std::string& formula, const TestTensors& inputs, TestTensors& outputs,
                       const std::map<std::string, double>& attributes,
                       const std::vector<bool>& inner,
                       const std::map<std::string, std::string>& shared, int64_t cut) {
  std::map<std::string, int> ids;
  std::vector<std::unique_ptr<Aligned>> memory;
  for (const auto& [name, tensor] : inputs) {
    ids[name] = static_cast<int>(memory.size());
    memory.push_back(std::make_unique<Aligned>(tensor.bytes.size()));
    std::memcpy(memory.back()->data, tensor.bytes.data(), tensor.bytes.size());
  }
  for (const auto& [name, tensor] : outputs) {
    if (auto it = shared.find(name); it != shared.end()) {
      ids[name] = ids[it->second];
      continue;
    }
    ids[name] = static_cast<int>(memory.size());
    memory.push_back(std::make_unique<Aligned>(tensor.bytes.size()));
  }
  auto refer = [&](const TestTensors& tensors, std::string_view name) -> std::optional<TensorRef> {
    auto it = tensors.find(std::string(name));
    if (it == tensors.end()) return std::nullopt;
    return TensorRef{ids[it->first], it->second.dtype, it->second.dims, it->second.axis};
  };
  FormulaNames names;
  names.input = [&](std::string_view name) { return refer(inputs, name); };
  names.output = [&](std::string_view name) { return refer(outputs, name); };
  names.attribute = [&](std::string_view name) -> std::optional<double> {
    auto it = attributes.find(std::string(name));
    return it == attributes.end() ? std::nullopt : std::optional(it->second);
  };
  std::string error;
  InnerDims innerDims;
  if (!inner.empty()) innerDims = [&](const std::vector<int64_t>&) { return inner; };
  auto kernels = buildFormula("test", formula, names, innerDims, error);
  if (!kernels) return error;
  LibraryOptions options{.target = hostTarget(), .cache = ""};
  std::vector<KernelSource> sources;
  for (const BoundKernel& bound : *kernels) sources.push_back({emitKernel(bound.kernel), "test"});
  char file[] = "/tmp/dtranspile-test-XXXXXX";
  close(mkstemp(file));
  LibraryStatistics statistics;
  if (llvm::failed(buildLibrary(sources, options, file, statistics, error))) return error;
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(file);
  if (!library) return dlerror();
  uint64_t fault = DT_NO_FAULT;
  for (size_t k = 0; k < sources.size(); ++k) {
    auto entry =
        reinterpret_cast<EntryPoint>(dlsym(library, symbolOf(sources[k], options.target).c_str()));
    std::vector<void*> arguments;
    for (int buffer : (*kernels)[k].buffers) arguments.push_back(memory[buffer]->data);
    arguments.push_back(&fault);
    const int64_t rows = (*kernels)[k].kernel.rows();
    for (int64_t lo = 0; lo < rows; lo += cut)
      entry(arguments.data(), lo, std::min(rows, lo + cut));
  }
  dlclose(library);
  for (auto& [name, tensor] : outputs)
    std::memcpy(tensor.bytes.data(), memory[ids[name]]->data, tensor.bytes.size());
  return fault == DT_NO_FAULT ? "" : "element " + std::to_string(fault);
}

}  // namespace dtranspile::lower
