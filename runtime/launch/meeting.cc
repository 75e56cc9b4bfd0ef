#include "runtime/launch/meeting.h"

#include <unistd.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/shm/group.h"
#include "runtime/comm/token.h"

namespace dtranspile::launch {
namespace {

std::string NewJobName() {
  std::random_device random;
  return absl::StrCat(getpid(), "-", absl::Hex(random(), absl::kZeroPad8));
}

}  // namespace

// Ranks of one host meet in segments named after the job; a store is there for Gloo, and for
// servers whose ports are not known before they listen. Its token, which the ranks get in CONFIG,
// keeps strangers out.
absl::Status Meeting::Begin(const MeetingOptions& options,
                            const std::vector<exec::WorkerConfig*>& ranks) {
  rendezvous_.backend = options.backend;
  rendezvous_.job = NewJobName();
  rendezvous_.interface = options.interface;
  rendezvous_.timeout_seconds = options.timeout_seconds;
  const auto tells = [](const exec::WorkerConfig* rank) {
    return rank->serves && rank->serves->addresses.empty();
  };
  const bool store = std::any_of(ranks.begin(), ranks.end(), tells) || options.backend != "shm";
  rendezvous_.token = options.token;
  if (options.token.empty()) {
    DT_ASSIGN_OR_RETURN(rendezvous_.token, comm::NewToken());
  }
  if (store) {
    DT_ASSIGN_OR_RETURN(store_, comm::StoreServer::Start("127.0.0.1:0", rendezvous_.token));
  }
  if (options.backend == "shm") comm::RemoveLeftSegments(rendezvous_.store);
  else rendezvous_.store = store_->address();
  for (exec::WorkerConfig* rank : ranks) {
    rank->rendezvous = rendezvous_;
    for (exec::RpcConfig& rpc : rank->servers)
      if (rpc.addresses.empty() && store_) rpc.store = store_->address();
    if (tells(rank)) rank->serves->store = store_->address();
  }
  return absl::OkStatus();
}

Meeting::~Meeting() {
  if (rendezvous_.backend == "shm") comm::RemoveSegments(rendezvous_.job, rendezvous_.store);
}

}  // namespace dtranspile::launch
