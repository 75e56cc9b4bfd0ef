#include "runtime/comm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dtranspile::comm {
namespace {

constexpr int kCollapse =
    25;  // MADV_COLLAPSE of Linux 6.1: huge pages at once; older systems refuse it
constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Blocks of this process by their address.
struct Registry {
  std::mutex mutex;
  std::map<const std::byte*, ShareId> blocks;
};
Registry& TheRegistry() {
  static auto* registry = new Registry;  // outlives all blocks
  return *registry;
}

// At an address where huge pages fit, which the system gives to shared memory only when asked: 4
// KiB pages cost kernels and reductions alike.
absl::StatusOr<std::byte*> MapFile(int fd, size_t bytes) {
  void* range = mmap(nullptr, bytes + kHugePage, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    return absl::ResourceExhaustedError(
        absl::StrCat("no addresses for ", bytes, " shared bytes: ", strerror(errno)));
  auto* begin = static_cast<std::byte*>(range);
  auto* aligned = begin + (kHugePage - reinterpret_cast<uintptr_t>(begin) % kHugePage) % kHugePage;
  void* data =
      mmap(aligned, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd, 0);
  const int error = errno;
  if (data == MAP_FAILED) {
    munmap(range, bytes + kHugePage);
    return absl::ResourceExhaustedError(
        absl::StrCat("mapping ", bytes, " shared bytes: ", strerror(error)));
  }
  if (aligned > begin) munmap(begin, static_cast<size_t>(aligned - begin));
  munmap(aligned + bytes, kHugePage - static_cast<size_t>(aligned - begin));
  if (bytes >= kHugePage) madvise(data, bytes, kCollapse);
  return static_cast<std::byte*>(data);
}

// False where a piece lies elsewhere than the pieces before it.
bool Extend(Place& place, const std::vector<Segment>& list, size_t element_bytes) {
  Registry& registry = TheRegistry();
  for (const Segment& segment : list) {
    if (segment.count == 0) continue;
    const auto* data = static_cast<const std::byte*>(segment.data);
    if (place.base == nullptr) {
      auto found = registry.blocks.upper_bound(data);
      if (found == registry.blocks.begin()) return false;
      --found;
      place.base = const_cast<std::byte*>(found->first);
      place.share = found->second;
    }
    const auto offset = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(place.base);
    const size_t bytes = static_cast<size_t>(segment.count) * element_bytes;
    if (data < place.base || offset > place.share.bytes || bytes > place.share.bytes - offset)
      return false;
    place.layout = (place.layout ^ offset) * 1099511628211u;  // FNV-1a
  }
  return true;
}

}  // namespace

// The registry lets other code find out which block an address lies in (and thus which file another
// process must map); it notes the process too, since a forked child inherits the table and not the
// right to hand blocks out.
absl::StatusOr<SharedMemory> SharedMemory::Allocate(size_t wanted) {
  const size_t bytes = RoundUp(wanted, wanted < kHugePage ? kPage : kHugePage);
  SharedMemory memory;
  memory.fd_ = memfd_create("dtranspile", MFD_CLOEXEC);
  if (memory.fd_ < 0)
    return absl::ResourceExhaustedError(absl::StrCat("no shared memory: ", strerror(errno)));
  struct stat info;
  // Reserved before it is touched, so that too little memory is an error and no signal.
  if (const int error = posix_fallocate(memory.fd_, 0, static_cast<off_t>(bytes));
      error != 0 || fstat(memory.fd_, &info) != 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", bytes, " bytes of shared memory: ", strerror(error ? error : errno)));
  absl::StatusOr<std::byte*> data = MapFile(memory.fd_, bytes);
  if (!data.ok()) return data.status();
  memory.data_ = *data;
  memory.size_ = bytes;
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.blocks[memory.data_] = {getpid(), memory.fd_, info.st_dev, info.st_ino, bytes};
  return memory;
}

// Another process's block, by way of its open descriptor in /proc: memory without a name in the
// file system, which needs no cleaning up. The descriptor's number may have been given to another
// file meanwhile, hence the comparison of device, inode and size.
absl::StatusOr<SharedMemory> SharedMemory::Map(const ShareId& id) {
  const std::string path = absl::StrCat("/proc/", id.pid, "/fd/", id.fd);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return absl::UnavailableError(absl::StrCat(path, ": ", strerror(errno)));
  struct stat info;
  const bool same = fstat(fd, &info) == 0 && info.st_dev == id.device && info.st_ino == id.inode &&
                    static_cast<uint64_t>(info.st_size) == id.bytes;
  absl::StatusOr<std::byte*> data =
      same ? MapFile(fd, id.bytes)
           : absl::UnavailableError(absl::StrCat(path, " is another block"));
  close(fd);
  if (!data.ok()) return data.status();
  SharedMemory memory;
  memory.data_ = *data;
  memory.size_ = static_cast<size_t>(id.bytes);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  return *this;
}

// Out of the registry before the address can be given to anything else.
SharedMemory::~SharedMemory() {
  if (fd_ >= 0) {
    Registry& registry = TheRegistry();
    const std::lock_guard<std::mutex> lock(registry.mutex);
    registry.blocks.erase(data_);
    close(fd_);
  }
  if (data_ != nullptr) munmap(data_, size_);
}

// Nothing unless all pieces lie in one block. `layout` hashes their offsets and sizes (FNV-1a,
// whose offset basis is the number here): members compare one number instead of lists.
Place PlaceOf(const Request& request, size_t element_bytes) {
  Registry& registry = TheRegistry();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  Place place;
  place.layout = 14695981039346656037u;
  return Extend(place, request.inputs, element_bytes) &&
                 Extend(place, request.outputs, element_bytes)
             ? place
             : Place();
}

}  // namespace dtranspile::comm
