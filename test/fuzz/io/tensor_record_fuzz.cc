// libFuzzer target: dense and SelectedRows records. What is read must be written so that it reads
// the same.
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/io/tensor_record.h"

using dtranspile::SelectedRows;
using dtranspile::Tensor;
using dtranspile::io::Cursor;
using dtranspile::io::OpenMemory;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source = OpenMemory("fuzz", data, size);
  Cursor rows_cursor(*source);
  (void)dtranspile::io::ReadSelectedRowsRecord(rows_cursor);
  (void)dtranspile::io::ReadCombined(
      *source, {{"a", dtranspile::DType::kFloat32, {2}}, {"b", dtranspile::DType::kInt64, {}}});

  Cursor cursor(*source);
  const absl::StatusOr<Tensor> tensor = dtranspile::io::ReadRecord(cursor);
  if (!tensor.ok()) return 0;
  std::string bytes = dtranspile::io::RecordHeader(tensor->dtype, tensor->dims, tensor->lod);
  bytes.append(reinterpret_cast<const char*>(tensor->bytes.data()),
               static_cast<size_t>(tensor->bytes.size()));
  const auto copy = OpenMemory("copy", bytes.data(), bytes.size());
  Cursor again_cursor(*copy);
  const absl::StatusOr<Tensor> again = dtranspile::io::ReadRecord(again_cursor);
  const bool same = again.ok() && again_cursor.remaining() == 0 && again->dtype == tensor->dtype &&
                    again->dims == tensor->dims && again->lod == tensor->lod &&
                    again->bytes.size() == tensor->bytes.size();
  if (!same) std::abort();
  return 0;
}
