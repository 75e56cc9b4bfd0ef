// Rung 5 of `verify`: the job is executed beside its reference, in float64, all ranks in one
// process, and what they hold is compared (runtime/trial). docs/verification.md, Rung 5.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/analysis/report.h"
#include "compiler/artifact/job.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

// What is executed; more is `not run`, with the limit that it is above.
struct ExecutionLimits {
  int64_t ops;     // of the reference
  int64_t ranks;   // of all roles
  int64_t bytes;   // of the persistables of all ranks and of what is kept of the reference, float64
  double seconds;  // of the execution, without compiling
};

// Without being asked for, and with --execute.
constexpr ExecutionLimits kUnasked = {400, 8, int64_t{256} << 20, 20};
constexpr ExecutionLimits kAsked = {20000, 64, int64_t{4} << 30, 300};

struct ExecutionFlags {
  ExecutionLimits limits = kUnasked;
  int64_t steps = 6;
  std::string cache;  // of compiled kernels; empty: the user's
};

// The section of the report. Takes the module of the job.
verify::Rung executeJob(Tool& tool, Job job, const ExecutionFlags& flags);

}  // namespace dtranspile::cli
