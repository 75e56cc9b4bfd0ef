// What a rank writes of its job's checkpoints (docs/parameter-server.md, Checkpoints). All ranks
// that have something to write come to the same steps, each by itself; the one that finishes a step
// last puts its checkpoint in place (runtime/io/shared_folder.h). Used by the worker.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/exec/config.h"
#include "runtime/exec/executor.h"

namespace dtranspile::exec {

class Checkpoints {
 public:
  // Does nothing where the config has none. Before the rank meets others: they may write as soon as
  // it has.
  explicit Checkpoints(const WorkerConfig& config);

  // Whether a checkpoint is due after `rounds` rounds or steps of this run.
  bool Due(int64_t rounds) const;
  // After so many: writes, where it is time to and this rank has something to write.
  absl::Status After(int64_t rounds, const Executor& executor);

 private:
  absl::Status Write(int64_t step, int64_t fed, const Executor& executor) const;

  const WorkerConfig& config_;
  int64_t last_ = 0;  // rounds of the last call
};

}  // namespace dtranspile::exec
