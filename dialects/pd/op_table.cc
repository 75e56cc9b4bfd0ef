// Parser of the row notation (op_table.h) and the look-ups over the parsed rows. Called once per
// process by findOp, and for every line of a user's table file.
#include "dialects/pd/op_table.h"

#include <algorithm>
#include <cassert>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::pd {
namespace {

using llvm::LogicalResult;
using llvm::StringRef;
using llvm::Twine;

struct TypeWord {
  StringRef word;
  AttrType type;
};

// The words of the notation for the attribute types of the framework (framework.proto, AttrType).
constexpr TypeWord kTypeWords[] = {
    {"i", AttrType::Int},       {"l", AttrType::Long},      {"f", AttrType::Float},
    {"d", AttrType::Float64},   {"s", AttrType::String},    {"b", AttrType::Bool},
    {"is", AttrType::Ints},     {"ls", AttrType::Longs},    {"fs", AttrType::Floats},
    {"ds", AttrType::Float64s}, {"ss", AttrType::Strings},  {"bs", AttrType::Bools},
    {"blk", AttrType::Block},   {"blks", AttrType::Blocks}, {"var", AttrType::Var},
    {"vars", AttrType::Vars},   {"sc", AttrType::Scalar},   {"scs", AttrType::Scalars},
};

struct EffectWord {
  StringRef word;
  unsigned effect;
};

constexpr EffectWord kEffectWords[] = {{"", kPure},
                                       {"pure", kPure},
                                       {"random", kRandom},
                                       {"host", kHost},
                                       {"communicates", kCommunicates}};

// What a default of a type looks like.
enum class DefaultForm { Integer, Number, Boolean, Text, Integers, Numbers, Booleans, Texts, None };

// How a default of a type is written in a row: a word, or a list of words in braces.
DefaultForm formOf(AttrType type) {
  switch (type) {
    case AttrType::Int:
    case AttrType::Long: return DefaultForm::Integer;
    case AttrType::Float:
    case AttrType::Float64:
    case AttrType::Scalar: return DefaultForm::Number;
    case AttrType::Bool: return DefaultForm::Boolean;
    case AttrType::String: return DefaultForm::Text;
    case AttrType::Ints:
    case AttrType::Longs:
    case AttrType::Blocks: return DefaultForm::Integers;
    case AttrType::Floats:
    case AttrType::Float64s:
    case AttrType::Scalars: return DefaultForm::Numbers;
    case AttrType::Bools: return DefaultForm::Booleans;
    case AttrType::Strings: return DefaultForm::Texts;
    case AttrType::Block:
    case AttrType::Var:
    case AttrType::Vars: return DefaultForm::None;
  }
  return DefaultForm::None;
}

// Types that are lists are asked about each of their words.
bool isWordOfForm(StringRef word, DefaultForm form) {
  int64_t integer;
  double number;
  switch (form) {
    case DefaultForm::Integer:
    case DefaultForm::Integers: return !word.getAsInteger(10, integer);
    case DefaultForm::Number:
    case DefaultForm::Numbers: return !word.getAsDouble(number);
    case DefaultForm::Boolean:
    case DefaultForm::Booleans: return word == "true" || word == "false";
    case DefaultForm::Text:
    case DefaultForm::Texts: return !word.empty();
    case DefaultForm::None: return false;
  }
  return false;
}

// "{1, 2}" for lists, braces around nothing for the empty list.
bool isDefaultOfForm(StringRef text, DefaultForm form) {
  if (form < DefaultForm::Integers || form == DefaultForm::None) return isWordOfForm(text, form);
  if (!text.consume_front("{") || !text.consume_back("}")) return false;
  llvm::SmallVector<StringRef> words;
  if (!text.empty()) text.split(words, ',');
  return llvm::all_of(words, [&](StringRef word) { return isWordOfForm(word.trim(), form); });
}

// Splits at commas outside of braces and quotes.
llvm::SmallVector<StringRef> splitList(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') quoted = !quoted;
    if (quoted) continue;
    depth += text[i] == '{';
    depth -= text[i] == '}';
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  if (StringRef last = text.drop_front(begin).trim(); !last.empty() || !parts.empty())
    parts.push_back(last);
  return parts;
}

// Reads one row; every message says which part of which row it is about.
// A hand-written parser: the notation is small, and every mistake in a row, ours or a user's, has
// to be said with the part that is wrong.
class RowParser {
 public:
  RowParser(OpSpec& spec, std::string& error) : spec_(spec), error_(error) {}

  // Slots "In, Out?* -> Out!", then attributes. Whether an op is a gradient follows from its slots;
  // rows whose slots do not show it carry the effect.
  LogicalResult parse(StringRef slots, StringRef attributes) {
    if (spec_.type.empty()) return fail("the op type is missing");
    if (!isName(spec_.type)) return fail("the op type has a character that no name has");
    auto [inputs, outputs] = slots.split("->");
    if (!slots.contains("->")) return fail("the slots '" + slots + "' lack '->'");
    if (outputs.contains("->")) return fail("the slots '" + slots + "' have more than one '->'");
    if (failed(parseSlots(inputs, false, spec_.inputs)) ||
        failed(parseSlots(outputs, true, spec_.outputs)))
      return llvm::failure();
    for (StringRef part : splitList(attributes)) {
      AttrRow row;
      if (failed(parseAttribute(part, row))) return llvm::failure();
      if (spec_.attribute(row.name)) return fail("attribute '" + row.name + "' occurs twice");
      spec_.attributes.push_back(std::move(row));
    }
    spec_.gradient = (spec_.effects & kGradient) != 0 || hasGradientSlot();
    spec_.effects &= ~static_cast<unsigned>(kGradient);
    return llvm::success();
  }

  LogicalResult fail(const Twine& message) {
    error_ = ("row '" + spec_.type + "': " + message).str();
    return llvm::failure();
  }

 private:
  bool hasGradientSlot() const {
    auto isGradient = [](const Slot& slot) { return StringRef(slot.name).ends_with("@GRAD"); };
    return llvm::any_of(spec_.inputs, isGradient) || llvm::any_of(spec_.outputs, isGradient);
  }

  static bool isName(StringRef name) {
    return !name.empty() && llvm::all_of(name, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '@' || c == '-';
    });
  }

  // name, then ? (may be absent), * (any number), + (one or more), ! (an output that is updated in
  // place).
  LogicalResult parseSlots(StringRef text, bool outputs, std::vector<Slot>& slots) {
    for (StringRef part : splitList(text.trim())) {
      Slot slot;
      size_t end = part.find_first_of("?*+!");
      slot.name = part.take_front(end).str();
      StringRef flags = end == StringRef::npos ? "" : part.drop_front(end);
      if (!isName(slot.name))
        return fail("'" + part + "' is no slot; expected a name and then any of ? * + !");
      for (char flag : flags) {
        slot.dispensable |= flag == '?';
        slot.duplicable |= flag == '*' || flag == '+';
        slot.nonEmpty |= flag == '+';
        slot.updates |= flag == '!';
        if (!StringRef("?*+!").contains(flag))
          return fail("'" + part + "' is no slot; expected a name and then any of ? * + !");
      }
      if (slot.updates && !outputs)
        return fail("input slot '" + part + "' cannot be marked with !");
      if (slot.nonEmpty && (flags.contains('*') || slot.dispensable))
        return fail("slot '" + part + "' combines + with * or ?");
      if (llvm::any_of(slots, [&](const Slot& other) { return other.name == slot.name; }))
        return fail("slot '" + slot.name + "' occurs twice");
      slots.push_back(std::move(slot));
    }
    return llvm::success();
  }

  // name:type|type~=default@version, of which all after the first type may be missing. `~` marks a
  // hint, which no computation depends on.
  LogicalResult parseAttribute(StringRef text, AttrRow& row) {
    auto [name, rest] = text.split(':');
    row.name = name.str();
    if (!isName(name) || rest.empty())
      return fail("'" + text + "' is no attribute; expected name:type or name:type=default");
    StringRef types = rest.take_while([](char c) { return c != '~' && c != '=' && c != '@'; });
    rest = rest.drop_front(types.size());
    if (failed(parseTypes(types, row))) return llvm::failure();
    row.hint = rest.consume_front("~");
    row.required = !rest.consume_front("=");
    if (row.required)
      return rest.empty() ? llvm::success()
                          : fail("attribute '" + name + "': '" + rest + "' is not understood");
    return parseDefault(rest, row);
  }

  // The first type is what the attribute is written as; the others are what older versions wrote.
  LogicalResult parseTypes(StringRef text, AttrRow& row) {
    llvm::SmallVector<StringRef> words;
    text.split(words, '|');
    for (StringRef word : words) {
      const TypeWord* found =
          llvm::find_if(kTypeWords, [&](const TypeWord& row) { return row.word == word; });
      if (found == std::end(kTypeWords))
        return fail("attribute '" + row.name + "': '" + word + "' is no type of op_table.h");
      row.types.push_back(found->type);
    }
    return llvm::success();
  }

  // A version is what follows the last '@' outside of quotes.
  LogicalResult parseDefault(StringRef text, AttrRow& row) {
    StringRef value = text, version;
    size_t at = text.rfind('@');
    if (at != StringRef::npos && at >= text.rfind('\'') + 1) {
      value = text.take_front(at);
      version = text.drop_front(at + 1);
      if (version.getAsInteger(10, row.sinceVersion) || row.sinceVersion < 1)
        return fail("attribute '" + row.name + "': '" + version + "' is no op version");
    }
    if (value.consume_front("'")) {
      if (!value.consume_back("'"))
        return fail("attribute '" + row.name + "': its text lacks the closing quote");
      if (formOf(row.types[0]) != DefaultForm::Text)
        return fail("attribute '" + row.name + "': a quoted default needs type s");
    } else if (!isDefaultOfForm(value, formOf(row.types[0]))) {
      return fail("attribute '" + row.name + "': '" + value + "' is no default of its type");
    }
    row.defaultText = value.str();
    return llvm::success();
  }

  OpSpec& spec_;
  std::string& error_;
};

// The attributes that every op may carry (op_proto_maker.cc), then hints to back ends that the
// framework registers on most ops and clips from saved programs (op_compat.yaml, `extra`).
constexpr const char* kCommonAttributes =
    "op_role:i=4096, op_role_var:ss|s={}, op_namescope:s='', op_callstack:ss={}, op_device:s='', "
    "with_quant_attr:b=false, "
    "grad_merge_cond_name:s='', @ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@:b~=true, "
    "use_cudnn:b~=false, use_mkldnn:b~=false, use_quantizer:b~=false, mkldnn_data_type:s~=float32, "
    "Scale_in:f~=1, Scale_out:f~=1, Scale_x:f~=1, Scale_y:f~=1, Scale_in_eltwise:f~=1, "
    "Scale_weights:fs~={1}, "
    "force_fp32_output:b~=false, workspace_size_MB:i~=512, exhaustive_search:b~=false, "
    "use_addto:b~=false";

// Written in the same notation as the rows, and parsed once.
const OpSpec& commonSpec() {
  static const OpSpec* spec = [] {
    auto* parsed = new OpSpec();
    parsed->type = "common";
    std::string error;
    [[maybe_unused]] LogicalResult result =
        RowParser(*parsed, error).parse("->", kCommonAttributes);
    assert(succeeded(result) && "the common attributes do not parse");
    return parsed;
  }();
  return *spec;
}

struct NameAttribute {
  StringRef op;  // empty: of every op
  StringRef attribute;
};

// Attributes whose values are names of variables: they are references to declarations and symbols,
// and follow a rename.
constexpr NameAttribute kNameAttributes[] = {
    {"", "op_role_var"},          {"", "skip_eager_deletion_vars"},
    {"", "grad_merge_cond_name"}, {"while_grad", "original_output_grad"},
    {"recurrent", "states"},      {"recurrent", "ex_states"},
    {"recurrent_grad", "states"}, {"recurrent_grad", "ex_states"},
    {"send", "send_varnames"},    {"recv", "recv_varnames"},
};

template <typename Row>
const Row* findByName(const std::vector<Row>& rows, StringRef name) {
  auto found = llvm::find_if(rows, [&](const Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const Slot* OpSpec::input(StringRef name) const { return findByName(inputs, name); }
const Slot* OpSpec::output(StringRef name) const { return findByName(outputs, name); }
const AttrRow* OpSpec::attribute(StringRef name) const { return findByName(attributes, name); }

LogicalResult parseRow(const OpRow& row, OpSpec& spec, std::string& error) {
  spec = OpSpec();
  spec.type = row.type;
  spec.effects = row.effects;
  spec.infer = row.infer;
  spec.constraints = row.constraints;
  return RowParser(spec, error).parse(row.slots, row.attributes);
}

// A line of a user's table, `type | slots | attributes | effects`.
LogicalResult parseRowText(StringRef family, StringRef line, OpSpec& spec, std::string& error) {
  llvm::SmallVector<StringRef> columns;
  line.split(columns, '|', /*MaxSplit=*/2);
  // Attribute types may hold '|' too (`i|l`): the effects are what follows the last one, if that is
  // words of effects.
  std::string effects;
  StringRef attributes = columns.size() > 2 ? columns[2] : "";
  spec = OpSpec();
  spec.type = columns[0].trim().str();
  spec.family = family.str();
  if (columns.size() < 3)
    return RowParser(spec, error).fail("expected `type | slots | attributes | effects`");
  size_t bar = attributes.rfind('|');
  if (bar == StringRef::npos)
    return RowParser(spec, error).fail("expected `type | slots | attributes | effects`");
  llvm::SmallVector<StringRef> words;
  attributes.drop_front(bar + 1).split(words, '+');
  for (StringRef word : words) {
    const EffectWord* found =
        llvm::find_if(kEffectWords, [&](const EffectWord& row) { return row.word == word.trim(); });
    if (found == std::end(kEffectWords))
      return RowParser(spec, error)
          .fail("'" + word.trim() + "' is no effect; expected pure, random, host or communicates");
    spec.effects |= found->effect;
  }
  return RowParser(spec, error).parse(columns[1].trim(), attributes.take_front(bar).trim());
}

// Empty lines and lines that begin with # do not count; an error has the file and the line.
LogicalResult parseTable(StringRef file, StringRef text, std::vector<OpSpec>& specs,
                         std::string& error) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    line = line.trim();
    if (line.empty() || line.starts_with("#")) continue;
    OpSpec spec;
    LogicalResult result = parseRowText("user", line, spec, error);
    if (succeeded(result) &&
        llvm::any_of(specs, [&](const OpSpec& other) { return other.type == spec.type; }))
      result = RowParser(spec, error).fail("the type occurs twice");
    if (failed(result)) {
      error = (file + ":" + Twine(number + 1) + ": " + error).str();
      return llvm::failure();
    }
    specs.push_back(std::move(spec));
  }
  return llvm::success();
}

// Parsed at first use and never freed: specs are pointed to by registered operations.
const std::vector<OpSpec>& builtinOps() {
  static const std::vector<OpSpec>* ops = [] {
    auto* parsed = new std::vector<OpSpec>();
    for (const Family& family : families()) {
      for (const OpRow& row : family.rows) {
        std::string error;
        parsed->emplace_back();
        [[maybe_unused]] LogicalResult result = parseRow(row, parsed->back(), error);
        assert(succeeded(result) && "a built-in row does not parse");
        parsed->back().family = family.name;
      }
    }
    llvm::sort(*parsed, [](const OpSpec& a, const OpSpec& b) { return a.type < b.type; });
    return parsed;
  }();
  return *ops;
}

// Asked for every op of every program, hence by hash.
const OpSpec* findOp(StringRef type) {
  static const llvm::StringMap<const OpSpec*>* byType = [] {
    auto* map = new llvm::StringMap<const OpSpec*>();
    for (const OpSpec& spec : builtinOps()) map->insert({spec.type, &spec});
    return map;
  }();
  return byType->lookup(type);
}

const AttrRow* commonAttribute(StringRef name) { return commonSpec().attribute(name); }

bool isNameAttribute(StringRef op, StringRef attribute) {
  return llvm::any_of(kNameAttributes, [&](const NameAttribute& row) {
    return row.attribute == attribute && (row.op.empty() || row.op == op);
  });
}

}  // namespace dtranspile::pd
