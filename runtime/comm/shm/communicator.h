// The shared-memory back end: ranks of one host. Called by Join (runtime/comm/join.cc) and by
// launchers that clean up.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/shm/group.h"

namespace dtranspile::comm {

// As Join. Uses rendezvous.store as the folder of segments.
absl::StatusOr<std::unique_ptr<Communicator>> JoinShm(const Rendezvous& rendezvous,
                                                      const std::string& name, int rank, int size);

}  // namespace dtranspile::comm
