// Where the ranks of a job that has failed first went apart, from their recordings: who waits for
// whom, and who waits for nobody. Asked by the launcher when a job has failed, and by `dtranspile
// trace merge`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/exec/json_reader.h"
#include "runtime/flight/recording.h"

namespace dtranspile::flight {

// A rank that others wait for, and that waits for none itself: it has died, stopped, or computes.
struct Stopped {
  size_t rank = 0;              // index of its recording
  uint64_t before = 0;          // the number of the event that it did not begin
  std::string op;               // what the others wait for
  std::vector<size_t> waiting;  // for it, directly
};

// The same operation of a communicator that is another one on two ranks of a role.
struct Mismatch {
  size_t left = 0, right = 0;
  std::string comm, left_op, right_op;
  uint64_t sequence = 0;
};

struct Divergence {
  std::vector<Mismatch> mismatches;  // the earliest of every communicator
  std::vector<Stopped> stopped;
  std::vector<size_t> circle;        // where there is one: each waits for the next
  std::vector<std::string> missing;  // waited for, without a recording

  bool empty() const {
    return mismatches.empty() && stopped.empty() && circle.empty() && missing.empty();
  }
};

// Recordings of one job, of some or all of its ranks.
Divergence DivergenceOf(const std::vector<Recording>& recordings);

// A line for each finding: "trainer 1 stopped before event 12: …".
std::vector<std::string> LinesOf(const Divergence& divergence,
                                 const std::vector<Recording>& recordings);
exec::Json JsonOf(const Divergence& divergence, const std::vector<Recording>& recordings);

}  // namespace dtranspile::flight
