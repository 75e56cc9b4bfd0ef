#include "compiler/analysis/relations/needs.h"

#include "dialects/pd/pd.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::verify {
namespace {

struct ValueFree {
  const char* attribute;
  const char* why;
};

// Attributes that change no value, whatever op has them.
constexpr ValueFree kValueFree[] = {
    {"op_role", "the part of the step that the op belongs to"},
    {"op_role_var", "names of the parameter and the gradient that it is about"},
    {"op_namescope", "where it stands in the source"},
    {"op_callstack", "where it stands in the source"},
    {"op_device", "the device that it is placed on"},
    {"force_cpu", "the device that it is placed on"},
    {"place_type", "the device that it is placed on"},
    {"with_quant_attr", "marks for a quantising pass, which has not run"},
    {"use_quantizer", "marks for a quantising pass, which has not run"},
    {"grad_merge_cond_name", "the name of a variable that another pass made"},
    {"@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@", "shape inference of the framework"},
    {"use_cudnn", "which library computes it"},
    {"use_mkldnn", "which library computes it"},
    {"mkldnn_data_type", "which library computes it"},
    {"workspace_size_MB", "which algorithm of the library computes it"},
    {"exhaustive_search", "which algorithm of the library computes it"},
    {"use_addto", "whether a buffer is shared"},
};

// Truth counts as 1 and 0, as in attributes that are bool in one version and int in another.
double numberOf(llvm::StringRef text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  double value = 0;
  text.getAsDouble(value);
  return value;
}

// Compared as text, not as numbers.
bool isText(const pd::AttrRow& row) {
  using pd::AttrType;
  return llvm::any_of(row.types, [](AttrType type) {
    return type == AttrType::String || type == AttrType::Strings || type == AttrType::Var ||
           type == AttrType::Vars;
  });
}

bool isBlock(const pd::AttrRow& row) {
  return row.types[0] == pd::AttrType::Block || row.types[0] == pd::AttrType::Blocks;
}

// Values as the table writes them: words of a list, numbers as float32 holds them.
bool isValue(const pd::OpView& op, const pd::AttrRow& row, llvm::StringRef wanted) {
  wanted = wanted.trim();
  const bool list = wanted.consume_front("{") && wanted.consume_back("}");
  llvm::SmallVector<llvm::StringRef> words;
  if (list) wanted.split(words, ',', -1, false);
  else words.push_back(wanted);
  if (isText(row)) {
    std::vector<std::string> found = op.getStrings(row.name);
    if (!list && wanted.empty() && found.empty()) return true;
    return llvm::equal(found, words, [](const std::string& one, llvm::StringRef other) {
      other = other.trim();
      if (other.consume_front("'")) other.consume_back("'");
      return one == other;
    });
  }
  return llvm::equal(op.getFloats(row.name), words, [](double one, llvm::StringRef other) {
    return static_cast<float>(one) == static_cast<float>(numberOf(other.trim()));
  });
}

// Any attribute may be the name of a variable that holds the value when the step runs.
bool byVariable(const pd::OpView& op, const pd::AttrRow& row) {
  return !isText(row) && llvm::isa<pd::RefAttr, pd::RefsAttr>(op.attr(row.name));
}

// For messages: the value as the user has it.
std::string textOf(const pd::OpView& op, const pd::AttrRow& row) {
  if (byVariable(op, row)) return "a variable";
  if (isText(row)) return "\"" + llvm::join(op.getStrings(row.name), ", ") + "\"";
  if (row.types[0] == pd::AttrType::Bool) return op.getBool(row.name) ? "true" : "false";
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(
      op.getFloats(row.name), out, [&](double value) { out << llvm::format("%g", value); }, ", ");
  return text;
}

// A rule was made for an attribute if it names it (with the values that it was made for, or any).
// One that it does not name has to have its default: then the op does what it does without it.
bool covers(const ParsedRule& rule, const pd::OpView& op, const pd::AttrRow& row) {
  if (!op.hasAttr(row.name) || row.hint || isValueFree(row.name)) return true;
  if (byVariable(op, row)) return false;
  const Need* need = rule.need(row.name);
  if (!need) return !row.required && !isBlock(row) && isValue(op, row, row.defaultText);
  return need->values.empty() || llvm::any_of(need->values, [&](const std::string& value) {
           return isValue(op, row, value);
         });
}

}  // namespace

// "name, name=value|value": an attribute or slot that a rule takes note of, and the values that it
// was made for.
std::vector<Need> parseNeeds(llvm::StringRef text) {
  std::vector<Need> needs;
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',', -1, false);
  for (llvm::StringRef word : words) {
    auto [name, values] = word.trim().split('=');
    if (name.empty()) continue;
    Need need{name.trim().str(), {}};
    llvm::SmallVector<llvm::StringRef> alternatives;
    values.split(alternatives, '|', -1, false);
    for (llvm::StringRef value : alternatives) need.values.push_back(value.trim().str());
    needs.push_back(std::move(need));
  }
  return needs;
}

const char* whyValueFree(llvm::StringRef attribute) {
  for (const ValueFree& row : kValueFree)
    if (attribute == row.attribute) return row.why;
  return nullptr;
}

// A rule that ignored an attribute or an input would prove something of another op than the one
// that runs. Thus what is not named is not covered; the answer is what to say of it, empty where
// all is.
std::string uncoveredBy(const ParsedRule& rule, const pd::OpView& op) {
  const pd::OpSpec* spec = op.spec();
  if (!spec) return "is not in the table of operators";
  for (const pd::AttrRow& row : spec->attributes)
    if (!covers(rule, op, row))
      return "has `" + row.name + "` = " + textOf(op, row) +
             ", for which its relation rule was not made";
  for (const std::string& slot : op.inputSlots()) {
    const bool present = llvm::any_of(op.inputs(slot), [](mlir::Value value) { return !!value; });
    if (present && !rule.reads(slot))
      return "has input `" + slot + "`, which its relation rule does not read";
  }
  return "";
}

}  // namespace dtranspile::verify
