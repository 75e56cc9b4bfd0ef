// What a rank holds at one moment, copied out of its executor. Used by trial.cc and probe.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/executor.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::trial {

struct Snapshot {
  std::map<std::string, Tensor> variables, fetches;  // whole tensors, and this rank's values
};

// Variables by `wanted` (null: all that are dense tensors), and the fetches of `config` that are
// tensors.
absl::StatusOr<Snapshot> Take(const exec::WorkerConfig& config, const exec::Executor& executor,
                              const std::vector<std::string>* wanted = nullptr);

// A copy of what a buffer holds, with its LoD.
absl::StatusOr<Tensor> CopyOf(const exec::Executor& executor, int buffer);
// The inverse.
absl::Status Restore(const exec::Executor& executor, int buffer, const Tensor& tensor);

// The buffer of a fetch; -1: there is none, or it is no tensor.
int FetchBuffer(const exec::Executor& executor, const std::string& name);

}  // namespace dtranspile::trial
