// Relation rules: family `convolution`. Split batches only: a split channel or image dim is not
// known (yet). Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kConvolution = "Input:l, Filter:wl -> Output";
constexpr const char* kConvolutionGrad =
    "Output@GRAD:l, Filter:wl, Input:s -> Input@GRAD; Output@GRAD:l, Input:l, Filter:ws -> "
    "+Filter@GRAD";

#define DT_CONV_ATTRIBUTES "strides, paddings, padding_algorithm, groups, dilations, data_format"
constexpr const char* kConvolutionNeeds = DT_CONV_ATTRIBUTES ", is_test";
constexpr const char* kTransposedNeeds =
    DT_CONV_ATTRIBUTES ", is_test, output_size, output_padding";
constexpr const char* kTransposed3dNeeds = DT_CONV_ATTRIBUTES ", output_size, output_padding";
constexpr const char* kDeformableNeeds =
    "strides, paddings, dilations, groups, deformable_groups, im2col_step";
constexpr const char* kPoolNeeds =
    "X, pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
    "data_format, is_test, padding_algorithm";
constexpr const char* kPool3dNeeds =
    "X, pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
    "data_format, padding_algorithm";
constexpr const char* kIndexedPoolNeeds =
    "ksize, global_pooling, adaptive, strides, paddings, ceil_mode";
constexpr const char* kUnpool3dNeeds = "ksize, strides, paddings, output_size, data_format";
constexpr const char* kUnpoolNeeds =
    "ksize, strides, paddings, unpooling_type, output_size, data_format";

constexpr const char* kPoolGrad = "Out@GRAD:l, X, Out -> X@GRAD";
constexpr const char* kIndexedPool = "X:h -> Out; X:m -> Mask";
constexpr const char* kIndexedPoolGrad = "Out@GRAD:l, Mask, X:s -> X@GRAD";

// Max pooling commutes with positive factors only, average pooling is linear.
void pool(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  Form form;
  form.terms.push_back(
      {x, batchLabels(x),
       context.op().getString("pooling_type") == "avg" ? Use::Linear : Use::Homogeneous});
  form.result = batchLabels(x);
  context.result("Out", form);
}

// Of max pooling: where X has the value of Out, both of the same scale.
void poolGrad(RuleContext& context) {
  const Use read = context.op().getString("pooling_type") == "avg" ? Use::Shape : Use::Value;
  const Clause& clause = context.clauses()[0];
  Form form = formOf(context, clause, batchLabels);
  for (Term& term : form.terms)
    if (term.use != Use::Linear) term.use = read;
  giveResults(context, clause, std::move(form), batchLabels);
}

constexpr const char* kConvolutionSecondGrad =
    "grad_out:l, grad_filter@GRAD:wl, Input:s -> Input@GRAD; grad_out:l, grad_input@GRAD:l, "
    "Filter:ws -> +Filter@GRAD; grad_input@GRAD:l, grad_filter@GRAD:wl, Input, Filter:w, "
    "grad_out:s => grad_out@GRAD";

const RuleRow kRows[] = {
    {"conv2d", batchwise, kConvolution, kConvolutionNeeds},
    {"conv2d_grad", batchwise, kConvolutionGrad, kConvolutionNeeds},
    {"conv2d_grad_grad", batchwise, kConvolutionSecondGrad, kConvolutionNeeds},
    {"depthwise_conv2d_grad_grad", batchwise, kConvolutionSecondGrad, kConvolutionNeeds},
    {"conv3d_grad_grad", batchwise, kConvolutionSecondGrad, kConvolutionNeeds},
    {"pool2d_double_grad", batchwise, "grad_x@GRAD:l -> grad_out@GRAD",
     "pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, "
     "ceil_mode, data_format, is_test, padding_algorithm"},
    {"depthwise_conv2d", batchwise, kConvolution, kConvolutionNeeds},
    {"depthwise_conv2d_grad", batchwise, kConvolutionGrad, kConvolutionNeeds},
    {"conv3d", batchwise, kConvolution, kConvolutionNeeds},
    {"conv3d_grad", batchwise, kConvolutionGrad, kConvolutionNeeds},
    {"conv2d_transpose", batchwise, kConvolution, kTransposedNeeds},
    {"conv2d_transpose_grad", batchwise, kConvolutionGrad, kTransposedNeeds},
    {"depthwise_conv2d_transpose", batchwise, kConvolution, kTransposedNeeds},
    {"depthwise_conv2d_transpose_grad", batchwise, kConvolutionGrad, kTransposedNeeds},
    {"conv3d_transpose", batchwise, kConvolution, kTransposed3dNeeds},
    {"conv3d_transpose_grad", batchwise, kConvolutionGrad, kTransposed3dNeeds},
    {"deformable_conv", batchwise, "Input:l, Offset, Mask:l, Filter:wl -> Output",
     kDeformableNeeds},
    {"deformable_conv_grad", batchwise,
     "Output@GRAD:l, Input:s, Offset, Mask:l, Filter:wl -> Input@GRAD; "
     "Output@GRAD:l, Input:l, Offset, Mask:s, Filter:wl -> Mask@GRAD; "
     "Output@GRAD:l, Input:l, Offset, Mask:l, Filter:wl -> Offset@GRAD; "
     "Output@GRAD:l, Input:l, Offset, Mask:l, Filter:ws -> +Filter@GRAD",
     kDeformableNeeds},
    {"deformable_conv_v1", batchwise, "Input:l, Offset, Filter:wl -> Output", kDeformableNeeds},
    {"deformable_conv_v1_grad", batchwise,
     "Output@GRAD:l, Input:s, Offset, Filter:wl -> Input@GRAD; "
     "Output@GRAD:l, Input:l, Offset, Filter:wl -> Offset@GRAD; "
     "Output@GRAD:l, Input:l, Offset, Filter:ws -> +Filter@GRAD",
     kDeformableNeeds},
    {"pool2d", pool, "", kPoolNeeds},
    {"pool2d_grad", poolGrad, kPoolGrad, kPoolNeeds},
    {"pool3d", pool, "", kPool3dNeeds},
    {"pool3d_grad", poolGrad, kPoolGrad, kPool3dNeeds},
    {"max_pool2d_with_index", batchwise, kIndexedPool, kIndexedPoolNeeds},
    {"max_pool2d_with_index_grad", batchwise, kIndexedPoolGrad, kIndexedPoolNeeds},
    {"max_pool3d_with_index", batchwise, kIndexedPool, kIndexedPoolNeeds},
    {"max_pool3d_with_index_grad", batchwise, kIndexedPoolGrad, kIndexedPoolNeeds},
    // Of each image in steps of other windows, one after the other.
    {"spp", batchwise, "X:h -> Out", "pyramid_height, pooling_type"},
    {"spp_grad", poolGrad, kPoolGrad, "pyramid_height, pooling_type"},
    {"unpool", batchwise, "X:l, Indices -> Out", kUnpoolNeeds},
    {"unpool_grad", batchwise, "Out@GRAD:l, Indices, X:s, Out:s -> X@GRAD", kUnpoolNeeds},
    {"unpool3d", batchwise, "X:l, Indices -> Out", kUnpool3dNeeds},
    {"unpool3d_grad", batchwise, "Out@GRAD:l, Indices, X:s, Out:s -> X@GRAD", kUnpool3dNeeds},
    {"conv_shift", batchwise, "X:l, Y:l -> Out"},
    {"conv_shift_grad", batchwise,
     "Out@GRAD:l, X:s, Y:l -> X@GRAD; Out@GRAD:l, X:l, Y:s -> Y@GRAD"},
    {"row_conv", batchwise, "X:l, Filter:wl -> Out"},
    {"row_conv_grad", batchwise,
     "Out@GRAD:l, X:s, Filter:wl -> X@GRAD; Out@GRAD:l, X:l, Filter:ws -> +Filter@GRAD"},
    {"tree_conv", batchwise, "NodesVector:l, EdgeSet, Filter:wl -> Out", "max_depth"},
    {"tree_conv_grad", batchwise,
     "Out@GRAD:l, NodesVector:s, EdgeSet, Filter:wl -> NodesVector@GRAD; "
     "Out@GRAD:l, NodesVector:l, EdgeSet, Filter:ws -> +Filter@GRAD",
     "max_depth"},
};

}  // namespace

llvm::ArrayRef<RuleRow> convolutionRules() { return kRows; }

}  // namespace dtranspile::verify
