#include "runtime/comm/gloo/wire.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

absl::Status AwaitEvent(const Socket& socket, short events, int64_t deadline_ns) {
  pollfd entry = {socket.fd(), events, 0};
  int n;
  do {
    n = poll(&entry, 1, MillisecondsUntil(deadline_ns));
  } while (n < 0 && errno == EINTR);
  return n > 0 ? absl::OkStatus() : absl::DeadlineExceededError("no answer");
}

// A connect that does not block: the socket becomes writable when it has succeeded or failed, and
// SO_ERROR says which.
absl::StatusOr<Socket> TryConnect(const addrinfo& to, int64_t deadline_ns) {
  Socket socket(
      ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to.ai_protocol));
  if (socket.fd() < 0) return absl::InternalError(strerror(errno));
  int error = 0;
  if (connect(socket.fd(), to.ai_addr, to.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      DT_RETURN_IF_ERROR(AwaitEvent(socket, POLLOUT, deadline_ns));
      socklen_t length = sizeof(error);
      getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  if (error != 0) return absl::UnavailableError(strerror(error));
  return socket;
}

// Moves bytes by `move(done)`, a call of send or recv, until there are `bytes`.
// send() and recv() move what they can; in between the socket is waited for, until the deadline.
template <typename Move>
absl::Status MoveAll(const Socket& socket, size_t bytes, short event, int64_t deadline_ns,
                     Move&& move) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = move(done);
    if (n > 0) done += static_cast<size_t>(n);
    else if (n < 0 && errno == EAGAIN) DT_RETURN_IF_ERROR(AwaitEvent(socket, event, deadline_ns));
    else if (n == 0 || errno != EINTR) return absl::UnavailableError("the connection was closed");
  }
  return absl::OkStatus();
}

// IPv6 addresses have colons of their own.
std::string Bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : absl::StrCat("[", host, "]");
}

std::string NumericHost(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST];
  return getnameinfo(address, length, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) == 0 ? host
                                                                                           : "";
}

}  // namespace

int MillisecondsUntil(int64_t deadline_ns) {
  return static_cast<int>(std::clamp<int64_t>((deadline_ns - NowNs()) / 1'000'000, 0, 3'600'000));
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

std::string AnyPortOf(const std::string& host) { return Bracketed(host) + ":0"; }

// The address by which others reach this machine: of a network interface by name, or of a host
// name; without either, this machine only.
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

// "host:port" or "[host]:port"; the port is a number.
absl::StatusOr<AddressList> ResolveAddress(const std::string& address, bool passive) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address '", address, "' is not of the form host:port"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &list);
      error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address '", address, "': ", gai_strerror(error)));
  }
  return AddressList(list, freeaddrinfo);
}

// Port 0 means any free one: the one that was given is what others have to be told.
std::string WithPortOf(const Socket& socket, const std::string& address) {
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&bound), &length);
  const uint16_t port = bound.ss_family == AF_INET6
                            ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                            : reinterpret_cast<sockaddr_in*>(&bound)->sin_port;
  return absl::StrCat(address.substr(0, address.rfind(':') + 1), ntohs(port));
}

// The error of the last address counts; one in use and one that is not of this machine have codes
// of their own, since callers may try another one.
absl::StatusOr<Socket> Listen(const std::string& address) {
  DT_ASSIGN_OR_RETURN(const AddressList list, ResolveAddress(address, true));
  int error = 0;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    Socket socket(
        ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
    const int on = 1;
    if (socket.fd() >= 0) setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (socket.fd() >= 0 && bind(socket.fd(), at->ai_addr, at->ai_addrlen) == 0 &&
        listen(socket.fd(), 1024) == 0)
      return socket;
    error = errno;
  }
  const std::string message = absl::StrCat("cannot listen at ", address, ": ", strerror(error));
  if (error == EADDRINUSE) return absl::AlreadyExistsError(message);
  if (error == EADDRNOTAVAIL) return absl::NotFoundError(message);
  return absl::InternalError(message);
}

absl::StatusOr<Socket> ConnectTo(const std::string& address, int64_t deadline_ns) {
  DT_ASSIGN_OR_RETURN(const AddressList list, ResolveAddress(address, false));
  absl::Status status;
  for (const addrinfo* to = list.get(); to != nullptr; to = to->ai_next) {
    absl::StatusOr<Socket> socket = TryConnect(*to, deadline_ns);
    if (socket.ok()) return socket;
    status = socket.status();
  }
  return status;
}

absl::Status WriteAll(const Socket& socket, absl::string_view bytes, int64_t deadline_ns) {
  return MoveAll(socket, bytes.size(), POLLOUT, deadline_ns, [&](size_t done) {
    return send(socket.fd(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
  });
}

absl::Status ReadAll(const Socket& socket, char* to, size_t bytes, int64_t deadline_ns) {
  return MoveAll(socket, bytes, POLLIN, deadline_ns,
                 [&](size_t done) { return recv(socket.fd(), to + done, bytes - done, 0); });
}

}  // namespace dtranspile::comm
