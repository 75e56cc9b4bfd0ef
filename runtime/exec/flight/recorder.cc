#include "runtime/exec/flight/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "runtime/exec/flight/layout.h"

namespace dtranspile::flight {

Recorder::~Recorder() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

// Few channels and many operations: bodies that are bound several times name the same op again.
Point Recorder::AddPoint(const std::string& op, const std::string& comm, Channel::Kind kind,
                         int peer) {
  const auto channel = std::find_if(
      self_.channels.begin(), self_.channels.end(),
      [&](const Channel& one) { return one.comm == comm && one.kind == kind && one.peer == peer; });
  Point point;
  point.channel = static_cast<uint32_t>(channel - self_.channels.begin());
  if (channel == self_.channels.end()) self_.channels.push_back({comm, kind, peer, 0});
  if (self_.ops.empty() || self_.ops.back() != op) self_.ops.push_back(op);
  point.op = static_cast<uint32_t>(self_.ops.size() - 1);
  return point;
}

// Memory of a file that the launcher holds open: a header, a ring of events and the text that
// explains their numbers. The launcher can read it after the rank has died, since the file outlives
// the process. The magic number is written last, with release order: who sees it sees the rest.
absl::Status Recorder::Publish() {
  const std::string text = TextOf(self_);
  const MemoryLayout layout = MemoryLayout::Of(capacity_, self_.channels.size(), text.size());
  const auto fail = [&](const char* what) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for the flight recorder (", layout.bytes, " bytes): ", what, ": ",
        strerror(errno),
        errno == EFBIG ? "; raise the limit on the size of files (`ulimit -f`), or run "
                         "with --no-flight-recorder"
                       : ""));
  };
  // Room is taken now: a write into a file that can not grow any more would end the rank.
  if (const int error = posix_fallocate(fd_, 0, static_cast<off_t>(layout.bytes)); error != 0) {
    errno = error;
    return fail("fallocate");
  }
  // All pages now, not one by one in the middle of steps.
  void* memory =
      mmap(nullptr, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
  if (memory == MAP_FAILED) return fail("mmap");
  memory_ = memory;
  bytes_ = layout.bytes;
  auto* bytes = static_cast<std::byte*>(memory);
  header_ = new (bytes) MemoryHeader;
  ring_ = reinterpret_cast<MemoryEvent*>(bytes + layout.ring);
  header_->capacity = capacity_;
  header_->channels = self_.channels.size();
  header_->text_bytes = text.size();
  std::memcpy(bytes + layout.text, text.data(), text.size());
  header_->begun.store(0);
  header_->first = PairOf(clock_);
  header_->magic.store(kMagic, std::memory_order_release);
  return absl::OkStatus();
}

MemoryEvent* Recorder::at(uint64_t number) { return ring_ + number % capacity_; }

MemoryEvent* Recorder::find(uint64_t number) {
  if (header_ == nullptr) return nullptr;
  MemoryEvent* event = at(number);
  return event->written.load(std::memory_order_relaxed) == number + 1 ? event : nullptr;
}

// The reader may look at any instant, since the rank may be killed at any: `written` is taken away
// before the old event is overwritten and given back after the new one is whole.
uint64_t Recorder::Add(Point point, bool waits) {
  if (header_ == nullptr) return 0;
  const uint64_t number = header_->begun.load(std::memory_order_relaxed);
  auto* started = reinterpret_cast<std::atomic<uint64_t>*>(header_ + 1) + point.channel;
  const uint64_t sequence = started->load(std::memory_order_relaxed);
  const int64_t now = clock_.Now();
  MemoryEvent* event = at(number);
  event->written.store(0, std::memory_order_release);
  event->sequence = sequence;
  event->step = step_;
  event->begin = now;
  event->wait = waits ? now : 0;
  event->end = 0;
  event->op = point.op;
  event->channel = point.channel;
  event->written.store(number + 1, std::memory_order_release);
  started->store(sequence + 1, std::memory_order_release);
  header_->begun.store(number + 1, std::memory_order_release);
  return number;
}

void Recorder::Wait(uint64_t number) {
  if (MemoryEvent* event = find(number)) event->wait = clock_.Now();
}

void Recorder::End(uint64_t number) {
  if (MemoryEvent* event = find(number)) event->end = clock_.Now();
}

}  // namespace dtranspile::flight
