// A request of a trainer on its way through the server: read, handed to the protocol, answered from
// the memory of the table. Made by the service (service.cc) for every call but sessions; deletes
// itself when gRPC has let go of it.
#pragma once

#include <grpcpp/support/slice.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/messages.pb.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/server_stream.h"

namespace dtranspile::ps {

// What requests need of the service.
class RequestHost {
 public:
  virtual Protocol& protocol() = 0;
  // -1: there is no such session.
  virtual int TrainerOf(uint64_t session) = 0;
  virtual void CountBytes(int64_t sent, int64_t received) = 0;
  // A call is gone.
  virtual void CallEnded() = 0;

 protected:
  ~RequestHost() = default;
};

class RequestCall : public Event {
 public:
  RequestCall(RequestHost& host, std::unique_ptr<ServerStream> stream)
      : host_(host), stream_(std::move(stream)) {}

  // `known`: whether the method is one of ours.
  void Begin(bool known);
  void Happen(bool ok) override;

 private:
  using Slices = std::vector<grpc::Slice>;

  void Handle();
  void Answer(const absl::Status& status);
  void Send(absl::StatusOr<Slices> result);
  bool Ask();
  void LookUpAll();
  absl::Status Read(const exec::Table& table, int64_t count, std::vector<int64_t>& rows);
  absl::StatusOr<Slices> Result();
  absl::StatusOr<Slices> Chunk(const exec::Table& table, int64_t chunk);
  absl::StatusOr<Slices> Rows(const std::vector<const exec::Table*>& tables,
                              const std::vector<int64_t>& counts);
  int64_t NumbersLeft() const;

  RequestHost& host_;
  const std::unique_ptr<ServerStream> stream_;
  bool answered_ = false;
  int trainer_ = -1;
  grpc::ByteBuffer message_;
  Request request_;
  Payload payload_;
};

}  // namespace dtranspile::ps
