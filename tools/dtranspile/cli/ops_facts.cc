#include "tools/dtranspile/cli/ops_facts.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compiler/analysis/relations/kinds.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/cpu/call_table.h"

namespace dtranspile::cli {
namespace {

constexpr DType kOrder[] = {DType::kFloat32,   DType::kFloat64,   DType::kFloat16, DType::kBFloat16,
                            DType::kInt32,     DType::kInt64,     DType::kInt16,   DType::kInt8,
                            DType::kUInt8,     DType::kBool,      DType::kUInt32,  DType::kUInt64,
                            DType::kComplex64, DType::kComplex128};

uint64_t typesOf(const lower::NativeForm& form) {
  if (form.main == "formula") return lower::formulaTypes();
  if (form.view || form.blocks) return ~uint64_t{0};
  return kernels::ElementTypesOf(form.main);
}

uint64_t typesIn(const coverage::Use& use, const pd::Slot& slot) {
  for (const coverage::SlotTypes& row : use.slots) {
    if (slot.name == row.slot) return row.types;
  }
  return 0;
}

// Of the argument that decides: the first input that an op must have. Gradients, ops on lists and
// ops without such an input are known by what they give.
uint64_t testedTypes(const pd::OpSpec& spec, const coverage::Use& use) {
  const auto input =
      llvm::find_if(spec.inputs, [](const pd::Slot& slot) { return !slot.dispensable; });
  uint64_t types = 0;
  if (input != spec.inputs.end() && !input->duplicable && !spec.gradient)
    types = typesIn(use, *input);
  for (const pd::Slot& slot : spec.outputs) {
    if (types == 0) types = typesIn(use, slot);
  }
  return types;
}

}  // namespace

bool isModel(const coverage::Case& c) { return !std::string_view(c.name).starts_with("ops/"); }

size_t OpFacts::models() const {
  return static_cast<size_t>(std::count_if(programs.begin(), programs.end(),
                                           [&](const coverage::Case* c) { return isModel(*c); }));
}

// Joins the tables that are keyed by op: the op itself, its lowering, its relation rule, and the
// corpus programs that have it.
OpFacts factsOf(const pd::OpSpec& spec) {
  OpFacts facts;
  facts.spec = &spec;
  facts.native = lower::nativeForm(spec.type);
  facts.rule = verify::findRule(spec.type);
  facts.noRule = verify::whyNoRule(spec.type).str();
  if (facts.native) facts.types = typesOf(*facts.native);
  if (const coverage::Use* use = coverage::findUse(spec.type)) {
    for (uint16_t index : use->cases) facts.programs.push_back(&coverage::cases()[index]);
    facts.tested = testedTypes(spec, *use);
  }
  return facts;
}

std::string kindOfRule(const OpFacts& facts) {
  return facts.rule ? verify::kindOf(facts.rule->rule) : "";
}

std::vector<std::string> typeNames(uint64_t types) {
  std::vector<std::string> names;
  for (DType type : kOrder) {
    if (types >> static_cast<int>(type) & 1) names.push_back(NameOf(type));
  }
  return names;
}

std::vector<std::string> releases(const OpFacts& facts) {
  std::set<std::string> names;
  for (const coverage::Case* c : facts.programs)
    names.insert(std::to_string(c->version / 1000000) + "." +
                 std::to_string(c->version / 1000 % 1000));
  return {names.begin(), names.end()};
}

}  // namespace dtranspile::cli
