// Lowering rules: family `indexing`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("gather", "dt_gather"),
    callRule("gather_grad", "dt_gather_grad"),
    callRule("slice", "dt_slice(StridesTensor=-, StridesTensorList=-, strides=-)"),
    callRule("slice_grad", "dt_slice_grad(StridesTensor=-, StridesTensorList=-, strides=-)"),
    callRule("strided_slice", "dt_slice"),
    callRule("strided_slice_grad", "dt_slice_grad"),
    callRule("set_value", "dt_set_value"),
    callRule("set_value_grad", "dt_set_value_grad"),
    callRule("gather_nd", "dt_gather_nd"),
    callRule("gather_nd_grad", "dt_gather_nd_grad"),
    callRule("scatter", "dt_scatter"),
    callRule("scatter_grad", "dt_scatter_grad"),
    callRule("scatter_nd_add", "dt_scatter_nd_add"),
    callRule("scatter_nd_add_grad", "dt_scatter_nd_add_grad"),
    callRule("index_select", "dt_index_select"),
    callRule("index_select_grad", "dt_index_select_grad"),
    callRule("index_add", "dt_index_add"),
    callRule("index_add_grad", "dt_index_add_grad"),
    callRule("segment_pool", "dt_segment_pool"),
    callRule("segment_pool_grad", "dt_segment_pool_grad"),
    callRule("graph_send_recv", "dt_send_receive"),
    callRule("graph_send_recv_grad", "dt_send_receive_grad"),
    callRule("index_sample", "dt_take_along_axis(Input=X, Axis=-, Result=Out)"),
    callRule("index_sample_grad",
             "dt_take_along_axis_grad(Input=X, Result@GRAD=Out@GRAD, Axis=-, Input@GRAD=X@GRAD)"),
    callRule("take_along_axis", "dt_take_along_axis"),
    callRule("take_along_axis_grad", "dt_take_along_axis_grad"),
    callRule("put_along_axis", "dt_put_along_axis"),
    callRule("put_along_axis_grad", "dt_put_along_axis_grad"),
    callRule("masked_select", "dt_masked_select"),
    callRule("masked_select_grad", "dt_masked_select_grad"),
    callRule("multiplex", "dt_multiplex"),
    callRule("multiplex_grad", "dt_multiplex_grad"),
    callRule("shard_index", "dt_shard_index"),
    callRule("gather_tree", "dt_gather_tree"),
    callRule("tril_triu", "dt_tril_triu"),
    callRule("tril_triu_grad", "dt_tril_triu(X=Out@GRAD, Out=X@GRAD)"),
    callRule("diag", "dt_diag(X=Diagonal, offset=-, padding_value=-)"),
    callRule("diag_v2", "dt_diag"),
    callRule("diag_v2_grad", "dt_diag_grad"),
    callRule("diag_embed", "dt_diag_embed"),
    callRule("fill_diagonal", "dt_fill_diagonal"),
    callRule("fill_diagonal_grad", "dt_fill_diagonal_grad"),
    callRule("fill_diagonal_tensor", "dt_fill_diagonal_tensor"),
    callRule("fill_diagonal_tensor_grad", "dt_fill_diagonal_tensor_grad"),
    callRule("graph_send_ue_recv", "dt_send_edges"),
    callRule("graph_send_ue_recv_grad", "dt_send_edges_grad"),
    callRule("graph_send_uv", "dt_send_both"),
    callRule("graph_send_uv_grad", "dt_send_both_grad"),
    callRule("index_put", "dt_index_put"),
    callRule("index_put_grad", "dt_index_put_grad"),
};

}  // namespace

RuleTable indexingRules() { return kRules; }

}  // namespace dtranspile::lower
