// One rank of a job in full, and a page that draws the whole job: what `show` prints of jobs beside
// their text.
#pragma once

#include <string>

#include "compiler/artifact/job.h"
#include "dialects/dist/dist.h"

namespace dtranspile::cli {

// Coordinates, groups, owned parts of variables, and the programs of one rank, with every guard
// resolved. A diagnostic where the role has no such rank.
mlir::FailureOr<std::string> describeRank(dist::RoleOp role, int64_t rank);

// A page of HTML that needs nothing else: roles, classes, stages, who sends what to whom.
std::string pageOfJob(const Job& job);

}  // namespace dtranspile::cli
