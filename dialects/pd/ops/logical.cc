// Rows of the op table: family `logical`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"not_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"less_than", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"less_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"greater_than", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"greater_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, nullptr},
    {"equal_all", "X, Y -> Out", "", kPure, nullptr},
    {"allclose", "Input, Other, Rtol?, Atol? -> Out",
     "rtol:s|f='1e-5', atol:s|f='1e-8', equal_nan:b=false", kPure, nullptr},
    {"isclose", "Input, Other, Rtol?, Atol? -> Out",
     "rtol:s='1e-5', atol:s='1e-8', equal_nan:b=false", kPure, nullptr},
    {"logical_and", "X, Y -> Out", "", kPure, nullptr},
    {"logical_or", "X, Y -> Out", "", kPure, nullptr},
    {"logical_xor", "X, Y -> Out", "", kPure, nullptr},
    {"logical_not", "X -> Out", "", kPure, nullptr},
    {"bitwise_and", "X, Y -> Out", "", kPure, nullptr},
    {"bitwise_or", "X, Y -> Out", "", kPure, nullptr},
    {"bitwise_xor", "X, Y -> Out", "", kPure, nullptr},
    {"bitwise_not", "X -> Out", "", kPure, nullptr},
    {"isfinite", "X -> Out", "", kPure, nullptr},
    {"isinf", "X -> Out", "", kPure, nullptr},
    {"isnan", "X -> Out", "", kPure, nullptr},
    {"isfinite_v2", "X -> Out", "", kPure, nullptr},
    {"isinf_v2", "X -> Out", "", kPure, nullptr},
    {"isnan_v2", "X -> Out", "", kPure, nullptr},
    {"is_empty", "X -> Out", "", kPure, nullptr},
    {"where", "Condition, X, Y -> Out", "", kPure, nullptr},
    {"where_grad", "Condition?, Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"where_index", "Condition -> Out", "", kPure, nullptr},
};

}  // namespace

Family logicalFamily() { return {"logical", kRows}; }

}  // namespace dtranspile::pd
