#include "compiler/lower/native.h"

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/call_row.h"
#include "compiler/lower/complex_rules.h"
#include "compiler/lower/kernel/formula_parser.h"
#include "compiler/lower/rules.h"
#include "runtime/base/dtype.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::lower {
namespace {

using llvm::StringRef;

void add(NativeForm& form, bool NativeForm::* part, StringRef name) {
  form.*part = true;
  if (form.main.empty()) form.main = name.str();
}

void addCall(NativeForm& form, StringRef name) {
  if (form.main.empty()) form.main = name.str();
  if (!llvm::is_contained(form.calls, name)) form.calls.push_back(name.str());
}

void addRowCall(NativeForm& form, StringRef text) {
  std::string error;
  const std::optional<CallRow> row = CallRow::parse(text, error);
  if (!row) return;  // rules_test says so
  addCall(form, row->signature().name);
  form.byVersion |= llvm::any_of(row->signature().attributes, [](const auto& attribute) {
    return attribute.name == "@version";
  });
}

// What the functions of rules make (tools/rule_forms).
struct EmittedRow {
  StringRef type, words;
};
constexpr EmittedRow kEmitted[] = {
#include "compiler/lower/emitted.inc"
};

// A call without results, which checks an argument, is not what computes the op.
bool hasResults(StringRef call) {
  const kernels::Signature* signature = kernels::FindSignature(call.str());
  return signature && !signature->outputs.empty();
}

// Of ops whose rule is a function the table kEmitted says in words what it emits: names of library
// calls, `formula`, `view`, and `@version` where the program's version matters.
void addEmitted(NativeForm& form, StringRef type) {
  const auto* row = llvm::find_if(kEmitted, [&](const EmittedRow& r) { return r.type == type; });
  if (row == std::end(kEmitted)) return;
  llvm::SmallVector<StringRef> words;
  row->words.split(words, ',', -1, false);
  auto isCall = [](StringRef word) { return word.starts_with("dt_"); };
  for (StringRef word : words) {
    if (isCall(word) && hasResults(word)) addCall(form, word);
  }
  form.byVersion |= llvm::is_contained(words, "@version");
  if (llvm::is_contained(words, "formula")) add(form, &NativeForm::formula, "formula");
  if (llvm::is_contained(words, "view")) add(form, &NativeForm::view, "view");
  for (StringRef word : words) {
    if (isCall(word)) addCall(form, word);
  }
}

}  // namespace

uint64_t formulaTypes() {
  uint64_t set = 0;
  for (DType type :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64,
        DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64})
    set |= uint64_t{1} << static_cast<int>(type);
  return set;
}

// How ops of a type run natively, for the table that people read: by control flow, kernels made of
// a formula, views, and calls. Nothing where they do not.
std::optional<NativeForm> nativeForm(StringRef type) {
  NativeForm form;
  if (isBlockOp(type)) {
    add(form, &NativeForm::blocks, "blocks");
    return form;
  }
  const LoweringRule* rule = findRule(type);
  if (!rule) return std::nullopt;
  if (rule->formula) {
    add(form, &NativeForm::formula, "formula");
    form.byVersion = identifiersOf(rule->formula).names.contains("legacy");
  }
  addEmitted(form, type);
  if (rule->call) addRowCall(form, rule->call);
  if (const LoweringRule* complex = findComplexRule(type)) addRowCall(form, complex->call);
  return form;
}

}  // namespace dtranspile::lower
