#include "compiler/program_desc/attributes.h"

#include "dialects/pd/pd.h"
#include "google/protobuf/descriptor.h"

namespace dtranspile {
namespace {

using framework::OpDesc;
using framework::Scalar;
using mlir::Attribute;
using mlir::Builder;

Attribute strings(Builder& b, const google::protobuf::RepeatedPtrField<std::string>& values) {
  llvm::SmallVector<Attribute> list;
  for (const std::string& value : values) list.push_back(b.getStringAttr(value));
  return b.getArrayAttr(list);
}

// A Scalar carries its own type, apart from that of the attribute; a complex number is a pair of
// reals.
Attribute scalar(Builder& b, const Scalar& value) {
  Attribute inner;
  switch (value.type()) {
    case Scalar::BOOLEAN: inner = b.getBoolAttr(value.b()); break;
    case Scalar::LONG: inner = b.getI64IntegerAttr(value.i()); break;
    case Scalar::FLOAT64: inner = b.getF64FloatAttr(value.r()); break;
    case Scalar::COMPLEX128: inner = b.getF64ArrayAttr({value.c().r(), value.c().i()}); break;
  }
  return pd::ScalarAttr::get(b.getContext(), inner);
}

template <typename List>
auto range(const List& list) {
  return llvm::ArrayRef(list.data(), list.size());
}

// One row per attribute type of the framework, indexed by its code. `present` says whether the
// field that belongs to the type is there; lists are present when empty.
struct Kind {
  const char* name;
  int field;  // number of that field
  bool (*present)(const OpDesc::Attr&);
  Attribute (*read)(Builder&, const OpDesc::Attr&);
};

bool always(const OpDesc::Attr&) { return true; }

// Codes without a gap from 0 (INT) to 17 (SCALARS), as framework.proto numbers them; `field` is the
// number of OpDesc.Attr's field in that file.
const Kind kKinds[] = {
    {"INT", 3, [](const OpDesc::Attr& a) { return a.has_i(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getI32IntegerAttr(a.i()); }},
    {"FLOAT", 4, [](const OpDesc::Attr& a) { return a.has_f(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getF32FloatAttr(a.f()); }},
    {"STRING", 5, [](const OpDesc::Attr& a) { return a.has_s(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getStringAttr(a.s()); }},
    {"INTS", 6, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return b.getDenseI32ArrayAttr(range(a.ints()));
     }},
    {"FLOATS", 7, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return b.getDenseF32ArrayAttr(range(a.floats()));
     }},
    {"STRINGS", 8, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return strings(b, a.strings()); }},
    {"BOOLEAN", 10, [](const OpDesc::Attr& a) { return a.has_b(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getBoolAttr(a.b()); }},
    {"BOOLEANS", 11, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return b.getDenseBoolArrayAttr(range(a.bools()));
     }},
    {"BLOCK", 12, [](const OpDesc::Attr& a) { return a.has_block_idx(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return pd::BlockAttr::get(b.getContext(), a.block_idx());
     }},
    {"LONG", 13, [](const OpDesc::Attr& a) { return a.has_l(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getI64IntegerAttr(a.l()); }},
    {"BLOCKS", 14, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return pd::BlocksAttr::get(b.getContext(), b.getDenseI32ArrayAttr(range(a.blocks_idx())));
     }},
    {"LONGS", 15, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return b.getDenseI64ArrayAttr(
           llvm::SmallVector<int64_t>(a.longs().begin(), a.longs().end()));
     }},
    {"FLOAT64S", 16, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return b.getDenseF64ArrayAttr(range(a.float64s()));
     }},
    {"VAR", 17, [](const OpDesc::Attr& a) { return a.has_var_name(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return pd::RefAttr::get(b.getContext(), b.getStringAttr(a.var_name()));
     }},
    {"VARS", 18, always,
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       return pd::RefsAttr::get(b.getContext(),
                                llvm::cast<mlir::ArrayAttr>(strings(b, a.vars_name())));
     }},
    {"FLOAT64", 19, [](const OpDesc::Attr& a) { return a.has_float64(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return b.getF64FloatAttr(a.float64()); }},
    {"SCALAR", 20, [](const OpDesc::Attr& a) { return a.has_scalar() && a.scalar().has_type(); },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute { return scalar(b, a.scalar()); }},
    {"SCALARS", 21,
     [](const OpDesc::Attr& a) {
       return llvm::all_of(a.scalars(), [](const Scalar& s) { return s.has_type(); });
     },
     [](Builder& b, const OpDesc::Attr& a) -> Attribute {
       llvm::SmallVector<Attribute> list;
       for (const Scalar& value : a.scalars()) list.push_back(scalar(b, value));
       return pd::ScalarsAttr::get(b.getContext(), b.getArrayAttr(list));
     }},
};

// The inverse of scalar(): a scalar of any width is written as the widest of its kind, as the
// framework does.
void writeScalar(pd::ScalarAttr value, Scalar& out) {
  Attribute inner = value.getValue();
  if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(inner)) {
    out.set_type(Scalar::BOOLEAN);
    out.set_b(flag.getValue());
  } else if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(inner)) {
    out.set_type(Scalar::LONG);
    out.set_i(integer.getInt());
  } else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(inner)) {
    out.set_type(Scalar::FLOAT64);
    out.set_r(real.getValueAsDouble());
  } else if (auto pair = llvm::dyn_cast<mlir::ArrayAttr>(inner); pair && pair.size() == 2) {
    out.set_type(Scalar::COMPLEX128);
    out.mutable_c()->set_r(llvm::cast<mlir::FloatAttr>(pair[0]).getValueAsDouble());
    out.mutable_c()->set_i(llvm::cast<mlir::FloatAttr>(pair[1]).getValueAsDouble());
  }
}

// Room once: lists of constants may have a million elements.
template <typename Values, typename Field>
void writeList(const Values& values, Field* field) {
  field->Reserve(values.size());
  for (auto value : values) field->Add(value);
}

// The inverse of the rows of kKinds that hold one value; the numbers are the codes of these types.
// False for an attribute of another kind.
bool writeSingle(Attribute value, OpDesc::Attr& a) {
  if (auto flag = llvm::dyn_cast<mlir::BoolAttr>(value)) {
    a.set_type(6);
    a.set_b(flag.getValue());
  } else if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value)) {
    bool narrow = integer.getType().isInteger(32);
    a.set_type(narrow ? 0 : 9);
    if (narrow) a.set_i(static_cast<int32_t>(integer.getInt()));
    else a.set_l(integer.getInt());
  } else if (auto real = llvm::dyn_cast<mlir::FloatAttr>(value)) {
    bool single = real.getType().isF32();
    a.set_type(single ? 1 : 15);
    if (single) a.set_f(real.getValue().convertToFloat());
    else a.set_float64(real.getValueAsDouble());
  } else if (auto text = llvm::dyn_cast<mlir::StringAttr>(value)) {
    a.set_type(2);
    a.set_s(text.getValue().data(), text.getValue().size());
  } else if (auto block = llvm::dyn_cast<pd::BlockAttr>(value)) {
    a.set_type(8);
    a.set_block_idx(block.getIdx());
  } else if (auto ref = llvm::dyn_cast<pd::RefAttr>(value)) {
    a.set_type(13);
    a.set_var_name(ref.getName().getValue().str());
  } else if (auto number = llvm::dyn_cast<pd::ScalarAttr>(value)) {
    a.set_type(16);
    writeScalar(number, *a.mutable_scalar());
  } else {
    return false;
  }
  return true;
}

// The same of lists. An ArrayAttr is a list of strings, whatever it is of elsewhere: a list with
// anything else in it comes from no file.
bool writeMany(Attribute value, OpDesc::Attr& a) {
  if (auto list = llvm::dyn_cast<mlir::DenseI32ArrayAttr>(value)) {
    a.set_type(3);
    writeList(list.asArrayRef(), a.mutable_ints());
  } else if (auto list = llvm::dyn_cast<mlir::DenseF32ArrayAttr>(value)) {
    a.set_type(4);
    writeList(list.asArrayRef(), a.mutable_floats());
  } else if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(value)) {
    a.set_type(5);
    for (Attribute text : list) {
      if (!llvm::isa<mlir::StringAttr>(text)) return false;
      a.add_strings(llvm::cast<mlir::StringAttr>(text).getValue().str());
    }
  } else if (auto list = llvm::dyn_cast<mlir::DenseBoolArrayAttr>(value)) {
    a.set_type(7);
    writeList(list.asArrayRef(), a.mutable_bools());
  } else if (auto list = llvm::dyn_cast<pd::BlocksAttr>(value)) {
    a.set_type(10);
    writeList(list.getIdx().asArrayRef(), a.mutable_blocks_idx());
  } else if (auto list = llvm::dyn_cast<mlir::DenseI64ArrayAttr>(value)) {
    a.set_type(11);
    writeList(list.asArrayRef(), a.mutable_longs());
  } else if (auto list = llvm::dyn_cast<mlir::DenseF64ArrayAttr>(value)) {
    a.set_type(12);
    writeList(list.asArrayRef(), a.mutable_float64s());
  } else if (auto list = llvm::dyn_cast<pd::RefsAttr>(value)) {
    a.set_type(14);
    for (Attribute name : list.getNames())
      a.add_vars_name(llvm::cast<mlir::StringAttr>(name).getValue().str());
  } else if (auto list = llvm::dyn_cast<pd::ScalarsAttr>(value)) {
    a.set_type(17);
    for (Attribute number : list.getValues())
      writeScalar(llvm::cast<pd::ScalarAttr>(number), *a.add_scalars());
  } else {
    return false;
  }
  return true;
}

// The name of a field of a message that is set besides those that its type speaks of; empty where
// there is none. It would not survive: nothing of the IR holds it.
std::string strayField(const google::protobuf::Message& message, llvm::ArrayRef<int> known) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields)
    if (!llvm::is_contained(known, field->number())) return std::string(field->name());
  return "";
}

// Number of the field of a Scalar that belongs to its type.
int fieldOf(const Scalar& value) {
  switch (value.type()) {
    case Scalar::BOOLEAN: return 2;
    case Scalar::LONG: return 3;
    case Scalar::FLOAT64: return 4;
    case Scalar::COMPLEX128: return 5;
  }
  return 0;
}

// The same for an attribute, which has a name and a type besides its value, and for the scalars in
// it.
std::string strayField(const OpDesc::Attr& attribute, const Kind& kind) {
  constexpr int kName = 1, kType = 2;
  std::string stray = strayField(attribute, {kName, kType, kind.field});
  auto look = [&](const Scalar& value) {
    constexpr int kScalarType = 1;
    if (stray.empty()) stray = strayField(value, {kScalarType, fieldOf(value)});
  };
  if (attribute.has_scalar()) look(attribute.scalar());
  for (const Scalar& value : attribute.scalars()) look(value);
  return stray;
}

}  // namespace

// Refuses what cannot be written again bit by bit: an unknown code, a missing value, and values of
// two types.
Attribute importAttribute(Builder& builder, const OpDesc::Attr& attribute, std::string& error) {
  if (attribute.type() < 0 || attribute.type() >= static_cast<int>(std::size(kKinds))) {
    error = "has type code " + std::to_string(attribute.type()) +
            ", which no released framework writes";
    return {};
  }
  const Kind& kind = kKinds[attribute.type()];
  if (!kind.present(attribute)) {
    error = std::string("is declared as ") + kind.name + ", but carries no value of that type";
    return {};
  }
  if (std::string stray = strayField(attribute, kind); !stray.empty()) {
    error = std::string("is declared as ") + kind.name + ", but carries a value in field '" +
            stray + "' too: which one is meant?";
    return {};
  }
  return kind.read(builder, attribute);
}

bool exportAttribute(Attribute value, OpDesc::Attr& attribute) {
  return writeSingle(value, attribute) || writeMany(value, attribute);
}

}  // namespace dtranspile
