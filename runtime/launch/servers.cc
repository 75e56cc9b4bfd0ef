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

// What both ends have in common. Without addresses they find each other by `key` in the store.
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
  if (const auto at = spec.endpoints.find(server); at != spec.endpoints.end())
    rpc.addresses = at->second;
  return rpc;
}

// Who asks a role of servers, and its ranks that do, in their order.
struct Senders {
  std::string role;
  std::vector<int> ranks;
};

absl::Status AddSenders(std::map<std::string, Senders>& senders, const std::string& server,
                        const std::string& role, std::vector<int> ranks) {
  Senders& all = senders.emplace(server, Senders{role, {}}).first->second;
  if (all.role != role)
    return absl::InvalidArgumentError(absl::StrCat("role '", server, "' is asked by roles '",
                                                   all.role, "' and '", role,
                                                   "'; servers serve one role"));
  all.ranks.insert(all.ranks.end(), ranks.begin(), ranks.end());
  return absl::OkStatus();
}

// By role of servers. Of ranks that are not started here the job has to say it.
absl::StatusOr<std::map<std::string, Senders>> SendersOf(const JobSpec& spec,
                                                         const std::vector<Rank>& ranks) {
  std::map<std::string, Senders> senders;
  for (const Role& role : spec.roles) {
    for (const auto& [server, numbers] : role.asks)
      DT_RETURN_IF_ERROR(AddSenders(senders, server, role.name, numbers));
    if (!role.asks.empty()) continue;
    for (const Rank& rank : ranks)
      if (rank.role == role.name)
        for (const std::string& server : AskedBy(rank))
          DT_RETURN_IF_ERROR(AddSenders(senders, server, role.name, {rank.rank}));
  }
  return senders;
}

absl::Status CheckEndpoints(const JobSpec& spec, const exec::RpcConfig& rpc) {
  if (rpc.addresses.empty() && !spec.part) return absl::OkStatus();
  if (static_cast<int>(rpc.addresses.size()) == rpc.servers) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("endpoints of role '", rpc.role,
                                                 "': ", rpc.addresses.size(), " given, ",
                                                 rpc.servers, " needed"));
}

}  // namespace

// Gives servers the number of those who ask them, and askers the places of the servers. Senders are
// numbered 0, 1, … in the order of their ranks, whichever of them are started here: rounds are
// complete when each number has been heard.
absl::Status ConnectRoles(const JobSpec& spec, std::vector<Rank>& ranks) {
  DT_ASSIGN_OR_RETURN(const auto senders, SendersOf(spec, ranks));
  for (const auto& [server, all] : senders) {
    DT_RETURN_IF_ERROR(CheckServer(spec, ranks, all.role, server));
    exec::RpcConfig rpc = RpcOf(spec, server, all.role, static_cast<int>(all.ranks.size()));
    DT_RETURN_IF_ERROR(CheckEndpoints(spec, rpc));
    for (Rank& rank : ranks) {
      if (rank.role == server) {
        rpc.number = rank.rank;
        rank.config.serves = rpc;
      } else if (rank.role == all.role) {
        const auto own = std::find(all.ranks.begin(), all.ranks.end(), rank.rank);
        if (own == all.ranks.end()) continue;
        rpc.number = static_cast<int>(own - all.ranks.begin());
        rank.config.servers.push_back(rpc);
      }
    }
  }
  for (const Rank& rank : ranks)
    if (rank.plan->serves() && !rank.config.serves)
      return absl::InvalidArgumentError(
          absl::StrCat("role '", rank.role, "' is one of servers, and no role asks it"));
  return absl::OkStatus();
}

}  // namespace dtranspile::launch
