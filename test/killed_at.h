// A process that is killed at a chosen moment: before its k-th system call that changes files. With
// every k in turn a test sees every state of the disk that a crash can leave (but for what the
// system itself has not written yet).
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace dtranspile::test {

enum class Ended { kKilled, kWell, kBadly };

// `child` has called ptrace(PTRACE_TRACEME) and stopped itself. Its threads and children are not
// followed. `k` counts from 1, which is the first call one of whose paths has `pattern` in it.
Ended KillAt(pid_t child, int k, const std::string& pattern = "");

// `work` in a child process.
Ended KillAt(const std::function<void()>& work, int k);

}  // namespace dtranspile::test
