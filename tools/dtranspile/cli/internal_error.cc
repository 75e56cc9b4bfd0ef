#include "tools/dtranspile/cli/internal_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "llvm/Support/ErrorHandling.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {
namespace {

// Made beforehand: a handler may not allocate.
struct Reproducer {
  std::string path, text;
};
Reproducer* reproducer = nullptr;

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

[[noreturn]] void end(const char* what, const char* detail) {
  say("dtranspile: internal error: ");
  say(what);
  say(detail);
  const int file = open(reproducer->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  const bool written = file >= 0 && write(file, reproducer->text.data(), reproducer->text.size()) ==
                                        static_cast<ssize_t>(reproducer->text.size());
  say(written ? "; the command is in " : "; the command could not be written to ");
  say(reproducer->path.c_str());
  say("\ndtranspile: note: please report it with that file and the inputs it names\n");
  _exit(kInternal);
}

void onSignal(int signal) {
  // A fault while this one is handled ends the process as it would without us.
  std::signal(signal, SIG_DFL);
  end("ended by signal ", sigabbrev_np(signal));
}

void onTerminate() {
  const char* what = "unknown";
  try {
    if (std::exception_ptr now = std::current_exception()) std::rethrow_exception(now);
  } catch (const std::exception& error) {
    what = error.what();
    end("uncaught exception: ", what);
  } catch (...) {
  }
  end("uncaught exception: ", what);
}

[[noreturn]] void onNoMemory() {
  end("out of memory", "; give the process more (ulimit -v), or a smaller input");
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

// A crash is our mistake, and leaves a script that repeats it. All that the handlers need is
// prepared now, since a signal handler may not allocate.
void installInternalErrorHandlers(int argc, const char* const* argv) {
  // Never destroyed: what ends the process may come after the end of main.
  static Reproducer& kept = *new Reproducer;
  const char* folder = std::getenv("TMPDIR");
  kept.path = std::string(folder && *folder ? folder : "/tmp") + "/dtranspile-" +
              std::to_string(getpid()) + ".sh";
  char here[PATH_MAX];
  kept.text = "#!/bin/sh\ncd " + quoted(getcwd(here, sizeof here) ? here : ".") + " &&";
  for (int i = 0; i < argc; ++i) kept.text += " " + quoted(argv[i]);
  kept.text += "\n";
  reproducer = &kept;
  // A stack of its own: text nested very deeply leaves none.
  static char stack[64 << 10];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
  std::set_terminate(onTerminate);
  std::set_new_handler(onNoMemory);
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { onNoMemory(); });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) { end("", reason); });
}

}  // namespace dtranspile::cli
