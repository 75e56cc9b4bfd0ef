// The framework's own tensor files: dense (LoD) records, SelectedRows records, one per file or many
// in a combined file. The bytes are those of docs/tensor-files.md, which names the framework's
// files that define them. Callers: --init, --save, start-up, the parameter servers' snapshots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/bytes.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::io {

// kSkip: everything is checked but the elements, which are passed over: the tensor has type,
// extents and LoD, and no bytes.
enum class Elements { kRead, kSkip };

// One dense record at the cursor, which ends up after it. Errors: kDataLoss for a file that ends
// too early, kInvalidArgument for versions, extents, types or LoD levels that no tensor has; both
// name file and offset. Memory is taken only after the file has been found long enough for it.
absl::StatusOr<Tensor> ReadRecord(Cursor& cursor, Elements elements = Elements::kRead);
absl::StatusOr<SelectedRows> ReadSelectedRowsRecord(Cursor& cursor);

// The bytes of a record in front of its elements, which follow as they lie in memory.
std::string RecordHeader(DType dtype, const std::vector<int64_t>& dims, const Lod& lod);

// A file with one record; trailing bytes are an error.
absl::StatusOr<Tensor> ReadTensorFile(const std::string& path, Elements elements = Elements::kRead);
absl::StatusOr<SelectedRows> ReadSelectedRowsFile(const std::string& path);

// One that fails leaves no file. kInvalidArgument when lod does not fit the rows (a level that
// CheckLod refuses).
absl::Status WriteTensorFile(const std::string& path, const TensorView& value, const Lod& lod = {});
absl::Status WriteTensorFile(const std::string& path, const Tensor& value);
absl::Status WriteSelectedRowsFile(const std::string& path, const SelectedRows& value);

// What the program that was saved together with a combined file declares.
struct Expected {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  bool skips = false;  // a variable that the caller has no use for: any type and extents, not read
};

// A combined file has no names: record i belongs to the i-th of the unique names in byte order.
// Every record must have the declared type (float32 stands for float64 too) and extents, and the
// file must end with the last one (kInvalidArgument, with the name and both shapes, otherwise).
absl::StatusOr<std::map<std::string, Tensor>> ReadCombined(const std::string& path,
                                                           const std::vector<Expected>& expected,
                                                           Elements elements = Elements::kRead);
absl::StatusOr<std::map<std::string, Tensor>> ReadCombined(const ByteSource& source,
                                                           const std::vector<Expected>& expected,
                                                           Elements elements = Elements::kRead);

// The map's order is the file's.
absl::Status WriteCombined(const std::string& path,
                           const std::map<std::string, TensorView>& values);

}  // namespace dtranspile::io
