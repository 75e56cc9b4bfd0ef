// What a rank writes of its job's checkpoints (docs/parameter-server.md, Checkpoints). All ranks
// that have something to write come to the same steps, each by itself; the one that finishes a step
// last puts its checkpoint in place (runtime/io/shared_folder.h). Used by the worker.
//
// At the request of a user (SIGUSR1): one rank decides after which step, the first of those who ask
// servers, or the only one that writes. Servers with rounds are told with the end of its pushes of
// the round, so that all of them write after the same one.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/exec/config.h"
#include "runtime/exec/executor.h"

namespace dtranspile::exec {

// From now on SIGUSR1 asks this process for a checkpoint.
void HearRequests();

class Checkpoints {
 public:
  // Does nothing where the config has none. Before the rank meets others: they may write as soon as
  // it has.
  explicit Checkpoints(const WorkerConfig& config);

  // In front of a step: whether one has been asked for that is not written yet. Of a rank that
  // decides.
  bool Asked();
  // Whether a checkpoint is due after `rounds` rounds or steps of this run.
  bool Due(int64_t rounds) const;
  // After so many: writes, where it is time to and this rank has something to write.
  absl::Status After(int64_t rounds, const Executor& executor, bool asked = false);

 private:
  absl::Status Write(int64_t step, int64_t fed, const Executor& executor) const;

  const WorkerConfig& config_;
  int64_t last_ = 0;    // rounds of the last call
  bool asked_ = false;  // by a user, for the next end of a round
};

}  // namespace dtranspile::exec
