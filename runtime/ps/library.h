#pragma once

#include "absl/status/status.h"

namespace dtranspile::ps {

// To be called before the first object of gRPC in a process; again it does nothing.
//
// gRPC starts threads of its own, and does not end when the system refuses one: some calls wait
// for a thread that is not there, and so does its shutdown. So the threads that it may want are
// asked of the system first (kResourceExhausted where it has not got them), and the library is
// never shut down: the end of the process does that.
absl::Status BeginGrpc();

}  // namespace dtranspile::ps
