#include "runtime/trial/snapshot.h"

#include <algorithm>

#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/values.h"

namespace dtranspile::trial {

absl::StatusOr<Tensor> CopyOf(const exec::Executor& executor, int buffer) {
  DT_ASSIGN_OR_RETURN(const TensorView now, exec::ViewOf(executor, buffer));
  DT_ASSIGN_OR_RETURN(Tensor copy, Tensor::Copy(now));
  if (const exec::Value* value = executor.value(buffer)) copy.lod = value->lod;
  return copy;
}

absl::Status Restore(const exec::Executor& executor, int buffer, const Tensor& tensor) {
  DT_RETURN_IF_ERROR(exec::SetBuffer(executor, buffer, tensor.view()));
  if (exec::Value* value = executor.value(buffer)) value->lod = tensor.lod;
  return absl::OkStatus();
}

int FetchBuffer(const exec::Executor& executor, const std::string& name) {
  const exec::Program* program = executor.plan().repeated();
  if (program == nullptr) return -1;
  const auto slot = std::find_if(program->fetches.begin(), program->fetches.end(),
                                 [&](const exec::FetchSlot& s) { return s.name == name; });
  if (slot == program->fetches.end()) return -1;
  const exec::Buffer& buffer = executor.plan().buffers[static_cast<size_t>(slot->buffer)];
  return buffer.kind == exec::Value::Kind::kTensor ? slot->buffer : -1;
}

// Copies of the variables and fetches that this rank has as a whole; `wanted` (null: all) names the
// variables.
absl::StatusOr<Snapshot> Take(const exec::WorkerConfig& config, const exec::Executor& executor,
                              const std::vector<std::string>* wanted) {
  Snapshot taken;
  for (const exec::Persistable* p : exec::VariablesOf(executor.plan(), config.coordinates)) {
    if (wanted != nullptr && std::find(wanted->begin(), wanted->end(), p->name) == wanted->end())
      continue;
    const exec::Buffer& buffer = executor.plan().buffers[static_cast<size_t>(p->buffer)];
    if (buffer.kind != exec::Value::Kind::kTensor) continue;
    if (executor.value(p->buffer) == nullptr && !executor.storage().whole(p->buffer)) continue;
    DT_ASSIGN_OR_RETURN(taken.variables[p->name], CopyOf(executor, p->buffer));
  }
  for (const std::string& name : config.fetch) {
    const int buffer = FetchBuffer(executor, name);
    if (buffer < 0) continue;
    DT_ASSIGN_OR_RETURN(taken.fetches[name], CopyOf(executor, buffer));
  }
  return taken;
}

}  // namespace dtranspile::trial
