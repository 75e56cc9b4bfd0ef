// Rows of the op table: family `creation`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_creation.h"
#include "dialects/pd/ops/infer_shape.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"fill_constant", "ValueTensor?, ShapeTensor?, ShapeTensorList* -> Out",
     "dtype:i=5, shape:ls={}, value:f=0, str_value:s='', force_cpu:b=false, place_type:i=-1@2",
     kPure, inferCreate, kCreateConstraints},
    {"fill_constant_batch_size_like", "Input -> Out",
     "shape:is, input_dim_idx:i=0, output_dim_idx:i=0, dtype:i=5, value:f=0, str_value:s='', "
     "force_cpu:b=false",
     kPure, inferCreateLike},
    {"fill_any_like", "X -> Out", "value:f|sc=0, dtype:i=-1", kPure, inferFillLike},
    {"fill_zeros_like", "X -> Out", "", kPure, inferFillLike},
    {"fill", "-> Out", "value:fs, shape:is, dtype:i=5, force_cpu:b=false", kPure, inferCreate,
     kCreateConstraints},
    {"assign_value", "-> Out",
     "shape:is, dtype:i, bool_values:is={}, fp32_values:fs={}, int32_values:is={}, "
     "int64_values:ls={}, fp64_values:ds={}, values:scs={}@1",
     kPure, inferCreate, kAssignValueConstraints},
    {"empty", "ShapeTensor?, ShapeTensorList* -> Out", "shape:ls={}, dtype:i=5", kPure, inferCreate,
     kCreateConstraints},
    {"range", "Start, End, Step -> Out", "", kPure, inferRange},
    {"linspace", "Start, Stop, Num -> Out", "dtype:i=5@1", kPure, inferLinspace},
    {"logspace", "Start, Stop, Num, Base -> Out", "dtype:i", kPure, inferLinspace},
    {"tril_indices", "-> out", "rows:i, cols:i, offset:i=0, dtype:i=3", kPure, inferTriangle},
    {"triu_indices", "-> out", "row:i, col:i, offset:i=0, dtype:i=3", kPure, inferTriangle},
    {"eye", "-> Out", "dtype:i=5, num_rows:l, num_columns:l=-1", kPure, inferEye},
    {"coalesce_tensor", "Input+ -> Output*, FusedOutput",
     "dtype:i, copy_data:b=false, set_constant:b=false, constant:f=0, check_name:b=false, "
     "persist_output:b=false, use_align:b=true@1, align_size:i=-1@2, "
     "user_defined_size_of_dtype:i=-1, concated_shapes:ls={}, concated_ranks:ls={}",
     kPure, inferCoalesce},
};

}  // namespace

Family creationFamily() { return {"creation", kRows}; }

}  // namespace dtranspile::pd
