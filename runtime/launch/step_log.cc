#include "runtime/launch/step_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::launch {
namespace {

// Large enough that few blocks need an entry, small enough that thousands of streams have a tail
// each.
constexpr size_t kBlock = 4096;

// A file that nobody can name, gone with its descriptor.
// O_TMPFILE where the file system has it, else a file that is unlinked at once. -1: everything
// stays in memory (Flush).
int OpenUnnamed() {
  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr || *folder == 0) folder = "/tmp";
  const int file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = absl::StrCat(folder, "/dtranspile-steps-XXXXXX");
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

bool WriteAt(int file, int64_t offset, const char* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        pwrite(file, data + done, size - done, offset + static_cast<int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool ReadAt(int file, int64_t offset, char* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        pread(file, data + done, size - done, offset + static_cast<int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

StepLog::~StepLog() {
  if (file_ >= 0) close(file_);
}

StepLog::StepLog(StepLog&& other) noexcept { *this = std::move(other); }

StepLog& StepLog::operator=(StepLog&& other) noexcept {
  std::swap(streams_, other.streams_);
  std::swap(file_, other.file_);
  std::swap(end_, other.end_);
  return *this;
}

size_t StepLog::AddStream() {
  streams_.emplace_back();
  return streams_.size() - 1;
}

// A line is kept in memory until its stream has a block of them; then memory does not grow with
// steps but by an entry per block.
void StepLog::Append(size_t stream, absl::string_view line) {
  Stream& to = streams_[stream];
  to.tail.append(line.data(), line.size());
  to.tail += '\n';
  ++to.lines;
  if (to.tail.size() >= kBlock) Flush(to);
}

// Writes what fills whole blocks.
void StepLog::Flush(Stream& stream) {
  if (file_ < 0) file_ = OpenUnnamed();
  size_t at = 0;
  for (; stream.tail.size() - at >= kBlock; at += kBlock) {
    Block& block = stream.blocks.emplace_back();
    if (file_ >= 0 && WriteAt(file_, end_, stream.tail.data() + at, kBlock)) {
      block.offset = std::exchange(end_, end_ + static_cast<int64_t>(kBlock));
    } else {
      block.kept = stream.tail.substr(at, kBlock);
    }
  }
  stream.tail.erase(0, at);
}

// The next block of the stream, the tail last. Lines cross blocks: what has not been handed out
// stays in front.
absl::Status StepLog::Reader::Fetch() {
  const Stream& stream = log_->streams_[stream_];
  text_.erase(0, std::exchange(at_, 0));
  if (block_ > stream.blocks.size()) return absl::OutOfRangeError("no more steps");
  const size_t number = block_++;
  if (number == stream.blocks.size()) {
    text_ += stream.tail;
    return absl::OkStatus();
  }
  const Block& block = stream.blocks[number];
  if (block.offset < 0) {
    text_ += block.kept;
    return absl::OkStatus();
  }
  const size_t before = text_.size();
  text_.resize(before + kBlock);
  if (ReadAt(log_->file_, block.offset, text_.data() + before, kBlock)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("what the ranks have reported cannot be read back from "
                   "the temporary folder: ",
                   strerror(errno)));
}

absl::StatusOr<std::string> StepLog::Reader::Next() {
  size_t end = text_.find('\n', at_);
  while (end == std::string::npos) {
    DT_RETURN_IF_ERROR(Fetch());
    end = text_.find('\n', at_);
  }
  std::string line = text_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

}  // namespace dtranspile::launch
