#include "compiler/import/pir/op_mapping.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace dtranspile::pir {
namespace {

using llvm::StringRef;

// Items apart by commas, blanks around them do not count.
std::vector<StringRef> itemsOf(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  std::vector<StringRef> items;
  for (StringRef part : parts)
    if (!part.trim().empty()) items.push_back(part.trim());
  return items;
}

// The marks are those of op_mapping.h: `#`, `~`, `!` in front, `?`, `*` at the end,
// `name|slot|parts` in between.
OperandRule operandRule(StringRef item) {
  OperandRule rule;
  if (item.consume_front("#")) rule.kind = OperandRule::Constant;
  else if (item.consume_front("~")) rule.kind = OperandRule::Storage;
  else if (item.consume_front("!")) rule.kind = OperandRule::Refused;
  rule.list = item.consume_back("*");
  rule.optional = item.consume_back("?");
  auto [name, slots] = item.split('|');
  auto [slot, parts] = slots.split('|');
  rule.name = name.str();
  rule.slot = slot.str();
  rule.parts = parts.str();
  return rule;
}

// `!`, `+`, `@` in front, `?`, `*` after the slot, `=operand` for a result in place.
ResultRule resultRule(StringRef item) {
  ResultRule rule;
  if (item.consume_front("!")) rule.kind = ResultRule::Unread;
  else if (item.consume_front("+")) rule.kind = ResultRule::Made;
  else if (item.consume_front("@")) rule.kind = ResultRule::Operand;
  auto [slot, storage] = item.split('=');
  rule.list = slot.consume_back("*");
  rule.optional = slot.consume_back("?");
  rule.slot = slot.str();
  rule.inPlaceOf = storage.str();
  return rule;
}

// -name drops, +name=text sets, name=text asks for a value, name>other renames.
AttributeRule attributeRule(StringRef item) {
  AttributeRule rule;
  if (item.consume_front("-")) rule.kind = AttributeRule::Drop;
  else if (item.consume_front("+")) rule.kind = AttributeRule::Set;
  else if (item.contains('=')) rule.kind = AttributeRule::Must;
  auto [name, text] = item.split(rule.kind == AttributeRule::Rename ? '>' : '=');
  rule.name = name.str();
  rule.text = text.str();
  return rule;
}

// Slots and attributes that a row names exist, with the right shape.
bool check(const Rule& rule, std::string& error) {
  auto missing = [&](StringRef what, StringRef name) {
    return error = (llvm::Twine("op '") + rule.spec->type + "' has no " + what + " '" + name + "'")
                       .str(),
           false;
  };
  for (const OperandRule& operand : rule.operands) {
    if (operand.kind == OperandRule::Constant && !rule.spec->attribute(operand.name))
      return missing("attribute", operand.name);
    StringRef slot = operand.kind == OperandRule::Slot ? operand.name : operand.slot;
    if (!slot.empty() && !rule.spec->input(slot)) return missing("input", slot);
    if (!operand.parts.empty() && !rule.spec->input(operand.parts))
      return missing("input", operand.parts);
    if (operand.list && !rule.spec->input(slot)->duplicable) return missing("list", slot);
  }
  for (const ResultRule& result : rule.results) {
    if (result.kind == ResultRule::Operand && rule.operand(result.slot) < 0)
      return missing("operand", result.slot);
    if ((result.kind == ResultRule::Slot || result.kind == ResultRule::Made) &&
        !rule.spec->output(result.slot))
      return missing("output", result.slot);
    if (!result.inPlaceOf.empty() && rule.operand(result.inPlaceOf) < 0)
      return missing("operand", result.inPlaceOf);
  }
  for (const AttributeRule& attribute : rule.attributes) {
    bool renamed = attribute.kind == AttributeRule::Rename;
    if ((renamed || attribute.kind == AttributeRule::Set) &&
        !rule.spec->attribute(renamed ? attribute.text : attribute.name))
      return missing("attribute", renamed ? attribute.text : attribute.name);
  }
  return true;
}

using RulesByName = llvm::StringMap<std::vector<Rule>>;

// Several rules of one name are versions of an op that differ in their operands. A wrong row is a
// mistake of ours, not of a user's file: the process ends.
const RulesByName& rules() {
  static const RulesByName all = [] {
    RulesByName made;
    for (llvm::ArrayRef<PirRow> rows : families()) {
      for (const PirRow& row : rows) {
        Rule rule;
        std::string error;
        if (!parseRow(row, rule, error))
          llvm::report_fatal_error(llvm::Twine("row '") + row.name +
                                   "' of the PIR table: " + error);
        made[row.name].push_back(std::move(rule));
      }
    }
    return made;
  }();
  return all;
}

}  // namespace

int Rule::operand(StringRef wanted) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].name == wanted) return static_cast<int>(i);
  return -1;
}

const AttributeRule* Rule::attribute(StringRef wanted) const {
  for (const AttributeRule& rule : attributes)
    if (rule.name == wanted && rule.kind != AttributeRule::Set) return &rule;
  return nullptr;
}

// Constants at the end that may be absent need not be there.
bool Rule::takes(size_t count) const {
  size_t least = operands.size();
  while (least > 0 && operands[least - 1].kind == OperandRule::Constant &&
         operands[least - 1].optional)
    --least;
  return count >= least && count <= operands.size();
}

// The first rule that takes as many operands; where none does, any, for a message about it.
const Rule* findRule(const Op& op) {
  StringRef name = op.name;
  if (!name.consume_front("pd_op.")) return nullptr;
  auto found = rules().find(name);
  if (found == rules().end()) return nullptr;
  for (const Rule& rule : found->second)
    if (rule.takes(op.operands.size())) return &rule;
  return &found->second.front();
}

// Checked against the op table at once, so that a row cannot name what the op has not.
bool parseRow(const PirRow& row, Rule& rule, std::string& error) {
  rule.name = row.name;
  rule.hook = row.hook;
  rule.spec = pd::findOp(row.type);
  if (!rule.spec) return error = std::string("dialect pd has no op '") + row.type + "'", false;
  rule.gradient = row.gradient || rule.spec->gradient;
  auto [operands, results] = StringRef(row.slots).split("->");
  for (StringRef item : itemsOf(operands)) rule.operands.push_back(operandRule(item));
  for (StringRef item : itemsOf(results)) rule.results.push_back(resultRule(item));
  for (StringRef item : itemsOf(row.attributes)) rule.attributes.push_back(attributeRule(item));
  return check(rule, error);
}

std::vector<llvm::ArrayRef<PirRow>> families() {
  return {activationRows(), creationRows(),  elementwiseRows(), nnRows(),
          optimizerRows(),  reductionRows(), shapeRows()};
}

}  // namespace dtranspile::pir
