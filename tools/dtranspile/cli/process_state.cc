#include "tools/dtranspile/cli/process_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/io/owned_folder.h"

namespace dtranspile::cli {
namespace {

// Whose the folders are: a child that reads or executes something has this handler too.
pid_t owner = 0;

// Only calls that are safe in a signal handler: another program removes the folders.
void onEnding(int signal) {
  const int saved = errno;
  for (int i = 0; i < io::kMostHandled && getpid() == owner; ++i) {
    const char* folder = io::FolderForHandler(i);
    const pid_t child = folder ? _Fork() : -1;
    if (child == 0) {
      execl("/bin/rm", "rm", "-rf", "--", folder, nullptr);
      _exit(1);
    }
    while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked until the handler returns
  errno = saved;
}

}  // namespace

void occupyStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF &&
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
      _exit(1);
}

void removeFoldersWhenEnded() {
  owner = getpid();
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {}, before;
  action.sa_handler = onEnding;
  sigfillset(&action.sa_mask);
  for (int signal : io::kEndingSignals)
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
}

}  // namespace dtranspile::cli
