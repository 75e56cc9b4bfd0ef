// all_reduce of more bytes than travel with headers. Called by collectives.cc.
#pragma once

#include "runtime/comm/collectives.h"
#include "runtime/comm/operation.h"

namespace dtranspile::comm {

// `place` is where this member's buffers lie, as its header of the Meet before this call said it
// (PlaceOf). Every member gets the same bits: each element is combined once, in rank order, or by
// all of the two members in the same order.
absl::Status RunAllReduce(Fabric& fabric, const Request& request, Traffic& traffic,
                          const Place& place);

}  // namespace dtranspile::comm
