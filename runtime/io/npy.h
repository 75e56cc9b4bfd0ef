// NumPy's .npy files, versions 1 to 3 (numpy/lib/format.py documents the format): bool, (u)int8 to
// 64, float16/32/64, complex64/128, little-endian, in C and Fortran order. Anything else is refused
// by its descr: big-endian, structured and object arrays (which are pickles). Callers: feeds,
// --save-fetches, per-step values.
//
// NumPy lacks bfloat16: it is written as uint16 with the same bits, and uint16 is read as bfloat16,
// as in the framework, which has no uint16 of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/bytes.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::io {

// An open .npy file of which parts are read when they are needed: feeds may be larger than memory.
class NpyFile {
 public:
  // Reads the header only, and checks that the file has exactly the bytes that it promises.
  static absl::StatusOr<NpyFile> Open(const std::string& path);
  static absl::StatusOr<NpyFile> Open(std::unique_ptr<ByteSource> source);

  const std::string& name() const { return source_->name(); }

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  bool fortran_order() const { return fortran_; }

  // Everything; always row-major in memory.
  absl::StatusOr<Tensor> ReadAll() const;

  // The box [starts[d], starts[d] + counts[d]) in every dimension, row-major, to `out` (product of
  // counts elements). Only the bytes between its first and last element are touched, in few calls.
  // kOutOfRange names the dimension.
  absl::Status ReadBox(const std::vector<int64_t>& starts, const std::vector<int64_t>& counts,
                       void* out) const;

  // Entry `step` of the leading dimension, cut to [begin, begin + count) in dimension `dim` of what
  // remains: the part of a feed that one rank of several takes. `out` has room for the elements of
  // that part.
  absl::Status ReadStep(int64_t step, int dim, int64_t begin, int64_t count, void* out) const;

 private:
  std::unique_ptr<ByteSource> source_;
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> dims_;
  bool fortran_ = false;
  int64_t data_ = 0;  // offset of the first element
};

absl::StatusOr<Tensor> ReadNpy(const std::string& path);

// Version 1.0, C order, the header padded to 64 bytes as NumPy does. One that fails leaves no file.
absl::Status WriteNpy(const std::string& path, const TensorView& value);

// The bytes in front of the elements.
std::string NpyHeader(DType dtype, const std::vector<int64_t>& dims);

// A growing stack of equal tensors, written as one .npy whose leading dimension counts them: what
// --save-fetches asks for. The file appears at Finish.
class NpyStack {
 public:
  // `dims` of one entry, `count` entries.
  static absl::StatusOr<NpyStack> Create(const std::string& path, DType dtype,
                                         std::vector<int64_t> dims, int64_t count);

  // The next entry; kInvalidArgument for another type or shape, or one too many.
  absl::Status Append(const TensorView& entry);

  // kFailedPrecondition when entries are missing.
  absl::Status Finish();

  NpyStack(NpyStack&&) noexcept;
  ~NpyStack();

 private:
  struct State;
  explicit NpyStack(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dtranspile::io
