#include "runtime/comm/gloo/mesh.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/callers.h"
#include "runtime/comm/gloo/handshake.h"

namespace dtranspile::comm {
namespace {

std::string PurposeOf(const MeshOptions& options, int called) {
  return absl::StrCat("pair ", called, " ", options.name);
}

}  // namespace

// A full mesh without deadlock: every rank publishes an address first, then calls all lower ranks
// (in order), then accepts all higher ones. Rank 0 only accepts, so that by induction everybody
// gets on.
absl::StatusOr<std::vector<Socket>> ConnectMesh(const MeshOptions& options) {
  const std::string any = AnyPortOf(options.host);
  DT_ASSIGN_OR_RETURN(const Socket listener, Listen(any));
  DT_RETURN_IF_ERROR(options.publish(WithPortOf(listener, any)));
  std::vector<Socket> sockets(static_cast<size_t>(options.size));
  for (int rank = 0; rank < options.rank; ++rank) {
    DT_ASSIGN_OR_RETURN(const std::string address, options.find(rank));
    absl::StatusOr<Socket> socket = Call(address, options.key, PurposeOf(options, rank),
                                         static_cast<uint32_t>(options.rank), options.deadline_ns);
    if (!socket.ok())
      return absl::Status(socket.status().code(),
                          absl::StrCat("rank ", rank, " at ", address, ": ",
                                       std::string(socket.status().message())));
    sockets[static_cast<size_t>(rank)] = *std::move(socket);
  }
  Callers callers(listener, options.key, PurposeOf(options, options.rank));
  const auto missing = [&] {
    return std::find_if(sockets.begin() + options.rank + 1, sockets.end(),
                        [](const Socket& socket) { return socket.fd() < 0; });
  };
  while (missing() != sockets.end()) {
    Callers::Caller caller = callers.Next(options.deadline_ns);
    if (caller.socket.fd() < 0)
      return absl::DeadlineExceededError(absl::StrCat("rank ", missing() - sockets.begin(),
                                                      " has not connected before the deadline"));
    // One who has called before calls again where the answer came too late: the last one counts.
    if (caller.rank > static_cast<uint32_t>(options.rank) && caller.rank < sockets.size())
      sockets[caller.rank] = std::move(caller.socket);
  }
  return sockets;
}

}  // namespace dtranspile::comm
