// A server of a job over gRPC: what the worker of a server role runs its rounds with
// (tools/dtranspile/worker_main.cc). The state is the protocol's (protocol.h), the sockets are the
// service's (service.h); this one brings them together and tells trainers where they are.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/server_link.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/service.h"

namespace dtranspile::ps {

struct ServerOptions {
  std::string address;    // "host:port" to listen at, known to the trainers; "": any port, told in
  std::string store;      // the job's store at "host:port" (runtime/comm/gloo/store.h)
  std::string key;        // after which the addresses of this role stand there
  std::string token;      // of the job
  std::string interface;  // without `address`: network interface to listen at; "": loopback
  double timeout_seconds = 60;
  std::string digest;           // of the job, equal for all roles
  std::string role = "server";  // of this server
  int server = 0, servers = 1;
  std::string trainer_role = "trainer";
  int trainers = 1;
};

class Server : public exec::Rounds {
 public:
  // kInvalidArgument for options without sense.
  static absl::StatusOr<std::unique_ptr<Server>> Make(ServerOptions options);
  ~Server() override;

  absl::Status Open(std::vector<exec::Table> tables, std::vector<Handler> handlers) override;
  absl::StatusOr<exec::Turn> Next() override;
  void Finish(const absl::Status& status) override { protocol_->Finish(status); }
  absl::Status Merged(const std::string& table, int64_t block,
                      const exec::TensorRoom& to) override {
    return protocol_->Merged(table, block, to);
  }
  absl::Status MergedRows(const std::string& table, int64_t block, exec::Value& to) override {
    return protocol_->MergedRows(table, block, to);
  }
  absl::Status Pulled(const std::string& table, int64_t block,
                      const exec::TensorRoom& to) override {
    return protocol_->Pulled(table, block, to);
  }
  void Abort(const std::string& why) override;
  int64_t bytes_sent() const override { return service_ ? service_->bytes_sent() : 0; }
  int64_t bytes_received() const override { return service_ ? service_->bytes_received() : 0; }

 private:
  Server(ServerOptions options, const comm::Key& key);
  absl::Status Publish(const std::string& word, double seconds) const;
  void PublishFailure(const std::string& why) const;

  const ServerOptions options_;
  const comm::Key key_;
  const std::string name_;
  std::atomic<bool> opened_{false};
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<Service> service_;
  std::atomic<Service*> told_{nullptr};  // who tells the trainers of a failure
};

}  // namespace dtranspile::ps
