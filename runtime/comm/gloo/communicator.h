// The Gloo back end: ranks of several hosts, over TCP. Called by Join (runtime/comm/join.cc).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

// As Join. Uses rendezvous.store and rendezvous.interface. Rank 0 of the group serves the store
// where the address is one of its host and nobody serves it yet, for as long as its communicator
// lives; a launcher that outlives all ranks does it better (StoreServer). Ignores SIGPIPE in this
// process from then on, unless it is handled: Gloo writes to sockets whose peer is gone.
absl::StatusOr<std::unique_ptr<Communicator>> JoinGloo(const Rendezvous& rendezvous,
                                                       const std::string& name, int rank, int size);

}  // namespace dtranspile::comm
