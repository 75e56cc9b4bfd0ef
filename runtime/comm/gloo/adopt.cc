// Gloo's pairs listen for whoever comes first and believe it, and connections cannot be handed to
// them. So each pair is connected to this process itself, and the descriptor that it then has is
// given the proven connection in its place (dup2): nothing of a stranger ever reaches Gloo. Only
// public interfaces of Gloo are used.
#include <dirent.h>
#include <fcntl.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/comm/gloo/mesh.h"

namespace dtranspile::comm {
namespace {

namespace tcp = gloo::transport::tcp;

class MeshContext : public gloo::Context {
 public:
  MeshContext(int rank, int size) : gloo::Context(rank, size) {}

  void Adopt(std::shared_ptr<gloo::transport::Device> device,
             std::shared_ptr<gloo::transport::Context> pairs) {
    device_ = std::move(device);
    transportContext_ = std::move(pairs);
  }
};

using Name = std::pair<sockaddr_storage, socklen_t>;  // of an end of a connection

bool Same(const Name& a, const Name& b) {
  return a.second == b.second && std::memcmp(&a.first, &b.first, a.second) == 0;
}

// The result of getsockname or getpeername; no address where it fails.
template <typename Get>
Name NameBy(Get get, int fd) {
  Name name = {};
  name.second = sizeof(name.first);
  if (get(fd, reinterpret_cast<sockaddr*>(&name.first), &name.second) != 0) name.second = 0;
  return name;
}

// The descriptor of this process that is connected to `peer`; -1 if none is.
int DescriptorConnectedTo(const Name& peer) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), closedir);
  if (all == nullptr) return -1;
  while (const dirent* entry = readdir(all.get())) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && Same(NameBy(getpeername, fd), peer)) return fd;
  }
  return -1;
}

// An address above all others: Gloo's pair with the lower one is the one that waits to be called.
std::vector<char> Highest(const sockaddr_storage& like) {
  sockaddr_storage highest = like;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&highest);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&highest);
  if (like.ss_family == AF_INET) std::memset(&v4->sin_addr, 0xff, sizeof(v4->sin_addr));
  else std::memset(&v6->sin6_addr, 0xff, sizeof(v6->sin6_addr));
  return tcp::Address(highest).bytes();
}

// Connects a new pair to this process. The descriptor that the pair has; -1 where a stranger was
// faster (the pair is then to be made anew).
int ConnectToSelf(gloo::transport::Pair& pair, Socket& own) {
  const auto& at = dynamic_cast<const tcp::Address&>(pair.address()).getSockaddr();
  const socklen_t length = at.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  own = Socket(socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(own.fd(), reinterpret_cast<const sockaddr*>(&at), length) != 0) return -1;
  pair.connect(Highest(at));  // waits until it has accepted somebody
  return DescriptorConnectedTo(NameBy(getsockname, own.fd()));
}

// dup3 replaces the open file behind Gloo's descriptor atomically; epoll has forgotten the old file
// with its last descriptor, so that the new one is registered again. Somebody else may connect to
// the pair's port before this process does: then the next pair is tried, a bounded number of times.
void Adopt(tcp::Device& device, gloo::transport::Context& pairs, int rank, Socket proven) {
  constexpr int kTries = 100;
  const int on = 1;
  setsockopt(proven.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  for (int tries = 0; tries < kTries; ++tries) {
    Socket own;
    gloo::transport::Pair& pair = *pairs.createPair(rank);
    const int fd = ConnectToSelf(pair, own);
    if (fd < 0) continue;
    auto* handler = dynamic_cast<tcp::Handler*>(&pair);
    if (handler == nullptr || dup3(proven.fd(), fd, O_CLOEXEC) < 0)
      throw std::runtime_error(std::string("a connection cannot be adopted: ") + strerror(errno));
    // The old connection has gone, and with it that Gloo's loop listens to the descriptor.
    device.registerDescriptor(fd, EPOLLIN, handler);
    return;
  }
  throw std::runtime_error("somebody else connects to every port before this process does");
}

}  // namespace

// `sockets` has one proven connection per rank, none for this one. Throws what Gloo throws; the
// caller turns it into a status.
std::shared_ptr<gloo::Context> AdoptSockets(int rank, const std::string& host,
                                            std::vector<Socket> sockets,
                                            std::chrono::milliseconds timeout) {
  const int size = static_cast<int>(sockets.size());
  tcp::attr attributes;
  attributes.hostname = host;
  const std::shared_ptr<gloo::transport::Device> device = tcp::CreateDevice(attributes);
  const std::shared_ptr<gloo::transport::Context> pairs = device->createContext(rank, size);
  pairs->setTimeout(timeout);
  auto context = std::make_shared<MeshContext>(rank, size);
  context->setTimeout(timeout);
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank)
      Adopt(dynamic_cast<tcp::Device&>(*device), *pairs, peer,
            std::move(sockets[static_cast<size_t>(peer)]));
  context->Adopt(device, pairs);
  return context;
}

}  // namespace dtranspile::comm
