#include "runtime/comm/shm/group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/shm/bell.h"

namespace dtranspile::comm {
namespace {

constexpr char kDefaultFolder[] = "/dev/shm";
constexpr size_t kAllAreasBudget = 32 << 20;  // areas of all ranks of a group together
constexpr size_t kSlot =
    64
    << 10;  // of one rank in an area: small enough for second-level caches, large against a meeting
constexpr size_t kMinArea = 16 << 10;
constexpr size_t kPairArea = 128 << 10;

// Letters, digits, '.', '-', '_' stay, others become %XX; long names keep their beginning and get a
// hash. No '+', which separates the parts of a file name.
std::string SafeName(const std::string& name) {
  std::string safe;
  uint64_t hash = 14695981039346656037u;
  for (const unsigned char c : name) {
    hash = (hash ^ c) * 1099511628211u;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    char escaped[4];
    snprintf(escaped, sizeof(escaped), "%%%02X", c);
    safe += plain ? std::string(1, c) : escaped;
  }
  constexpr size_t kLongest = 90;
  if (safe.size() > kLongest)
    safe = absl::StrCat(safe.substr(0, kLongest - 17), "%", absl::Hex(hash, absl::kZeroPad16));
  return safe;
}

constexpr char kPrefix[] = "dtranspile+";  // of every segment

std::string Prefix(const std::string& job) { return absl::StrCat(kPrefix, SafeName(job), "+"); }
std::string FolderOf(const std::string& folder) { return folder.empty() ? kDefaultFolder : folder; }

// errno is read first: building the text may change it.
template <typename... Parts>
absl::Status ErrnoError(const Parts&... parts) {
  const int error = errno;
  return absl::InternalError(absl::StrCat(parts..., ": ", strerror(error)));
}

void SleepNs(int64_t nanoseconds) {
  const timespec time = {0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

// Whether this is a segment of this user whose maker is known to be dead.
// False in all cases of doubt: another user's file, one of another size or form, a process of
// another namespace.
// What stands in the header of the segment is believed only after the file itself was looked at.
bool MakerIsDead(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat info;
  const bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                    info.st_size >= static_cast<off_t>(sizeof(GroupControl));
  void* data =
      ours ? mmap(nullptr, sizeof(GroupControl), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  if (data == MAP_FAILED) return false;
  const Mapping mapping(static_cast<std::byte*>(data), sizeof(GroupControl));
  const GroupControl& control = *static_cast<const GroupControl*>(data);
  return control.magic == GroupControl::kMagic && StateOf(control.creator) == ProcessState::kDead;
}

// The files whose names begin so and that `which` picks by path.
int RemoveFiles(const std::string& where, const std::string& prefix,
                bool (*which)(const std::string& path)) {
  DIR* listing = opendir(where.c_str());
  if (listing == nullptr) return 0;
  std::vector<std::string> paths;
  while (const dirent* entry = readdir(listing)) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0)
      paths.push_back(absl::StrCat(where, "/", entry->d_name));
  }
  closedir(listing);
  int removed = 0;
  for (const std::string& path : paths) removed += which(path) && unlink(path.c_str()) == 0;
  return removed;
}

}  // namespace

// Areas shrink with the number of ranks, so that a group never takes more than kAllAreasBudget;
// they are multiples of 64 bytes per rank, a cache line.
GroupLayout::GroupLayout(int size) : size(size) {
  const size_t unit = 64 * static_cast<size_t>(size);
  const size_t area = std::clamp(kAllAreasBudget / (2 * size), kMinArea, kSlot * size);
  all = {size, size, std::max(area / unit, size_t{1}) * unit};
  pair = {2, 1, kPairArea};
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Group::Group(std::string name, int rank, int size)
    : name_(std::move(name)), rank_(rank), layout_(size) {}

// Tells the others, and wakes those who wait for this rank.
Group::~Group() {
  if (joined_) {
    control().ranks[rank_].state.store(kLeft);
    for (int member = 0; member < layout_.size; ++member) {
      Ring(reinterpret_cast<LaneMember*>(all_lane() + layout_.all.state(member))->bell);
    }
  }
  if (fd_ >= 0) close(fd_);
}

// A part of the segment in this process's memory.
absl::StatusOr<Mapping> Group::Map(size_t offset, size_t bytes) const {
  // Reserved before it is touched: a full tmpfs would otherwise end the process with a bus error.
  if (const int error = posix_fallocate(fd_, offset, bytes); error != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "group ", name_, " needs ", bytes >> 10, " KiB of shared memory: ", strerror(error),
        "; enlarge /dev/shm, or run with --backend gloo"));
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
  if (data == MAP_FAILED) return ErrnoError("mapping the shared memory of group ", name_);
  return Mapping(static_cast<std::byte*>(data), bytes);
}

// The file gets its name only when it is complete, so that nobody sees a half-made one.
// A file of the name that a dead process has left is replaced; one of a living process is another
// job's.
absl::Status Group::Create(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  fd_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0) return ErrnoError("making a shared-memory file in ", folder);
  if (ftruncate(fd_, layout_.file_bytes()) != 0) {
    const bool limited = errno == EFBIG;
    const absl::Status status = ErrnoError("sizing a shared-memory file in ", folder);
    if (!limited) return status;
    return absl::ResourceExhaustedError(
        absl::StrCat(status.message(),
                     "; raise the limit on the size of files (`ulimit -f`), or run with "
                     "--backend gloo"));
  }
  absl::StatusOr<Mapping> mapping = Map(0, layout_.reserved_bytes());
  if (!mapping.ok()) return mapping.status();
  mapping_ = *std::move(mapping);
  control().size = layout_.size;
  control().creator = CurrentProcess();
  control().magic = GroupControl::kMagic;

  const std::string source = absl::StrCat("/proc/self/fd/", fd_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return absl::OkStatus();
    if (errno != EEXIST) return ErrnoError("naming the shared-memory file ", path);
    Group other(name_, rank_, layout_.size);
    absl::StatusOr<bool> alive = other.TryOpen(path);
    if (!alive.ok() || *alive) break;
    unlink(path.c_str());  // left by a process that is gone
  }
  return absl::AlreadyExistsError(absl::StrCat("the shared-memory file ", path, " of group ", name_,
                                               " is in use; does another job have the same name?"));
}

// False where there is no file of a living creator (yet); an error where there is one that does not
// fit.
absl::StatusOr<bool> Group::TryOpen(const std::string& path) {
  if (fd_ >= 0) close(fd_);
  fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd_ < 0) {
    if (errno == ENOENT) return false;
    return ErrnoError("opening the shared-memory file ", path);
  }
  struct stat info;
  if (fstat(fd_, &info) != 0) return ErrnoError("looking at the shared-memory file ", path);
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " is not a shared-memory file of this user"));
  }
  if (static_cast<size_t>(info.st_size) < layout_.all_offset()) return false;
  void* data = mmap(nullptr, layout_.all_offset(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (data == MAP_FAILED) return ErrnoError("mapping the shared-memory file ", path);
  const Mapping mapping(static_cast<std::byte*>(data), layout_.all_offset());
  const GroupControl& control = *reinterpret_cast<const GroupControl*>(mapping.data());
  if (control.magic != GroupControl::kMagic || StateOf(control.creator) == ProcessState::kDead)
    return false;
  if (control.size != layout_.size || static_cast<size_t>(info.st_size) != layout_.file_bytes()) {
    return absl::FailedPreconditionError(absl::StrCat("group ", name_, " has ", control.size,
                                                      " ranks for rank 0, but ", layout_.size,
                                                      " for rank ", rank_));
  }
  return true;
}

// Rank 0 may come later: the file is looked for with pauses that grow to 10 ms.
absl::Status Group::Open(const std::string& path, int64_t deadline_ns) {
  int64_t pause_ns = 200'000;
  while (true) {
    absl::StatusOr<bool> opened = TryOpen(path);
    if (!opened.ok()) return opened.status();
    if (*opened) break;
    if (NowNs() > deadline_ns) {
      return absl::DeadlineExceededError(
          absl::StrCat("rank 0 of group ", name_, " has not made ", path, " before the deadline"));
    }
    SleepNs(pause_ns);
    pause_ns = std::min<int64_t>(2 * pause_ns, 10'000'000);
  }
  absl::StatusOr<Mapping> mapping = Map(0, layout_.reserved_bytes());
  if (!mapping.ok()) return mapping.status();
  mapping_ = *std::move(mapping);
  return absl::OkStatus();
}

// Absent, claimed, joined: the process is written in between, so that whoever sees a rank as joined
// can ask after its process.
absl::Status Group::Claim() {
  RankRecord& record = control().ranks[rank_];
  uint32_t absent = kAbsent;
  if (!record.state.compare_exchange_strong(absent, kClaimed)) {
    return absl::AlreadyExistsError(absl::StrCat("rank ", rank_, " of group ", name_,
                                                 " is already ", Describe(record.process)));
  }
  record.process = CurrentProcess();
  record.state.store(kJoined);
  joined_ = true;
  return absl::OkStatus();
}

// The last to come takes the file's name away: from then on a crash of all members leaves nothing
// behind. A member that dies while others wait is named, not waited for.
absl::Status Group::AwaitAll(const std::string& path, int64_t deadline_ns) {
  if (control().joined.fetch_add(1) + 1 == static_cast<uint32_t>(layout_.size))
    unlink(path.c_str());
  int64_t pause_ns = 50'000;
  while (control().joined.load() < static_cast<uint32_t>(layout_.size)) {
    if (control().failure_state.load() == kFailed)
      return absl::AbortedError(std::string(control().failure));
    std::string missing;
    for (int rank = 0; rank < layout_.size; ++rank) {
      const RankRecord& record = control().ranks[rank];
      if (record.state.load() < kJoined) {
        absl::StrAppend(&missing, missing.empty() ? "" : ", ", rank);
      } else if (StateOf(record.process) == ProcessState::kDead) {
        return absl::UnavailableError(absl::StrCat("rank ", rank, " of group ", name_, ", process ",
                                                   record.process.pid, ", died while joining"));
      }
    }
    if (NowNs() > deadline_ns) {
      return absl::DeadlineExceededError(absl::StrCat("rank ", missing, " of group ", name_,
                                                      " has not joined before the deadline"));
    }
    SleepNs(pause_ns);
    pause_ns = std::min<int64_t>(2 * pause_ns, 5'000'000);
  }
  return absl::OkStatus();
}

// Rank 0 makes the segment, the others open it, all claim their place and wait for the rest. A rank
// that fails meanwhile leaves word in the segment.
absl::StatusOr<std::unique_ptr<Group>> Group::Join(const Rendezvous& rendezvous,
                                                   const std::string& name, int rank, int size) {
  if (size > kMaxShmRanks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "group ", name, " has ", size, " ranks; shared memory serves at most ", kMaxShmRanks));
  }
  const std::string path =
      absl::StrCat(FolderOf(rendezvous.store), "/", Prefix(rendezvous.job), SafeName(name));
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(rendezvous.timeout_seconds * 1e9);
  std::unique_ptr<Group> group(new Group(name, rank, size));
  if (absl::Status status = rank == 0 ? group->Create(path) : group->Open(path, deadline_ns);
      !status.ok())
    return status;
  absl::Status status = group->Claim();
  if (status.ok()) status = group->AwaitAll(path, deadline_ns);
  if (status.ok()) return group;
  if (rank == 0) unlink(path.c_str());
  group->Fail(absl::StrCat("rank ", rank, " could not join: ", std::string(status.message())));
  return status;
}

// What a wait for a rank may end with. The state of the process is a system call away, and asked
// for only now and then (`thorough`).
absl::Status Group::Check(int rank, bool thorough, const Patience& patience) const {
  const GroupControl& control = this->control();
  if (control.failure_state.load() == kFailed)
    return absl::AbortedError(std::string(control.failure));
  const RankRecord& record = control.ranks[rank];
  if (record.state.load() == kLeft) {
    return absl::UnavailableError(
        absl::StrCat("rank ", rank, ", process ", record.process.pid, ", has left the group"));
  }
  if (!thorough) return absl::OkStatus();
  if (StateOf(record.process) == ProcessState::kDead) {
    return absl::UnavailableError(
        absl::StrCat("rank ", rank, ", process ", record.process.pid, ", has died"));
  }
  if (patience.Over()) {
    return absl::DeadlineExceededError(absl::StrCat("rank ", rank, ", ", Describe(record.process),
                                                    ", has not come within ",
                                                    patience.timeout_seconds(), " s"));
  }
  return absl::OkStatus();
}

// The first failure is the one that all read; it is written before its state says so.
void Group::Fail(const std::string& why) {
  uint32_t none = kNoFailure;
  if (!control().failure_state.compare_exchange_strong(none, kWritingFailure)) return;
  const size_t n = std::min(why.size(), sizeof(GroupControl::failure) - 1);
  std::memcpy(control().failure, why.data(), n);
  control().failure_state.store(kFailed);
  for (int member = 0; member < layout_.size; ++member) {
    Ring(reinterpret_cast<LaneMember*>(all_lane() + layout_.all.state(member))->bell);
  }
}

int RemoveSegments(const std::string& job, const std::string& folder) {
  return RemoveFiles(FolderOf(folder), Prefix(job), [](const std::string&) { return true; });
}

int RemoveLeftSegments(const std::string& folder) {
  return RemoveFiles(FolderOf(folder), kPrefix, MakerIsDead);
}

}  // namespace dtranspile::comm
