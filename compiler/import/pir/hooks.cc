// What rows of the PIR table cannot say: constants, whose values take another form, and ops whose
// types depend on their operands.
#include <cmath>

#include "compiler/import/pir/op_mapping.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::pir {
namespace {

using framework::OpDesc;
using pd::AttrType;

// Numbers as the framework prints and reads them: integers without a point, doubles with all
// digits.
std::string spell(const Number& number) {
  if (number.isInteger) return std::to_string(number.integer);
  if (std::isnan(number.real)) return "nan";
  if (std::isinf(number.real)) return number.real > 0 ? "inf" : "-inf";
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (std::trunc(number.real) == number.real && std::fabs(number.real) < 1e15)
    stream << static_cast<int64_t>(number.real);
  else stream << llvm::format("%.17g", number.real);
  return text;
}

// The list of assign_value that belongs to an element type.
struct ValueList {
  int dtype;
  const char* name;
  AttrType type;
};

constexpr ValueList kValueLists[] = {
    {0, "bool_values", AttrType::Ints},     {2, "int32_values", AttrType::Ints},
    {3, "int64_values", AttrType::Longs},   {5, "fp32_values", AttrType::Floats},
    {6, "fp64_values", AttrType::Float64s},
};

std::optional<int> dtypeOf(const Op& op) {
  const json* value = op.attribute("dtype");
  std::optional<std::vector<Number>> code = value ? numbersOf(*value) : std::nullopt;
  if (!code || code->size() != 1) return std::nullopt;
  return static_cast<int>((*code)[0].integer);
}

std::string setValues(Emission& e, const std::vector<Number>& numbers) {
  std::optional<int> dtype = dtypeOf(e.op());
  if (!dtype) return "has no attribute 'dtype' with an element type";
  const ValueList* list = nullptr;
  for (const ValueList& row : kValueLists)
    if (row.dtype == *dtype) list = &row;
  OpDesc::Attr& values = attributeOf(e.made(), list ? list->name : "values", 0);
  std::string why = toAttribute(numbers, list ? list->type : AttrType::Scalars, values);
  return why.empty() ? "" : "attribute 'values' " + why;
}

std::optional<std::vector<Number>> numbersOf(Emission& e, llvm::StringRef name) {
  const json* value = e.op().attribute(name);
  return value ? pir::numbersOf(*value) : std::nullopt;
}

void fillConstant(OpDesc& op, const Number& number) {
  attributeOf(op, "value", 1).set_f(static_cast<float>(number.value()));
  attributeOf(op, "str_value", 2).set_s(spell(number));
}

}  // namespace

OpDesc::Attr& attributeOf(OpDesc& op, llvm::StringRef name, int type) {
  OpDesc::Attr* found = nullptr;
  for (OpDesc::Attr& attribute : *op.mutable_attrs())
    if (attribute.name() == name) found = &attribute;
  if (!found) found = op.add_attrs();
  found->Clear();
  found->set_name(name.str());
  found->set_type(type);
  return *found;
}

void setInput(OpDesc& op, llvm::StringRef slot, llvm::StringRef argument) {
  for (OpDesc::Var& input : *op.mutable_inputs()) {
    if (input.parameter() != slot) continue;
    input.clear_arguments();
    input.add_arguments(argument.str());
  }
}

// fill_constant's `value` is a float32; `str_value` holds the exact number.
std::string makeFull(Emission& e) {
  auto value = numbersOf(e, "value");
  if (!value || value->size() != 1) return "has no attribute 'value' with one number";
  fillConstant(e.made(), (*value)[0]);
  return "";
}

std::string makeIntArray(Emission& e) {
  auto values = numbersOf(e, "value");
  if (!values) return "has no attribute 'value' with numbers";
  attributeOf(e.made(), "shape", 3).add_ints(static_cast<int32_t>(values->size()));
  return setValues(e, *values);
}

std::string makeAssignValue(Emission& e) {
  auto values = numbersOf(e, "values");
  return values ? setValues(e, *values) : "has no attribute 'values' with numbers";
}

// Operands come in any type and are converted to that of the result; `range` wants them in it.
std::string makeArange(Emission& e) {
  std::optional<int> dtype = dtypeOf(e.op());
  if (!dtype || *dtype < 0) return "has no attribute 'dtype' with an element type";
  constexpr const char* kSlots[] = {"Start", "End", "Step"};
  for (size_t i = 0; i < std::size(kSlots); ++i) {
    const Type* type = e.operandType(i);
    if (!type || type->dtype == *dtype) continue;
    OpDesc op;
    auto constant = e.constant(i);
    if (constant && constant->size() == 1) {
      op.set_type("fill_constant");
      attributeOf(op, "shape", 11).add_longs(1);
      attributeOf(op, "dtype", 0).set_i(*dtype);
      fillConstant(op, (*constant)[0]);
    } else {
      return std::string("takes ") + kSlots[i] +
             " of another element type than its result, computed at run time";
    }
    Type made = *type;
    made.dtype = *dtype;
    made.dims = {1};
    setInput(e.made(), kSlots[i], e.before(std::move(op), kSlots[i], made));
  }
  return "";
}

std::string makeCast(Emission& e) {
  const Type* type = e.operandType(0);
  if (!type || type->dtype < 0) return "casts a value of unknown element type";
  attributeOf(e.made(), "in_dtype", 0).set_i(type->dtype);
  return "";
}

// The gradient of a cast is a cast back.
std::string makeCastGrad(Emission& e) {
  const Type *like = e.operandType(0), *gradient = e.operandType(1);
  if (!like || !gradient || like->dtype < 0 || gradient->dtype < 0)
    return "casts a value of unknown element type";
  attributeOf(e.made(), "in_dtype", 0).set_i(gradient->dtype);
  attributeOf(e.made(), "out_dtype", 0).set_i(like->dtype);
  return "";
}

}  // namespace dtranspile::pir
