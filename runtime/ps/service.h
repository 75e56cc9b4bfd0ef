// gRPC between a server's protocol and its trainers: a call per request, a stream per trainer that
// lives as long as the trainer does (messages.proto). Owned by the server (server.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/comm/token.h"
#include "runtime/ps/protocol.h"

namespace dtranspile::ps {

struct ServiceOptions {
  std::string address = "127.0.0.1:0";  // to listen at; port 0: any
  comm::Key key = {};
  std::string digest;           // of the job
  std::string role = "server";  // of this server
  int server = 0, servers = 1;
  std::string trainer_role = "trainer";
  int trainers = 1;
  double timeout_seconds = 60;
  // After a failure nobody else tells trainers that come later: the service stays for a moment, and
  // does.
  bool tells_late = false;
};

class Service {
 public:
  // Listens at the address. `protocol` outlives the service, which ends it.
  static absl::StatusOr<std::unique_ptr<Service>> Start(const ServiceOptions& options,
                                                        Protocol& protocol);
  virtual ~Service() = default;

  // "host:port".
  virtual const std::string& address() const = 0;
  // Tells every trainer that the job ends. Safe from any thread.
  virtual void Abort(const std::string& why) = 0;

  // Bytes of elements so far.
  virtual int64_t bytes_sent() const = 0;
  virtual int64_t bytes_received() const = 0;
};

}  // namespace dtranspile::ps
