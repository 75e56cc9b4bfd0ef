// The report of a run: what every rank said, and what it means together. Filled by the supervisor,
// finished by RunJob.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/json_reader.h"
#include "runtime/launch/step_log.h"

namespace dtranspile::launch {

using exec::Json;

// Why a job ended early. `weight` orders reasons that are noticed together: what a rank says about
// waiting for others is the least.
struct Failure {
  enum Weight { kWaiting = 0, kSilent = 1, kOwn = 2, kDied = 3, kInterrupted = 4 };
  Weight weight = kOwn;
  int process = -1;  // index of the rank; -1: nobody's
  Json op, step;     // null when not known
  std::string message;
};

// What one rank has reported.
struct RankRecord {
  std::map<std::string, size_t> fetch;  // streams of the log: per step the value as it is shown
  size_t times = 0;                     // stream: milliseconds per step
  int64_t steps = 0;                    // that have been reported
  std::string last;                     // time and first value of the last one, for people
  std::string digest;
  int64_t peak_rss_bytes = 0, bytes_sent = 0, bytes_received = 0;
  double load_ms = 0;
  bool ready = false, done = false;
};

// A fetch: how the values of the ranks that hold it become one, and which ranks these are.
struct HeldFetch {
  std::string combine;
  std::vector<int> ranks;            // numbers in their role
  std::vector<size_t> indices = {};  // places in the report
};

// Values of several ranks as one list, by the plan's `combine`. kFailedPrecondition when ranks that
// have to agree do not: `ranks` are their numbers for the message.
absl::StatusOr<Json> Combine(const std::string& how, const std::vector<Json>& values,
                             const std::vector<int>& ranks);

// A list of one element is shown as the element. Listed is the inverse; null stays null.
Json Shown(const Json& list);
Json Listed(const Json& shown);

// The report of a run: values per step stay in the log until they are written.
class Report {
 public:
  struct Rank {
    std::string role, class_name, device;
    int rank = 0, threads = 0;
    double compile_ms = 0;
    RankRecord record;
  };
  // Takes text, piece by piece; an error ends the writing.
  using Sink = std::function<absl::Status(absl::string_view)>;

  bool ok = false;
  int interrupted_by = 0;  // the signal that ended the run, after everything has been tidied up
  std::string digest;
  int64_t steps = 0;
  Json error;  // null, or role, class, rank, op, step and message, and where ranks went apart
  std::vector<std::string> diverged;    // the same for people, a sentence each
  std::map<std::string, size_t> fetch;  // streams: per step what the ranks' values mean together
  std::vector<Rank> ranks;
  StepLog log;

  // As a JSON object (docs/file-formats.md, `run --report`).
  absl::Status Write(const Sink& sink) const;
  // The combined fetches for people: `NAME: [value, value …]`, a line each.
  absl::Status WriteFetches(const Sink& sink) const;
};

// DIR/NAME.npy from DIR/<rank>/NAME.npy for each fetch: float means, sums and concatenations over
// the ranks that hold it. "list" has no common file.
absl::Status CombineFiles(const std::string& folder,
                          const std::map<std::string, HeldFetch>& fetches);

}  // namespace dtranspile::launch
