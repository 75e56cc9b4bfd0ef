// Relation rules: family `host`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kFiles = "files are read and written outside of the step";
constexpr const char* kExecutor = "an executor runs it, and here feeds and fetches are declared";

const RuleRow kRows[] = {
    // Each rank prints what it has.
    {"print", pointwise, "In:l -> Out",
     "first_n, message, summarize, print_tensor_name, print_tensor_type, print_tensor_shape, "
     "print_tensor_lod, print_phase, is_forward, print_tensor_layout"},
    {"delete_var", kNoRule, "values are freed when nothing reads them"},
    {"feed", kNoRule, kExecutor},
    {"fetch", kNoRule, kExecutor},
    {"fetch_v2", kNoRule, kExecutor},
    {"load", kNoRule, kFiles},
    {"load_combine", kNoRule, kFiles},
    {"save", kNoRule, kFiles},
    {"save_combine", kNoRule, kFiles},
};

}  // namespace

llvm::ArrayRef<RuleRow> hostRules() { return kRows; }

}  // namespace dtranspile::verify
