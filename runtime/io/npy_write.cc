#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/io/npy.h"
#include "runtime/io/npy_type.h"
#include "runtime/io/output.h"

namespace dtranspile::io {

// Version 1.0, filled with blanks so that the data begins at a multiple of 64 bytes, as NumPy
// writes it.
std::string NpyHeader(DType dtype, const std::vector<int64_t>& dims) {
  std::string dict =
      absl::StrCat("{'descr': '", NumpyFromDType(dtype), "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(dims, ", "), dims.size() == 1 ? "," : "", "), }");
  constexpr size_t kBefore = 10;  // magic, version, length
  constexpr size_t kAlignment = 64;
  const size_t end = (kBefore + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.resize(end - kBefore - 1, ' ');
  dict += '\n';
  const auto size = static_cast<uint16_t>(dict.size());  // at most 64 extents of 21 characters
  std::string header("\x93NUMPY\x01\x00", 8);
  header.append(reinterpret_cast<const char*>(&size), sizeof size);
  return header + dict;
}

absl::Status WriteNpy(const std::string& path, const TensorView& value) {
  const std::string header = NpyHeader(value.dtype, value.dims);
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  DT_RETURN_IF_ERROR(file.Write(header.data(), static_cast<int64_t>(header.size())));
  DT_RETURN_IF_ERROR(file.Write(value.data, value.bytes()));
  return file.Close();
}

struct NpyStack::State {
  OutputFile file;
  std::string path;
  DType dtype;
  std::vector<int64_t> dims;
  int64_t missing;
};

NpyStack::NpyStack(std::unique_ptr<State> state) : state_(std::move(state)) {}
NpyStack::NpyStack(NpyStack&&) noexcept = default;
NpyStack::~NpyStack() = default;

absl::StatusOr<NpyStack> NpyStack::Create(const std::string& path, DType dtype,
                                          std::vector<int64_t> dims, int64_t count) {
  std::vector<int64_t> all = dims;
  all.insert(all.begin(), count);
  DT_RETURN_IF_ERROR(ByteCount(dtype, all).status());
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  const std::string header = NpyHeader(dtype, all);
  DT_RETURN_IF_ERROR(file.Write(header.data(), static_cast<int64_t>(header.size())));
  return NpyStack(
      std::make_unique<State>(State{std::move(file), path, dtype, std::move(dims), count}));
}

absl::Status NpyStack::Append(const TensorView& entry) {
  if (entry.dtype != state_->dtype || entry.dims != state_->dims) {
    return absl::InvalidArgumentError(
        absl::StrCat(state_->path, ": an entry of ", ShapeText(entry.dtype, entry.dims),
                     " in a stack of ", ShapeText(state_->dtype, state_->dims)));
  }
  if (state_->missing == 0) return absl::InvalidArgumentError(state_->path + ": the stack is full");
  --state_->missing;
  return state_->file.Write(entry.data, entry.bytes());
}

absl::Status NpyStack::Finish() {
  if (state_->missing > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(state_->path, ": ", state_->missing, " entries are missing"));
  }
  return state_->file.Close();
}

}  // namespace dtranspile::io
