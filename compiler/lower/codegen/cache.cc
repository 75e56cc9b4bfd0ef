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
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

// A cached file: this, the checksum of the object (16 bytes), the object.
constexpr char kMagic[8] = {'d', 't', 'k', 'e', 'r', 'n', '1', '\n'};
constexpr size_t kHeader = sizeof kMagic + sizeof(XXH128_canonical_t);

XXH128_canonical_t checksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

}  // namespace

std::string defaultCacheFolder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/dtranspile";
  if (const char* home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/dtranspile";
  return "";
}

ObjectCache::ObjectCache(std::string folder, int64_t limitBytes)
    : folder_(std::move(folder)), limit_(limitBytes) {}

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

std::optional<std::string> ObjectCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(pathOf(key), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream whole;
  whole << file.rdbuf();
  std::string bytes = std::move(whole).str();
  if (bytes.size() <= kHeader || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return std::nullopt;
  std::string object = bytes.substr(kHeader);
  XXH128_canonical_t expected = checksum(object);
  if (std::memcmp(bytes.data() + sizeof kMagic, &expected, sizeof expected) != 0)
    return std::nullopt;
  utimensat(AT_FDCWD, pathOf(key).c_str(), nullptr, 0);  // used now: what trim goes by
  return object;
}

void ObjectCache::insert(const std::string& key, const std::string& object) {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_ + "/kernels", ignored);
  static std::atomic<int> serial;
  const std::string part =
      pathOf(key) + "." + std::to_string(getpid()) + "." + std::to_string(serial++);
  std::ofstream file(part, std::ios::binary);
  const XXH128_canonical_t sum = checksum(object);
  file.write(kMagic, sizeof kMagic)
      .write(reinterpret_cast<const char*>(&sum), sizeof sum)
      .write(object.data(), static_cast<std::streamsize>(object.size()));
  file.close();
  if (!file || std::rename(part.c_str(), pathOf(key).c_str()) != 0) std::remove(part.c_str());
}

void ObjectCache::trim() const {
  if (folder_.empty()) return;
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code ignored;
  for (fs::directory_iterator it(folder_ + "/kernels", ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    std::error_code gone;  // another process may be trimming as well
    Entry entry{it->path(), it->last_write_time(gone), static_cast<int64_t>(it->file_size(gone))};
    if (gone) continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_ / 4 * 3) break;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace dtranspile::lower
