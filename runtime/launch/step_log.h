// What ranks say step by step, for the report: values of fetches and times. Kept in a file without
// a name in the temporary folder, so that the launcher's memory does not grow with the number of
// steps. Filled by the supervisor, read by the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dtranspile::launch {

// Lines of text in several streams.
class StepLog {
 public:
  StepLog() = default;
  ~StepLog();
  StepLog(StepLog&& other) noexcept;
  StepLog& operator=(StepLog&& other) noexcept;

  // Adds an empty stream and returns its number.
  size_t AddStream();
  size_t streams() const { return streams_.size(); }

  // Appends a line, which has no line feed in it. Never fails: what the file has no room for stays
  // in memory.
  void Append(size_t stream, absl::string_view line);

  // How many lines a stream has.
  int64_t lines(size_t stream) const { return streams_[stream].lines; }

  // Reads a stream from its first line on. The log must not be appended to meanwhile.
  class Reader {
   public:
    Reader(const StepLog& log, size_t stream) : log_(&log), stream_(stream) {}

    // The next line; kOutOfRange at the end, kDataLoss where the file cannot be read any more.
    absl::StatusOr<std::string> Next();

   private:
    absl::Status Fetch();

    const StepLog* log_;
    size_t stream_;
    size_t block_ = 0;
    std::string text_;  // of the blocks fetched last, from `at_` on unread
    size_t at_ = 0;
  };

 private:
  struct Block {
    int64_t offset = -1;  // in the file; -1: in `kept`
    std::string kept;
  };
  struct Stream {
    std::vector<Block> blocks;  // of kBlock bytes each
    std::string tail;           // less than that
    int64_t lines = 0;
  };

  void Flush(Stream& stream);

  std::vector<Stream> streams_;
  int file_ = -1;  // opened when the first block is full
  int64_t end_ = 0;
};

}  // namespace dtranspile::launch
