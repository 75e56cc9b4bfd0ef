// Runs a trial in a process of its own and waits for what it says. Called by `verify`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runtime/trial/config.h"
#include "runtime/trial/result.h"

namespace dtranspile::trial {

// kInvalidArgument: there is no worker's binary. kDeadlineExceeded: not done within `seconds`, and
// ended. kAborted: the process died, with how.
absl::StatusOr<Result> RunApart(const Config& config, double seconds);

}  // namespace dtranspile::trial
