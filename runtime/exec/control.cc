#include "runtime/exec/control.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>

namespace dtranspile::exec {

ControlChannel::ControlChannel(int fd) : fd_(fd), thread_([this] { SendSignsOfLife(); }) {}

ControlChannel::~ControlChannel() {
  {
    std::lock_guard lock(ending_mutex_);
    ends_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void ControlChannel::SendSignsOfLife() {
  std::unique_lock lock(ending_mutex_);
  while (!ending_.wait_for(lock, kSignOfLife, [this] { return ends_; })) Send({{"event", "alive"}});
}

bool ControlChannel::Send(const Json& line) {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::lock_guard lock(mutex_);
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(fd_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

Json JsonNumber(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace dtranspile::exec
