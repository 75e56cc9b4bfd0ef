// Element types of tensors, with the codes that saved programs and tensor files use (VarType.Type).
// Everything below runtime/ and everything that reads files speaks of element types through this
// enum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dtranspile {

enum class DType : int32_t {
  kBool = 0,
  kInt16 = 1,
  kInt32 = 2,
  kInt64 = 3,
  kFloat16 = 4,
  kFloat32 = 5,
  kFloat64 = 6,
  kSizeT = 19,
  kUInt8 = 20,
  kInt8 = 21,
  kBFloat16 = 22,
  kComplex64 = 23,
  kComplex128 = 24,
  kUInt32 = 37,
  kUInt64 = 38,
};

// Bytes of one element.
size_t SizeOf(DType type);

// The framework's spelling: "float32", "int64", "bool" …
const char* NameOf(DType type);

// The inverse of NameOf; nothing for a name that is no element type.
std::optional<DType> DTypeFromName(const std::string& name);

// The element type with that code; nothing for codes of variable kinds or unknown ones.
std::optional<DType> DTypeFromCode(int32_t code);

}  // namespace dtranspile
