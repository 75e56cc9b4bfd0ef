// Who asks which servers, and who is the how-manieth of them: communicators of kind rpc. Used by
// MakeRanks.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "runtime/launch/job.h"
#include "runtime/launch/ranks.h"

namespace dtranspile::launch {

// Sets `servers` and `serves` of the ranks' CONFIG, all but the store's address. kInvalidArgument
// names a role that the job lacks, that does not serve, that serves nobody, or two roles.
absl::Status ConnectRoles(const JobSpec& spec, std::vector<Rank>& ranks);

}  // namespace dtranspile::launch
