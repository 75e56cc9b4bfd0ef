#include "runtime/io/tensor_desc.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::io {
namespace {

// The framework's tensors have at most 9 dimensions, numpy's 64.
constexpr size_t kMaxRank = 64;

enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
enum Field { kDataType = 1, kDims = 2 };

// Reads the wire format of protobuf from the front of a string.
class WireReader {
 public:
  WireReader(const char* begin, const char* end) : at_(begin), end_(end) {}

  bool done() const { return at_ == end_; }

  absl::StatusOr<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (done()) break;
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= static_cast<uint64_t>(byte & 0x7f) << (shift < 64 ? shift : 63);
      if (!(byte & 0x80)) return value;
    }
    return absl::InvalidArgumentError(
        "the tensor description breaks off or has a number of more than 10 bytes");
  }

  // The next `count` bytes as a reader of their own.
  absl::StatusOr<WireReader> Take(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) {
      return absl::InvalidArgumentError("the tensor description breaks off");
    }
    WireReader part(at_, at_ + count);
    at_ += count;
    return part;
  }

  absl::Status Skip(uint64_t wire) {
    if (wire == kVarint) return Varint().status();
    if (wire == kFixed64) return Take(8).status();
    if (wire == kFixed32) return Take(4).status();
    if (wire != kBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("the tensor description has wire type ", wire));
    }
    DT_ASSIGN_OR_RETURN(const uint64_t size, Varint());
    return Take(size).status();
  }

 private:
  const char* at_;
  const char* end_;
};

absl::Status AddDim(uint64_t value, std::vector<int64_t>* dims) {
  if (dims->size() == kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of more than ", kMaxRank, " dimensions"));
  }
  dims->push_back(static_cast<int64_t>(value));
  return absl::OkStatus();
}

void PutVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

}  // namespace

// Message VarType.TensorDesc of the framework's framework.proto: data_type = 1, dims = 2, which may
// be packed or not. By hand, since the runtime does not link protobuf.
absl::StatusOr<TensorDesc> ParseTensorDesc(const std::string& bytes) {
  WireReader reader(bytes.data(), bytes.data() + bytes.size());
  TensorDesc desc;
  std::optional<uint64_t> code;
  while (!reader.done()) {
    DT_ASSIGN_OR_RETURN(const uint64_t tag, reader.Varint());
    const uint64_t field = tag >> 3;
    const uint64_t wire = tag & 7;
    if (field == kDataType && wire == kVarint) {
      DT_ASSIGN_OR_RETURN(code, reader.Varint());
    } else if (field == kDims && wire == kVarint) {
      DT_ASSIGN_OR_RETURN(const uint64_t dim, reader.Varint());
      DT_RETURN_IF_ERROR(AddDim(dim, &desc.dims));
    } else if (field == kDims && wire == kBytes) {
      DT_ASSIGN_OR_RETURN(const uint64_t size, reader.Varint());
      DT_ASSIGN_OR_RETURN(WireReader packed, reader.Take(size));
      while (!packed.done()) {
        DT_ASSIGN_OR_RETURN(const uint64_t dim, packed.Varint());
        DT_RETURN_IF_ERROR(AddDim(dim, &desc.dims));
      }
    } else {
      DT_RETURN_IF_ERROR(reader.Skip(wire));
    }
  }
  if (!code) return absl::InvalidArgumentError("the tensor description has no element type");
  const std::optional<DType> dtype =
      *code <= INT32_MAX ? DTypeFromCode(static_cast<int32_t>(*code)) : std::nullopt;
  if (!dtype) {
    return absl::InvalidArgumentError(absl::StrCat("VarType code ", *code, " is no element type"));
  }
  desc.dtype = *dtype;
  return desc;
}

std::string SerializeTensorDesc(const TensorDesc& desc) {
  std::string out;
  PutVarint(kDataType << 3 | kVarint, &out);
  PutVarint(static_cast<uint64_t>(desc.dtype), &out);
  for (int64_t dim : desc.dims) {
    PutVarint(kDims << 3 | kVarint, &out);
    PutVarint(static_cast<uint64_t>(dim), &out);
  }
  return out;
}

}  // namespace dtranspile::io
