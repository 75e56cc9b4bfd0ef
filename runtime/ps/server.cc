#include "runtime/ps/server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/ps/kept_memory.h"
#include "runtime/ps/settings.h"
#include "runtime/ps/single_push.h"

namespace dtranspile::ps {

Server::Server(ServerOptions options, const comm::Key& key)
    : options_(std::move(options)),
      key_(key),
      name_(absl::StrCat(options_.role, " ", options_.server)) {}

Server::~Server() {
  // First the calls that read the protocol's tables, then these.
  service_.reset();
}

// Without an address of its own a server takes any port and tells it by the store.
absl::StatusOr<std::unique_ptr<Server>> Server::Make(ServerOptions options) {
  if (options.server < 0 || options.server >= options.servers || options.trainers < 1)
    return absl::InvalidArgumentError(
        absl::StrCat(options.role, " ", options.server, " of ", options.servers, " for ",
                     options.trainers, " of role '", options.trainer_role, "' makes no sense"));
  if (options.store.empty() && options.address.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(options.role, " ", options.server,
                     " has neither an address of its own nor a store to tell one in"));
  DT_ASSIGN_OR_RETURN(const comm::Key key, comm::KeyOfToken(options.token));
  KeepFreedMemory();
  return std::unique_ptr<Server>(new Server(std::move(options), key));
}

absl::Status Server::Publish(const std::string& word, double seconds) const {
  if (options_.store.empty()) return absl::OkStatus();
  return comm::StoreClient(options_.store, options_.token)
      .Set(AddressKey(options_.key, options_.server), word, seconds);
}

// A server without handlers of pushes works in rounds, one with them applies each push by itself.
// The address is published only when the service listens, so that nobody calls in vain.
absl::Status Server::Open(std::vector<exec::Table> tables, std::vector<Handler> handlers) {
  std::vector<std::string> served, pulled;
  for (const Handler& one : handlers) {
    if (one.when != exec::When::kPush) continue;
    served.push_back(one.table);
    if (one.pulled) pulled.push_back(one.table);
  }
  ServiceOptions service;
  service.address = options_.address;
  if (service.address.empty()) {
    DT_ASSIGN_OR_RETURN(const std::string host, comm::HostOf(options_.interface));
    service.address = comm::AnyPortOf(host);
  }
  service.key = key_;
  service.digest = options_.digest;
  service.role = options_.role;
  service.server = options_.server;
  service.servers = options_.servers;
  service.trainer_role = options_.trainer_role;
  service.trainers = options_.trainers;
  service.timeout_seconds = options_.timeout_seconds;
  service.tells_late = options_.store.empty();
  const auto tell = [this](const std::string& why) {
    if (Service* told = told_) told->Abort(why);
  };
  const Protocol::Options settings{name_, options_.trainer_role, options_.trainers,
                                   options_.timeout_seconds, tell};
  if (served.empty()) protocol_ = std::make_unique<Protocol>(settings, std::move(tables), handlers);
  else
    protocol_ =
        std::make_unique<SinglePushes>(settings, std::move(tables), served, pulled, handlers);
  auto started = Service::Start(service, *protocol_);
  if (!started.ok())
    return absl::Status(started.status().code(),
                        absl::StrCat(name_, ": ", started.status().message(),
                                     absl::IsAlreadyExists(started.status())
                                         ? "; another server is there, or an earlier one that has "
                                           "not ended: end it, or give this one another port"
                                         : ""));
  service_ = *std::move(started);
  told_ = service_.get();
  opened_ = true;
  return Publish(absl::StrCat(kAt, service_->address()), options_.timeout_seconds);
}

absl::StatusOr<exec::Turn> Server::Next() {
  absl::StatusOr<exec::Turn> turn = protocol_->Next();
  if (!turn.ok()) PublishFailure(std::string(turn.status().message()));
  return turn;
}

// Trainers that come later find no server, and why.
void Server::PublishFailure(const std::string& why) const {
  constexpr double kSeconds = 1;
  constexpr size_t kMostBytes = 4096;
  Publish(kFailed + why.substr(0, kMostBytes), kSeconds).IgnoreError();
}

void Server::Abort(const std::string& why) { opened_ ? protocol_->Fail(why) : PublishFailure(why); }

}  // namespace dtranspile::ps
