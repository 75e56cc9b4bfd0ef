// Rows of the PIR table: what moves elements or only renames them. Notation: table.h.
//
// Gradient ops of PIR read X where those of reshape2, squeeze2 … read XShape. So reshape and transpose take their first form, and the gradient of
// what only renames elements is that of reshape.
#include "compiler/import/pir/table.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    {"reshape", "reshape", "X, #shape|Shape -> Out, @X?"},
    {"reshape_", "reshape", "X, #shape|Shape -> Out=X"},
    {"reshape_grad", "reshape_grad", "X, Out@GRAD -> X@GRAD"},
    {"transpose", "transpose", "X -> Out", "perm>axis"},
    {"transpose_grad", "transpose_grad", "Out@GRAD -> X@GRAD", "perm>axis"},
    {"squeeze", "squeeze2", "X, #axes -> Out, @X?, +XShape"},
    {"squeeze_grad", "reshape_grad", "X, Out@GRAD, ~Axes -> X@GRAD"},
    {"unsqueeze", "unsqueeze2", "X, #axes|AxesTensor -> Out, @X?, +XShape"},
    {"unsqueeze_grad", "reshape_grad", "X, Out@GRAD, ~Axes -> X@GRAD"},
    {"flatten", "flatten_contiguous_range", "X -> Out, @X?, +XShape"},
    {"flatten_grad", "reshape_grad", "X, Out@GRAD -> X@GRAD"},
    {"concat", "concat", "X*, #axis|AxisTensor -> Out"},
    {"concat_grad", "concat_grad", "X*, Out@GRAD, #axis|AxisTensor -> X@GRAD*"},
    {"split", "split", "X, #sections, #axis|AxisTensor -> Out*"},
    {"split_with_num", "split", "X, #axis|AxisTensor -> Out*"},
    {"stack", "stack", "X* -> Y"},
    {"stack_grad", "stack_grad", "X*, Y@GRAD -> X@GRAD*"},
    {"slice", "slice", "Input, #starts|StartsTensor, #ends|EndsTensor -> Out"},
    {"slice_grad", "slice_grad", "Input, Out@GRAD, #starts|StartsTensor, #ends|EndsTensor -> Input@GRAD"},
    {"gather", "gather", "X, Index, #axis|Axis -> Out"},
    {"gather_grad", "gather_grad", "X, Index, Out@GRAD, #axis|Axis -> X@GRAD"},
    {"gather_nd", "gather_nd", "X, Index -> Out"},
    {"gather_nd_grad", "gather_nd_grad", "X, Index, Out@GRAD -> X@GRAD"},
    {"expand", "expand_v2", "X, #shape|Shape -> Out"},
    {"expand_grad", "expand_v2_grad", "X, Out@GRAD, #shape|Shape -> X@GRAD"},
    {"tile", "tile", "X, #repeat_times|RepeatTimes -> Out"},
    {"tile_grad", "tile_grad", "X, Out@GRAD, #repeat_times|RepeatTimes -> X@GRAD"},
    {"one_hot", "one_hot_v2", "X, #depth|depth_tensor -> Out"},
};

}  // namespace

llvm::ArrayRef<PirRow> shapeRows() { return kRows; }

}  // namespace dtranspile::pir
