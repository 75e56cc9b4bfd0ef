#include "compiler/import/pir/values.h"

#include <cmath>
#include <limits>

#include "compiler/import/pir/program.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

namespace dtranspile::pir {
namespace {

using framework::OpDesc;
using framework::Scalar;
using pd::AttrType;
using Numbers = std::vector<Number>;

// One JSON number, or the spelling of one that JSON does not have.
std::optional<Number> plainNumber(const json& value) {
  int64_t integer = 0;
  if (readInteger(value, integer)) return numberOf(integer);
  if (value.is_number()) return numberOf(value.get<double>());
  return std::nullopt;
}

// JSON has no spelling for these: the file has them as text ("VD").
std::optional<Number> namedNumber(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Number>>(name)
      .Case("NaN", numberOf(std::numeric_limits<double>::quiet_NaN()))
      .Case("INF", numberOf(std::numeric_limits<double>::infinity()))
      .Case("-INF", numberOf(-std::numeric_limits<double>::infinity()))
      .Default(std::nullopt);
}

llvm::StringRef kindOf(const json& value) {
  const std::string* text = textMember(&value, "#");
  if (!text) return {};
  llvm::StringRef whole = *text;
  return whole.contains('.') ? whole.split('.').second : whole;
}

// The numbers in an attribute's value: one, or those of a list, of lists of scalars too. False
// where something in it is no number. Element types count as numbers, by their codes.
bool appendNumbers(const json& value, Numbers& out, int depth) {
  if (const std::string* name = textMember(&value, "VD")) {
    std::optional<Number> number = namedNumber(*name);
    if (number) out.push_back(*number);
    return number.has_value();
  }
  const json* data = member(&value, "D");
  if (!data || depth > 2) return false;
  if (kindOf(value) == "a_dtype") {
    const std::string* text = data->get_ptr<const std::string*>();
    std::optional<int> code = text ? dtypeCode(*text) : std::nullopt;
    if (code) out.push_back(numberOf(int64_t{*code}));
    return code.has_value();
  }
  // ["float32", value]
  if (kindOf(value) == "a_scalar")
    data = data->is_array() && data->size() == 2 ? &(*data)[1] : nullptr;
  if (!data) return false;
  if (!data->is_array()) {
    std::optional<Number> number = plainNumber(*data);
    if (number) out.push_back(*number);
    return number.has_value();
  }
  for (const json& element : *data) {
    std::optional<Number> number = plainNumber(element);
    if (number) out.push_back(*number);
    else if (!appendNumbers(element, out, depth + 1)) return false;
  }
  return true;
}

// A real number stands for an integer where it is whole and no larger than 2^53, up to which
// doubles count without gaps.
bool integerIn(const Number& number, int64_t lowest, int64_t highest, int64_t& out) {
  if (!number.isInteger &&
      !(std::trunc(number.real) == number.real && std::fabs(number.real) <= 9007199254740992.0))
    return false;
  out = number.isInteger ? number.integer : static_cast<int64_t>(number.real);
  return out >= lowest && out <= highest;
}

// Single numbers: one row per type of a ProgramDesc attribute, with its code in the format.
// `false`: the number does not fit.
struct SingleRow {
  AttrType type;
  int code;
  bool (*set)(const Number&, OpDesc::Attr&);
};

// Scalars carry their own type: an integer stays one.
void setScalar(const Number& number, Scalar& out) {
  out.set_type(number.isInteger ? Scalar::LONG : Scalar::FLOAT64);
  if (number.isInteger) out.set_i(number.integer);
  else out.set_r(number.real);
}

// False, and nothing set, where the number is not whole or out of bounds.
template <int64_t Lowest, int64_t Highest, typename Set>
bool setInteger(const Number& number, Set set) {
  int64_t value = 0;
  return integerIn(number, Lowest, Highest, value) && (set(value), true);
}

// Type of the attribute, its number in framework.proto's AttrType, and how a number becomes it;
// false where it does not fit.
const SingleRow kSingles[] = {
    {AttrType::Int, 0,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<INT32_MIN, INT32_MAX>(
           n, [&](int64_t v) { a.set_i(static_cast<int32_t>(v)); });
     }},
    {AttrType::Long, 9,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<INT64_MIN, INT64_MAX>(n, [&](int64_t v) { a.set_l(v); });
     }},
    {AttrType::Bool, 6,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<0, 1>(n, [&](int64_t v) { a.set_b(v); });
     }},
    {AttrType::Float, 1,
     [](const Number& n, OpDesc::Attr& a) { return a.set_f(static_cast<float>(n.value())), true; }},
    {AttrType::Float64, 15,
     [](const Number& n, OpDesc::Attr& a) { return a.set_float64(n.value()), true; }},
    {AttrType::Scalar, 16,
     [](const Number& n, OpDesc::Attr& a) { return setScalar(n, *a.mutable_scalar()), true; }},
};

// The same for elements of lists.
const SingleRow kLists[] = {
    {AttrType::Ints, 3,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<INT32_MIN, INT32_MAX>(
           n, [&](int64_t v) { a.add_ints(static_cast<int32_t>(v)); });
     }},
    {AttrType::Longs, 11,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<INT64_MIN, INT64_MAX>(n, [&](int64_t v) { a.add_longs(v); });
     }},
    {AttrType::Bools, 7,
     [](const Number& n, OpDesc::Attr& a) {
       return setInteger<0, 1>(n, [&](int64_t v) { a.add_bools(v); });
     }},
    {AttrType::Floats, 4,
     [](const Number& n, OpDesc::Attr& a) {
       return a.add_floats(static_cast<float>(n.value())), true;
     }},
    {AttrType::Float64s, 12,
     [](const Number& n, OpDesc::Attr& a) { return a.add_float64s(n.value()), true; }},
    {AttrType::Scalars, 17,
     [](const Number& n, OpDesc::Attr& a) { return setScalar(n, *a.add_scalars()), true; }},
};

const SingleRow* find(llvm::ArrayRef<SingleRow> rows, AttrType type) {
  for (const SingleRow& row : rows)
    if (row.type == type) return &row;
  return nullptr;
}

// Type 5, STRINGS of framework.proto; what is wrong, or nothing.
std::string textList(const json& value, OpDesc::Attr& out) {
  out.set_type(5);
  const json* data = arrayMember(&value, "D");
  if (!data) return "is no list of strings";
  for (const json& element : *data) {
    const std::string* text = textOf(element);
    if (!text) return "is no list of strings";
    out.add_strings(*text);
  }
  return "";
}

// A word of a table's notation.
std::optional<Number> wordNumber(llvm::StringRef word) {
  int64_t integer = 0;
  double real = 0;
  if (word == "true" || word == "false") return numberOf(int64_t{word == "true"});
  if (!word.getAsInteger(10, integer)) return numberOf(integer);
  if (!word.getAsDouble(real)) return numberOf(real);
  return std::nullopt;
}

}  // namespace

Number numberOf(int64_t value) { return {true, value, 0}; }
Number numberOf(double value) { return {false, 0, value}; }

std::optional<Numbers> numbersOf(const json& value) {
  Numbers numbers;
  if (!appendNumbers(value, numbers, 0)) return std::nullopt;
  return numbers;
}

const std::string* textOf(const json& value) { return textMember(&value, "D"); }

// What is wrong, or nothing. The type is that of the attribute in the op table, whatever the file
// calls it: PIR has int64 where a ProgramDesc has int32.
std::string toAttribute(const Numbers& values, AttrType type, OpDesc::Attr& out) {
  const SingleRow* single = find(kSingles, type);
  const SingleRow* many = find(kLists, type);
  if (!single && !many) return "holds numbers, expected text";
  if (single && values.size() != 1)
    return "holds " + std::to_string(values.size()) + " numbers, expected one";
  out.set_type(single ? single->code : many->code);
  for (const Number& number : values) {
    if ((single ? single : many)->set(number, out)) continue;
    return "holds " +
           (number.isInteger ? std::to_string(number.integer) : std::to_string(number.real)) +
           ", which does not fit";
  }
  return "";
}

// A value in the notation of the tables of rows: words apart by commas, lists in braces.
std::string toAttribute(llvm::StringRef text, AttrType type, OpDesc::Attr& out) {
  llvm::StringRef body = text.trim();
  if (body.consume_front("{")) body.consume_back("}");
  llvm::SmallVector<llvm::StringRef> words;
  body.split(words, ',', -1, /*KeepEmpty=*/false);
  if (type == AttrType::String || type == AttrType::Strings) {
    out.set_type(type == AttrType::String ? 2 : 5);
    if (type == AttrType::String) out.set_s(body.trim("'").str());
    for (llvm::StringRef word : words)
      if (type == AttrType::Strings) out.add_strings(word.trim().trim("'").str());
    return "";
  }
  Numbers numbers;
  for (llvm::StringRef word : words) {
    std::optional<Number> number = wordNumber(word.trim());
    if (!number) return ("is '" + text + "', expected numbers").str();
    numbers.push_back(*number);
  }
  return toAttribute(numbers, type, out);
}

// Texts by themselves, everything else by way of numbers.
std::string toAttribute(const json& value, AttrType type, OpDesc::Attr& out) {
  if (type == AttrType::Strings) return textList(value, out);
  if (type == AttrType::String) {
    const std::string* text = textOf(value);
    if (!text) return "is no text";
    out.set_type(2);
    out.set_s(*text);
    return "";
  }
  std::optional<Numbers> numbers = numbersOf(value);
  if (!numbers) return "is neither a number nor a list of numbers";
  return toAttribute(*numbers, type, out);
}

}  // namespace dtranspile::pir
