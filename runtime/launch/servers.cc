#include "runtime/launch/servers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::launch {
namespace {

// The roles that a rank asks.
std::set<std::string> AskedBy(const Rank& rank) {
  std::set<std::string> roles;
  for (const exec::PlanComm& comm : rank.plan->comms)
    if (comm.kind == exec::CommKind::kRpc && !rank.plan->serves() &&
        comm.subset.contains(rank.config.coordinates))
      roles.insert(comm.server);
  return roles;
}

absl::Status CheckServer(const JobSpec& spec, const std::vector<Rank>& ranks,
                         const std::string& asks, const std::string& server) {
  const auto role = std::find_if(spec.roles.begin(), spec.roles.end(),
                                 [&](const Role& one) { return one.name == server; });
  if (role == spec.roles.end())
    return absl::InvalidArgumentError(
        absl::StrCat("role '", asks, "' asks role '", server, "', which the job lacks"));
  for (const Rank& rank : ranks)
    if (rank.role == server && !rank.plan->serves())
      return absl::InvalidArgumentError(absl::StrCat("role '", asks, "' asks role '", server,
                                                     "', but ", rank.plan->folder,
                                                     " is no plan of a server"));
  return absl::OkStatus();
}

exec::RpcConfig RpcOf(const JobSpec& spec, const std::string& server, const std::string& asks,
                      int senders) {
  exec::RpcConfig rpc;
  rpc.role = server;
  rpc.sender_role = asks;
  rpc.key = "rpc." + server;
  rpc.senders = senders;
  for (const Role& role : spec.roles)
    if (role.name == server) rpc.mesh = role.mesh;
  for (const auto& [axis, size] : rpc.mesh) rpc.servers *= static_cast<int>(size);
  return rpc;
}

}  // namespace

absl::Status ConnectRoles(const JobSpec& spec, std::vector<Rank>& ranks) {
  std::map<std::string, std::vector<Rank*>> senders;  // by role that is asked, in their order
  for (Rank& rank : ranks)
    for (const std::string& server : AskedBy(rank)) senders[server].push_back(&rank);
  for (auto& [server, all] : senders) {
    const std::string& asks = all.front()->role;
    for (const Rank* one : all)
      if (one->role != asks)
        return absl::InvalidArgumentError(absl::StrCat("role '", server, "' is asked by roles '",
                                                       asks, "' and '", one->role,
                                                       "'; servers serve one role"));
    DT_RETURN_IF_ERROR(CheckServer(spec, ranks, asks, server));
    exec::RpcConfig rpc = RpcOf(spec, server, asks, static_cast<int>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      rpc.number = static_cast<int>(i);
      all[i]->config.servers.push_back(rpc);
    }
    for (Rank& rank : ranks) {
      if (rank.role != server) continue;
      rpc.number = rank.rank;
      rank.config.serves = rpc;
    }
  }
  for (const Rank& rank : ranks)
    if (rank.plan->serves() && !rank.config.serves)
      return absl::InvalidArgumentError(
          absl::StrCat("role '", rank.role, "' is one of servers, and no role asks it"));
  return absl::OkStatus();
}

}  // namespace dtranspile::launch
