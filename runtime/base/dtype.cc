#include "runtime/base/dtype.h"

namespace dtranspile {
namespace {

struct Row {
  DType type;
  size_t bytes;
  const char* name;
};

constexpr Row kRows[] = {
    {DType::kBool, 1, "bool"},
    {DType::kInt16, 2, "int16"},
    {DType::kInt32, 4, "int32"},
    {DType::kInt64, 8, "int64"},
    {DType::kFloat16, 2, "float16"},
    {DType::kFloat32, 4, "float32"},
    {DType::kFloat64, 8, "float64"},
    {DType::kSizeT, 8, "size_t"},
    {DType::kUInt8, 1, "uint8"},
    {DType::kInt8, 1, "int8"},
    {DType::kBFloat16, 2, "bfloat16"},
    {DType::kComplex64, 8, "complex64"},
    {DType::kComplex128, 16, "complex128"},
    {DType::kUInt32, 4, "uint32"},
    {DType::kUInt64, 8, "uint64"},
};

const Row* Find(DType type) {
  for (const Row& row : kRows)
    if (row.type == type) return &row;
  return nullptr;
}

}  // namespace

size_t SizeOf(DType type) {
  const Row* row = Find(type);
  return row ? row->bytes : 0;
}

const char* NameOf(DType type) {
  const Row* row = Find(type);
  return row ? row->name : "unknown";
}

std::optional<DType> DTypeFromName(const std::string& name) {
  for (const Row& row : kRows)
    if (name == row.name) return row.type;
  return std::nullopt;
}

std::optional<DType> DTypeFromCode(int32_t code) {
  for (const Row& row : kRows)
    if (static_cast<int32_t>(row.type) == code) return row.type;
  return std::nullopt;
}

}  // namespace dtranspile
