// The worker's end of the control channel (docs/file-formats.md): one JSON object per line, and a
// sign of life every second, so that the launcher can tell a long step from a stopped process. A
// launcher that does not read for a while (it is stopped, or its terminal is) does not hold up the
// rank, for which others would wait in vain.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "absl/status/status.h"
#include "runtime/exec/json_reader.h"

namespace dtranspile::exec {

// How often a worker says that it lives.
constexpr std::chrono::seconds kSignOfLife{1};

class ControlChannel {
 public:
  // Writes to `fd`, a pipe that stays open for the life of the channel; -1: nobody reads. Throws
  // nothing: without a thread for it there are no signs of life, and `status` says so.
  explicit ControlChannel(int fd);
  // Waits until everything is written, or nobody reads any more.
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  const absl::Status& status() const { return status_; }

  // Writes a line, now or when there is room; waits only where very much is unread. False when
  // nobody reads any more.
  bool Send(const Json& line);

 private:
  void Run();
  void Write();  // what there is room for

  const int fd_;
  absl::Status status_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::string unwritten_;
  bool gone_ = false;  // nobody reads
  bool ends_ = false;
  std::thread thread_;  // signs of life, and what there was no room for
};

// What a thread that could not be started threw, as an error with its remedy.
absl::Status NoFurtherThread(const std::system_error& error);

// A number for JSON, which has no NaN and no infinities: those become the strings "nan", "inf",
// "-inf".
Json JsonNumber(double value);

}  // namespace dtranspile::exec
