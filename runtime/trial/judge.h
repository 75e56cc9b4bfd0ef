// Holds what ranks of a job have against what the reference has: while they run, where one rank's
// value says it all, else when all have ended. Used by trial.cc; called by the threads of all
// ranks.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/executor.h"
#include "runtime/trial/compare.h"
#include "runtime/trial/snapshot.h"
#include "runtime/trial/trial.h"

namespace dtranspile::trial {

// Of a run of a reference, by step; step -1 stands first.
using Course = std::vector<Snapshot>;

class Judge {
 public:
  // Both outlive it. The first course is what messages show.
  Judge(const Config& config, const std::vector<Course>& courses);

  // A rank of the job after a step.
  absl::Status See(int64_t step, const exec::WorkerConfig& rank, const exec::Executor& executor);

  // What takes values of several ranks. When all have ended.
  void CompareCombined();

  // Differences of the first step that has some, by variable and rank.
  std::vector<Difference> TakeDifferences();
  int64_t compared() const { return compared_; }

 private:
  struct Held {
    const exec::WorkerConfig* rank;  // of config_
    Tensor value;
  };
  // By step and name, and of sums by the ranks that are one.
  using Combined = std::map<std::pair<int64_t, std::string>, std::vector<Held>>;

  // Counts what was compared, and keeps what is apart; `of` ends the message.
  void Note(const Difference& what, bool known, const std::optional<Apart>& shown, const char* of);
  // The rank's description in config_: the one that it runs with ends with its thread.
  const exec::WorkerConfig* Lasting(const exec::WorkerConfig& rank) const;
  // Whether it is `scale` times what one of the references has.
  void Hold(const Difference& what, const TensorView& got, double scale, bool fetch);
  void SeeVariable(int64_t step, const exec::WorkerConfig& rank, const exec::Executor& executor,
                   const exec::Persistable& p, const Variable& variable, absl::Status& status);
  void CompareFetch(int64_t step, const Fetch& fetch, std::vector<Held>& held);

  const Config& config_;
  const std::vector<Course>& courses_;
  std::map<std::pair<std::string, std::string>, const Variable*> variables_;  // by role and name
  std::mutex mutex_;
  Combined sums_, fetches_;
  std::vector<Difference> differences_;
  int64_t compared_ = 0;
};

}  // namespace dtranspile::trial
