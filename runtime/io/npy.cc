#include "runtime/io/npy.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/npy_header.h"
#include "runtime/io/npy_type.h"
#include "runtime/io/strided.h"

namespace dtranspile::io {
namespace {

// Reads the box from a file: in one piece where it is contiguous, a whole window and a gather where
// that is small enough, else one dimension further in.
absl::Status ReadBoxAt(const ByteSource& source, const StridedBox& box, size_t level,
                       int64_t element, int64_t offset, char* to) {
  constexpr int64_t kWindow = 4 << 20;
  const int64_t bytes = box.Bytes(level, element);
  if (box.Contiguous(level, element)) return source.ReadAt(offset, bytes, to);
  const int64_t span = box.Span(level, element);
  if (span <= kWindow) {
    std::vector<char> window(static_cast<size_t>(span));
    DT_RETURN_IF_ERROR(source.ReadAt(offset, span, window.data()));
    const StridedBox rest{{box.counts.begin() + static_cast<ptrdiff_t>(level), box.counts.end()},
                          {box.strides.begin() + static_cast<ptrdiff_t>(level), box.strides.end()}};
    Gather(rest, element, window.data(), to);
    return absl::OkStatus();
  }
  const int64_t each = bytes / box.counts[level];
  for (int64_t i = 0; i < box.counts[level]; ++i) {
    DT_RETURN_IF_ERROR(
        ReadBoxAt(source, box, level + 1, element, offset + i * box.strides[level], to + i * each));
  }
  return absl::OkStatus();
}

template <typename T>
std::vector<T> Reversed(const std::vector<T>& values) {
  return {values.rbegin(), values.rend()};
}

}  // namespace

absl::StatusOr<NpyFile> NpyFile::Open(const std::string& path) {
  DT_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenFile(path));
  return Open(std::move(source));
}

// The format: numpy.lib.format. Only the header is read; the length of the file must be that of the
// elements.
absl::StatusOr<NpyFile> NpyFile::Open(std::unique_ptr<ByteSource> source) {
  Cursor cursor(*source);
  DT_ASSIGN_OR_RETURN(NpyHeaderFields fields, ReadNpyHeader(cursor));
  const absl::StatusOr<DType> dtype = DTypeFromNumpy(fields.descr);
  if (!dtype.ok()) return cursor.Error(std::string(dtype.status().message()));
  const absl::StatusOr<int64_t> bytes = ByteCount(*dtype, fields.dims);
  if (!bytes.ok()) return cursor.Error(std::string(bytes.status().message()));
  if (*bytes != cursor.remaining()) {
    return absl::DataLossError(absl::StrCat(source->name(), ": ", ShapeText(*dtype, fields.dims),
                                            " has ", *bytes, " bytes, the file ",
                                            cursor.remaining()));
  }
  NpyFile file;
  file.dtype_ = *dtype;
  file.dims_ = std::move(fields.dims);
  // Orders differ only where more than one extent does.
  file.fortran_ = fields.fortran_order && file.dims_.size() > 1;
  file.data_ = cursor.offset();
  file.source_ = std::move(source);
  return file;
}

// A box of elements, row-major into `out`. Arrays in Fortran order are row-major with reversed
// dims: read like that, then transposed in memory.
absl::Status NpyFile::ReadBox(const std::vector<int64_t>& starts,
                              const std::vector<int64_t>& counts, void* out) const {
  const auto fail = [&](size_t d) {
    return absl::OutOfRangeError(absl::StrCat(name(), ": entries from ", starts[d], ", ", counts[d],
                                              " of them, of dimension ", d, " of ",
                                              ShapeText(dtype_, dims_)));
  };
  if (starts.size() != dims_.size() || counts.size() != dims_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name(), ": a part of rank ", counts.size(), " of ", ShapeText(dtype_, dims_)));
  }
  bool empty = false;
  for (size_t d = 0; d < dims_.size(); ++d) {
    if (starts[d] < 0 || counts[d] < 0 || starts[d] > dims_[d] || counts[d] > dims_[d] - starts[d])
      return fail(d);
    if (counts[d] == 0) empty = true;
  }
  if (empty) return absl::OkStatus();

  // The file is row-major in its own order of dimensions, which Fortran arrays have reversed.
  const auto element = static_cast<int64_t>(SizeOf(dtype_));
  StridedBox box;
  box.counts = fortran_ ? Reversed(counts) : counts;
  box.strides = RowMajorStrides(fortran_ ? Reversed(dims_) : dims_, element);
  const std::vector<int64_t> from = fortran_ ? Reversed(starts) : starts;
  const int64_t offset = std::inner_product(from.begin(), from.end(), box.strides.begin(), data_);
  if (!fortran_) return ReadBoxAt(*source_, box, 0, element, offset, static_cast<char*>(out));

  DT_ASSIGN_OR_RETURN(AlignedBytes part, AlignedBytes::Zeros(box.Bytes(0, element)));
  auto* const data = reinterpret_cast<char*>(part.data());
  DT_RETURN_IF_ERROR(ReadBoxAt(*source_, box, 0, element, offset, data));
  Gather({counts, FortranStrides(counts, element)}, element, data, static_cast<char*>(out));
  return absl::OkStatus();
}

absl::StatusOr<Tensor> NpyFile::ReadAll() const {
  DT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(dtype_, dims_));
  DT_RETURN_IF_ERROR(ReadBox(std::vector<int64_t>(dims_.size(), 0), dims_, tensor.bytes.data()));
  return tensor;
}

// Dim 0 is the step, so that `dim` of an entry is dim + 1 of the file.
absl::Status NpyFile::ReadStep(int64_t step, int dim, int64_t begin, int64_t count,
                               void* out) const {
  if (dim < 0 || static_cast<size_t>(dim) + 1 >= dims_.size()) {
    return absl::OutOfRangeError(
        absl::StrCat(name(), ": dimension ", dim, " of an entry of ", ShapeText(dtype_, dims_)));
  }
  std::vector<int64_t> starts(dims_.size(), 0);
  std::vector<int64_t> counts = dims_;
  starts[0] = step;
  counts[0] = 1;
  starts[static_cast<size_t>(dim) + 1] = begin;
  counts[static_cast<size_t>(dim) + 1] = count;
  return ReadBox(starts, counts, out);
}

absl::StatusOr<Tensor> ReadNpy(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::Open(path));
  return file.ReadAll();
}

}  // namespace dtranspile::io
