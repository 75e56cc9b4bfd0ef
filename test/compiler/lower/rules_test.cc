// All rows of lowering rules against the table of operators and the signatures of library calls:
// no row names an op, slot, attribute, call or function of the formula language that does not
// exist.
#include "compiler/lower/rules.h"

#include <catch2/catch.hpp>
#include <set>

#include "compiler/lower/call_row.h"
#include "compiler/lower/kernel/formula_parser.h"
#include "compiler/lower/native.h"
#include "dialects/pd/op_table.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::lower {
namespace {

std::string misfitOf(llvm::StringRef row, const char* op) {
  std::string error;
  const auto parsed = CallRow::parse(row, error);
  return parsed ? parsed->misfit(*pd::findOp(op)) : error;
}

// Names of a formula that are neither the op's nor assigned to before nor the language's.
std::string strangersOf(const pd::OpSpec& op, std::string_view formula) {
  static const std::set<std::string_view> kGiven = {
      "legacy", "whole", "lowest", "exact", "sparse", "count", "rows", "position", "infinity"};
  const Identifiers found = identifiersOf(formula);
  std::string strangers;
  for (std::string_view name : found.names) {
    const llvm::StringRef text(name.data(), name.size());
    if (op.input(text) || op.output(text) || op.attribute(text) || kGiven.count(name) != 0 ||
        found.assigned.count(name) != 0)
      continue;
    strangers += (strangers.empty() ? "" : ", ") + std::string(name);
  }
  return strangers;
}

}  // namespace

TEST_CASE("every rule is for an op of the table, and there is one for an op") {
  std::set<std::string> types;
  for (const LoweringRule* rule : allRules()) {
    INFO(rule->type);
    CHECK(pd::findOp(rule->type) != nullptr);
    CHECK(types.insert(rule->type).second);
    CHECK((rule->formula || rule->lower || rule->call));
  }
  CHECK(types.size() > 600);
}

TEST_CASE("every call of a rule takes what its op has, and names what the op lacks") {
  int calls = 0;
  for (const LoweringRule* rule : allRules()) {
    if (!rule->call || !pd::findOp(rule->type)) continue;
    CHECK(misfitOf(rule->call, rule->type) == "");
    ++calls;
  }
  CHECK(calls > 350);
}

TEST_CASE("calls that a row can name wrongly are refused") {
  CHECK(misfitOf("dt_no_such_call", "gather") ==
        "no library call 'dt_no_such_call' has a signature");
  CHECK(misfitOf("dt_gather(Rows=X)", "gather") ==
        "'Rows=X' of dt_gather: no slot or attribute of it, bound twice, or to its own name");
  CHECK(misfitOf("dt_gather(X=X)", "gather").find("its own name") != std::string::npos);
  CHECK(misfitOf("dt_gather(X=-, X=Index)", "gather").find("bound twice") != std::string::npos);
  CHECK(misfitOf("dt_gather(X=Index", "gather").find("expected CALL") != std::string::npos);
  CHECK(misfitOf("dt_gather(X=Rows)", "gather") == "gather: no input slot 'Rows' for dt_gather");
  CHECK(misfitOf("dt_gather(Index=-)", "gather") ==
        "gather: lacks the input 'Index', which dt_gather needs");
  CHECK(misfitOf("dt_gather(axis=-)", "gather") ==
        "gather: lacks the attribute 'axis', which dt_gather needs");
  CHECK(misfitOf("dt_gather(axis=dim)", "gather") == "gather: no attribute 'dim' for dt_gather");
  CHECK(misfitOf("dt_gather(Out=Y)", "gather") == "gather: no output slot 'Y' for dt_gather");
  CHECK(misfitOf("dt_stack", "unbind") == "unbind: slot 'X' is no list, dt_stack takes one");
  CHECK(misfitOf("dt_unstack(Y=-)", "stack") ==
        "stack: slot 'X' is a list, dt_unstack takes a single argument");
  CHECK(misfitOf("dt_gather(axis=overwrite)", "gather") ==
        "gather: attribute 'overwrite' is of another kind than in dt_gather");
  CHECK(misfitOf("dt_gather", "index_select") != "");
}

TEST_CASE("formulas of rules name slots and attributes of their op") {
  int formulas = 0;
  for (const LoweringRule* rule : allRules()) {
    const pd::OpSpec* op = pd::findOp(rule->type);
    if (!rule->formula || !op) continue;
    INFO(rule->type << ": " << rule->formula);
    CHECK(strangersOf(*op, rule->formula) == "");
    ++formulas;
  }
  CHECK(formulas > 200);
  CHECK(strangersOf(*pd::findOp("leaky_relu"), "Out = X > 0 ? X : slope * X[r] + 1e-3 + e3") ==
        "e3, slope");
}

TEST_CASE("what a rule's function makes is known") {
  for (const LoweringRule* rule : allRules()) {
    const auto form = nativeForm(rule->type);
    INFO(rule->type);
    REQUIRE(form);
    for (const std::string& call : form->calls) {
      INFO(call);
      CHECK(kernels::FindFunction(call) != nullptr);
    }
  }
}

TEST_CASE("every signature has a kernel") {
  for (const kernels::Signature& signature : kernels::AllSignatures()) {
    INFO(signature.name);
    CHECK(kernels::FindFunction(signature.name) != nullptr);
    CHECK(kernels::FindSignature(signature.name) == &signature);
  }
}

TEST_CASE("gradients are said by their row") {
  CHECK(pd::findOp("relu_grad")->gradient);
  CHECK(pd::findOp("cross_entropy_grad2")->gradient);
  CHECK(pd::findOp("reorder_lod_tensor_by_rank_grad")->gradient);
  CHECK_FALSE(pd::findOp("relu")->gradient);
  CHECK_FALSE(pd::findOp("sum")->gradient);
  CHECK(pd::findOp("reorder_lod_tensor_by_rank_grad")->effects == pd::kPure);
}

}  // namespace dtranspile::lower
