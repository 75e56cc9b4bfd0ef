// Lowering rules: family `logical`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    {"equal", Inner::None, "Out = X == Y"},
    {"not_equal", Inner::None, "Out = X != Y"},
    {"less_than", Inner::None, "Out = X < Y"},
    {"less_equal", Inner::None, "Out = X <= Y"},
    {"greater_than", Inner::None, "Out = X > Y"},
    {"greater_equal", Inner::None, "Out = X >= Y"},
    {"logical_and", Inner::None, "Out = X && Y"},
    {"logical_or", Inner::None, "Out = X || Y"},
    {"logical_xor", Inner::None, "Out = bool(X) != bool(Y)"},
    {"logical_not", Inner::None, "Out = !X"},
    {"isfinite_v2", Inner::None, "Out = finite(X)"},
    {"isnan_v2", Inner::None, "Out = X != X"},
    {"isinf_v2", Inner::None, "Out = X == infinity || X == -infinity"},
};

}  // namespace

RuleTable logicalRules() { return kRules; }

}  // namespace dtranspile::lower
