// Several gradients of one trainer that become one push. Used by its queues (communicator.h).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/value.h"

namespace dtranspile::ps {

// The sum, or the mean, in the order in which they were pushed: of dense gradients element by
// element, of SelectedRows the rows of one after those of the other, as a server merges those of
// several trainers. `table`: for messages.
absl::StatusOr<exec::Value> MergeGradients(const std::string& table,
                                           const std::vector<const exec::Value*>& gradients,
                                           bool average);

}  // namespace dtranspile::ps
