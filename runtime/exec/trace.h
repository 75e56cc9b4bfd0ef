// What a rank did when, as a Chrome trace (chrome://tracing, ui.perfetto.dev; the "Trace Event
// Format" document). Filled by the executor, written by the worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace dtranspile::exec {

// Nanoseconds of the steady clock.
int64_t NowNs();

class Trace {
 public:
  // Rows of the picture: the rank's own work, and one per communicator from kComm on.
  enum Row { kWork = 0, kComm = 1 };

  // Room for `events`; later ones are counted and left out, so that tracing never allocates within
  // a step.
  explicit Trace(size_t events = size_t{1} << 18) { events_.reserve(events); }

  // `name` outlives the trace.
  void Add(const char* name, int row, int64_t begin_ns, int64_t end_ns);

  // `process` is the number and title of the rank; `rows` names the communicators.
  absl::Status Write(const std::string& path, int process, const std::string& title,
                     const std::vector<std::string>& comms) const;

 private:
  struct Event {
    const char* name;
    int row;
    int64_t begin_ns, end_ns;
  };
  std::vector<Event> events_;
  int64_t left_out_ = 0;
};

}  // namespace dtranspile::exec
