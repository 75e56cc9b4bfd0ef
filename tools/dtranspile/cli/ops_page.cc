// docs/operators/index.md, written by `dtranspile ops --format markdown`.
#include "llvm/ADT/StringExtras.h"
#include "tools/dtranspile/cli/ops_facts.h"

namespace dtranspile::cli {
namespace {

constexpr const char* kHead =
    "# All operators\n\n"
    "Written by `dtranspile ops --format markdown` from the tables themselves (`dialects/pd/ops`, "
    "`compiler/lower/rules`, `runtime/kernels/cpu/ops`,\n"
    "`compiler/analysis/relations/rules`) and from the programs of `test/corpus`; "
    "`//docs/operators:index_test` fails where this page says something else.\n"
    "`--format json` has slots, attributes and the names of all programs besides. Formulas and "
    "their sources: the other pages of this folder.\n\n"
    "* **runs as**: a formula that is compiled, a view of the argument, loops and branches of the "
    "plan, or a library call by name; several where\n"
    "  extents that only a step knows, SelectedRows or parts of the op need another. Empty: "
    "refused by name.\n"
    "* **types**: element types that the lowering takes, of the first data argument (of the "
    "result, for gradients); in bold those that programs\n"
    "  of the corpora try. Around a library call that takes float32 but no narrower floats, "
    "float16 and bfloat16 arguments are widened.\n"
    "  *reals*: float32, float64, float16, bfloat16, int8 to int64, uint8, bool. *all*: complex "
    "ones too.\n"
    "* **releases**: of the framework, whose programs in the corpora have the op; *differs* where "
    "the program's version decides about the result.\n"
    "* **verified**: the kind of its relation rule (`compiler/analysis/relations/kinds.h`; *own*: "
    "of "
    "this op alone); *no* and why there can be none;\n"
    "  empty: unknown to `verify`.\n"
    "* **tests**: one-operator programs + model programs that have the op.\n\n";

// Sets that have a name of their own.
std::string typesText(const OpFacts& facts) {
  if (!facts.native) return "";
  const uint64_t reals = lower::formulaTypes();
  const std::string tested =
      facts.tested ? "**" + llvm::join(typeNames(facts.tested & facts.types), ", ") + "**" : "";
  std::string rest;
  if ((facts.types & reals) == reals) rest = facts.types == reals ? "reals" : "all";
  else rest = llvm::join(typeNames(facts.types & ~facts.tested), ", ");
  return tested + (tested.empty() || rest.empty() ? "" : ", ") + rest;
}

std::string formText(const OpFacts& facts) {
  if (!facts.native) return "";
  std::vector<std::string> parts;
  if (facts.native->formula) parts.push_back("formula");
  if (facts.native->view) parts.push_back("view");
  if (facts.native->blocks) parts.push_back("blocks");
  for (const std::string& call : facts.native->calls) parts.push_back("`" + call + "`");
  return llvm::join(parts, ", ");
}

std::string ruleText(const OpFacts& facts) {
  if (facts.rule) return kindOfRule(facts);
  return facts.noRule.empty() ? "" : "no: " + facts.noRule;
}

std::string testsText(const OpFacts& facts) {
  if (facts.programs.empty()) return "";
  return std::to_string(facts.programs.size() - facts.models()) + " + " +
         std::to_string(facts.models());
}

std::string row(const OpFacts& facts) {
  const std::string versions = llvm::join(releases(facts), ", ") +
                               (facts.native && facts.native->byVersion ? ", differs" : "");
  std::string line = "|";
  const std::string cells[] = {facts.spec->type, formText(facts), typesText(facts),
                               versions,         ruleText(facts), testsText(facts)};
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

}  // namespace

std::string opsPage() {
  std::string text = kHead, tables;
  size_t total = 0, native = 0;
  for (const pd::Family& family : pd::families()) {
    tables += "\n## " + std::string(family.name) +
              "\n\n| operator | runs as | types | releases | verified | tests |\n| --- | --- | --- "
              "| --- | --- | --- |\n";
    for (const pd::OpRow& source : family.rows) {
      const OpFacts facts = factsOf(*pd::findOp(source.type));
      ++total;
      native += facts.native.has_value();
      tables += row(facts);
    }
  }
  return text + std::to_string(total) + " operators, " + std::to_string(native) +
         " of them run natively.\n" + tables;
}

}  // namespace dtranspile::cli
