// A gRPC call as the server has it, and the queue's word that something has happened to it. Used by
// the calls of a service (request_call.h, session.h).
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/status/status.h"

namespace dtranspile::ps {

// What gRPC's completion queue gives back.
class Event {
 public:
  virtual ~Event() = default;
  virtual void Happen(bool ok) = 0;
};

struct ServerStream {
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter io{&context};
};

// The status as it travels: with a message that fits a header.
inline grpc::Status OnTheWire(const absl::Status& status) {
  constexpr size_t kMostBytes = 2000;
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message().substr(0, kMostBytes))};
}

}  // namespace dtranspile::ps
