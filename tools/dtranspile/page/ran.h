// A pipeline as it ran: what the traces of `dtranspile run --trace` say of its tasks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/artifact/job.h"
#include "compiler/schedule/schedule.h"

namespace dtranspile::page {

// A task of a micro-batch in one step. Times are microseconds of the host's steady clock.
struct RanTask {
  schedule::Entry entry;
  double begin, end;
  // In it, waiting for values of other stages: begin and end each, in order.
  std::vector<std::pair<double, double>> waits;
};

// What one rank ran, in its order, of all steps that are in its trace.
using RankTrace = std::vector<RanTask>;

// By role and rank.
using Traces = std::map<std::pair<std::string, int64_t>, RankTrace>;

// kInvalidArgument names the document and says what in it is no trace of ours. Events that are no
// tasks of a pipeline are passed over.
absl::StatusOr<RankTrace> parseTrace(const std::string& name, std::string_view text);

// Ranks whose traces the page of a job draws: of each pipeline one per stage, the first of each.
std::vector<std::pair<std::string, int64_t>> tracedRanks(const Job& job);

}  // namespace dtranspile::page
