#include "runtime/launch/flights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/output.h"
#include "runtime/launch/process.h"

namespace dtranspile::launch {
namespace {

constexpr std::string_view kEnding = ".flight.json";

// Nothing where the rank has not begun to record, or what it has left is no recording: it may have
// been killed at any instant.
void ReadInto(int file, std::vector<flight::Recording>& recordings) {
  struct stat info = {};
  if (fstat(file, &info) != 0 || info.st_size <= 0) return;
  const auto size = static_cast<size_t>(info.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  absl::StatusOr<flight::Recording> recording = flight::ReadRecording(memory, size);
  if (recording.ok()) recordings.push_back(*std::move(recording));
  munmap(memory, size);
}

}  // namespace

Flights::~Flights() {
  for (int file : files_)
    if (file >= 0) close(file);
}

absl::Status Flights::Begin(size_t ranks) {
  for (size_t i = 0; i < ranks; ++i) {
    // Out of the way of the numbers that a rank has: dup2 of a descriptor to its own number does
    // nothing, and it would be closed on exec.
    const int file = memfd_create("dtranspile-flight", MFD_CLOEXEC);
    files_.push_back(file < 0 ? file : fcntl(file, F_DUPFD_CLOEXEC, kFlightFd + 1));
    if (file >= 0) close(file);
    if (files_.back() < 0)
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory file for the flight recorder of rank ", i, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

std::vector<flight::Recording> Flights::Read() const {
  std::vector<flight::Recording> recordings;
  for (int file : files_) ReadInto(file, recordings);
  return recordings;
}

absl::Status WriteRecordings(const std::string& folder,
                             const std::vector<flight::Recording>& recordings) {
  for (const flight::Recording& one : recordings) {
    DT_ASSIGN_OR_RETURN(
        const std::string path,
        io::PrepareInside(folder, absl::StrCat(one.role, ".", one.rank, std::string(kEnding))));
    const std::string text = flight::TextOf(one);
    DT_RETURN_IF_ERROR(io::WriteFile(path, text.data(), static_cast<int64_t>(text.size())));
  }
  return absl::OkStatus();
}

bool IsFlightFile(std::string_view file, std::string_view role) {
  if (file.size() <= kEnding.size() || file.substr(file.size() - kEnding.size()) != kEnding)
    return false;
  file.remove_suffix(kEnding.size());
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == file.size()) return false;
  const std::string_view number = file.substr(dot + 1);
  return number.find_first_not_of("0123456789") == std::string_view::npos &&
         (role.empty() || file.substr(0, dot) == role);
}

}  // namespace dtranspile::launch
