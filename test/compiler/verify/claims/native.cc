#include "test/compiler/verify/claims/native.h"

#include <stdlib.h>

#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "compiler/lower/compile.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/infer.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/base/status.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "test/compiler/verify/claims/fed.h"

namespace dtranspile::claims {
namespace {

namespace fs = std::filesystem;

// Plans are loaded libraries; so many at a time.
constexpr size_t kMostPlans = 1500;

std::string shapesOf(llvm::ArrayRef<TensorPtr> operands) {
  std::string text;
  for (const TensorPtr& tensor : operands) {
    absl::StrAppend(&text, " ", NameOf(tensor->dtype), "/", tensor->lod.size());
    for (size_t i = 0; i < tensor->dims.size(); ++i)
      absl::StrAppend(&text, ",", tensor->lod.empty() || i ? tensor->dims[i] : -1);
  }
  return text;
}

absl::Status feed(exec::Executor& executor, const exec::FeedSlot& slot, const Tensor& tensor) {
  if (exec::Value* value = executor.value(slot.buffer)) {
    DT_RETURN_IF_ERROR(value->Assign(tensor.view()));
    value->lod = tensor.lod;
  } else if (tensor.bytes.size() > 0) {
    std::memcpy(executor.data(slot.buffer), tensor.bytes.data(),
                static_cast<size_t>(tensor.view().bytes()));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorPtr> fetch(const exec::Executor& executor, int buffer, pd::Kind kind) {
  const exec::Buffer& b = executor.plan().buffers[static_cast<size_t>(buffer)];
  TensorView view{b.dtype, b.dims, executor.data(buffer)};
  const exec::Value* value = executor.value(buffer);
  if (value) view = value->view();
  DT_ASSIGN_OR_RETURN(Tensor copy, Tensor::Copy(view));
  if (value) copy.lod = value->lod;
  if (kind == pd::Kind::TensorArray) return sumOfItems(copy);
  if (value && kind == pd::Kind::SelectedRows) return sumOfRows(copy, value->rows, value->height);
  return std::make_shared<const Tensor>(std::move(copy));
}

bool isLookedAt(mlir::Value value) {
  return isMade(kindOf(value)) && pd::declaredInfo(value.getType()).rankKnown;
}

// Whatever an op draws follows from where it stands and from the seed.
void stand(const Place& place) {
  random::Generator& generator = random::Generator::Process();
  generator.SetRank({{"dp", place.at}}, {{"dp", place.of}});
  generator.SetSeed(place.seed);
  generator.SetStep(0);
}

}  // namespace

// Thousands of plans are written, loaded and dropped: in memory, where the machine has such files.
Native::Native() {
  const fs::path memory = "/dev/shm";
  std::error_code ignored;
  std::string pattern = ((fs::is_directory(memory, ignored) ? memory : fs::temp_directory_path()) /
                         "dtranspile-claims-XXXXXX")
                            .string();
  folder_ = mkdtemp(pattern.data());
}
Native::~Native() { fs::remove_all(folder_); }

Native::Compiled Native::compile(const OneOp& op, llvm::ArrayRef<TensorPtr> operands) {
  Compiled made;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(op.op->getContext(), [&](mlir::Diagnostic& d) {
    errors += (errors.empty() ? "" : "; ") + d.str();
  });
  std::vector<mlir::Type> types;
  lower::CompileOptions options;
  for (auto [i, tensor] : llvm::enumerate(operands)) {
    types.push_back(feedType(op.values[i].getType(), *tensor));
    made.kinds.push_back(kindOf(op.values[i]));
    for (const auto& [name, fed] : feedsOf("in" + std::to_string(i), made.kinds[i], tensor))
      options.main.feedDims[name] = fed->dims;
  }
  Alone program = alone(op, types);
  makeFeedable(program);
  for (mlir::OpResult result : program.op->getResults()) {
    if (!isLookedAt(result)) continue;
    options.main.fetches.push_back(dist::nameOf(result).str());
    made.results.push_back(static_cast<int>(result.getResultNumber()));
  }
  options.cache = folder_ + "/cache";
  // Loaded libraries are told apart by their paths.
  const std::string plan = absl::StrCat(folder_, "/plan", number_++);
  if (mlir::failed(lower::compilePrograms(program.program, {}, options, plan))) {
    made.status = absl::InvalidArgumentError("is not compiled: " + errors);
    return made;
  }
  auto load = [&]() -> absl::Status {
    DT_ASSIGN_OR_RETURN(exec::Plan read, exec::ReadPlan(plan));
    exec::ExecutorOptions loaded;
    loaded.find_function = kernels::FindFunction;
    loaded.element_types = kernels::ElementTypesOf;
    DT_ASSIGN_OR_RETURN(made.executor, exec::Executor::Load(std::move(read), std::move(loaded)));
    return absl::OkStatus();
  };
  made.status = load();
  fs::remove_all(plan);
  return made;
}

absl::StatusOr<Tensors> Native::run(const OneOp& op, llvm::ArrayRef<TensorPtr> operands,
                                    const Place& place) {
  const std::string key = op.key() + shapesOf(operands);
  auto found = compiled_.find(key);
  if (found == compiled_.end()) {
    if (compiled_.size() >= kMostPlans) compiled_.clear();
    found = compiled_.emplace(key, compile(op, operands)).first;
  }
  Compiled& compiled = found->second;
  DT_RETURN_IF_ERROR(compiled.status);
  exec::Executor& executor = *compiled.executor;
  std::map<std::string, TensorPtr> fed;
  for (auto [i, tensor] : llvm::enumerate(operands))
    for (auto& [name, value] : feedsOf("in" + std::to_string(i), compiled.kinds[i], tensor))
      fed[name] = value;
  for (const exec::FeedSlot& slot : executor.plan().step().feeds)
    DT_RETURN_IF_ERROR(feed(executor, slot, *fed.at(slot.name)));
  stand(place);
  DT_RETURN_IF_ERROR(executor.RunMain());
  Tensors results(op.op->getNumResults());
  for (auto [number, slot] : llvm::zip(compiled.results, executor.plan().step().fetches)) {
    const pd::Kind kind = kindOf(op.op->getResult(static_cast<unsigned>(number)));
    DT_ASSIGN_OR_RETURN(results[static_cast<size_t>(number)], fetch(executor, slot.buffer, kind));
  }
  return results;
}

}  // namespace dtranspile::claims
