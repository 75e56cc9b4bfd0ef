// Rows of the op table: family `host`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"feed", "X -> Out", "col:i", kHost, nullptr},
    {"fetch", "X -> Out!", "col:i", kHost, nullptr},
    {"fetch_v2", "X -> Out", "col:i, deepcopy:b=true", kHost, nullptr},
    {"print", "In -> Out",
     "first_n:i=-1, message:s='', summarize:i=-1, print_tensor_name:b=true, "
     "print_tensor_type:b=true, print_tensor_shape:b=true, print_tensor_lod:b=true, "
     "print_phase:s=BOTH, is_forward:b=true, print_tensor_layout:b=true",
     kHost, inferSame<"In", "Out">},
    {"save", "X -> kLookupTablePath?", "overwrite:b=true, save_as_fp16:b=false, file_path:s", kHost,
     nullptr},
    {"load", "-> Out", "load_as_fp16:b=false, file_path:s, seek:l=-1, shape:ls={}", kHost, nullptr},
    {"save_combine", "X* -> Y?",
     "overwrite:b=true, save_as_fp16:b=false, file_path:s, save_to_memory:b=false", kHost, nullptr},
    {"load_combine", "-> Out*", "load_as_fp16:b=false, file_path:s, model_from_memory:b=false",
     kHost, nullptr},
    {"delete_var", "X* ->", "", kHost, nullptr},
};

}  // namespace

Family hostFamily() { return {"host", kRows}; }

}  // namespace dtranspile::pd
