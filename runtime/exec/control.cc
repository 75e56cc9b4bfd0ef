#include "runtime/exec/control.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {

absl::Status NoFurtherThread(const std::system_error& error) {
  // Of other errors than this one the text says enough.
  if (error.code() != std::errc::resource_unavailable_try_again)
    return absl::InternalError(error.what());
  return absl::ResourceExhaustedError(
      absl::StrCat("the system grants no further thread (", error.what(),
                   "); raise the limits of processes and of memory (`ulimit -u`, `ulimit -v`)"));
}

ControlChannel::ControlChannel(int fd) : fd_(fd), gone_(fd < 0) {
  if (gone_) return;
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    status_ = NoFurtherThread(error);
  }
}

ControlChannel::~ControlChannel() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// The writer's thread. Lines wait in `unwritten_`, so that a step never waits for a slow launcher;
// when nothing else is said for a while a line says that the rank is alive. The lock is released
// while the pipe is full, with a bounded wait. Ends when everything is written, or when the
// launcher is gone.
void ControlChannel::Run() {
  std::unique_lock lock(mutex_);
  auto due = std::chrono::steady_clock::now() + kSignOfLife;
  while (!gone_ && !(ends_ && unwritten_.empty())) {
    if (unwritten_.empty()) {
      changed_.wait_until(lock, due, [this] { return ends_ || gone_ || !unwritten_.empty(); });
    } else {
      constexpr int kPatienceMs = 100;
      lock.unlock();
      pollfd room = {fd_, POLLOUT, 0};
      poll(&room, 1, kPatienceMs);
      lock.lock();
      Write();
      changed_.notify_all();
    }
    if (ends_ || std::chrono::steady_clock::now() < due) continue;
    due += kSignOfLife;
    // What is unwritten is one already.
    if (!unwritten_.empty()) continue;
    unwritten_ = "{\"event\":\"alive\"}\n";
    Write();
  }
}

// Writes what the pipe takes without blocking, and keeps the rest. With the lock held.
void ControlChannel::Write() {
  size_t at = 0;
  while (at < unwritten_.size() && !gone_) {
    const ssize_t written = write(fd_, unwritten_.data() + at, unwritten_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    gone_ = written <= 0;
    at += gone_ ? 0 : static_cast<size_t>(written);
  }
  if (gone_) at = unwritten_.size();
  unwritten_.erase(0, at);
}

bool ControlChannel::Send(const Json& line) {
  constexpr size_t kMostUnwritten = size_t{64} << 20;
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return gone_ || unwritten_.size() < kMostUnwritten; });
  if (gone_) return false;
  unwritten_ += text;
  Write();
  if (gone_ || !unwritten_.empty()) changed_.notify_all();
  return !gone_;
}

Json JsonNumber(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace dtranspile::exec
