// The order in which a stage of a pipeline runs its tasks, with what it receives before each and
// sends after it (docs/jobs.md, Pipelines). Used by events.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dialects/dist/dist.h"

namespace dtranspile::verify {

// One turn of a stage: a task for a micro-batch.
struct Turn {
  dist::OnOp task;
  int64_t micro = 0;
  std::vector<dist::TransferOp> receives;  // whose values no earlier turn has received
  std::vector<dist::TransferOp> sends;
};

struct StageOrder {
  std::vector<Turn> turns;
  int64_t instances = 1;  // micro-batches that are under way at once
  std::string why;        // nothing is known of the order; empty otherwise
};

// For the ranks of `where`. Without tasks: no turns, and `why` is empty.
StageOrder orderOf(dist::MicroOp micro, dist::SelAttr where);

// Product of the time axes of the loop.
int64_t microBatches(dist::MicroOp micro);

}  // namespace dtranspile::verify
