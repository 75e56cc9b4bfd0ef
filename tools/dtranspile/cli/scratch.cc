#include "tools/dtranspile/cli/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dtranspile::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "dtranspile-run-";
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

// For the handler, which may touch nothing that allocates.
char folder[4096];
struct sigaction before[std::size(kEnding)];

// Only calls that are safe in a signal handler: another program removes the folder.
void OnEnding(int signal) {
  const int saved = errno;
  const pid_t child = folder[0] != '\0' ? _Fork() : -1;
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", folder, nullptr);
    _exit(1);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked until the handler returns
  errno = saved;
}

void Handle() {
  struct sigaction action = {};
  action.sa_handler = OnEnding;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kEnding); ++i) {
    sigaction(kEnding[i], nullptr, &before[i]);
    // What is ignored stays so: a command under nohup outlives its terminal.
    if (before[i].sa_handler != SIG_IGN) sigaction(kEnding[i], &action, nullptr);
  }
}

// The folder's descriptor, locked; -1 where somebody else has the lock, or has removed the folder
// meanwhile.
int Lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 &&
      info.st_uid == geteuid() && info.st_nlink > 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// What commands have left that were killed: nobody holds its lock.
void RemoveLeft(const fs::path& below) {
  std::error_code error;
  for (fs::directory_iterator entry(below, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().rfind(kPrefix, 0) != 0) continue;
    const int lock = Lock(entry->path());
    std::error_code ignored;
    if (lock >= 0) fs::remove_all(entry->path(), ignored);
    if (lock >= 0) close(lock);
  }
}

}  // namespace

namespace {

// Ending signals wait while this lives: a folder that is made, and not yet known to the handler,
// would be left.
class Held {
 public:
  Held() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : kEnding) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~Held() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

absl::StatusOr<Scratch> Scratch::Make() {
  std::error_code error;
  const fs::path below = fs::temp_directory_path(error);
  if (error) {
    const char* named = getenv("TMPDIR");
    return absl::NotFoundError(absl::StrCat("TMPDIR=", named ? named : "/tmp", ": ",
                                            error.message(), "; name a folder that is there"));
  }
  RemoveLeft(below);
  const Held held;
  // Between making the folder and locking it another command may take it for one that is left; then
  // there is a next one. A file system without locks has nobody who removes anything.
  constexpr int kAttempts = 3;
  std::string path;
  int lock = -1;
  for (int attempt = 0; attempt < kAttempts && lock < 0; ++attempt) {
    path = (below / kPrefix).string() + "XXXXXX";
    if (path.size() >= sizeof(folder)) return absl::InvalidArgumentError("TMPDIR is too long");
    if (!mkdtemp(path.data()))
      return absl::InvalidArgumentError(absl::StrCat("no temporary folder can be made below ",
                                                     below.string(), ": ", strerror(errno),
                                                     "; set TMPDIR"));
    lock = Lock(path);
    if (lock < 0 && attempt + 1 < kAttempts) rmdir(path.c_str());
  }
  std::strcpy(folder, path.c_str());
  Handle();
  return Scratch(std::move(path), lock);
}

Scratch::Scratch(Scratch&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

Scratch::~Scratch() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  for (size_t i = 0; i < std::size(kEnding); ++i) sigaction(kEnding[i], &before[i], nullptr);
  folder[0] = '\0';
  if (lock_ >= 0) close(lock_);
}

}  // namespace dtranspile::cli
