// Connections between all ranks of a group, each proven to be of the job before it counts
// (handshake.h), and how Gloo is made to use them. Used by the Gloo communicator.
#pragma once

#include <gloo/context.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/token.h"

namespace dtranspile::comm {

struct MeshOptions {
  int rank = 0, size = 1;
  std::string name;  // of job and group: what connections are for
  std::string host;  // address of this rank that the others reach
  Key key = {};
  int64_t deadline_ns = 0;
  // Tells the others where this rank listens ("host:port"), and asks where another one does.
  std::function<absl::Status(const std::string& address)> publish;
  std::function<absl::StatusOr<std::string>(int rank)> find;
};

// A connected socket per rank, none for this one. Each rank calls those below it and is called by
// those above it. kDeadlineExceeded names the first rank that has not come.
absl::StatusOr<std::vector<Socket>> ConnectMesh(const MeshOptions& options);

// A Gloo context whose pairs are these connections. Throws what Gloo throws.
std::shared_ptr<gloo::Context> AdoptSockets(int rank, const std::string& host,
                                            std::vector<Socket> sockets,
                                            std::chrono::milliseconds timeout);

}  // namespace dtranspile::comm
