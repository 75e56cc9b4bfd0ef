#include "compiler/lower/codegen/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "runtime/io/filesystem.h"
#include "runtime/io/output.h"

namespace dtranspile::lower {
namespace {

// A cached file: this, the checksum of the object (16 bytes), the object.
constexpr char kMagic[8] = {'d', 't', 'k', 'e', 'r', 'n', '1', '\n'};
constexpr size_t kHeader = sizeof kMagic + sizeof(XXH128_canonical_t);

// In the canonical (big-endian) form, which is the same on every machine.
XXH128_canonical_t checksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

}  // namespace

namespace {

// A regular file of this user; empty for anything else. A pipe or a device is not waited for.
std::string readOwn(const std::string& path) {
  constexpr off_t kMostBytes = 256 << 20;
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return "";
  struct stat info;
  std::string bytes;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= kMostBytes &&
      (info.st_uid == geteuid() || info.st_uid == 0)) {
    bytes.resize(static_cast<size_t>(info.st_size));
    if (pread(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(info.st_size))
      bytes.clear();
  }
  close(file);
  return bytes;
}

}  // namespace

// The XDG base directory specification: a variable that holds no absolute path counts as unset.
// Empty: no cache.
std::string defaultCacheFolder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/dtranspile";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/dtranspile";
  return "";
}

// Objects are code that will be run: a folder that others can write to is not used.
ObjectCache::ObjectCache(std::string folder, int64_t limitBytes)
    : folder_(std::move(folder)), limit_(limitBytes) {
  if (folder_.empty()) return;
  // As it will be: where it is not there yet, nobody may come in between.
  const absl::Status made = io::MakeFolders(folder_ + "/kernels", nullptr, 0700);
  const absl::Status trusted = made.ok() ? io::CheckPrivate(folder_ + "/kernels") : made;
  if (trusted.ok()) return;
  refusal_ = std::string(trusted.message());
  folder_.clear();
}

std::string ObjectCache::key(std::string_view content) {
  XXH128_canonical_t hash = checksum(content);
  std::string text;
  for (unsigned char byte : hash.digest) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::string ObjectCache::pathOf(const std::string& key) const {
  return folder_ + "/kernels/" + key + ".o";
}

// A file that was cut off or changed counts as not there; it is written anew.
std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string bytes = readOwn(pathOf(key));
  if (bytes.size() <= kHeader || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return std::nullopt;
  std::string object = bytes.substr(kHeader);
  XXH128_canonical_t expected = checksum(object);
  if (std::memcmp(bytes.data() + sizeof kMagic, &expected, sizeof expected) != 0)
    return std::nullopt;
  utimensat(AT_FDCWD, pathOf(key).c_str(), nullptr, 0);  // used now: what trim goes by
  return object;
}

// Written under a name of its own and renamed: other processes see the whole file or none. Failure
// means only that the object is compiled again.
void ObjectCache::insert(const std::string& key, const std::string& object) {
  if (folder_.empty()) return;
  static std::atomic<int> serial;
  const std::string part =
      pathOf(key) + "." + std::to_string(getpid()) + "." + std::to_string(serial++);
  const XXH128_canonical_t sum = checksum(object);
  std::string bytes(kMagic, sizeof kMagic);
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum).append(object);
  const absl::Status written =
      io::WriteFile(part, bytes.data(), static_cast<int64_t>(bytes.size()));
  if (!written.ok() || std::rename(part.c_str(), pathOf(key).c_str()) != 0)
    std::remove(part.c_str());
}

// Down to three quarters of the limit, the least recently used first, so that it does not run at
// every build that is near the limit.
void ObjectCache::trim() const {
  if (folder_.empty()) return;
  struct Entry {
    std::string path;
    timespec used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  const absl::StatusOr<std::vector<std::string>> names = io::NamesIn(folder_ + "/kernels");
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    std::string path = folder_ + "/kernels/" + name;
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) continue;  // another process may be trimming as well
    total += info.st_size;
    entries.push_back({std::move(path), info.st_mtim, info.st_size});
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec) < std::tie(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= limit_ / 4 * 3) break;
    unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

}  // namespace dtranspile::lower
