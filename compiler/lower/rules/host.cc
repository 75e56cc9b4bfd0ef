// Lowering rules: family `host`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

namespace {

const LoweringRule kRules[] = {
    callRule("print",
             "dt_print(In; first_n, message, summarize, print_tensor_name, print_tensor_type, "
             "print_tensor_shape, print_tensor_lod, print_phase, "
             "is_forward) -> Out"),
};

}  // namespace

RuleTable hostRules() { return kRules; }

}  // namespace dtranspile::lower
