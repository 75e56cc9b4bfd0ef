#include "runtime/exec/left_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kLookEvery = 16 * kMiB;
// What a process needs beside its values. Also covers what small values take beyond their elements
// until the next look.
constexpr int64_t kReserve = 128 * kMiB;
// What a machine needs beside all its processes' values: with less, the pages of the programs that
// run are read from disk again and again, and a loop without end stops everybody for minutes
// before it is refused (measured: ten of them on 24 GB).
constexpr int64_t kMachineShare = 32, kMostOfMachine = 1024 * kMiB;

std::atomic<int64_t> taken{0};   // by all values
std::atomic<int64_t> looked{0};  // `taken` when the system was asked last

// The number in the line of a file of /proc that matches `format`; -1 where there is none.
int64_t NumberIn(const char* path, const char* format) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  char line[256];
  int64_t number = -1;
  while (number < 0 && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, format, &number) != 1) number = -1;
  std::fclose(file);
  return number;
}

// Of the machine, and of the address space that this process is limited to.
int64_t LeftMemory() {
  constexpr int64_t kKiB = 1024;
  int64_t left = std::numeric_limits<int64_t>::max();
  const int64_t available = NumberIn("/proc/meminfo", "MemAvailable: %" SCNd64 " kB");
  const int64_t all =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  if (available >= 0) left = available * kKiB - MachineReserve(all);
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return left;
  const int64_t pages = NumberIn("/proc/self/statm", "%" SCNd64);
  const int64_t used = pages * sysconf(_SC_PAGESIZE) + kReserve;
  return std::min(left, static_cast<int64_t>(limit.rlim_cur) - used);
}

}  // namespace

int64_t MachineReserve(int64_t bytes) {
  return std::clamp(bytes / kMachineShare, kReserve, kMostOfMachine);
}

// Counts memory of growing values over the process, and refuses what would leave the machine with
// less than a reserve: an error of the step instead of the kernel's out-of-memory killer. How much
// is left is a system call, and is looked up only every kLookEvery bytes.
absl::Status CountValueBytes(int64_t bytes) {
  const int64_t total = taken.fetch_add(bytes) + bytes;
  if (bytes <= 0 || total < looked.load() + kLookEvery) {
    // What has been given back may be taken again without a look.
    return absl::OkStatus();
  }
  const int64_t left = LeftMemory();
  if (bytes <= left) {
    looked.store(total);
    return absl::OkStatus();
  }
  taken.fetch_sub(bytes);
  return absl::ResourceExhaustedError(
      absl::StrCat("values that grow take ", (total - bytes) / kMiB, " MiB already, and ",
                   std::max<int64_t>(left, 0) / kMiB, " MiB are left"));
}

}  // namespace dtranspile::exec
