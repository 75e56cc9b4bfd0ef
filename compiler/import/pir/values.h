// Attribute values of PIR ({"#": kind, "D": data}) as numbers and text, and as attributes of a
// ProgramDesc op. Widths are read leniently: they changed between releases (program version 2 to
// 4), meanings did not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/import/pir/json.h"
#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/op_table.h"

namespace dtranspile::pir {

struct Number {
  bool isInteger = true;
  int64_t integer = 0;
  double real = 0;
  double value() const { return isInteger ? static_cast<double>(integer) : real; }
};

Number numberOf(int64_t value);
Number numberOf(double value);

// A number, a list of numbers (array, int array) or a scalar; an element type becomes its code.
// Nothing for other kinds.
std::optional<std::vector<Number>> numbersOf(const json& value);

// Text of a string, layout or element type; null for other kinds.
const std::string* textOf(const json& value);

// Sets `out` to the value as an attribute of the given type; else says what does not fit ("holds 2
// numbers, expected one").
std::string toAttribute(const json& value, pd::AttrType type, framework::OpDesc::Attr& out);
std::string toAttribute(const std::vector<Number>& values, pd::AttrType type,
                        framework::OpDesc::Attr& out);

// The same from the notation of tables: `3`, `true`, `{1,2}`, `NCHW`, `'a word'`.
std::string toAttribute(llvm::StringRef text, pd::AttrType type, framework::OpDesc::Attr& out);

}  // namespace dtranspile::pir
