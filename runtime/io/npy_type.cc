#include "runtime/io/npy_type.h"

#include "absl/strings/str_cat.h"

namespace dtranspile::io {
namespace {

struct Row {
  const char* name;  // kind and size
  DType dtype;
};

// The first row with a name is how it is read, the first with a type how that is written. NumPy has
// no bfloat16: the framework takes its uint16 arrays for it, and extension types are saved as two
// untyped bytes.
constexpr Row kRows[] = {
    {"b1", DType::kBool},        {"i1", DType::kInt8},     {"u1", DType::kUInt8},
    {"i2", DType::kInt16},       {"i4", DType::kInt32},    {"i8", DType::kInt64},
    {"u4", DType::kUInt32},      {"u8", DType::kUInt64},   {"f2", DType::kFloat16},
    {"f4", DType::kFloat32},     {"f8", DType::kFloat64},  {"c8", DType::kComplex64},
    {"c16", DType::kComplex128}, {"u2", DType::kBFloat16}, {"V2", DType::kBFloat16},
    {"u8", DType::kSizeT},
};

}  // namespace

absl::StatusOr<DType> DTypeFromNumpy(const std::string& descr) {
  const bool ordered = !descr.empty() && std::string("<>|=").find(descr[0]) != std::string::npos;
  const std::string name = ordered ? descr.substr(1) : descr;
  if (ordered && descr[0] == '>') {
    return absl::InvalidArgumentError(absl::StrCat("big-endian elements '", descr,
                                                   "'; save array.astype('<", name, "') instead"));
  }
  for (const Row& row : kRows) {
    if (name == row.name) return row.dtype;
  }
  if (!name.empty() && name[0] == 'O') {
    return absl::InvalidArgumentError("an array of Python objects; only numbers are read");
  }
  return absl::InvalidArgumentError(absl::StrCat("element type '", descr, "' has no counterpart"));
}

std::string NumpyFromDType(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return absl::StrCat(SizeOf(dtype) == 1 ? "|" : "<", row.name);
  }
  return "";
}

}  // namespace dtranspile::io
