#include "compiler/analysis/relations/rule.h"

#include <map>

#include "compiler/analysis/relations/needs.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::verify {
namespace {

Use useOf(llvm::StringRef letter) {
  if (letter == "l") return Use::Linear;
  if (letter == "h") return Use::Homogeneous;
  if (letter == "m") return Use::Sign;
  if (letter == "s") return Use::Shape;
  assert(letter.empty() && "unknown use in a relation row");
  return Use::Value;
}

ParsedRule parse(const RuleRow& row) {
  ParsedRule rule{row.type, row.rule, {}, parseNeeds(row.needs), &row};
  if (!row.rule) return rule;
  llvm::SmallVector<llvm::StringRef> clauses;
  llvm::StringRef(row.clauses).split(clauses, ';', -1, false);
  for (llvm::StringRef text : clauses) {
    Clause clause;
    auto [inputs, outputs] = text.split("->");
    llvm::SmallVector<llvm::StringRef> words;
    inputs.split(words, ',', -1, false);
    for (llvm::StringRef word : words) {
      auto [slot, letters] = word.trim().split(':');
      bool parameter = letters.consume_front("w");
      if (!slot.empty()) clause.inputs.push_back({slot.str(), useOf(letters), parameter});
    }
    words.clear();
    outputs.split(words, ',', -1, false);
    for (llvm::StringRef word : words) {
      llvm::StringRef slot = word.trim();
      bool summed = slot.consume_front("+");
      clause.outputs.push_back({slot.str(), summed});
    }
    rule.clauses.push_back(std::move(clause));
  }
  return rule;
}

const std::map<std::string, ParsedRule, std::less<>>& rules() {
  static const auto* table = [] {
    auto* all = new std::map<std::string, ParsedRule, std::less<>>;
    for (llvm::ArrayRef<RuleRow> family : ruleFamilies())
      for (const RuleRow& row : family) {
        [[maybe_unused]] bool inserted = all->try_emplace(row.type, parse(row)).second;
        assert(inserted && "two relation rows for one op");
      }
    return all;
  }();
  return *table;
}

bool perShare(const Reading& reading) {
  return reading.known &&
         llvm::any_of(reading.states, [](const State& state) { return state.isParts(); });
}

const ParsedRule* findRow(llvm::StringRef type) {
  auto found = rules().find(std::string_view(type));
  return found == rules().end() ? nullptr : &found->second;
}

}  // namespace

const Need* ParsedRule::need(llvm::StringRef name) const {
  auto found = llvm::find_if(needs, [&](const Need& one) { return one.name == name; });
  return found == needs.end() ? nullptr : &*found;
}

bool ParsedRule::reads(llvm::StringRef slot) const {
  return need(slot) || llvm::any_of(clauses, [&](const Clause& clause) {
           return llvm::any_of(clause.inputs, [&](const SlotUse& one) { return one.slot == slot; });
         });
}

const ParsedRule* findRule(llvm::StringRef type) {
  const ParsedRule* row = findRow(type);
  return row && row->rule ? row : nullptr;
}

std::vector<std::string> ruleTypes() {
  std::vector<std::string> types;
  for (const auto& [type, rule] : rules())
    if (rule.rule) types.push_back(type);
  return types;
}

llvm::StringRef whyNoRule(llvm::StringRef type) {
  const ParsedRule* row = findRow(type);
  return row && !row->rule ? row->row->clauses : "";
}

std::string noRuleText(llvm::StringRef type) {
  const llvm::StringRef why = whyNoRule(type);
  return "has no relation rule" + (why.empty() ? "" : ": " + why.str());
}

RuleContext::RuleContext(mlir::Operation* op, const ParsedRule& rule, const Axes& axes,
                         Lookup lookup)
    : op_(op), rule_(rule), axes_(axes), lookup_(lookup) {
  results_.resize(op->getNumResults());
  losses_.resize(op->getNumResults(), {"has no rule for this result", -1, {}});
}

void RuleContext::apply() {
  const std::string uncovered = uncoveredBy(rule_, op_);
  if (uncovered.empty()) return rule_.rule(*this);
  for (Loss& loss : losses_) loss.why = uncovered;
}

int RuleContext::resultNumber(llvm::StringRef slot, unsigned index) const {
  mlir::Value value = op_.output(slot, index);
  return value ? static_cast<int>(llvm::cast<mlir::OpResult>(value).getResultNumber()) : -1;
}

void RuleContext::result(llvm::StringRef slot, unsigned index, const Form& form) {
  int number = resultNumber(slot, index);
  if (number < 0) return;
  Evaluated evaluated = evaluateBoth(form, axes_, lookup_);
  Relation relation = std::move(evaluated.relation);
  if (perShare(relation.whole))
    Shares(form, axes_, lookup_).putTogether(relation.whole, op_.output(slot, index), axes_);
  losses_[number] = std::move(evaluated.loss);
  if (evaluated.site && site_ < 0) site_ = number;
  relation.isZero =
      form.combine == Combine::Sum && !form.terms.empty() &&
      llvm::all_of(form.terms, [&](const Term& term) { return lookup_(term.value).isZero; });
  results_[number] = std::move(relation);
}

void RuleContext::assign(llvm::StringRef slot, unsigned index, Relation relation) {
  int number = resultNumber(slot, index);
  if (number >= 0) results_[number] = std::move(relation);
}

void RuleContext::assignZero(llvm::StringRef slot) {
  int number = resultNumber(slot, 0);
  if (number < 0) return;
  Relation& relation = results_[number];
  relation.isZero = true;
  relation.perShare = false;
  for (Reading* reading : {&relation.whole, &relation.parts})
    if (!reading->known) *reading = Reading::replicated(axes_);
}

void RuleContext::lose(llvm::StringRef slot, unsigned index, std::string why) {
  int number = resultNumber(slot, index);
  if (number < 0) return;
  losses_[number] = {std::move(why), -1, {}};
  results_[number] = {};
}

llvm::SmallVector<int64_t> dimsOf(mlir::Value value) {
  mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(value.getType()));
  return tensor ? pd::dimsOf(tensor) : llvm::SmallVector<int64_t>();
}

int rankOf(mlir::Value value) { return static_cast<int>(dimsOf(value).size()); }

Labels ownLabels(mlir::Value value) {
  Labels labels;
  for (int i = 0, n = rankOf(value); i < n; ++i) labels.push_back(i);
  return labels;
}

}  // namespace dtranspile::verify
