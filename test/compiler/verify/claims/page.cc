#include "test/compiler/verify/claims/page.h"

#include "absl/strings/str_cat.h"
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/records.h"
#include "dialects/pd/op_table.h"

namespace dtranspile::claims {
namespace {

constexpr const char* kHead =
    "# Relation rules and their evidence\n\n"
    "Written from the rows of `compiler/analysis/relations/rules` and from what "
    "`//test/compiler/verify/claims:claims_test` tested, which fails where this page\n"
    "says something else. To write it again:\n\n"
    "    bazel run //test/compiler/verify/claims:page > docs/operators/relations.md\n\n"
    "What a claim is and how it is tested: docs/verification.md, \"Rules are tested by "
    "execution\".\n\n"
    "* **rule**: what the row says (notation: `compiler/analysis/relations/rule.h`); *own*: a "
    "function of its own. In brackets the attributes and inputs that it was made\n"
    "  for: any other that is present, or not at its default, makes the answer *unknown*. In "
    "italics, why there can be no rule. Empty: there is none.\n"
    "* **instances**: ops with operands of their own in the one-operator programs, that differ in "
    "attributes, slots, element types or extents.\n"
    "* **claims**: statements of the rule about a result, for operands in certain states on an "
    "axis of 2, 3 and 4 coordinates, each compared with what the op\n"
    "  computes on the parts.\n";

struct Kind {
  verify::Rule rule;
  const char* name;
};
const Kind kKinds[] = {
    {verify::pointwise, "pointwise"},
    {verify::rowwise, "rowwise"},
    {verify::labelled, "labelled"},
    {verify::batchwise, "batchwise"},
    {verify::batchThenWhole, "batch, then whole"},
    {verify::wholeOnly, "whole"},
    {verify::recorded, "recorded"},
    {verify::recordedGrad, "of a record"},
};

const char* kindOf(const verify::ParsedRule& rule) {
  for (const Kind& kind : kKinds)
    if (kind.rule == rule.rule) return kind.name;
  return "own";
}

std::string ruleText(llvm::StringRef type) {
  const verify::ParsedRule* rule = verify::findRule(type);
  const llvm::StringRef why = verify::whyNoRule(type);
  if (!rule) return why.empty() ? "" : "*" + why.str() + "*";
  std::string text = kindOf(*rule);
  if (rule->row && rule->row->clauses[0]) absl::StrAppend(&text, " `", rule->row->clauses, "`");
  if (rule->row && rule->row->needs[0]) absl::StrAppend(&text, " (", rule->row->needs, ")");
  std::string cell;  // `|` ends cells
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string number(int64_t count) { return count ? std::to_string(count) : ""; }

}  // namespace

std::string pageOf(const Report& report) {
  std::string tables;
  int64_t ops = 0, rules = 0, tested = 0, reasons = 0;
  for (const pd::Family& family : pd::families()) {
    absl::StrAppend(&tables, "\n## ", family.name,
                    "\n\n| operator | rule | instances | claims |\n| --- | --- | --- | --- |\n");
    for (const pd::OpRow& row : family.rows) {
      auto found = report.tallies().find(row.type);
      const Tally tally = found == report.tallies().end() ? Tally() : found->second;
      ++ops;
      rules += verify::findRule(row.type) != nullptr;
      reasons += !verify::whyNoRule(row.type).empty();
      tested += tally.claims > 0;
      absl::StrAppend(&tables, "| ", row.type, " | ", ruleText(row.type), " | ",
                      number(tally.instances), " | ", number(tally.claims), " |\n");
    }
  }
  return absl::StrCat(kHead, "\n", ops, " operators: ", rules, " have a rule, ", reasons,
                      " a reason why there is none. ", report.claims(), " claims of ", tested,
                      " rules were tested.\n", tables);
}

}  // namespace dtranspile::claims
