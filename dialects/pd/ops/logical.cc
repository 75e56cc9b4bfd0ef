// Rows of the op table: family `logical`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_elementwise.h"
#include "dialects/pd/ops/infer_movement.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"not_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"less_than", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"less_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"greater_than", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"greater_equal", "X, Y -> Out", "axis:i=-1, force_cpu:b=false", kPure, inferCompare,
     kBroadcastConstraints},
    {"equal_all", "X, Y -> Out", "", kPure, inferWholeTest},
    {"allclose", "Input, Other, Rtol?, Atol? -> Out",
     "rtol:s|f='1e-5', atol:s|f='1e-8', equal_nan:b=false", kPure, inferWholeTest},
    {"isclose", "Input, Other, Rtol?, Atol? -> Out",
     "rtol:s='1e-5', atol:s='1e-8', equal_nan:b=false", kPure, inferIsClose},
    {"logical_and", "X, Y -> Out", "", kPure, inferCompare, kBroadcastConstraints},
    {"logical_or", "X, Y -> Out", "", kPure, inferCompare, kBroadcastConstraints},
    {"logical_xor", "X, Y -> Out", "", kPure, inferCompare, kBroadcastConstraints},
    {"logical_not", "X -> Out", "", kPure, inferLogicalNot},
    {"bitwise_and", "X, Y -> Out", "", kPure, inferElementwise},
    {"bitwise_or", "X, Y -> Out", "", kPure, inferElementwise},
    {"bitwise_xor", "X, Y -> Out", "", kPure, inferElementwise},
    {"bitwise_not", "X -> Out", "", kPure, inferSame<"X", "Out">},
    {"isfinite", "X -> Out", "", kPure, inferWholeTest},
    {"isinf", "X -> Out", "", kPure, inferWholeTest},
    {"isnan", "X -> Out", "", kPure, inferWholeTest},
    {"isfinite_v2", "X -> Out", "", kPure, inferLogicalNot},
    {"isinf_v2", "X -> Out", "", kPure, inferLogicalNot},
    {"isnan_v2", "X -> Out", "", kPure, inferLogicalNot},
    {"is_empty", "X -> Out", "", kPure, inferWholeTest},
    {"where", "Condition, X, Y -> Out", "", kPure, inferWhere},
    {"where_grad", "Condition?, Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"where_index", "Condition -> Out", "", kPure, inferWhereIndex},
};

}  // namespace

Family logicalFamily() { return {"logical", kRows}; }

}  // namespace dtranspile::pd
