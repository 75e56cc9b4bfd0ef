// The algorithms of all operations, over any Fabric. Called by the queue (queue.cc), one operation
// at a time per fabric.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/fabric.h"

namespace dtranspile::comm {

struct Traffic {
  int64_t sent = 0;
  int64_t received = 0;
};

// Runs a checked request to its end on this member: exchanges headers, compares them, moves and
// combines the data. For send and receive the fabric has two members, the sender first. Adds the
// payload bytes moved to `traffic`.
absl::Status RunOperation(Fabric& fabric, const Request& request, Traffic& traffic);

}  // namespace dtranspile::comm
