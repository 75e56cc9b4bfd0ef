// The report of a run: what every rank said, and what it means together. Filled by the supervisor,
// finished by RunJob.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/json_reader.h"
#include "runtime/launch/job.h"

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
  std::map<std::string, std::vector<Json>> fetch;  // per step the flat list of elements
  std::vector<double> step_ms;
  std::string digest;
  int64_t peak_rss_bytes = 0, bytes_sent = 0, bytes_received = 0;
  double load_ms = 0;
  bool ready = false, done = false;
};

// Values of several ranks as one list, by the plan's `combine`. kFailedPrecondition when ranks that
// have to agree do not.
absl::StatusOr<Json> Combine(const std::string& how, const std::vector<Json>& values);

// A list of one element is shown as the element.
Json Shown(const Json& list);

// DIR/NAME.npy from DIR/<rank>/NAME.npy for each fetch: float means, sums and concatenations over
// ranks. "list" has no common file.
absl::Status CombineFiles(const std::string& folder,
                          const std::map<std::string, std::string>& combine, int ranks);

}  // namespace dtranspile::launch
