// The flight recorder of a rank: a ring of its last operations with other ranks, in memory that the
// launcher reads after the rank has ended, by a signal too. Per operation three reads of a cheap
// clock (clock.h; two where it blocks) and one line of the cache; bench/flight measures what that
// costs of a step.
//
// Use: AddPoint for every operation while the plan is bound, then Publish, then Begin, Wait and End
// as operations run. One thread: that of the steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/flight/clock.h"
#include "runtime/exec/flight/recording.h"

namespace dtranspile::flight {

struct MemoryHeader;
struct MemoryEvent;

// An operation of the plan: what it is called, and where it is matched.
struct Point {
  uint32_t op = 0, channel = 0;
};

class Recorder {
 public:
  // `self` says which rank this is, and its communicators. The memory is that of the file `fd`,
  // which the recorder makes as large as it needs and does not close.
  Recorder(int fd, Recording self, uint64_t events = 4096)
      : fd_(fd), self_(std::move(self)), capacity_(events) {}
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Point AddPoint(const std::string& op, const std::string& comm, Channel::Kind kind, int peer = 0);

  // No points after it. kResourceExhausted where there is no room.
  absl::Status Publish();

  void BeginStep(int64_t step) { step_ = step; }

  // The number of the event; the calls below take it. Nothing is recorded before Publish.
  uint64_t Begin(Point point) { return Add(point, false); }
  uint64_t BeginAndWait(Point point) { return Add(point, true); }
  void Wait(uint64_t number);
  // Of an operation that ended well: one that failed stays where it was.
  void End(uint64_t number);

 private:
  uint64_t Add(Point point, bool waits);
  MemoryEvent* at(uint64_t number);
  // Null where its place has been given to a later one.
  MemoryEvent* find(uint64_t number);

  const Clock clock_;
  const int fd_;
  Recording self_;
  const uint64_t capacity_;
  int64_t step_ = -1;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  MemoryHeader* header_ = nullptr;
  MemoryEvent* ring_ = nullptr;
};

// An operation that blocks from its beginning to its end.
class Blocking {
 public:
  Blocking(Recorder* recorder, Point point) : recorder_(recorder) {
    if (recorder_ == nullptr) return;
    number_ = recorder_->BeginAndWait(point);
  }
  // Returns the status, after what it says of the end has been written down.
  absl::Status End(absl::Status status) {
    if (recorder_ != nullptr && status.ok()) recorder_->End(number_);
    return status;
  }

 private:
  Recorder* const recorder_;
  uint64_t number_ = 0;
};

}  // namespace dtranspile::flight
