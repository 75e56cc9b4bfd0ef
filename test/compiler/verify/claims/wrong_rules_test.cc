// The test of the test: rules that are wrong in ways in which rules have been wrong are caught, and
// the right ones in their place are not. Each row breaks the rule of one op type.
#include <catch2/catch.hpp>
#include <iostream>

#include "compiler/analysis/relations/kinds.h"
#include "test/compiler/verify/claims/checker.h"

namespace dtranspile::claims {
namespace {

using verify::Clause;
using verify::Form;
using verify::ParsedRule;
using verify::RuleContext;
using verify::Use;

void breakUse(ParsedRule& rule, llvm::StringRef slot, Use use) {
  for (Clause& clause : rule.clauses)
    for (verify::SlotUse& input : clause.inputs)
      if (input.slot == slot) input.use = use;
}

void dropInput(ParsedRule& rule, llvm::StringRef slot) {
  for (Clause& clause : rule.clauses)
    llvm::erase_if(clause.inputs, [&](const verify::SlotUse& input) { return input.slot == slot; });
  rule.needs.push_back({slot.str(), {}});
}

// A rule that only says which dims of X are those of Out.
template <int... kLabels>
void moved(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  Form form;
  form.terms.push_back({x, verify::ownLabels(x), Use::Linear});
  form.result = {kLabels...};
  context.result("Out", form);
}

// X · Y, as if rows of X were folded too.
void productOfFoldedRows(RuleContext& context) {
  mlir::Value x = context.op().input("X"), y = context.op().input("Y");
  Form form;
  form.terms.push_back({x, {verify::kWholeDim, 1}, Use::Linear});
  form.terms.push_back({y, {1, 2}, Use::Linear});
  form.result = {verify::kWholeDim, 1};
  form.fold = verify::Fold::Sum;
  context.result("Out", form);
}

// Always the constant 0.
void zero(RuleContext& context) { context.assignZero("Out"); }

// Equal everywhere, whatever it is computed from.
void constant(RuleContext& context) {
  Form form;
  form.result = verify::wholeLabels(context.op().output("Out"));
  context.result("Out", form);
}

// Right of whole values and of parts; of one value per share the factor is left out.
void forgetsShares(RuleContext& context) {
  verify::pointwise(context);
  context.adjust("Out", [](verify::Relation& relation) {
    if (relation.whole.known && relation.whole.states[0].isParts())
      relation.whole.scale = verify::Rational();
  });
}

// Right of floats of 32 and 64 bits.
void linearInHalf(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (verify::bitsOf(x) != 16) return verify::pointwise(context);
  Form form;
  form.terms.push_back({x, verify::ownLabels(x), Use::Linear});
  form.result = verify::ownLabels(x);
  context.result("Out", form);
}

// A draw for each element, whatever the ranks have and draw: dist.streams is not asked about.
void forgetsStreams(RuleContext& context) { verify::pointwise(context); }

// Rows where the tensor has them.
void rowsOfTensor(RuleContext& context) { moved<0, 1>(context); }

struct Row {
  const char* what;
  const char* type;
  const char* name;  // of a case with such an op
  void (*spoil)(ParsedRule&);
};

const Row kRows[] = {
    {"label on another dim", "transpose2", "ops/p262/paddle.transpose",
     [](ParsedRule& rule) { rule.rule = moved<0, 1, 2>; }},
    {"label on an inner dim of those that are merged", "mul", "ops/fluid18/fluid.layers.mul",
     [](ParsedRule& rule) { rule.rule = productOfFoldedRows; }},
    {"linear, which it is not", "tanh", "ops/fluid18/fluid.layers.tanh",
     [](ParsedRule& rule) { breakUse(rule, "X", Use::Linear); }},
    {"linear, which it is for positive factors only", "relu", "ops/p262/nn.functional.relu",
     [](ParsedRule& rule) { breakUse(rule, "X", Use::Linear); }},
    {"a sign only, which it is not", "relu", "ops/p262/nn.functional.relu",
     [](ParsedRule& rule) { breakUse(rule, "X", Use::Sign); }},
    {"a mean without the factor of its extent", "reduce_mean", "ops/p262/paddle.mean",
     [](ParsedRule& rule) { rule.rule = verify::findRule("reduce_sum")->rule; }},
    {"a minimum put together as a maximum", "reduce_min", "ops/p262/paddle.min",
     [](ParsedRule& rule) { rule.rule = verify::findRule("reduce_max")->rule; }},
    {"no attribute axis", "softmax", "ops/fluid18/fluid.layers.softmax",
     [](ParsedRule& rule) { rule.rule = verify::pointwise; }},
    {"a sum of partial gradients that is none", "lookup_table_v2_grad",
     "ops/p262/nn.functional.embedding",
     [](ParsedRule& rule) { rule.clauses[0].outputs[0].summed = false; }},
    {"an operand left out", "elementwise_mul", "ops/p262/paddle.multiply",
     [](ParsedRule& rule) { dropInput(rule, "Y"); }},
    {"a sum whose terms are linear each", "elementwise_add", "ops/p262/paddle.add",
     [](ParsedRule& rule) { rule.clauses[0].sum = false; }},
    {"zero, which it is not", "tanh", "ops/fluid18/fluid.layers.tanh",
     [](ParsedRule& rule) { rule.rule = zero; }},
    {"a factor that a value per share loses", "relu", "ops/p262/nn.functional.relu",
     [](ParsedRule& rule) { rule.rule = forgetsShares; }},
    {"constant, which it is not", "tanh", "ops/fluid18/fluid.layers.tanh",
     [](ParsedRule& rule) { rule.rule = constant; }},
    {"linear in floats of 16 bits", "tanh", "ops/fluid18/fluid.layers.tanh",
     [](ParsedRule& rule) { rule.rule = linearInHalf; }},
    {"parts of SelectedRows as those of a tensor", "get_tensor_from_selected_rows",
     "ops/fluid18/fluid.layers.get_tensor_from_selected_rows",
     [](ParsedRule& rule) { rule.rule = rowsOfTensor; }},
    {"SelectedRows of partial gradients as the whole's", "lookup_table_v2_grad",
     "ops/fluid18/fluid.layers.get_tensor_from_selected_rows",
     [](ParsedRule& rule) { rule.clauses[0].outputs[0].summed = false; }},
    {"one item of a list alone as a term", "write_to_array",
     "ops/fluid18/fluid.layers.tensor_array_to_tensor",
     [](ParsedRule& rule) { rule.clauses[0].sum = false; }},
    {"the same numbers on all ranks, which draw each their own", "gaussian_random",
     "ops/p262/paddle.randn-f64", [](ParsedRule& rule) { rule.rule = constant; }},
    {"parts of a batch that draw the same numbers", "dropout", "ops/p262/nn.Dropout",
     [](ParsedRule& rule) { rule.rule = forgetsStreams; }},
    {"a number per element, equal on ranks that draw each their own", "bernoulli",
     "ops/p262/paddle.bernoulli", [](ParsedRule& rule) { rule.rule = forgetsStreams; }},
    {"the inner dim of a product as the result's", "multi_dot", "ops/p262/raw.multi_dot",
     [](ParsedRule& rule) { rule.rule = moved<0, 1>; }},
};

const Report& reportOf(Checker& checker, const Row& row) {
  checker.checkCase(row.name);
  return checker.report();
}

}  // namespace

TEST_CASE("wrong rules are caught") {
  for (const Row& row : kRows) {
    INFO(row.type << ": " << row.what);
    const ParsedRule* right = verify::findRule(row.type);
    REQUIRE(right);
    auto only = [&](const ParsedRule& rule) {
      return [&](llvm::StringRef type) { return type == row.type ? &rule : nullptr; };
    };
    Checker good(only(*right));
    INFO(reportOf(good, row).failureText());
    CHECK(good.report().failures() == 0);
    CHECK(good.report().claims() > 0);
    ParsedRule wrong = *right;
    row.spoil(wrong);
    Checker bad(only(wrong));
    CHECK(reportOf(bad, row).failures() > 0);
  }
}

}  // namespace dtranspile::claims
