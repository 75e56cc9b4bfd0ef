// Checkpoints of a job as they lie in their folder: whole variables in the framework's format, one
// file each (what --init reads), and how far the job had come. For who writes them (checkpoint.h)
// and who begins from one (`run --resume`).
//
//     FOLDER/step-000000000012/NAME…            complete
//     FOLDER/step-000000000012/checkpoint.json  {"step": 12, "fed": 12, "digest": "sha256:…"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::exec {

inline constexpr char kCheckpointSeal[] = "checkpoint.json";

// "step-000000000012".
std::string CheckpointName(int64_t step);

struct FoundCheckpoint {
  std::string folder;
  int64_t step = 0;  // steps that were run in all
  int64_t fed = 0;   // and those of them whose feeds are to be passed over
};

// The newest one; none where none is complete, or the folder is not there.
absl::StatusOr<std::optional<FoundCheckpoint>> NewestCheckpoint(const std::string& folder);

// Removes all complete ones but the newest `keep` of those up to `step`, and unfinished ones of
// earlier steps. What cannot be removed stays.
void RemoveOldCheckpoints(const std::string& folder, int64_t step, int keep);

}  // namespace dtranspile::exec
