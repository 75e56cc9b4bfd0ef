// The cache of compiled kernels: one file per object, named by the hash of everything that went
// into it. Safe with any number of concurrent readers and writers, in any processes: files appear
// by rename and carry a checksum; one that does not fit its checksum counts as absent, and so does
// what is no regular file. Bounded: when what this process added makes the folder larger than the
// limit, the objects unused for longest go.
//
// What lies here is run as code: the folder is used only where nobody else can write
// (io::CheckPrivate), and files of other users are not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dtranspile::lower {

inline constexpr int64_t kCacheLimitBytes = 256ll << 20;

// $XDG_CACHE_HOME/dtranspile or ~/.cache/dtranspile; empty (no cache) where neither is set.
std::string defaultCacheFolder();

class ObjectCache {
 public:
  // An empty folder, or one that others may write: caches nothing.
  explicit ObjectCache(std::string folder, int64_t limitBytes = kCacheLimitBytes);

  // 32 hexadecimal digits.
  static std::string key(std::string_view content);

  std::optional<std::string> find(const std::string& key) const;

  // Failure to write is no error: the next process compiles again.
  void insert(const std::string& key, const std::string& object);

  // Why a folder that was given is not used; empty where it is.
  const std::string& refusal() const { return refusal_; }

  // Removes the objects unused for longest until the folder is at three quarters of the limit, if
  // it is above. Called once per library, after insertions.
  void trim() const;

 private:
  std::string pathOf(const std::string& key) const;
  std::string folder_, refusal_;
  int64_t limit_;
};

}  // namespace dtranspile::lower
