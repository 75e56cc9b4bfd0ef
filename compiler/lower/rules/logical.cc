// Lowering rules: family `logical`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    // Floats are equal where they differ by less than 1e-8; infinite ones never are.
    {"equal", Inner::None, "Out = whole ? X == Y : abs(X - Y) < 1e-8"},
    {"not_equal", Inner::None, "Out = whole ? X != Y : !(abs(X - Y) < 1e-8)"},
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
    {"isinf_v2", Inner::None, "Out = whole ? X != X : X == infinity || X == -infinity"},
    {"where", Inner::None, "Out = Condition ? X : Y"},
    {"where_grad", Inner::None,
     "X@GRAD = Condition ? Out@GRAD : 0; Y@GRAD = Condition ? 0 : Out@GRAD"},
    callRule("where_index", "dt_where_index"),
    callRule("equal_all", "dt_equal_all"),
    callRule("allclose", "dt_close"),
    callRule("isclose", "dt_close"),
    callRule("isfinite", "dt_whole_test"),
    callRule("isinf", "dt_whole_test"),
    callRule("isnan", "dt_whole_test"),
    callRule("is_empty", "dt_is_empty"),
    callRule("bitwise_and", "dt_bitwise"),
    callRule("bitwise_or", "dt_bitwise"),
    callRule("bitwise_xor", "dt_bitwise"),
    callRule("bitwise_not", "dt_bitwise(Y=-)"),
};

}  // namespace

RuleTable logicalRules() { return kRules; }

}  // namespace dtranspile::lower
