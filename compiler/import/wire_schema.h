// The schema of a ProgramDesc, as in framework.proto: which fields a message has, how each is
// written, and which it must have. For wire.cc alone.
#pragma once

#include <cstdint>

namespace dtranspile::wire {

enum class Message {
  Program,
  Block,
  Var,
  VarType,
  Op,
  Slot,
  Attr,
  VarAttr,
  Tensor,
  LodTensor,
  Reader,
  Tuple,
  Scalar,
  Complex,
  Version,
  OpVersions,
  Pair,
  OpVersion,
  Count
};

// How a field is written. Packed: a list of numbers, one by one or in one piece.
enum class Form { Varint, Fixed32, Fixed64, Bytes, Name, Message, Varints, Fixeds32, Fixeds64 };

struct Field {
  Message in;
  uint32_t number;
  Form form;
  const char* name;
  bool required = false;
  Message message = Message::Count;
};

// The schema, as in framework.proto.
inline constexpr Field kFields[] = {
    {Message::Program, 1, Form::Message, "blocks", false, Message::Block},
    {Message::Program, 4, Form::Message, "version", false, Message::Version},
    {Message::Program, 5, Form::Message, "op_version_map", false, Message::OpVersions},
    {Message::Version, 1, Form::Varint, "version"},
    {Message::OpVersions, 1, Form::Message, "pair", false, Message::Pair},
    {Message::Pair, 1, Form::Name, "op_name", true},
    {Message::Pair, 2, Form::Message, "op_version", true, Message::OpVersion},
    {Message::OpVersion, 1, Form::Varint, "version", true},
    {Message::Block, 1, Form::Varint, "idx", true},
    {Message::Block, 2, Form::Varint, "parent_idx", true},
    {Message::Block, 3, Form::Message, "vars", false, Message::Var},
    {Message::Block, 4, Form::Message, "ops", false, Message::Op},
    {Message::Block, 5, Form::Varint, "forward_block_idx"},
    {Message::Op, 1, Form::Message, "inputs", false, Message::Slot},
    {Message::Op, 2, Form::Message, "outputs", false, Message::Slot},
    {Message::Op, 3, Form::Name, "type", true},
    {Message::Op, 4, Form::Message, "attrs", false, Message::Attr},
    {Message::Op, 5, Form::Varint, "is_target"},
    {Message::Slot, 1, Form::Name, "parameter", true},
    {Message::Slot, 2, Form::Name, "arguments"},
    {Message::Attr, 1, Form::Name, "name", true},
    {Message::Attr, 2, Form::Varint, "type", true},
    {Message::Attr, 3, Form::Varint, "i"},
    {Message::Attr, 4, Form::Fixed32, "f"},
    {Message::Attr, 5, Form::Bytes, "s"},
    {Message::Attr, 6, Form::Varints, "ints"},
    {Message::Attr, 7, Form::Fixeds32, "floats"},
    {Message::Attr, 8, Form::Bytes, "strings"},
    {Message::Attr, 10, Form::Varint, "b"},
    {Message::Attr, 11, Form::Varints, "bools"},
    {Message::Attr, 12, Form::Varint, "block_idx"},
    {Message::Attr, 13, Form::Varint, "l"},
    {Message::Attr, 14, Form::Varints, "blocks_idx"},
    {Message::Attr, 15, Form::Varints, "longs"},
    {Message::Attr, 16, Form::Fixeds64, "float64s"},
    {Message::Attr, 17, Form::Name, "var_name"},
    {Message::Attr, 18, Form::Name, "vars_name"},
    {Message::Attr, 19, Form::Fixed64, "float64"},
    {Message::Attr, 20, Form::Message, "scalar", false, Message::Scalar},
    {Message::Attr, 21, Form::Message, "scalars", false, Message::Scalar},
    {Message::Scalar, 1, Form::Varint, "type", true},
    {Message::Scalar, 2, Form::Varint, "b"},
    {Message::Scalar, 3, Form::Varint, "i"},
    {Message::Scalar, 4, Form::Fixed64, "r"},
    {Message::Scalar, 5, Form::Message, "c", false, Message::Complex},
    {Message::Complex, 1, Form::Fixed64, "r", true},
    {Message::Complex, 2, Form::Fixed64, "i", true},
    {Message::Var, 1, Form::Name, "name", true},
    {Message::Var, 2, Form::Message, "type", true, Message::VarType},
    {Message::Var, 3, Form::Varint, "persistable"},
    {Message::Var, 4, Form::Varint, "need_check_feed"},
    {Message::Var, 5, Form::Varint, "is_parameter"},
    {Message::Var, 6, Form::Varint, "stop_gradient"},
    {Message::Var, 7, Form::Message, "attrs", false, Message::VarAttr},
    {Message::VarAttr, 1, Form::Name, "name", true},
    {Message::VarAttr, 2, Form::Varint, "type", true},
    {Message::VarAttr, 3, Form::Varint, "i"},
    {Message::VarAttr, 4, Form::Bytes, "s"},
    {Message::VarAttr, 5, Form::Varints, "ints"},
    {Message::VarType, 1, Form::Varint, "type", true},
    {Message::VarType, 2, Form::Message, "selected_rows", false, Message::Tensor},
    {Message::VarType, 3, Form::Message, "lod_tensor", false, Message::LodTensor},
    {Message::VarType, 4, Form::Message, "tensor_array", false, Message::LodTensor},
    {Message::VarType, 5, Form::Message, "reader", false, Message::Reader},
    {Message::VarType, 7, Form::Message, "tuple", false, Message::Tuple},
    {Message::VarType, 8, Form::Message, "string", false, Message::Tensor},
    {Message::VarType, 9, Form::Message, "strings", false, Message::Tensor},
    {Message::VarType, 10, Form::Message, "vocab", false, Message::Tensor},
    {Message::VarType, 11, Form::Message, "sparse_coo", false, Message::Tensor},
    {Message::VarType, 12, Form::Message, "sparse_csr", false, Message::Tensor},
    {Message::Tensor, 1, Form::Varint, "data_type", true},
    {Message::Tensor, 2, Form::Varints, "dims"},
    {Message::LodTensor, 1, Form::Message, "tensor", true, Message::Tensor},
    {Message::LodTensor, 2, Form::Varint, "lod_level"},
    {Message::Reader, 1, Form::Message, "lod_tensor", false, Message::LodTensor},
    {Message::Tuple, 1, Form::Varints, "element_type"},
};

inline constexpr const char* kMessageNames[] = {
    "ProgramDesc", "BlockDesc",    "VarDesc",    "VarType",       "OpDesc",        "OpDesc.Var",
    "OpDesc.Attr", "VarDesc.Attr", "TensorDesc", "LoDTensorDesc", "ReaderDesc",    "Tuple",
    "Scalar",      "Complex",      "Version",    "OpVersionMap",  "OpVersionPair", "OpVersion"};

inline constexpr uint32_t kMaxNumber = 24;

// Fields by message and number, and the required ones of each message as a bit set.
struct Schema {
  const Field* fields[static_cast<int>(Message::Count)][kMaxNumber] = {};
  uint32_t required[static_cast<int>(Message::Count)] = {};
  constexpr Schema() {
    for (const Field& field : kFields) {
      fields[static_cast<int>(field.in)][field.number] = &field;
      if (field.required) required[static_cast<int>(field.in)] |= 1u << field.number;
    }
  }
};
inline constexpr Schema kSchema;

// How a field lies in the bytes: the low three bits of its tag.
inline constexpr int kWireVarint = 0, kWire64 = 1, kWireBytes = 2, kWire32 = 5;

inline int wireOf(Form form) {
  switch (form) {
    case Form::Varint:
    case Form::Varints: return kWireVarint;
    case Form::Fixed64:
    case Form::Fixeds64: return kWire64;
    case Form::Fixed32:
    case Form::Fixeds32: return kWire32;
    default: return kWireBytes;
  }
}

}  // namespace dtranspile::wire
