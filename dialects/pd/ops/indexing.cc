// Rows of the op table: family `indexing`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_indexing.h"
#include "dialects/pd/ops/infer_movement.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kSliceAttributes =
    "axes:is, starts:is={}, ends:is={}, infer_flags:is={}, decrease_axis:is={}";

constexpr const char* kStridedSliceAttributes =
    "axes:is, starts:is={}, ends:is={}, strides:is={}, infer_flags:is={}, decrease_axis:is={}";

constexpr const char* kSetValueAttributes =
    "dtype:i=5, axes:ls, starts:ls={}, ends:ls={}, steps:ls={}, decrease_axes:ls={}, "
    "none_axes:ls={}, values:scs={}, shape:ls={}";

constexpr const char* kFillDiagonalAttributes = "value:f=0, offset:i=0, wrap:b=false";

const OpRow kRows[] = {
    {"slice", "Input, StartsTensor?, EndsTensor?, StartsTensorList*, EndsTensorList* -> Out",
     kSliceAttributes, kPure, inferSlice},
    {"slice_grad",
     "EndsTensor?, EndsTensorList*, Input, Out@GRAD, StartsTensor?, StartsTensorList* -> "
     "Input@GRAD?",
     kSliceAttributes, kPure, inferGradients},
    {"strided_slice",
     "Input, StartsTensor?, EndsTensor?, StridesTensor?, StartsTensorList*, EndsTensorList*, "
     "StridesTensorList* -> Out",
     kStridedSliceAttributes, kPure, inferStridedSlice},
    {"strided_slice_grad",
     "EndsTensor?, EndsTensorList*, Input, Out@GRAD, StartsTensor?, StartsTensorList*, "
     "StridesTensor?, StridesTensorList* -> Input@GRAD?",
     kStridedSliceAttributes, kPure, inferGradients},
    {"set_value",
     "Input, ValueTensor?, StartsTensorList*, EndsTensorList*, StepsTensorList* -> Out",
     kSetValueAttributes, kPure, inferSame<"Input", "Out">},
    {"set_value_grad",
     "EndsTensorList*, Out@GRAD, StartsTensorList*, StepsTensorList*, ValueTensor? -> Input@GRAD?, "
     "ValueTensor@GRAD?",
     kSetValueAttributes, kPure, inferSetValueGrad},
    {"gather", "X, Index, Axis? -> Out", "overwrite:b=true, axis:i=0", kPure, inferGather},
    {"gather_grad", "Index, Out@GRAD, X, Axis? -> X@GRAD?", "overwrite:b=true, axis:i=0", kPure,
     inferGradients},
    {"gather_nd", "X, Index -> Out", "", kPure, inferGatherNd},
    {"gather_nd_grad", "Index, Out@GRAD, X -> X@GRAD?", "", kPure, inferGradients},
    {"gather_tree", "Ids, Parents -> Out", "", kPure, inferSame<"Ids", "Out">},
    {"scatter", "X, Ids, Updates -> Out", "overwrite:b=true", kPure, inferSame<"X", "Out">},
    {"scatter_grad", "Ids, Out@GRAD, Updates -> Updates@GRAD?, X@GRAD?", "overwrite:b=true", kPure,
     inferScatterGrad},
    {"scatter_nd_add", "X, Index, Updates -> Out", "", kPure, inferSame<"X", "Out">},
    {"scatter_nd_add_grad", "Index, Out@GRAD, Updates -> Updates@GRAD?, X@GRAD?", "", kPure,
     inferScatterGrad},
    {"index_select", "X, Index -> Out", "dim:i=0", kPure, inferIndexSelect},
    {"index_select_grad", "Index?, Out@GRAD, X? -> X@GRAD?", "dim:i=0", kPure, inferGradients},
    {"index_add", "X, Index, AddValue -> Out", "axis:i=0", kPure, inferSame<"X", "Out">},
    {"index_add_grad", "Index, AddValue, Out@GRAD -> X@GRAD?, AddValue@GRAD?", "axis:i=0", kPure,
     inferIndexAddGrad},
    {"segment_pool", "X, SegmentIds -> Out, SummedIds?", "pooltype:s=SUM", kPure, nullptr},
    {"segment_pool_grad", "X, SegmentIds, Out?, SummedIds?, Out@GRAD -> X@GRAD?", "pooltype:s=SUM",
     kPure, inferGradients},
    {"graph_send_recv", "X, Src_index, Dst_index, Out_size? -> Out, Dst_count?",
     "reduce_op:s=SUM, out_size:ls={0}", kPure, inferSendReceive},
    {"graph_send_recv_grad", "X, Src_index, Dst_index, Out?, Dst_count?, Out@GRAD -> X@GRAD?",
     "reduce_op:s=SUM, out_size:ls={0}", kPure, inferGradients},
    {"graph_send_ue_recv", "X, Y, Src_index, Dst_index, Out_size? -> Out, Dst_count",
     "message_op:s=ADD, reduce_op:s=SUM, out_size:ls={0}", kPure, inferSendEdges},
    {"graph_send_ue_recv_grad",
     "X, Y, Src_index, Dst_index, Out?, Dst_count?, Out@GRAD -> X@GRAD?, Y@GRAD?",
     "message_op:s=ADD, reduce_op:s=SUM, out_size:ls={0}", kPure, inferGradients},
    {"graph_send_uv", "x, y, src_index, dst_index -> out", "message_op:s=ADD", kPure,
     inferSendBoth},
    {"graph_send_uv_grad", "x, y, src_index, dst_index, out@GRAD -> x@GRAD?, y@GRAD?",
     "message_op:s=ADD", kPure, inferGradients},
    {"index_put", "x, indices+, value -> out", "accumulate:b=false", kPure, inferSame<"x", "out">},
    {"index_put_grad", "x, indices+, value, out@GRAD -> x@GRAD?, value@GRAD?", "accumulate:b=false",
     kPure, inferGradients},
    {"index_sample", "X, Index -> Out", "", kPure, inferIndexSample},
    {"index_sample_grad", "Index?, Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"take_along_axis", "Input, Index -> Result", "Axis:i", kPure, inferTakeAlongAxis},
    {"take_along_axis_grad", "Index?, Input?, Result@GRAD -> Input@GRAD?", "Axis:i", kPure,
     inferGradients},
    {"put_along_axis", "Input, Index, Value -> Result",
     "Axis:i, Reduce:s=assign, Include_self:b=true", kPure, inferSame<"Input", "Result">},
    {"put_along_axis_grad",
     "Index?, Input?, Result?, Result@GRAD, Value? -> Input@GRAD?, Value@GRAD?",
     "Axis:i, Reduce:s=assign, Include_self:b=true", kPure, inferGradients},
    {"masked_select", "X, Mask -> Y", "", kPure, nullptr},
    {"masked_select_grad", "Mask?, X?, Y@GRAD -> X@GRAD?", "", kPure, inferGradients},
    {"multiplex", "Ids, X+ -> Out", "", kPure, inferSame<"X", "Out">},
    {"multiplex_grad", "Ids, Out@GRAD, X* -> X@GRAD*", "", kPure, inferMultiplexGrad},
    {"shard_index", "X -> Out", "index_num:i, nshards:i, shard_id:i, ignore_value:i=-1", kPure,
     inferSame<"X", "Out">},
    {"tril_triu", "X -> Out", "diagonal:i=0, lower:b=false", kPure, inferSame<"X", "Out">},
    {"tril_triu_grad", "Out@GRAD -> X@GRAD?", "diagonal:i=0, lower:b=false", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"diag", "Diagonal -> Out", "", kPure, inferDiag},
    {"diag_v2", "X -> Out", "offset:i=0, padding_value:f=0", kPure, inferDiag},
    {"diag_v2_grad", "Out@GRAD, X -> X@GRAD?", "offset:i=0, padding_value:f=0", kPure,
     inferGradients},
    {"fill_diagonal", "X -> Out", kFillDiagonalAttributes, kPure, inferSame<"X", "Out">},
    {"fill_diagonal_grad", "Out@GRAD -> X@GRAD?", kFillDiagonalAttributes, kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"fill_diagonal_tensor", "X, Y -> Out", "offset:l=0, dim1:i=0, dim2:i=1", kPure,
     inferSame<"X", "Out">},
    {"fill_diagonal_tensor_grad", "Out@GRAD -> X@GRAD?", "offset:l=0, dim1:i=0, dim2:i=1", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"diag_embed", "Input -> Out", "offset:i=0, dim1:i=-2, dim2:i=-1", kPure, inferDiagEmbed},
};

}  // namespace

Family indexingFamily() { return {"indexing", kRows}; }

}  // namespace dtranspile::pd
