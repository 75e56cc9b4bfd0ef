// Rules: one row per framework op says how relations of operands give relations of results. Rows
// stand in <family>.cc, with the family names of dialects/pd/ops; kinds.h has the rules that many
// rows share. Called by framework.cc for every framework op of a role.
//
// A row names a rule and the slots that it reads, in clauses `inputs -> outputs` joined by `;`. An
// input may carry how the result depends on it: `:l` linear, `:h` homogeneous, `:m` only its sign
// or order counts, `:s` only its extents, `:f` linear where its elements are floats, else any
// function; `w` before that (`:wl`, `:w`): a parameter, which has no dim in common with the batch.
// `=>` in place of `->`: linear in all `:l` operands together, a sum. `+` before an output: the sum
// over the dims that operands share. `:e` after one: it has one row per sequence or sample, so
// that its parts are equal where the operands' are not; `:d`: it has as many rows as the data say.
// `[…]` after a slot: the labels of its dims, for kind `labelled` (kinds.h).
//
//   {"relu_grad", pointwise, "Out@GRAD:l, Out:m -> X@GRAD"}
//   {"lookup_table_grad", batchwise, "Out@GRAD:l, Ids, W:ws -> +W@GRAD", "padding_idx, is_sparse"}
//
// The last column, `needs`, is what else the rule has been made for: `attribute`, right whatever
// its value; `attribute=value` or `attribute=a|b`, right for these only; `Slot`, an input that a
// function reads and no clause names. An attribute that it does not name must have its default, and
// an input that neither it nor a clause names must be absent: otherwise the results are unknown
// (needs.h).
//
// An op type that no rule can describe has a row that says why: {"print", kNoRule, "why"}.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/analysis/relations/form.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/ArrayRef.h"

namespace dtranspile::verify {

struct SlotUse {
  std::string slot;
  Use use = Use::Value;
  bool parameter = false;  // `w`
  bool floats = false;     // `f`: `use` is that of floats
  std::string labels;      // `[…]`
};
struct SlotResult {
  std::string slot;
  bool summed = false;         // `+`
  Rows rows = Rows::Operands;  // `:e`, `:d`
  std::string labels;
};
struct Clause {
  std::vector<SlotUse> inputs;
  std::vector<SlotResult> outputs;
  bool sum = false;  // `=>`
};

class RuleContext;
using Rule = void (*)(RuleContext&);
inline constexpr Rule kNoRule = nullptr;

// As written in <family>.cc.
struct RuleRow {
  const char* type;
  Rule rule;
  const char* clauses;  // of kNoRule: why there is none
  const char* needs = "";
};

// An attribute or an input that a rule has been made for.
struct Need {
  std::string name;
  std::vector<std::string> values;  // of an attribute; empty: any
};

// A row, parsed; lives for the program.
struct ParsedRule {
  std::string type;
  Rule rule = nullptr;
  std::vector<Clause> clauses;
  std::vector<Need> needs;
  const RuleRow* row = nullptr;

  const Need* need(llvm::StringRef name) const;
  // A clause or `needs` names this input.
  bool reads(llvm::StringRef slot) const;
};

// Null for types without a rule.
const ParsedRule* findRule(llvm::StringRef type);
// Every type that has a rule, sorted (`dtranspile ops`).
std::vector<std::string> ruleTypes();
// Why no rule can describe ops of this type; empty where none says so.
llvm::StringRef whyNoRule(llvm::StringRef type);
// The same as what `verify` says of such an op: "has no relation rule: it prints".
std::string noRuleText(llvm::StringRef type);

// A demand of a rule that is not met: always wrong, whatever follows.
struct Violation {
  mlir::Value operand;
  std::string rule, text, remedy;
};

// What a rule sees of one op, and where it puts relations of results.
class RuleContext {
 public:
  using Lookup = std::function<const Relation&(mlir::Value)>;
  RuleContext(mlir::Operation* op, const ParsedRule& rule, const Axes& axes, Lookup lookup);

  const pd::OpView& op() const { return op_; }
  const Axes& axes() const { return axes_; }
  const std::vector<Clause>& clauses() const { return rule_.clauses; }
  const Relation& relation(mlir::Value value) const { return lookup_(value); }
  // A part of the flattened tensor: it has not the extents of the whole. Not where there is none.
  bool isFlatPart(mlir::Value value) const {
    return value && llvm::any_of(relation(value).whole.states, [](const State& state) {
             return state.isSplit() && state.dim == dist::kFlat;
           });
  }

  // Gives a result its relation in both readings; nothing happens where the op has no such output.
  void result(llvm::StringRef slot, unsigned index, const Form& form);
  void result(llvm::StringRef slot, const Form& form) { result(slot, 0, form); }
  // Gives a result a relation that no form describes.
  void assign(llvm::StringRef slot, unsigned index, Relation relation);
  // Changes what a rule has given.
  void adjust(llvm::StringRef slot, llvm::function_ref<void(Relation&)> change);
  // What an op gives is evaluated per share, and nobody reads what differs.
  void noSite() { site_ = -1; }
  // A result that is the constant 0, whatever its extents depend on.
  void assignZero(llvm::StringRef slot);
  // Says why a result has no relation.
  void lose(llvm::StringRef slot, unsigned index, std::string why);
  void violate(Violation violation) { violations_.push_back(std::move(violation)); }

  // For the walk: gives the results their relations, by the rule where it covers the op.
  void apply();
  std::vector<Relation> takeResults() { return std::move(results_); }
  // Of the whole reading, one per result.
  const std::vector<Reason>& reasons() const { return reasons_; }
  // Why the op is a site; null where it is none.
  const Reason* site() const { return site_ < 0 ? nullptr : &reasons_[site_]; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  int resultNumber(llvm::StringRef slot, unsigned index) const;

  pd::OpView op_;
  const ParsedRule& rule_;
  const Axes& axes_;
  Lookup lookup_;
  std::vector<Relation> results_;
  std::vector<Reason> reasons_;  // one per result
  int site_ = -1;                // the first result that is evaluated per share
  std::vector<Violation> violations_;
};

// Extents of a value's declared type, -1 for unknown ones; empty for values that are no tensors.
llvm::SmallVector<int64_t> dimsOf(mlir::Value value);
int rankOf(mlir::Value value);
// Elements are floats (complex ones too), or integers and booleans.
bool isFloating(mlir::Value value);
bool isIntegral(mlir::Value value);
// Width of an element; 0 of a value that is no tensor.
int bitsOf(mlir::Value value);
// Its rows are those of sequences (LoD).
bool isRagged(mlir::Value value);
// Of the program that the op stands in (2006002 …); 0 where it does not say.
int64_t programVersion(mlir::Operation* op);
// 0, 1, … for the dims of a value.
Labels ownLabels(mlir::Value value);

}  // namespace dtranspile::verify
