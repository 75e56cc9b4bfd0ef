// Which process a rank is, and whether it still lives. Used by the shared-memory back end to notice
// a dead peer at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace dtranspile::comm {

// Plain bytes, stored in shared memory. The start time tells a process from a later one with the
// same number; the namespace says whether this process can look the number up at all.
struct ProcessId {
  int32_t pid = 0;
  uint64_t start_time = 0;  // clock ticks since boot, /proc/<pid>/stat field 22
  uint64_t name_space = 0;  // inode of /proc/self/ns/pid
};

enum class ProcessState { kRunning, kStopped, kDead, kUnknown };

// This process.
ProcessId CurrentProcess();

// kUnknown for processes of another namespace. A zombie is dead.
ProcessState StateOf(const ProcessId& process);

// "process 123 (stopped)".
std::string Describe(const ProcessId& process);

}  // namespace dtranspile::comm
