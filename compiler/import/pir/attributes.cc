#include "compiler/import/pir/attributes.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

namespace dtranspile::pir {
namespace {

using framework::OpDesc;
using Numbers = std::vector<Number>;

// Attributes that say nothing about the result: where an op runs, what wrote it, hints.
bool isHint(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"place", "op_dist_attr", "op_callstack", "stop_gradient", "persistable",
              "is_persistable", "op_namescope", "op_device", "mkldnn_data_type"},
             true)
      .Default(false);
}

std::string ofAttribute(llvm::StringRef name, const std::string& why) {
  return why.empty() ? why : ("attribute '" + name + "' " + why).str();
}

// One attribute of the file: by the row's own word about it, else by its name, else dropped where
// it says nothing about the result. An attribute that is null is as good as absent.
std::string setAttribute(const Rule& rule, llvm::StringRef name, const json& value, OpDesc& made) {
  const AttributeRule* own = rule.attribute(name);
  if (own && own->kind == AttributeRule::Drop) return "";
  if (own && own->kind == AttributeRule::Must) {
    std::optional<Numbers> numbers = numbersOf(value);
    const std::string* text = textOf(value);
    std::string spelled = text ? *text
                          : numbers && numbers->size() == 1
                              ? std::to_string(static_cast<int64_t>((*numbers)[0].value()))
                              : "";
    std::string expected = own->text == "false" ? "0" : own->text == "true" ? "1" : own->text;
    return spelled == expected ? ""
                               : ("has attribute '" + name + "' other than " + own->text +
                                  ", which no op of a ProgramDesc has")
                                     .str();
  }
  std::string target = own ? own->text : name == "struct_name" ? "op_namescope" : name.str();
  const pd::AttrRow* row = rule.spec->attribute(target);
  if (!own && !row && name != "struct_name" && isHint(name)) return "";
  if (!row) row = pd::commonAttribute(target);
  if (!row)
    return rule.hook
               ? ""
               : ("has attribute '" + name + "', which its row in the PIR table does not know")
                     .str();
  if (const json* kind = member(&value, "#"); kind && *kind == "NULL") return "";
  return ofAttribute(name, toAttribute(value, row->types[0], attributeOf(made, target, 0)));
}

// The framework itself gives forward ops the attributes that a program leaves out, but not their
// gradients.
std::string setDefaults(const Rule& rule, OpDesc& made) {
  if (!rule.spec->gradient) return "";
  llvm::StringSet<> present;
  for (const OpDesc::Attr& attribute : made.attrs()) present.insert(attribute.name());
  for (const pd::AttrRow& row : rule.spec->attributes) {
    if (row.required || row.hint || present.contains(row.name)) continue;
    std::string why =
        toAttribute(llvm::StringRef(row.defaultText), row.types[0], attributeOf(made, row.name, 0));
    if (!why.empty()) return ofAttribute(row.name, why);
  }
  return "";
}

}  // namespace

// First what the row sets to a fixed value, then what the file says ("N" name, "AT" value), then
// defaults of what is missing. Returns what is wrong; empty where nothing is.
std::string setAttributes(const Op& op, const Rule& rule, framework::OpDesc& made) {
  for (const AttributeRule& attribute : rule.attributes) {
    if (attribute.kind != AttributeRule::Set) continue;
    std::string why =
        toAttribute(llvm::StringRef(attribute.text), rule.spec->attribute(attribute.name)->types[0],
                    attributeOf(made, attribute.name, 0));
    if (!why.empty()) return ofAttribute(attribute.name, why);
  }
  if (const json* attributes = op.attributes) {
    for (const json& entry : *attributes) {
      const std::string* name = textMember(&entry, "N");
      const json* value = member(&entry, "AT");
      if (!name || !value) return "has an attribute without name (\"N\") or value (\"AT\")";
      if (std::string why = setAttribute(rule, *name, *value, made); !why.empty()) return why;
    }
  }
  return setDefaults(rule, made);
}

}  // namespace dtranspile::pir
