#include "runtime/comm/gloo/mesh.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

std::string PurposeOf(const MeshOptions& options, int called) {
  return absl::StrCat("pair ", called, " ", options.name);
}

// Who calls a listening socket, until they have proven who they are.
class Callers {
 public:
  Callers(const Socket& listener, Key key, std::string purpose)
      : listener_(listener), key_(key), purpose_(std::move(purpose)) {}

  // The next one who has; nobody when the deadline has passed first.
  struct Caller {
    Socket socket;
    uint32_t rank = 0;
  };
  Caller Next(int64_t deadline_ns);

 private:
  struct Unproven {
    Socket socket;
    Welcome welcome;
    int64_t deadline_ns;
  };

  void Accept();

  const Socket& listener_;
  const Key key_;
  const std::string purpose_;
  std::list<Unproven> unproven_;  // the oldest first
};

void Callers::Accept() {
  Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const bool full =
      socket.fd() < 0 ? errno == EMFILE || errno == ENFILE : unproven_.size() >= kMostUnproven;
  if (full && !unproven_.empty()) unproven_.pop_front();
  if (socket.fd() < 0) return;
  Welcome welcome(socket, key_, purpose_);
  unproven_.push_back({std::move(socket), std::move(welcome), NowNs() + kHandshakeNs});
}

Callers::Caller Callers::Next(int64_t deadline_ns) {
  while (MillisecondsUntil(deadline_ns) > 0) {
    std::vector<pollfd> entries = {{listener_.fd(), POLLIN, 0}};
    int64_t next_ns = deadline_ns;
    for (const Unproven& one : unproven_) {
      entries.push_back({one.socket.fd(), POLLIN, 0});
      next_ns = std::min(next_ns, one.deadline_ns);
    }
    if (poll(entries.data(), entries.size(), MillisecondsUntil(next_ns) + 1) < 0 && errno != EINTR)
      break;
    size_t i = 1;
    for (auto one = unproven_.begin(); one != unproven_.end(); ++i) {
      Welcome::State state =
          one->deadline_ns > NowNs() ? Welcome::State::kWaits : Welcome::State::kRefused;
      if (entries[i].revents != 0) state = one->welcome.Read(one->socket);
      if (state == Welcome::State::kProven) {
        Caller caller{std::move(one->socket), one->welcome.caller()};
        unproven_.erase(one);
        return caller;
      }
      one = state == Welcome::State::kWaits ? std::next(one) : unproven_.erase(one);
    }
    if (entries[0].revents != 0) Accept();
  }
  return {Socket(), 0};
}

std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
}

std::string NumericHost(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST];
  return getnameinfo(address, length, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) == 0 ? host
                                                                                           : "";
}

}  // namespace

absl::StatusOr<std::string> HostOf(const std::string& interface) {
  if (interface.empty()) return std::string("127.0.0.1");
  if (if_nametoindex(interface.c_str()) == 0) {
    DT_ASSIGN_OR_RETURN(const AddressList list, ResolveAddress(Bracketed(interface) + ":0", false));
    return NumericHost(list->ai_addr, list->ai_addrlen);
  }
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return absl::InternalError(strerror(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, freeifaddrs);
  // IPv4 first: what IPv6 gives an interface by itself is good on its own link only.
  for (const auto& [family, length] :
       {std::pair<int, socklen_t>{AF_INET, sizeof(sockaddr_in)}, {AF_INET6, sizeof(sockaddr_in6)}})
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
      if (one->ifa_addr != nullptr && one->ifa_addr->sa_family == family &&
          interface == one->ifa_name)
        return NumericHost(one->ifa_addr, length);
  return absl::InvalidArgumentError(
      absl::StrCat("the network interface ", interface, " has no address"));
}

absl::StatusOr<std::vector<Socket>> ConnectMesh(const MeshOptions& options) {
  const std::string any = Bracketed(options.host) + ":0";
  DT_ASSIGN_OR_RETURN(const Socket listener, Listen(any));
  DT_ASSIGN_OR_RETURN(const std::string own,
                      absl::StatusOr<std::string>(WithPortOf(listener, any)));
  DT_RETURN_IF_ERROR(options.publish(own));
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
