#include "runtime/ps/frame.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dtranspile::ps {
namespace {

struct Head {
  uint32_t magic;
  uint32_t control_bytes;
};

constexpr uint32_t kMagic = 0x31505444;  // "DTP1"

}  // namespace

Payload::Payload(std::vector<grpc::Slice> slices, size_t begin) : slices_(std::move(slices)) {
  for (const grpc::Slice& slice : slices_) left_ += static_cast<int64_t>(slice.size());
  Skip(static_cast<int64_t>(begin));
}

// Copies across slices; null skips. The caller has checked that so much is left.
void Payload::Read(void* to, int64_t bytes) {
  left_ -= bytes;
  auto* out = static_cast<std::byte*>(to);
  for (auto wanted = static_cast<size_t>(bytes); wanted > 0;) {
    const grpc::Slice& slice = slices_[slice_];
    const size_t n = std::min(wanted, slice.size() - at_);
    if (out != nullptr)
      out = std::copy_n(reinterpret_cast<const std::byte*>(slice.begin()) + at_, n, out);
    wanted -= n;
    at_ += n;
    if (at_ == slice.size()) ++slice_, at_ = 0;
  }
}

grpc::ByteBuffer Pack(const google::protobuf::MessageLite& control,
                      std::vector<grpc::Slice> payload) {
  const Head head{kMagic, static_cast<uint32_t>(control.ByteSizeLong())};
  std::string front(reinterpret_cast<const char*>(&head), sizeof(head));
  control.AppendToString(&front);
  payload.insert(payload.begin(), grpc::Slice(front));
  return {payload.data(), payload.size()};
}

// A message is a head (magic and the length of the control message), the control message
// (protobuf), and raw bytes, which are not copied. All lengths are checked against what is there.
absl::StatusOr<Payload> Unpack(const grpc::ByteBuffer& message,
                               google::protobuf::MessageLite& control) {
  const auto broken = [](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat("no message of this protocol: ", what));
  };
  std::vector<grpc::Slice> slices;
  if (!message.Valid() || !message.Dump(&slices).ok()) return broken("it is compressed or empty");
  Payload payload(std::move(slices), 0);
  Head head;
  if (payload.left() < static_cast<int64_t>(sizeof(head))) return broken("it is too short");
  payload.Read(&head, sizeof(head));
  if (head.magic != kMagic) return broken("it begins with something else");
  if (head.control_bytes > kMostControlBytes || head.control_bytes > payload.left())
    return broken("its control message is too long");
  std::string bytes(head.control_bytes, 0);
  payload.Read(bytes.data(), head.control_bytes);
  if (!control.ParseFromString(bytes)) return broken("its control message is damaged");
  return payload;
}

SliceBuilder::SliceBuilder(size_t bytes)
    : data_(static_cast<std::byte*>(std::malloc(std::max<size_t>(bytes, 1)))), bytes_(bytes) {
  if (data_ == nullptr) throw std::bad_alloc();
}

SliceBuilder::~SliceBuilder() { std::free(data_); }

grpc::Slice SliceBuilder::Finish() { return {std::exchange(data_, nullptr), bytes_, std::free}; }

grpc::Slice Lent(const std::byte* data, size_t bytes) {
  return {data, bytes, grpc::Slice::STATIC_SLICE};
}

grpc::Slice Lent(std::shared_ptr<const std::byte> owner, const std::byte* data, size_t bytes) {
  if (owner.use_count() == 0) return Lent(data, bytes);  // nobody's: it outlives the call
  using Owner = std::shared_ptr<const std::byte>;
  // gRPC does not write to it.
  return {const_cast<std::byte*>(data), bytes, [](void* held) { delete static_cast<Owner*>(held); },
          new Owner(std::move(owner))};
}

}  // namespace dtranspile::ps
