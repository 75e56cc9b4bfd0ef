// One thread, one poll loop, non-blocking sockets. A client proves itself, sends one request, gets
// one reply and is disconnected.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

constexpr size_t kMaxClients = 2048;
constexpr size_t kMaxStored = 64 << 20;  // bytes of all keys and values
constexpr int64_t kRequestNs =
    10'000'000'000;  // time for a client to send its request, or to take its reply
constexpr int64_t kLongestWaitNs = 3'600'000'000'000;

// Values live as long as the server; there is no deletion, since a job has a few keys per rank.
class Server : public StoreServer {
 public:
  Server(Socket listener, std::string address, const Key& key)
      : listener_(std::move(listener)),
        address_(std::move(address)),
        key_(key),
        stop_(eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this] { Loop(); });
  }
  ~Server() override {
    const uint64_t one = 1;
    (void)!write(stop_.fd(), &one, sizeof(one));
    thread_.join();
  }
  std::string address() const override { return address_; }

 private:
  struct Client {
    Socket socket;
    std::optional<Welcome> welcome;  // until it has proven itself
    int64_t deadline_ns = 0;         // to be disconnected, or to be told that time is up
    std::string in;
    std::optional<std::string> awaited;  // key of a get that waits
    std::string out;
    bool replying = false;
  };

  void Loop();
  void Accept();
  void ForgetOldest();
  // All return false when the client is to be disconnected.
  bool Meet(Client& client);
  bool ReadSome(Client& client);
  bool WriteSome(Client& client);
  bool Expire(Client& client);
  bool Handle(Client& client, const StoreRequest& request);
  void Reply(Client& client, StoreAnswer answer, const std::string& value = "");
  StoreAnswer Put(const std::string& key, std::string value, bool only_if_absent);

  const Socket listener_;
  const std::string address_;
  const Key key_;
  const Socket stop_;
  std::list<Client> clients_;
  std::map<std::string, std::string> values_;
  size_t stored_ = 0;
  std::thread thread_;
};

// Clients are served in the order of the list; new ones are let in last, so that the entries of
// poll() and the list run side by side. The wait ends with the next deadline of any client.
void Server::Loop() {
  while (true) {
    std::vector<pollfd> entries = {
        {stop_.fd(), POLLIN, 0},
        {listener_.fd(), static_cast<short>(clients_.size() < kMaxClients ? POLLIN : 0), 0}};
    int64_t next_ns = NowNs() + kLongestWaitNs;
    for (const Client& client : clients_) {
      entries.push_back(
          {client.socket.fd(), static_cast<short>(client.replying ? POLLOUT : POLLIN), 0});
      next_ns = std::min(next_ns, client.deadline_ns);
    }
    const int64_t wait_ms = std::clamp<int64_t>((next_ns - NowNs()) / 1'000'000 + 1, 1, 1'000'000);
    if (poll(entries.data(), entries.size(), static_cast<int>(wait_ms)) < 0 && errno != EINTR)
      return;
    if (entries[0].revents != 0) return;
    size_t i = 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++i) {
      bool keep = true;
      if (entries[i].revents != 0)
        keep = client->welcome    ? Meet(*client)
               : client->replying ? WriteSome(*client)
                                  : ReadSome(*client);
      if (keep && client->deadline_ns <= NowNs()) keep = Expire(*client);
      client = keep ? std::next(client) : clients_.erase(client);
    }
    if (entries[1].revents != 0) Accept();
  }
}

// A new client is given a time in which to prove that it knows the token. Where descriptors run out
// the oldest of those that have not is let go.
void Server::Accept() {
  const int fd = accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) return ForgetOldest();
  if (fd < 0) return;
  Client& client = clients_.emplace_back();
  client.socket = Socket(fd);
  client.welcome.emplace(client.socket, key_, kStorePurpose);
  client.deadline_ns = NowNs() + kHandshakeNs;
  const auto unproven = std::count_if(clients_.begin(), clients_.end(),
                                      [](const Client& c) { return c.welcome.has_value(); });
  if (static_cast<size_t>(unproven) > kMostUnproven) ForgetOldest();
}

// Of those who have proven nothing: so many of them keep nobody out who has something to prove.
void Server::ForgetOldest() {
  const auto oldest = std::find_if(clients_.begin(), clients_.end(),
                                   [](const Client& c) { return c.welcome.has_value(); });
  if (oldest != clients_.end()) clients_.erase(oldest);
}

// Nothing that a client says counts before it has proven that it knows the token.
bool Server::Meet(Client& client) {
  const Welcome::State state = client.welcome->Read(client.socket);
  if (state != Welcome::State::kProven) return state == Welcome::State::kWaits;
  client.welcome.reset();
  client.deadline_ns = NowNs() + kRequestNs;
  return true;
}

// Lengths are compared with limits as soon as the head of the request is there, and the first bytes
// with the magic number before that: a stranger is dropped at its first wrong byte.
bool Server::ReadSome(Client& client) {
  char buffer[16 * 1024];
  const ssize_t n = recv(client.socket.fd(), buffer, sizeof(buffer), 0);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0 || client.awaited) return false;  // gone, or talks when it should wait
  client.in.append(buffer, n);
  StoreRequest request;
  if (client.in.size() < sizeof(request)) {
    return std::memcmp(client.in.data(), &kStoreMagic,
                       std::min(client.in.size(), sizeof(kStoreMagic))) == 0;
  }
  std::memcpy(&request, client.in.data(), sizeof(request));
  if (request.magic != kStoreMagic || request.key_bytes > kMaxKey ||
      request.value_bytes > kMaxValue)
    return false;
  const size_t whole = sizeof(request) + request.key_bytes + request.value_bytes;
  if (client.in.size() > whole) return false;
  return client.in.size() < whole || Handle(client, request);
}

// A get of a key that is not there waits until somebody sets it, or its time is up.
bool Server::Handle(Client& client, const StoreRequest& request) {
  const std::string key = client.in.substr(sizeof(request), request.key_bytes);
  std::string value = client.in.substr(sizeof(request) + request.key_bytes);
  client.in.clear();
  switch (request.operation) {
    case kStoreSet:
    case kStoreClaim:
      Reply(client, Put(key, std::move(value), request.operation == kStoreClaim));
      return true;
    case kStoreGet: break;
    default: return false;
  }
  if (const auto found = values_.find(key); found != values_.end()) {
    Reply(client, kStoreOk, found->second);
  } else {
    client.awaited = key;
    client.deadline_ns = NowNs() + std::min(kLongestWaitNs, request.wait_ms * int64_t{1'000'000});
  }
  return true;
}

// All that wait for the key are answered at once. The sum of what is stored has a limit.
StoreAnswer Server::Put(const std::string& key, std::string value, bool only_if_absent) {
  const auto found = values_.find(key);
  if (found != values_.end() && only_if_absent) return kStoreExists;
  const size_t before = found == values_.end() ? 0 : key.size() + found->second.size();
  const size_t after = key.size() + value.size();
  if (stored_ - before + after > kMaxStored) return kStoreFull;
  stored_ += after - before;
  for (Client& client : clients_) {
    if (client.awaited == key) Reply(client, kStoreOk, value);
  }
  values_[key] = std::move(value);
  return kStoreOk;
}

// The head of the reply, then the value.
void Server::Reply(Client& client, StoreAnswer answer, const std::string& value) {
  StoreReply reply;
  reply.answer = answer;
  reply.value_bytes = static_cast<uint32_t>(value.size());
  client.out = std::string(reinterpret_cast<const char*>(&reply), sizeof(reply)) + value;
  client.awaited.reset();
  client.replying = true;
  client.deadline_ns = NowNs() + kRequestNs;
}

// False at the end, too: a client is served once.
bool Server::WriteSome(Client& client) {
  const ssize_t n = send(client.socket.fd(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  client.out.erase(0, n);
  return !client.out.empty();
}

// A get that waits is told that time is up; whoever is late with a request or a reply is dropped.
bool Server::Expire(Client& client) {
  if (!client.awaited) return false;
  Reply(client, kStoreTimeout);
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreServer>> StoreServer::Start(const std::string& address,
                                                                const std::string& token) {
  DT_ASSIGN_OR_RETURN(const Key key, KeyOfToken(token));
  DT_ASSIGN_OR_RETURN(Socket listener, Listen(address));
  const std::string real = WithPortOf(listener, address);
  return std::make_unique<Server>(std::move(listener), real, key);
}

}  // namespace dtranspile::comm
