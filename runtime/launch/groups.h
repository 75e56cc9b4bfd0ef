// Which ranks form the groups of a communicator: arithmetic on coordinates. Used by ranks.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/plan.h"

namespace dtranspile::launch {

// Axes with sizes, first one major.
using Mesh = std::vector<std::pair<std::string, int64_t>>;

// Coordinates of `rank` in the mesh.
std::map<std::string, int64_t> CoordinatesOf(const Mesh& mesh, int64_t rank);

// The group of a communicator that the rank with these coordinates is in: ranks whose other
// coordinates are equal, numbered along the communicator's axes, the first one major; of a subset
// its ranks only. None for a rank outside of the subset. kInvalidArgument for an axis that the mesh
// lacks.
absl::StatusOr<std::optional<exec::CommConfig>> GroupOf(
    const exec::PlanComm& comm, const std::string& role, const Mesh& mesh,
    const std::map<std::string, int64_t>& coordinates);

}  // namespace dtranspile::launch
