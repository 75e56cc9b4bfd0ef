#include "runtime/io/npy_header.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/literal.h"

namespace dtranspile::io {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
// NumPy itself refuses headers above 10,000 characters unless told otherwise.
constexpr int64_t kMaxHeader = 64 << 10;
constexpr size_t kMaxRank = 64;

absl::StatusOr<std::vector<int64_t>> ParseShape(LiteralCursor& text) {
  std::vector<int64_t> dims;
  DT_RETURN_IF_ERROR(text.Expect("("));
  while (!text.Take(")")) {
    if (dims.size() == kMaxRank) return text.Error("more than 64 dimensions");
    DT_ASSIGN_OR_RETURN(const int64_t dim, text.Integer());
    text.Take("L");  // written by Python 2
    dims.push_back(dim);
    if (!text.Take(",")) {
      DT_RETURN_IF_ERROR(text.Expect(")"));
      if (dims.size() == 1)
        return text.Error("a number in parentheses instead of a shape, as (3,)");
      break;
    }
  }
  return dims;
}

absl::StatusOr<bool> ParseBool(LiteralCursor& text) {
  if (text.Take("True")) return true;
  if (text.Take("False")) return false;
  return text.Error("True or False expected");
}

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } with the keys in any order, each
// once.
absl::StatusOr<NpyHeaderFields> ParseFields(LiteralCursor& text) {
  NpyHeaderFields fields;
  bool descr = false;
  bool order = false;
  bool shape = false;
  DT_RETURN_IF_ERROR(text.Expect("{"));
  while (!text.Take("}")) {
    DT_ASSIGN_OR_RETURN(const std::string key, text.Quoted());
    DT_RETURN_IF_ERROR(text.Expect(":"));
    if (key == "descr" && !std::exchange(descr, true)) {
      if (text.Take("[")) return text.Error("structured arrays are not supported");
      DT_ASSIGN_OR_RETURN(fields.descr, text.Quoted());
    } else if (key == "fortran_order" && !std::exchange(order, true)) {
      DT_ASSIGN_OR_RETURN(fields.fortran_order, ParseBool(text));
    } else if (key == "shape" && !std::exchange(shape, true)) {
      DT_ASSIGN_OR_RETURN(fields.dims, ParseShape(text));
    } else {
      return text.Error(absl::StrCat("key '", key, "' is unknown or there twice"));
    }
    if (!text.Take(",")) {
      DT_RETURN_IF_ERROR(text.Expect("}"));
      break;
    }
  }
  if (!descr || !order || !shape) return text.Error("descr, fortran_order or shape is missing");
  if (!text.AtEnd()) return text.Error("text after the dict");
  return fields;
}

}  // namespace

// Magic, version, length (16 bits in version 1, 32 later), and a Python dict literal, which is
// parsed by a grammar of its own and not evaluated.
absl::StatusOr<NpyHeaderFields> ReadNpyHeader(Cursor& cursor) {
  unsigned char start[8];
  DT_RETURN_IF_ERROR(cursor.Read("the magic of .npy", sizeof start, start));
  if (std::memcmp(start, kMagic, 6) != 0) {
    return cursor.Error("does not begin with the magic of a .npy file");
  }
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    return cursor.Error(absl::StrCat(".npy version ", version, ".", static_cast<int>(start[7]),
                                     " is none of 1.0, 2.0, 3.0"));
  }
  uint32_t size = 0;
  DT_RETURN_IF_ERROR(cursor.Read("the length of the header", version == 1 ? 2 : 4, &size));
  if (size > kMaxHeader) {
    return cursor.Error(
        absl::StrCat("a header of ", size, " bytes; at most ", kMaxHeader, " are read"));
  }
  std::string text(size, '\0');
  DT_RETURN_IF_ERROR(cursor.Read("the header", size, text.data()));
  LiteralCursor literal(cursor.source().name() + ": header", std::move(text));
  return ParseFields(literal);
}

}  // namespace dtranspile::io
