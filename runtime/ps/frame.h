// A gRPC message: a control message (messages.proto) and after it bytes of a tensor, which are
// slices of gRPC's own buffers: nothing is copied between control message and socket. Used by both
// sides (server.h, client.h).
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::ps {

// Of a control message. More is refused before it is parsed.
inline constexpr uint32_t kMostControlBytes = 1 << 20;

// Bytes after a control message, read from front to back.
class Payload {
 public:
  Payload() = default;
  // The bytes of `slices` from `begin` on.
  Payload(std::vector<grpc::Slice> slices, size_t begin);

  int64_t left() const { return left_; }
  // The next bytes; the caller has checked that so many are left.
  void Read(void* to, int64_t bytes);
  void Skip(int64_t bytes) { Read(nullptr, bytes); }

 private:
  std::vector<grpc::Slice> slices_;
  size_t slice_ = 0, at_ = 0;
  int64_t left_ = 0;
};

grpc::ByteBuffer Pack(const google::protobuf::MessageLite& control,
                      std::vector<grpc::Slice> payload = {});

// kInvalidArgument for what is no such message.
absl::StatusOr<Payload> Unpack(const grpc::ByteBuffer& message,
                               google::protobuf::MessageLite& control);

// Memory of its own for a slice: written through data(), then handed over.
class SliceBuilder {
 public:
  explicit SliceBuilder(size_t bytes);
  ~SliceBuilder();
  SliceBuilder(const SliceBuilder&) = delete;
  SliceBuilder& operator=(const SliceBuilder&) = delete;

  std::byte* data() { return data_; }
  grpc::Slice Finish();

 private:
  std::byte* data_;
  size_t bytes_;
};

// A slice of memory that somebody else keeps alive until gRPC has let go of it.
grpc::Slice Lent(const std::byte* data, size_t bytes);
// The same, of memory that `owner` keeps alive.
grpc::Slice Lent(std::shared_ptr<const std::byte> owner, const std::byte* data, size_t bytes);

}  // namespace dtranspile::ps
