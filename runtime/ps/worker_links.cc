#include "runtime/ps/worker_links.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/client.h"
#include "runtime/ps/communicator.h"
#include "runtime/ps/library.h"
#include "runtime/ps/server.h"

namespace dtranspile::ps {

// What the worker calls to reach servers (exec/worker.h), so that runtime/exec does not depend on
// gRPC.
absl::StatusOr<std::unique_ptr<exec::ServerLink>> Connect(const exec::WorkerConfig& worker,
                                                          const exec::RpcConfig& servers) {
  ClientOptions options;
  options.addresses = servers.addresses;
  options.store = servers.store;
  options.key = servers.key;
  options.token = worker.rendezvous.token;
  options.timeout_seconds = worker.rendezvous.timeout_seconds;
  options.digest = worker.digest;
  options.role = worker.role;
  options.rank = servers.number;
  options.ranks = servers.senders;
  options.server_role = servers.role;
  options.servers = {servers.mesh.begin(), servers.mesh.end()};
  if (RanksOf(options.servers) != servers.servers)
    return absl::InvalidArgumentError(absl::StrCat("CONFIG has ", servers.servers, " servers '",
                                                   servers.role, "' on a mesh of ",
                                                   RanksOf(options.servers)));
  DT_RETURN_IF_ERROR(BeginGrpc());
  DT_ASSIGN_OR_RETURN(std::unique_ptr<exec::ServerLink> link, Client::Connect(std::move(options)));
  // Without rounds gradients may wait on the trainer.
  if (link->rounds() < 0) link = std::make_unique<Communicator>(std::move(link));
  return link;
}

absl::StatusOr<std::unique_ptr<exec::Rounds>> Serve(const exec::WorkerConfig& worker,
                                                    const exec::RpcConfig& trainers) {
  ServerOptions options;
  if (!trainers.addresses.empty()) {
    if (trainers.number < 0 || static_cast<size_t>(trainers.number) >= trainers.addresses.size())
      return absl::InvalidArgumentError(absl::StrCat("CONFIG has ", trainers.addresses.size(),
                                                     " addresses, and none for server ",
                                                     trainers.number));
    options.address = trainers.addresses[static_cast<size_t>(trainers.number)];
  }
  options.store = trainers.store;
  options.key = trainers.key;
  options.token = worker.rendezvous.token;
  options.interface = worker.rendezvous.interface;
  options.timeout_seconds = worker.rendezvous.timeout_seconds;
  options.digest = worker.digest;
  options.role = worker.role;
  options.trainer_role = trainers.sender_role;
  options.server = trainers.number;
  options.servers = trainers.servers;
  options.trainers = trainers.senders;
  DT_RETURN_IF_ERROR(BeginGrpc());
  return Server::Make(std::move(options));
}

}  // namespace dtranspile::ps
