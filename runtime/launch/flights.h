// The memory of the ranks' flight recorders (runtime/flight), which outlives them: made before they
// start, read after they have ended. Used by RunJob and the supervisor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "runtime/flight/recording.h"

namespace dtranspile::launch {

class Flights {
 public:
  Flights() = default;
  ~Flights();
  Flights(const Flights&) = delete;
  Flights& operator=(const Flights&) = delete;

  // kResourceExhausted where the system gives no more memory files.
  absl::Status Begin(size_t ranks);

  // A descriptor that stays this object's; -1 where there is none.
  int memory(size_t rank) const { return rank < files_.size() ? files_[rank] : -1; }

  // Of the ranks that have begun to record, in their order.
  std::vector<flight::Recording> Read() const;

 private:
  std::vector<int> files_;
};

// DIR/<role>.<rank>.flight.json of each.
absl::Status WriteRecordings(const std::string& folder,
                             const std::vector<flight::Recording>& recordings);
// Whether `file`, relative to the folder, is one that this makes for a rank of `role`; of any role
// where that is empty.
bool IsFlightFile(std::string_view file, std::string_view role);

}  // namespace dtranspile::launch
