// Operations that are small enough to travel with the headers. Called by collectives.cc.
#pragma once

#include "runtime/comm/collectives.h"

namespace dtranspile::comm {

// After a Meet in which every member that contributes showed `bytes` bytes: this member's outputs
// out of the payloads. Everybody has seen everything, and computes its own result; reductions in
// rank order, so that all results are of the same bits.
void FinishInline(Fabric& fabric, const Request& request, Traffic& traffic, size_t bytes);

}  // namespace dtranspile::comm
