#include "runtime/io/tensor_record.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/output.h"
#include "runtime/io/tensor_desc.h"
#include "runtime/tensor/lod.h"
#include "runtime/tensor/widen.h"

namespace dtranspile::io {
namespace {

// Little-endian, as the format is.
template <typename T>
void Put(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Records and tensors each begin with a version, which has been 0 in all releases: the first thing
// by which a file of another kind is told.
absl::Status ReadVersion(Cursor& cursor, const std::string& what) {
  DT_ASSIGN_OR_RETURN(const uint32_t version, cursor.ReadU32(what + " version"));
  if (version == 0) return absl::OkStatus();
  return cursor.Error(absl::StrCat(what, " version ", version,
                                   " instead of 0: not a tensor file of the framework"));
}

// `count` numbers of 8 bytes, of which the file must have room for all.
template <typename T>
absl::StatusOr<std::vector<T>> ReadNumbers(Cursor& cursor, const std::string& what,
                                           uint64_t count) {
  static_assert(sizeof(T) == 8);
  if (count > static_cast<uint64_t>(cursor.remaining()) / sizeof(T)) {
    return cursor.Error(absl::StrCat(what, " has ", count, " entries, more than the file"));
  }
  std::vector<T> numbers(count);
  DT_RETURN_IF_ERROR(cursor.Read(what, static_cast<int64_t>(count * sizeof(T)), numbers.data()));
  return numbers;
}

// Levels of offsets, each with its length in bytes. Counts are compared with the rest of the file
// before memory is taken for them.
absl::StatusOr<Lod> ReadLod(Cursor& cursor) {
  DT_ASSIGN_OR_RETURN(const uint64_t levels, cursor.ReadU64("the number of LoD levels"));
  // A level has its length and at least the offset 0.
  if (levels > static_cast<uint64_t>(cursor.remaining()) / 16) {
    return cursor.Error(absl::StrCat(levels, " LoD levels, more than the file has room for"));
  }
  Lod lod;
  for (uint64_t level = 0; level < levels; ++level) {
    const std::string what = absl::StrCat("level ", level, " of the LoD");
    DT_ASSIGN_OR_RETURN(const uint64_t bytes, cursor.ReadU64("the length of " + what));
    if (bytes % 8 != 0)
      return cursor.Error(absl::StrCat(what, " has ", bytes, " bytes, no multiple of 8"));
    DT_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets,
                        ReadNumbers<uint64_t>(cursor, what, bytes / 8));
    lod.push_back(std::move(offsets));
  }
  return lod;
}

// Items 4 to 7 of a record: tensor version, description, elements.
absl::StatusOr<Tensor> ReadValue(Cursor& cursor, Elements elements) {
  DT_RETURN_IF_ERROR(ReadVersion(cursor, "tensor"));
  DT_ASSIGN_OR_RETURN(const uint32_t size, cursor.ReadU32("the length of the description"));
  if (size > static_cast<uint64_t>(cursor.remaining())) {
    return cursor.Error(absl::StrCat("a description of ", size, " bytes, more than the file"));
  }
  std::string bytes(size, '\0');
  DT_RETURN_IF_ERROR(cursor.Read("the description", size, bytes.data()));
  absl::StatusOr<TensorDesc> desc = ParseTensorDesc(bytes);
  if (!desc.ok()) return cursor.Error(std::string(desc.status().message()));
  const absl::StatusOr<int64_t> wanted = ByteCount(desc->dtype, desc->dims);
  if (!wanted.ok()) return cursor.Error(std::string(wanted.status().message()));
  if (*wanted > cursor.remaining()) {
    return absl::DataLossError(absl::StrCat(cursor.source().name(), ": offset ", cursor.offset(),
                                            ": ", ShapeText(desc->dtype, desc->dims), " wants ",
                                            *wanted, " bytes, ", cursor.remaining(),
                                            " are left: the file is cut off"));
  }
  if (elements == Elements::kSkip) {
    DT_RETURN_IF_ERROR(cursor.Skip("the elements", *wanted));
    Tensor described;
    described.dtype = desc->dtype;
    described.dims = std::move(desc->dims);
    return described;
  }
  DT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(desc->dtype, std::move(desc->dims)));
  DT_RETURN_IF_ERROR(cursor.Read("the elements", *wanted, tensor.bytes.data()));
  return tensor;
}

// Version, length and the description (a protobuf message TensorDesc); elements follow.
std::string ValueHeader(DType dtype, const std::vector<int64_t>& dims) {
  const std::string desc = SerializeTensorDesc({dtype, dims});
  std::string out;
  Put<uint32_t>(0, &out);
  Put<int32_t>(static_cast<int32_t>(desc.size()), &out);
  return out + desc;
}

absl::Status ExpectEnd(const Cursor& cursor) {
  if (cursor.remaining() == 0) return absl::OkStatus();
  return cursor.Error(absl::StrCat(cursor.remaining(), " bytes after the last tensor"));
}

// Header and elements are written one after the other: the elements may be gigabytes, of which no
// copy is made.
absl::Status WriteParts(const std::string& path, const std::string& header,
                        const TensorView& value) {
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  DT_RETURN_IF_ERROR(file.Write(header.data(), static_cast<int64_t>(header.size())));
  DT_RETURN_IF_ERROR(file.Write(value.data, value.bytes()));
  return file.Close();
}

}  // namespace

// A LoDTensor as save_op of the framework writes it: version, LoD, tensor.
absl::StatusOr<Tensor> ReadRecord(Cursor& cursor, Elements elements) {
  DT_RETURN_IF_ERROR(ReadVersion(cursor, "record"));
  DT_ASSIGN_OR_RETURN(Lod lod, ReadLod(cursor));
  DT_ASSIGN_OR_RETURN(Tensor tensor, ReadValue(cursor, elements));
  const absl::Status legal = CheckLod(lod, tensor.dims.empty() ? 1 : tensor.dims[0]);
  if (!legal.ok()) return cursor.Error(std::string(legal.message()));
  tensor.lod = std::move(lod);
  return tensor;
}

// Version, the numbers of the rows, the height of the tensor that they are rows of, and their
// values.
absl::StatusOr<SelectedRows> ReadSelectedRowsRecord(Cursor& cursor) {
  DT_RETURN_IF_ERROR(ReadVersion(cursor, "SelectedRows"));
  DT_ASSIGN_OR_RETURN(const uint64_t count, cursor.ReadU64("the number of rows"));
  SelectedRows result;
  DT_ASSIGN_OR_RETURN(result.rows, ReadNumbers<int64_t>(cursor, "the list of rows", count));
  DT_ASSIGN_OR_RETURN(const uint64_t height, cursor.ReadU64("the height"));
  result.height = static_cast<int64_t>(height);
  const auto outside = std::find_if(result.rows.begin(), result.rows.end(),
                                    [&](int64_t row) { return row < 0 || row >= result.height; });
  if (result.height < 0 || outside != result.rows.end()) {
    return cursor.Error(absl::StrCat("height ", result.height, " with row ",
                                     outside == result.rows.end() ? 0 : *outside));
  }
  DT_ASSIGN_OR_RETURN(result.value, ReadValue(cursor, Elements::kRead));
  if (result.value.dims.empty() || result.value.dims[0] != static_cast<int64_t>(count)) {
    return cursor.Error(absl::StrCat(count, " rows with a value of ",
                                     ShapeText(result.value.dtype, result.value.dims)));
  }
  return result;
}

// Everything of a record but its elements: version 0, the number of LoD levels, each with its
// length in bytes, then the header of the tensor.
std::string RecordHeader(DType dtype, const std::vector<int64_t>& dims, const Lod& lod) {
  std::string out;
  Put<uint32_t>(0, &out);
  Put<uint64_t>(lod.size(), &out);
  for (const std::vector<uint64_t>& level : lod) {
    Put<uint64_t>(level.size() * sizeof(uint64_t), &out);
    for (uint64_t offset : level) Put(offset, &out);
  }
  return out + ValueHeader(dtype, dims);
}

absl::StatusOr<Tensor> ReadTensorFile(const std::string& path, Elements elements) {
  DT_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  Cursor cursor(*source);
  DT_ASSIGN_OR_RETURN(Tensor tensor, ReadRecord(cursor, elements));
  DT_RETURN_IF_ERROR(ExpectEnd(cursor));
  return tensor;
}

absl::StatusOr<SelectedRows> ReadSelectedRowsFile(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  Cursor cursor(*source);
  DT_ASSIGN_OR_RETURN(SelectedRows value, ReadSelectedRowsRecord(cursor));
  DT_RETURN_IF_ERROR(ExpectEnd(cursor));
  return value;
}

absl::Status WriteTensorFile(const std::string& path, const TensorView& value, const Lod& lod) {
  DT_RETURN_IF_ERROR(CheckLod(lod, value.dims.empty() ? 1 : value.dims[0]));
  return WriteParts(path, RecordHeader(value.dtype, value.dims, lod), value);
}

absl::Status WriteTensorFile(const std::string& path, const Tensor& value) {
  return WriteTensorFile(path, value.view(), value.lod);
}

// There has to be a row of values for each row number.
absl::Status WriteSelectedRowsFile(const std::string& path, const SelectedRows& value) {
  const auto count = static_cast<int64_t>(value.rows.size());
  if (value.value.dims.empty() || value.value.dims[0] != count) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", count, " rows with a value of ",
                                                   ShapeText(value.value.dtype, value.value.dims)));
  }
  std::string header;
  Put<uint32_t>(0, &header);
  Put<uint64_t>(value.rows.size(), &header);
  for (int64_t row : value.rows) Put(row, &header);
  Put<int64_t>(value.height, &header);
  header += ValueHeader(value.value.dtype, value.value.dims);
  return WriteParts(path, header, value.value.view());
}

// A combined file (save_combine) has no names: records follow in the order of the sorted names of
// the program's persistables. Type and extents of every record are therefore compared with what is
// expected under its name, which is how a file of another program is found out.
absl::StatusOr<std::map<std::string, Tensor>> ReadCombined(const ByteSource& source,
                                                           const std::vector<Expected>& expected,
                                                           Elements elements) {
  std::map<std::string, const Expected*> sorted;
  for (const Expected& one : expected) sorted.emplace(one.name, &one);
  Cursor cursor(source);
  std::map<std::string, Tensor> values;
  size_t count = 0;  // of records
  for (const auto& [name, one] : sorted) {
    if (cursor.remaining() == 0) {
      return cursor.Error(absl::StrCat("ends after ", count, " tensors; the program has ",
                                       sorted.size(), " persistables, the next one is '", name,
                                       "'"));
    }
    absl::StatusOr<Tensor> tensor = ReadRecord(cursor, one->skips ? Elements::kSkip : elements);
    const size_t record = count++;
    if (!tensor.ok()) {
      return absl::Status(
          tensor.status().code(),
          absl::StrCat(tensor.status().message(), " (record ", record, ", '", name, "')"));
    }
    if (one->skips) continue;
    if (!FitsOrWidens(tensor->dtype, one->dtype) || tensor->dims != one->dims) {
      return cursor.Error(
          absl::StrCat("record ", record, " is ", ShapeText(tensor->dtype, tensor->dims), ", but '",
                       name, "' is ", ShapeText(one->dtype, one->dims),
                       ": the file belongs to another program, or has other variables"));
    }
    values.emplace(name, *std::move(tensor));
  }
  DT_RETURN_IF_ERROR(ExpectEnd(cursor));
  return values;
}

absl::StatusOr<std::map<std::string, Tensor>> ReadCombined(const std::string& path,
                                                           const std::vector<Expected>& expected,
                                                           Elements elements) {
  DT_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  return ReadCombined(*source, expected, elements);
}

// In the order of the map, which is that of the names: what ReadCombined expects.
absl::Status WriteCombined(const std::string& path,
                           const std::map<std::string, TensorView>& values) {
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  for (const auto& [name, value] : values) {
    const std::string header = RecordHeader(value.dtype, value.dims, {});
    DT_RETURN_IF_ERROR(file.Write(header.data(), static_cast<int64_t>(header.size())));
    DT_RETURN_IF_ERROR(file.Write(value.data, value.bytes()));
  }
  return file.Close();
}

}  // namespace dtranspile::io
