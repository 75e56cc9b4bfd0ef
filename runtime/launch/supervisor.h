// Watches the processes of a job: logs, control channels, ends, deadlines, signals. Used by RunJob.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/launch/flights.h"
#include "runtime/launch/lines.h"
#include "runtime/launch/process.h"
#include "runtime/launch/ranks.h"
#include "runtime/launch/report.h"
#include "runtime/launch/signals.h"
#include "runtime/launch/step_log.h"

namespace dtranspile::launch {

class Supervisor {
 public:
  // `timeout_seconds`: how long a rank may be silent.
  // `flights`: the memory of their flight recorders, by rank; null: nothing is recorded.
  Supervisor(const std::vector<Rank>& ranks, double timeout_seconds, int64_t steps,
             const Flights* flights = nullptr);

  absl::Status Start(const std::string& binary);

  // Returns when every process has ended: by itself, or because one failed, or because a signal
  // came.
  void Watch();

  const std::optional<Failure>& failure() const { return failure_; }
  int interrupted_by() const { return interrupted_by_; }
  const std::vector<RankRecord>& records() const { return records_; }
  // The streams that the records name; the supervisor is done with them.
  StepLog TakeLog() { return std::move(log_); }

 private:
  struct Child {
    Process process;
    Lines log{size_t{64} << 10};
    Lines control{size_t{64} << 20};
    int64_t heard_ns = 0;  // when its last line came
  };

  void Poll();
  int PollMs() const;
  void ReadLog(size_t index);
  void ReadControl(size_t index);
  void RequestCheckpoint();
  void OnLine(size_t index, const std::string& line);
  void OnStep(size_t index, const Json& line);
  void OnEnd(size_t index);
  void ExcuseOwnPause();
  void CheckSilence();
  void CheckDigest(size_t index);
  void Fail(Failure failure);
  void AttributeFailure();
  bool IsSpeechless() const;
  void SayWhere();
  Json StepOf(size_t index) const;
  void Advance();
  void ShowProgress(bool last);
  bool AllEnded() const;

  const std::vector<Rank>& ranks_;
  const int64_t timeout_ns_, steps_;
  const Flights* const flights_;
  SignalWatch signals_;
  std::deque<Child> children_;
  std::vector<RankRecord> records_;
  StepLog log_;
  std::optional<Failure> failure_;
  std::optional<Failure> waited_;  // what the first rank that waited in vain said
  int64_t failed_ns_ = 0;          // when the first failure was noticed
  int64_t looked_ns_ = 0;          // when ranks were last looked at
  int signalled_ = 0;              // the strongest signal sent so far
  int interrupted_by_ = 0;
  bool requested_ = false;  // a checkpoint, of a rank that is not ready yet
  const bool terminal_;
  int64_t shown_ns_ = 0;
  bool line_open_ = false;  // a progress line stands on the terminal
};

}  // namespace dtranspile::launch
