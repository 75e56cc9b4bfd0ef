// Where a server listens. The port is open to anybody, so that nobody is let in who has not proven
// to know the job's token (runtime/comm/gloo/handshake.h): gRPC gets connections of the job only,
// and never a byte of anybody else. Used by the service (service.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/token.h"

namespace dtranspile::ps {

// What connections to a server are for, in the proof.
std::string PurposeOf(const std::string& role, int server);

// Without it small messages wait for acknowledgements of those before them.
void SendAtOnce(const comm::Socket& socket);

class Door {
 public:
  using Enter = std::function<void(comm::Socket)>;

  // Listens at `address`, "host:port" with 0 for any port, and calls `enter` with every connection
  // that has proven itself, on a thread of its own, until it is destroyed. Errors of comm::Listen.
  static absl::StatusOr<std::unique_ptr<Door>> Open(const std::string& address,
                                                    const comm::Key& key,
                                                    const std::string& purpose, Enter enter);
  ~Door();

  // "host:port".
  const std::string& address() const { return address_; }

 private:
  Door(comm::Socket listener, std::string address, const comm::Key& key, std::string purpose,
       Enter enter);

  const comm::Socket listener_;
  const std::string address_;
  std::thread thread_;
};

}  // namespace dtranspile::ps
