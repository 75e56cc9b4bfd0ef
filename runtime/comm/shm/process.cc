#include "runtime/comm/shm/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace dtranspile::comm {
namespace {

struct Stat {
  bool found = false;
  char state = '?';
  uint64_t start_time = 0;
};

// proc(5): pid (name) state ppid … ; the name may hold spaces and brackets, so fields are counted
// after its last bracket.
Stat ReadStat(int pid) {
  Stat result;
  const std::string path = absl::StrCat("/proc/", pid, "/stat");
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return result;
  char text[1024];
  const ssize_t n = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (n <= 0) return result;
  text[n] = 0;
  const char* field = strrchr(text, ')');
  if (field == nullptr || field[1] == 0) return result;
  field += 2;  // field 3
  result.state = *field;
  for (int i = 3; i < 22 && field != nullptr; ++i) {
    field = strchr(field, ' ');
    if (field != nullptr) ++field;
  }
  if (field == nullptr) return result;
  result.start_time = strtoull(field, nullptr, 10);
  result.found = true;
  return result;
}

// A process number means something within one namespace of processes only: containers may share
// /dev/shm.
uint64_t Namespace() {
  struct stat info;
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace

ProcessId CurrentProcess() {
  ProcessId process;
  process.pid = getpid();
  process.start_time = ReadStat(process.pid).start_time;
  process.name_space = Namespace();
  return process;
}

// A process is known by its number and its start time together: numbers are used again. In another
// PID name space nothing can be said of it. A zombie is dead, a stopped process is not.
ProcessState StateOf(const ProcessId& process) {
  if (process.pid <= 0 || process.name_space != Namespace()) return ProcessState::kUnknown;
  const Stat stat = ReadStat(process.pid);
  if (!stat.found || stat.start_time != process.start_time) return ProcessState::kDead;
  switch (stat.state) {
    case 'Z':
    case 'X': return ProcessState::kDead;
    case 'T':
    case 't': return ProcessState::kStopped;
    default: return ProcessState::kRunning;
  }
}

std::string Describe(const ProcessId& process) {
  switch (StateOf(process)) {
    case ProcessState::kRunning: return absl::StrCat("process ", process.pid, " (running)");
    case ProcessState::kStopped: return absl::StrCat("process ", process.pid, " (stopped)");
    case ProcessState::kDead: return absl::StrCat("process ", process.pid, " (dead)");
    case ProcessState::kUnknown: break;
  }
  return absl::StrCat("process ", process.pid);
}

}  // namespace dtranspile::comm
