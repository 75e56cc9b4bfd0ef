// One rank of a job in full: what `show` prints of jobs beside their text.
#pragma once

#include <string>

#include "dialects/dist/dist.h"

namespace dtranspile::cli {

// Coordinates, groups, owned parts of variables, and the programs of one rank, with every guard
// resolved. A diagnostic where the role has no such rank.
mlir::FailureOr<std::string> describeRank(dist::RoleOp role, int64_t rank);

}  // namespace dtranspile::cli
