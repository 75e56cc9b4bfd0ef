// The protobuf message VarType.TensorDesc {data_type = 1, dims = 2}, by hand: the runtime links no
// protobuf of programs. Used by the tensor records only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"

namespace dtranspile::io {

struct TensorDesc {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
};

// Both encodings of repeated numbers; unknown fields are skipped. kInvalidArgument says what is
// wrong, without file and offset.
absl::StatusOr<TensorDesc> ParseTensorDesc(const std::string& bytes);

// Unpacked, as the framework writes it (proto2).
std::string SerializeTensorDesc(const TensorDesc& desc);

}  // namespace dtranspile::io
