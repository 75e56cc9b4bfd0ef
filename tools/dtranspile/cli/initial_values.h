// Initial values that start-up makes of others: the masks of pruned weights.
#pragma once

#include <string>

#include "runtime/launch/job.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

// A run that is given initial values does without start-up. What start-up would make of other
// variables, and only of them, is made here of the values that were given, where the folder lacks
// it: these ops of it run natively, on one rank, and their results stand, with what was given, in a
// folder below `scratch`, which `init` names then. Values that lie there already stay what they
// are.
mlir::LogicalResult completeInit(Tool& tool, Runnable& runnable, const RunFlags& flags,
                                 const std::string& scratch, exec::InitConfig& init);

}  // namespace dtranspile::cli
