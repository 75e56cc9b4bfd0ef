// The worker's end of the control channel (docs/file-formats.md): one JSON object per line, and a
// sign of life every second, so that the launcher can tell a long step from a stopped process.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/exec/json_reader.h"

namespace dtranspile::exec {

// How often a worker says that it lives.
constexpr std::chrono::seconds kSignOfLife{1};

class ControlChannel {
 public:
  // Writes to `fd`, which stays open for the life of the channel.
  explicit ControlChannel(int fd);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  // Writes a line. False when nobody reads any more.
  bool Send(const Json& line);

 private:
  void SendSignsOfLife();

  const int fd_;
  std::mutex mutex_;  // lines do not mix
  std::mutex ending_mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;
};

// A number for JSON, which has no NaN and no infinities: those become the strings "nan", "inf",
// "-inf".
Json JsonNumber(double value);

}  // namespace dtranspile::exec
