#include "compiler/import/pir/program.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

namespace dtranspile::pir {
namespace {

struct DialectId {
  const char* id;
  const char* name;
};

// Dialects are numbered in the file, by the framework's table of them.
constexpr DialectId kDialects[] = {
    {"0", "builtin"}, {"1", "pd_op"}, {"2", "cf"}, {"3", "custom_op"}, {"4", "pd_dist"}};

// The last one that a release writes (3.x).
constexpr int64_t kMostVersion = 4;

// "1.add" and "pd_op.add" (files of pre-releases) name the same op.
std::string spellOut(llvm::StringRef text) {
  auto [dialect, name] = text.split('.');
  for (const DialectId& row : kDialects)
    if (dialect == row.id) return (llvm::Twine(row.name) + "." + name).str();
  return text.str();
}

// Element types as types are written ("t_f32"); codes are those of the framework's VarType.
std::optional<int> elementCode(llvm::StringRef kind) {
  return llvm::StringSwitch<std::optional<int>>(kind)
      .Case("t_bool", 0)
      .Case("t_i16", 1)
      .Case("t_i32", 2)
      .Case("t_i64", 3)
      .Case("t_index", 3)
      .Case("t_f16", 4)
      .Case("t_f32", 5)
      .Case("t_f64", 6)
      .Case("t_ui8", 20)
      .Case("t_i8", 21)
      .Case("t_bf16", 22)
      .Case("t_c64", 23)
      .Case("t_c128", 24)
      .Default(std::nullopt);
}

// What follows the dialect of "0.t_f32".
llvm::StringRef kindOf(const json* value) {
  const std::string* text = textMember(value, "#");
  if (!text) return {};
  llvm::StringRef whole = *text;
  return whole.contains('.') ? whole.split('.').second : whole;
}

// Reads the JSON of one program into the structures of program.h, without a look at what its ops
// mean. Types, value numbers and flags are checked here, since everything after indexes with them.
// Everything is looked up by key and type (json.h), as a file may have anything anywhere;
// the first thing amiss ends the reading, with the op that it is about.
class Reader {
 public:
  Reader(const Budget& budget, Program& program, ReadError& error)
      : budget_(budget), program_(program), error_(error) {}

  // Members of the document: base_code (magic "pir", version), program.regions[0].blocks[0].ops.
  // Everything else that could be there is refused by name.
  bool run() {
    const json* code = member(&program_.document, "base_code");
    const std::string* magic = textMember(code, "magic");
    if (!magic || *magic != "pir")
      return fail("is JSON, but no PIR program: base_code.magic is not \"pir\"");
    if (const json* version = member(code, "version"))
      if (!readInteger(*version, program_.version) || program_.version < 0 ||
          program_.version > kMostVersion)
        return fail("has version " + version->dump() + " of the PIR format; versions 0 to " +
                    std::to_string(kMostVersion) + " are known");
    const json* regions = arrayMember(member(&program_.document, "program"), "regions");
    if (!regions || regions->size() != 1)
      return fail("has " + std::to_string(regions ? regions->size() : 0) +
                  " top-level regions; a PIR program has one");
    const json* blocks = arrayMember(&regions->front(), "blocks");
    if (!blocks || blocks->empty()) return fail("has no block");
    if (blocks->size() > 1)
      return fail("has " + std::to_string(blocks->size()) +
                  " top-level blocks; a PIR program has one");
    const json* ops = arrayMember(&blocks->front(), "ops");
    if (!ops) return fail("has a block without a list of ops");
    for (const char* arguments : {"args", "kwargs"})
      if (const json* list = arrayMember(&blocks->front(), arguments); list && !list->empty())
        return fail(std::string("has a top-level block with \"") + arguments +
                    "\"; nobody could give them values");
    program_.ops.reserve(ops->size());
    for (const json& op : *ops)
      if (!readOp(op)) return false;
    return true;
  }

 private:
  bool fail(std::string message) {
    error_.message = std::move(message);
    return false;
  }

  bool failOp(std::string message) {
    error_ = {static_cast<int>(program_.ops.size()) - 1, program_.ops.back().name,
              std::move(message)};
    return false;
  }

  // {"#": name, "A": attributes, "I": operands, "O": results, "OA": flags of the results}, but for
  // parameters, which have a short form of their own.
  bool readOp(const json& value) {
    Op& op = program_.ops.emplace_back();
    const std::string* name = textMember(&value, "#");
    if (!name || name->empty() || name->size() > 4096) return failOp("has no name (\"#\")");
    op.attributes = arrayMember(&value, "A");
    if (*name == "p") return readParameter(value, op);
    op.name = spellOut(*name);
    for (const json* operand : elements(value, "I")) {
      int64_t id = 0;
      if (!readId(*operand, id))
        return failOp("has operand " + std::to_string(op.operands.size()) +
                      " without a value number (\"%\")");
      op.operands.push_back(id);
    }
    for (const json* result : elements(value, "O"))
      if (!readResult(*result, op)) return false;
    if (!readFlags(value, op)) return false;
    const json* regions = arrayMember(&value, "regions");
    op.hasRegions = regions && !regions->empty();
    return op.name != "builtin.parameter" || readGenericParameter(op);
  }

  // As files of pre-releases write it.
  bool readGenericParameter(Op& op) {
    const std::string* name = textMember(op.attribute("parameter_name"), "D");
    if (!name || op.results.size() != 1)
      return failOp("has no attribute 'parameter_name' or not one result");
    op.results[0].persistable = true;
    op.parameter = Parameter{*name, true};
    return true;
  }

  static std::vector<const json*> elements(const json& value, const char* key) {
    std::vector<const json*> list;
    if (const json* array = arrayMember(&value, key))
      for (const json& element : *array) list.push_back(&element);
    return list;
  }

  static bool readId(const json& value, int64_t& id) {
    for (const char* key : {"%", "#"})
      if (const json* number = member(&value, key); number && number->is_number_integer())
        return readInteger(*number, id);
    return false;
  }

  bool readResult(const json& value, Op& op) {
    Result& result = op.results.emplace_back();
    std::string which = "result " + std::to_string(op.results.size() - 1);
    if (!readId(value, result.id) || result.id <= 0)
      return failOp("has " + which + " without a positive value number (\"%\")");
    std::string why;
    if (!readType(member(&value, "TT"), result.type, 0, why))
      return failOp("has " + which + " of a type that " + why);
    return true;
  }

  // Flags of results stand in "OA", a list of attributes with an array of booleans each.
  bool readFlags(const json& value, Op& op) {
    for (const json* attribute : elements(value, "OA")) {
      const std::string* name = textMember(attribute, "N");
      const json* flags = arrayMember(member(attribute, "AT"), "D");
      if (!name || !flags) continue;
      bool Result::* field = *name == "persistable"     ? &Result::persistable
                             : *name == "stop_gradient" ? &Result::stopGradient
                                                        : nullptr;
      for (size_t i = 0; field && i < std::min(flags->size(), op.results.size()); ++i) {
        const json* flag = member(&(*flags)[i], "D");
        op.results[i].*field = flag && flag->is_boolean() && flag->get<bool>();
      }
    }
    return true;
  }

  // {"#": "p", "A": [is_distributed, is_parameter, need_clip, name], "O": one object, "OA":
  // [persistable, stop_gradient, trainable]}
  bool readParameter(const json& value, Op& op) {
    op.name = "builtin.parameter";
    Parameter parameter;
    const json* name = op.attributes && op.attributes->size() >= 4 ? &(*op.attributes)[3] : nullptr;
    if (!name || !name->is_string())
      return failOp("has no parameter name (fourth element of \"A\")");
    parameter.name = name->get<std::string>();
    int64_t flag = 1;
    readInteger((*op.attributes)[1], flag);
    parameter.isParameter = flag != 0;
    op.attributes = nullptr;
    const json* result = member(&value, "O");
    if (!result || !readResult(*result, op))
      return result ? false : failOp("has no result (\"O\")");
    op.results[0].persistable = true;
    if (const json* flags = arrayMember(&value, "OA");
        flags && flags->size() >= 2 && readInteger((*flags)[1], flag))
      op.results[0].stopGradient = flag != 0;
    op.parameter = std::move(parameter);
    return true;
  }

  // `why` completes "a type that …".
  bool readType(const json* value, Type& type, int depth, std::string& why) {
    llvm::StringRef kind = kindOf(value);
    if (kind.empty()) return why = "has no name", false;
    if (depth > 4) return why = "nests too deep", false;
    type.name = kind.str();
    const json* data = arrayMember(value, "D");
    if (kind == "NULL") return true;
    if (kind == "t_vec") return readList(data, type, depth, why);
    if (kind == "t_dtensor" || kind == "t_selected_rows" || kind == "t_dense_tensor_array")
      return readTensor(kind, data, type, why);
    type.kind = TypeKind::Other;
    return true;
  }

  bool readList(const json* data, Type& type, int depth, std::string& why) {
    if (!data) return why = "lists nothing", false;
    type.kind = TypeKind::List;
    type.elements.resize(data->size());
    for (size_t i = 0; i < data->size(); ++i)
      if (!readType(&(*data)[i], type.elements[i], depth + 1, why)) return false;
    return true;
  }

  // "D" of a tensor type is [element type, extents, layout, LoD, offset].
  bool readTensor(llvm::StringRef kind, const json* data, Type& type, std::string& why) {
    if (!data || data->size() < 2 || !(*data)[1].is_array())
      return why = "lacks element type and extents", false;
    std::optional<int> dtype = elementCode(kindOf(&(*data)[0]));
    if (!dtype)
      return why = "has the unknown element type '" + kindOf(&(*data)[0]).str() + "'", false;
    type.dtype = *dtype;
    type.kind = kind == "t_dtensor"         ? TypeKind::Tensor
                : kind == "t_selected_rows" ? TypeKind::SelectedRows
                                            : TypeKind::TensorArray;
    if ((*data)[1].size() > static_cast<size_t>(budget_.maxRank))
      return why = "has more than " + std::to_string(budget_.maxRank) + " extents", false;
    for (const json& extent : (*data)[1]) {
      int64_t number = 0;
      if (!readInteger(extent, number) || number < -1)
        return why = "has an extent that is no number from -1 on", false;
      type.dims.push_back(number);
    }
    if (type.kind == TypeKind::Tensor && data->size() > 3 && (*data)[3].is_array())
      type.lodLevel = static_cast<int>(std::min<size_t>((*data)[3].size(), 64));
    return true;
  }

  const Budget& budget_;
  Program& program_;
  ReadError& error_;
};

}  // namespace

const json* Op::attribute(llvm::StringRef name) const {
  if (!attributes) return nullptr;
  for (const json& entry : *attributes) {
    const std::string* key = textMember(&entry, "N");
    if (key && *key == name) return member(&entry, "AT");
  }
  return nullptr;
}

// The framework's VarType codes by the names that a_dtype attributes have; -1 for one that is left
// open.
std::optional<int> dtypeCode(llvm::StringRef name) {
  if (name.starts_with("Undefined")) return -1;
  return llvm::StringSwitch<std::optional<int>>(name)
      .Case("bool", 0)
      .Case("int16", 1)
      .Case("int32", 2)
      .Case("int64", 3)
      .Case("float16", 4)
      .Case("float32", 5)
      .Case("float64", 6)
      .Case("uint8", 20)
      .Case("int8", 21)
      .Case("bfloat16", 22)
      .Case("complex64", 23)
      .Case("complex128", 24)
      .Default(std::nullopt);
}

bool readProgram(llvm::StringRef bytes, const Budget& budget, Program& program, ReadError& error) {
  error.message = parseJson(bytes, budget, program.document);
  return error.message.empty() && Reader(budget, program, error).run();
}

}  // namespace dtranspile::pir
