#include "runtime/launch/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace dtranspile::launch {
namespace {

// Of a file of the kernel, which has no size of its own and never waits; "" where there is none.
std::string FileText(const std::string& path) {
  constexpr size_t kMost = size_t{64} << 10;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string text;
  char piece[4096];
  while (text.size() < kMost) {
    const ssize_t count = read(file, piece, sizeof(piece));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(piece, static_cast<size_t>(count));
  }
  close(file);
  return text;
}

// The words of a short file as numbers; 0 for what is none ("max", or no file).
std::vector<double> Numbers(const std::string& path) {
  std::vector<double> numbers;
  std::stringstream words(FileText(path));
  for (std::string word; words >> word;) {
    double number = 0;
    numbers.push_back(absl::SimpleAtod(word, &number) ? number : 0);
  }
  numbers.resize(std::max<size_t>(numbers.size(), 2));
  return numbers;
}

// Processors that one group grants; 0: no limit.
double GrantOf(const std::string& group) {
  const std::vector<double> max = Numbers(group + "/cpu.max");  // version 2: quota and period
  if (max[0] > 0 && max[1] > 0) return max[0] / max[1];
  const double quota = Numbers(group + "/cpu.cfs_quota_us")[0];
  const double period = Numbers(group + "/cpu.cfs_period_us")[0];
  return quota > 0 && period > 0 ? quota / period : 0;
}

int AllowedProcessors() {
  // The kernel's mask may be larger than cpu_set_t's.
  constexpr int kMost = 1 << 16;
  for (int count = CPU_SETSIZE; count <= kMost; count *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(count));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(count));
    const bool known = set != nullptr && sched_getaffinity(0, bytes, set) == 0;
    const int processors = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(processors, 1);
  }
  return 1;
}

}  // namespace

// The least CPU quota on the way up from this process's control group, in processors; 0 where there
// is none. `groups` is the text of /proc/self/cgroup, `root` where control groups are mounted;
// versions 1 and 2 and the hybrid of both.
double GrantedProcessors(const std::string& groups, const std::string& root) {
  double least = 0;
  for (const absl::string_view line : absl::StrSplit(groups, '\n')) {
    // "NUMBER:CONTROLLERS:PATH"; version 2 has number 0 and no controllers.
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool version1 =
        std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end();
    if (!version1 && !parts[1].empty()) continue;
    for (const std::string& mount :
         version1 ? std::vector<std::string>{root + "/cpu", root + "/" + parts[1]}
                  : std::vector<std::string>{root, root + "/unified"})
      // From the group up to the root. Inside of a container the path may be that of the host; the
      // groups that are seen then are those at the mount.
      for (std::string path = parts[2];; path.resize(path.rfind('/'))) {
        const double grant = GrantOf(mount + path);
        if (grant > 0 && (least == 0 || grant < least)) least = grant;
        if (path.find('/') == std::string::npos) break;
      }
  }
  return least;
}

int UsableProcessors() {
  const int allowed = AllowedProcessors();
  const double granted = GrantedProcessors(FileText("/proc/self/cgroup"), "/sys/fs/cgroup");
  return granted > 0 ? std::clamp(static_cast<int>(std::ceil(granted)), 1, allowed) : allowed;
}

}  // namespace dtranspile::launch
