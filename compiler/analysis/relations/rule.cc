// Rows to rules. Most ops are told by clauses, "X[ab]:l, Y -> Out": which inputs enter, along which
// labelled dims they meet, and how each is used (linear, homogeneous, by its sign or its shape
// only, or by its value). A clause becomes a form (form.h), and the join of states per axis is
// derived from the form alone: a sum of parts goes through what is linear, equal values through
// anything, cut dims along their labels. What a clause cannot say is a function of the row.
#include "compiler/analysis/relations/rule.h"

#include <map>

#include "compiler/analysis/relations/needs.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::verify {
namespace {

// The letters after a slot: l and f linear (f: in floats only), h homogeneous of degree 1 for
// positive factors, m by sign, s by shape; none: by value.
Use useOf(llvm::StringRef letter) {
  if (letter == "l" || letter == "f") return Use::Linear;
  if (letter == "h") return Use::Homogeneous;
  if (letter == "m") return Use::Sign;
  if (letter == "s") return Use::Shape;
  assert(letter.empty() && "unknown use in a relation row");
  return Use::Value;
}

// "X[ab]:l": the name, the labels, the letters.
struct Word {
  llvm::StringRef slot, labels, letters;
};

// No error is possible here: rows are checked against the op table by a test.
Word wordOf(llvm::StringRef text) {
  Word word;
  std::tie(word.slot, word.letters) = text.trim().split(':');
  std::tie(word.slot, word.labels) = word.slot.split('[');
  word.labels.consume_back("]");
  return word;
}

Rows rowsOf(llvm::StringRef letter) {
  return letter == "e" ? Rows::Even : letter == "d" ? Rows::Data : Rows::Operands;
}

// "A, B -> C", or with => for an op that adds its inputs up. A leading w marks a parameter, + a
// result that is summed.
Clause parseClause(llvm::StringRef text) {
  Clause clause;
  clause.sum = text.contains("=>");
  auto [inputs, outputs] = text.split(clause.sum ? "=>" : "->");
  llvm::SmallVector<llvm::StringRef> words;
  inputs.split(words, ',', -1, false);
  for (llvm::StringRef one : words) {
    Word word = wordOf(one);
    bool parameter = word.letters.consume_front("w");
    if (!word.slot.empty())
      clause.inputs.push_back({word.slot.str(), useOf(word.letters), parameter, word.letters == "f",
                               word.labels.str()});
  }
  words.clear();
  outputs.split(words, ',', -1, false);
  for (llvm::StringRef one : words) {
    Word word = wordOf(one);
    bool summed = word.slot.consume_front("+");
    if (!word.slot.empty())
      clause.outputs.push_back({word.slot.str(), summed, rowsOf(word.letters), word.labels.str()});
  }
  return clause;
}

// Rows are parsed once per process, and are our own text: what does not parse is an assertion.
ParsedRule parse(const RuleRow& row) {
  ParsedRule rule{row.type, row.rule, {}, parseNeeds(row.needs), &row};
  if (!row.rule) return rule;
  llvm::SmallVector<llvm::StringRef> clauses;
  llvm::StringRef(row.clauses).split(clauses, ';', -1, false);
  for (llvm::StringRef text : clauses) rule.clauses.push_back(parseClause(text));
  return rule;
}

// All families in one table, parsed at first use.
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

mlir::Type elementOf(mlir::Value value) {
  mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(value.getType()));
  return tensor ? tensor.getElementType() : mlir::Type();
}

bool isFloat(mlir::Type element) {
  return element && (llvm::isa<mlir::FloatType, mlir::ComplexType>(element));
}

// What a form says of real numbers is not so of results that are rounded to integers, or are
// booleans, which add up to no more than one.
Form overElements(Form form, mlir::Value result) {
  const mlir::Type element = elementOf(result);
  if (!element || isFloat(element)) return form;
  const bool truth = element.isInteger(1);
  bool rounds = !form.averaged.empty();
  for (const Term& term : form.terms)
    rounds |=
        (term.use == Use::Linear || term.use == Use::Homogeneous) && isFloat(elementOf(term.value));
  if (truth && form.fold == Fold::Sum) form.fold = Fold::None;
  if (!rounds) return form;
  for (Term& term : form.terms)
    if (term.use == Use::Linear || term.use == Use::Homogeneous) term.use = Use::Value;
  if (form.combine == Combine::Sum) form.combine = Combine::Product;
  if (form.fold == Fold::Sum) form.fold = Fold::None;
  return form;
}

// A result that is cut like a flat operand has its shape: a power beside a parameter has not.
bool fitsFlat(const Form& form, const Reading& reading, mlir::Value result) {
  if (llvm::none_of(reading.states,
                    [](const State& state) { return state.isSplit() && state.dim == dist::kFlat; }))
    return true;
  const llvm::SmallVector<int64_t> own = dimsOf(result);
  return llvm::all_of(form.terms, [&](const Term& term) {
    return term.labels != form.result || dimsOf(term.value) == own;
  });
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
  reasons_.resize(op->getNumResults(), {"has no rule for this result", -1, {}});
}

// Where the op uses something that its row does not cover (an attribute's value, an optional slot),
// no rule is better than a wrong one.
void RuleContext::apply() {
  const std::string uncovered = uncoveredBy(rule_, op_);
  if (uncovered.empty()) return rule_.rule(*this);
  for (Reason& reason : reasons_) reason.why = uncovered;
}

int RuleContext::resultNumber(llvm::StringRef slot, unsigned index) const {
  mlir::Value value = op_.output(slot, index);
  return value ? static_cast<int>(llvm::cast<mlir::OpResult>(value).getResultNumber()) : -1;
}

// Evaluates a form for both readings, and corrects it for what is special about this result:
// integers, ragged rows, flat parts of another shape, rows put together from shares.
void RuleContext::result(llvm::StringRef slot, unsigned index, const Form& given) {
  int number = resultNumber(slot, index);
  if (number < 0) return;
  Form form = overElements(given, op_.output(slot, index));
  // An inner level of sequences leaves rows of sequences.
  for (const Clause& clause : rule_.clauses)
    for (const SlotResult& output : clause.outputs)
      if (output.slot == slot && output.rows != Rows::Operands)
        form.rows = isRagged(op_.output(slot, index)) ? Rows::Data : output.rows;
  Evaluated evaluated = evaluateBoth(form, axes_, lookup_);
  Relation relation = std::move(evaluated.relation);
  if (perShare(relation.whole))
    relation.uneven |=
        Shares(form, axes_, lookup_).putTogether(relation.whole, op_.output(slot, index), axes_);
  for (const State& state : relation.whole.states)  // put together
    if (state.isSplit() && state.dim >= 0 && state.dim < 32) relation.ofShare &= ~(1U << state.dim);
  if (relation.whole.known && !fitsFlat(form, relation.whole, op_.output(slot, index))) {
    relation.whole.known = relation.parts.known = false;
    evaluated.reason = {"has another shape than the flat part that it would be cut like", -1, {}};
    evaluated.site = false;
  }
  reasons_[number] = std::move(evaluated.reason);
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

void RuleContext::adjust(llvm::StringRef slot, llvm::function_ref<void(Relation&)> change) {
  if (int number = resultNumber(slot, 0); number >= 0) change(results_[number]);
}

// Zeros are right under any relation.
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
  reasons_[number] = {std::move(why), -1, {}};
  results_[number] = {};
}

// Extents that the framework's inference leaves out, though it knows the operands': side outputs
// (`PreOut`, `InnerCache`) are declared with none. Empty where ours does not know them either.
static llvm::SmallVector<int64_t> computedDims(mlir::Value value) {
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  if (!result || !pd::OpView::isFrameworkOp(result.getOwner())) return {};
  const pd::OpView op(result.getOwner());
  if (!op.spec() || !op.spec()->infer) return {};
  pd::DeclaredContext context(op);
  if (mlir::failed(op.spec()->infer(context))) return {};
  for (const auto& [at, info] : context.results)
    if (op.output(at.first, at.second) == value) return {info.dims.begin(), info.dims.end()};
  return {};
}

llvm::SmallVector<int64_t> dimsOf(mlir::Value value) {
  mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(value.getType()));
  if (!tensor) return {};
  return tensor.getRank() == 0 ? computedDims(value) : pd::dimsOf(tensor);
}

int rankOf(mlir::Value value) { return static_cast<int>(dimsOf(value).size()); }

bool isFloating(mlir::Value value) { return isFloat(elementOf(value)); }

bool isIntegral(mlir::Value value) {
  const mlir::Type element = elementOf(value);
  return element && !isFloat(element);
}

int bitsOf(mlir::Value value) {
  const mlir::Type element = elementOf(value);
  return element && element.isIntOrFloat() ? static_cast<int>(element.getIntOrFloatBitWidth()) : 0;
}

bool isRagged(mlir::Value value) {
  return llvm::isa<pd::LodType>(dist::unlocated(value.getType()));
}

int64_t programVersion(mlir::Operation* op) {
  auto program = op->getParentOfType<pd::ProgramOp>();
  return program ? program.getVersion() : 0;
}

Labels ownLabels(mlir::Value value) {
  Labels labels;
  for (int i = 0, n = rankOf(value); i < n; ++i) labels.push_back(i);
  return labels;
}

}  // namespace dtranspile::verify
