#include "test/killed_at.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

namespace dtranspile::test {
namespace {

constexpr long kChanging[] = {
    SYS_mkdir,    SYS_mkdirat,   SYS_rmdir,    SYS_unlink,   SYS_unlinkat,  SYS_rename,
    SYS_renameat, SYS_renameat2, SYS_link,     SYS_linkat,   SYS_symlink,   SYS_symlinkat,
    SYS_write,    SYS_pwrite64,  SYS_writev,   SYS_truncate, SYS_ftruncate, SYS_fallocate,
    SYS_chmod,    SYS_fchmod,    SYS_fchmodat, SYS_chown,    SYS_fchown,    SYS_lchown,
    SYS_fchownat, SYS_fsync,     SYS_syncfs,   SYS_flock,    SYS_close};

bool Changes(const user_regs_struct& registers) {
  const auto number = static_cast<long>(registers.orig_rax);
  if (number == SYS_openat) return (registers.rdx & O_CREAT) != 0;
  if (number == SYS_open) return (registers.rsi & O_CREAT) != 0;
  return std::find(std::begin(kChanging), std::end(kChanging), number) != std::end(kChanging);
}

// Text that an argument of a call points to, if it is a path.
std::string TextAt(pid_t child, uint64_t address) {
  char text[512] = {};
  iovec here = {text, sizeof text - 1}, there = {reinterpret_cast<void*>(address), sizeof text - 1};
  const ssize_t size = process_vm_readv(child, &here, 1, &there, 1, 0);
  return size > 0 ? text : "";
}

bool Names(pid_t child, const user_regs_struct& registers, const std::string& pattern) {
  for (uint64_t argument : {registers.rdi, registers.rsi})
    if (TextAt(child, argument).find(pattern) != std::string::npos) return true;
  return pattern.empty();
}

}  // namespace

Ended KillAt(pid_t child, int k, const std::string& pattern) {
  int status = 0, count = 0, deliver = 0;
  bool entering = true, counting = false;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (true) {
    ptrace(PTRACE_SYSCALL, child, nullptr, deliver);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? Ended::kWell : Ended::kBadly;
    if (WIFSIGNALED(status)) return Ended::kBadly;
    const int signal = WSTOPSIG(status);
    deliver = signal == (SIGTRAP | 0x80) || signal == SIGTRAP ? 0 : signal;
    if (signal != (SIGTRAP | 0x80)) continue;
    user_regs_struct registers;
    const bool changes =
        entering && ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0 && Changes(registers);
    entering = !entering;
    if (!changes) continue;
    counting = counting || Names(child, registers, pattern);
    if (!counting || ++count < k) continue;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return Ended::kKilled;
  }
}

Ended KillAt(const std::function<void()>& work, int k) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  return KillAt(child, k);
}

}  // namespace dtranspile::test
