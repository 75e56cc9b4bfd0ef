#include "runtime/ps/door.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/callers.h"

namespace dtranspile::ps {

std::string PurposeOf(const std::string& role, int server) {
  return absl::StrCat("requests to ", role, " ", server);
}

void SendAtOnce(const comm::Socket& socket) {
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

absl::StatusOr<std::unique_ptr<Door>> Door::Open(const std::string& at, const comm::Key& key,
                                                 const std::string& purpose, Enter enter) {
  DT_ASSIGN_OR_RETURN(comm::Socket listener, comm::Listen(at));
  std::string address = comm::WithPortOf(listener, at);
  return std::unique_ptr<Door>(
      new Door(std::move(listener), std::move(address), key, purpose, std::move(enter)));
}

// A thread that lets proven callers in until the listener is shut down, which is what ends it.
Door::Door(comm::Socket listener, std::string address, const comm::Key& key, std::string purpose,
           Enter enter)
    : listener_(std::move(listener)), address_(std::move(address)) {
  thread_ = std::thread([this, key, purpose = std::move(purpose), enter = std::move(enter)] {
    comm::Callers callers(listener_, key, purpose);
    while (true) {
      comm::Callers::Caller caller = callers.Next(std::numeric_limits<int64_t>::max());
      if (caller.socket.fd() < 0) return;
      SendAtOnce(caller.socket);
      enter(std::move(caller.socket));
    }
  });
}

Door::~Door() {
  shutdown(listener_.fd(), SHUT_RDWR);
  thread_.join();
}

}  // namespace dtranspile::ps
