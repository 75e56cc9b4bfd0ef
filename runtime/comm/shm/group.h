// The shared-memory file of a group: making it, joining it, failing together. Owned by the
// shared-memory communicator; its fabrics ask it whether a peer still lives.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/patience.h"
#include "runtime/comm/shm/layout.h"

namespace dtranspile::comm {

// A mapped piece of a file.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

class Group {
 public:
  // Rank 0 makes the file, the others wait for it; returns when all have joined. The last one to
  // map the file unlinks it, so that nothing is left behind however the processes end.
  static absl::StatusOr<std::unique_ptr<Group>> Join(const Rendezvous& rendezvous,
                                                     const std::string& name, int rank, int size);

  // Tells the peers that this rank has left.
  ~Group();

  // Reserves and maps a part of the file; an error where the folder has no room.
  absl::StatusOr<Mapping> Map(size_t offset, size_t bytes) const;

  // Why waiting for `rank` is in vain, or OK. `thorough` looks the process up as well, which costs
  // some microseconds.
  absl::Status Check(int rank, bool thorough, const Patience& patience) const;

  // Makes Check fail on all ranks with `why`; the first one wins.
  void Fail(const std::string& why);

  const GroupLayout& layout() const { return layout_; }
  std::byte* all_lane() const { return mapping_.data() + layout_.all_offset(); }

 private:
  Group(std::string name, int rank, int size);
  GroupControl& control() const { return *reinterpret_cast<GroupControl*>(mapping_.data()); }
  absl::Status Create(const std::string& path);
  absl::Status Open(const std::string& path, int64_t deadline_ns);
  absl::StatusOr<bool> TryOpen(const std::string& path);
  absl::Status Claim();
  absl::Status AwaitAll(const std::string& path, int64_t deadline_ns);

  const std::string name_;
  const int rank_;
  const GroupLayout layout_;
  int fd_ = -1;
  Mapping mapping_;
  bool joined_ = false;
};

// Removes what a job has left in `folder` ("" = /dev/shm) because it ended before all ranks had
// joined. For launchers, after the last process of the job is gone. Returns how many files it
// removed.
int RemoveSegments(const std::string& job, const std::string& folder);

// The same for jobs whose launcher was killed too: segments of this user whose maker (rank 0) is
// known to be dead.
int RemoveLeftSegments(const std::string& folder);

}  // namespace dtranspile::comm
