// Lowering rules: family `indexing`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

// Slots and attributes that say which positions a slice takes; slice lacks those of the strides.
#define DT_BOUNDS                                                                      \
  "Input, StartsTensor, EndsTensor, StridesTensor, StartsTensorList, EndsTensorList, " \
  "StridesTensorList"
#define DT_RANGES "axes, starts, ends, decrease_axis, @version"
#define DT_REGION                                                                                 \
  "StartsTensorList, EndsTensorList, StepsTensorList; axes, starts, ends, steps, decrease_axes, " \
  "none_axes"

const LoweringRule kRules[] = {
    callRule("gather", "dt_gather(X, Index, Axis; axis) -> Out"),
    callRule("gather_grad",
             "dt_gather_grad(X, Index, Axis, Out@GRAD; axis, overwrite, @version) -> X@GRAD"),
    callRule("slice", "dt_slice(" DT_BOUNDS "; " DT_RANGES ") -> Out"),
    callRule("slice_grad", "dt_slice_grad(" DT_BOUNDS ", Out@GRAD; " DT_RANGES ") -> Input@GRAD"),
    callRule("strided_slice", "dt_slice(" DT_BOUNDS "; " DT_RANGES ", strides) -> Out"),
    callRule("strided_slice_grad",
             "dt_slice_grad(" DT_BOUNDS ", Out@GRAD; " DT_RANGES ", strides) -> Input@GRAD"),
    callRule("set_value", "dt_set_value(Input, ValueTensor, " DT_REGION ", values, shape) -> Out"),
    callRule("set_value_grad", "dt_set_value_grad(Out@GRAD, ValueTensor, " DT_REGION
                               ") -> Input@GRAD, ValueTensor@GRAD"),
    callRule("gather_nd", "dt_gather_nd(X, Index) -> Out"),
    callRule("gather_nd_grad", "dt_gather_nd_grad(X, Index, Out@GRAD) -> X@GRAD"),
    callRule("scatter", "dt_scatter(X, Ids, Updates; overwrite) -> Out"),
    callRule("scatter_grad",
             "dt_scatter_grad(Ids, Updates, Out@GRAD; @version) -> X@GRAD, Updates@GRAD"),
    callRule("scatter_nd_add", "dt_scatter_nd_add(X, Index, Updates) -> Out"),
    callRule("scatter_nd_add_grad",
             "dt_scatter_nd_add_grad(Index, Updates, Out@GRAD) -> X@GRAD, Updates@GRAD"),
    callRule("index_select", "dt_index_select(X, Index; dim) -> Out"),
    callRule("index_select_grad", "dt_index_select_grad(X, Index, Out@GRAD; dim) -> X@GRAD"),
    callRule("index_sample", "dt_take_along_axis(X, Index) -> Out"),
    callRule("index_sample_grad", "dt_take_along_axis_grad(X, Index, Out@GRAD) -> X@GRAD"),
    callRule("take_along_axis", "dt_take_along_axis(Input, Index; Axis) -> Result"),
    callRule("take_along_axis_grad",
             "dt_take_along_axis_grad(Input, Index, Result@GRAD; Axis) -> Input@GRAD"),
    callRule("put_along_axis",
             "dt_put_along_axis(Input, Index, Value; Axis, Reduce, Include_self) -> Result"),
    callRule("put_along_axis_grad",
             "dt_put_along_axis_grad(Input, Index, Value, Result@GRAD; Axis, Reduce, Include_self) "
             "-> Input@GRAD, Value@GRAD"),
    callRule("masked_select", "dt_masked_select(X, Mask) -> Y"),
    callRule("masked_select_grad", "dt_masked_select_grad(X, Mask, Y@GRAD) -> X@GRAD"),
    callRule("multiplex", "dt_multiplex(Ids, X) -> Out"),
    callRule("multiplex_grad", "dt_multiplex_grad(Ids, Out@GRAD) -> X@GRAD"),
    callRule("shard_index", "dt_shard_index(X; index_num, nshards, shard_id, ignore_value) -> Out"),
    callRule("gather_tree", "dt_gather_tree(Ids, Parents) -> Out"),
    callRule("tril_triu", "dt_tril_triu(X; diagonal, lower) -> Out"),
    callRule("tril_triu_grad", "dt_tril_triu(Out@GRAD; diagonal, lower) -> X@GRAD"),
    callRule("diag", "dt_diag(Diagonal) -> Out"),
    callRule("diag_v2", "dt_diag(X; offset, padding_value) -> Out"),
    callRule("diag_embed", "dt_diag_embed(Input; offset, dim1, dim2) -> Out"),
};

}  // namespace

RuleTable indexingRules() { return kRules; }

}  // namespace dtranspile::lower
