// libFuzzer target: .npy files and offset lists. What is read must be written so that it reads the
// same.
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/io/feed.h"
#include "runtime/io/npy.h"

using dtranspile::Tensor;
using dtranspile::io::NpyFile;
using dtranspile::io::OpenMemory;

namespace {

absl::StatusOr<Tensor> Parse(const void* data, size_t size) {
  absl::StatusOr<NpyFile> file = NpyFile::Open(OpenMemory("fuzz", data, size));
  if (!file.ok()) return file.status();
  return file->ReadAll();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)dtranspile::io::ParseLodJson("fuzz",
                                     std::string(reinterpret_cast<const char*>(data), size));
  const absl::StatusOr<Tensor> tensor = Parse(data, size);
  if (!tensor.ok()) return 0;
  std::string bytes = dtranspile::io::NpyHeader(tensor->dtype, tensor->dims);
  bytes.append(reinterpret_cast<const char*>(tensor->bytes.data()),
               static_cast<size_t>(tensor->bytes.size()));
  const absl::StatusOr<Tensor> again = Parse(bytes.data(), bytes.size());
  const bool same =
      again.ok() && again->dtype == tensor->dtype && again->dims == tensor->dims &&
      again->bytes.size() == tensor->bytes.size() &&
      (tensor->bytes.size() == 0 || std::memcmp(again->bytes.data(), tensor->bytes.data(),
                                                static_cast<size_t>(tensor->bytes.size())) == 0);
  if (!same) std::abort();
  return 0;
}
