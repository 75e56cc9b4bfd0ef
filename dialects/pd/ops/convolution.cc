// Rows of the op table: family `convolution`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_convolution.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kConv2dAttributes =
    "is_test:b=false, strides:is={1,1}, paddings:is={0,0}, padding_algorithm:s=EXPLICIT, "
    "groups:i=1, dilations:is={1,1}, "
    "fuse_relu_before_depthwise_conv:b~=false, fuse_relu:b=false, fuse_brelu:b=false, "
    "fuse_brelu_threshold:f=6, fuse_activation:s='', fuse_alpha:f=0, "
    "fuse_beta:f=0, fuse_residual_connection:b=false, data_format:s=NCHW";

constexpr const char* kConv3dAttributes =
    "is_test:b=false, strides:is={1,1,1}, paddings:is={0,0,0}, padding_algorithm:s=EXPLICIT, "
    "groups:i=1, dilations:is={1,1,1}, fuse_relu:b=false, "
    "fuse_activation:s='', fuse_alpha:f=0, fuse_beta:f=0, fuse_residual_connection:b=false, "
    "data_format:s=NCDHW";

constexpr const char* kConv2dTransposeAttributes =
    "is_test:b=false, output_size:is={}, groups:i=1, dilations:is={1,1}, strides:is={1,1}, "
    "paddings:is={0,0}, fuse_relu:b=false, fuse_activation:s='', "
    "fuse_alpha:f=0, fuse_beta:f=0, data_format:s=NCHW, padding_algorithm:s=EXPLICIT, "
    "output_padding:is={}@1";

constexpr const char* kConv3dTransposeAttributes =
    "output_size:is={}, dilations:is={1,1,1}, strides:is={1,1,1}, paddings:is={0,0,0}, groups:i=1, "
    "data_format:s=NCHW, padding_algorithm:s=EXPLICIT, "
    "output_padding:is={}@1";

constexpr const char* kDeformableConvAttributes =
    "strides:is={1,1}, paddings:is={0,0}, dilations:is={1,1}, groups:i=1, deformable_groups:i=1, "
    "im2col_step:i=64";

constexpr const char* kPool2dAttributes =
    "pooling_type:s, ksize:is, global_pooling:b=false, strides:is={1,1}, paddings:is={0,0}, "
    "exclusive:b=true, adaptive:b=false, ceil_mode:b=false, "
    "data_format:s=NCHW, is_test:b=false, padding_algorithm:s=EXPLICIT";

constexpr const char* kPool3dAttributes =
    "pooling_type:s, ksize:is, global_pooling:b=false, strides:is={1,1,1}, paddings:is={0,0,0}, "
    "exclusive:b=true, adaptive:b=false, ceil_mode:b=false, "
    "data_format:s=NCDHW, padding_algorithm:s=EXPLICIT";

constexpr const char* kMaxPool2dWithIndexAttributes =
    "ksize:is, global_pooling:b=false, adaptive:b=false, strides:is={1,1}, paddings:is={0,0}, "
    "ceil_mode:b=false@1";

constexpr const char* kMaxPool3dWithIndexAttributes =
    "ksize:is, global_pooling:b=false, adaptive:b=false, strides:is={1,1,1}, paddings:is={0,0,0}, "
    "ceil_mode:b=false@1";

constexpr const char* kUnpool3dAttributes =
    "ksize:is, strides:is={1,1,1}, paddings:is={0,0,0}, output_size:is={0,0,0}, "
    "data_format:s=NCDHW";

constexpr const char* kUnpoolAttributes =
    "ksize:is, strides:is={1,1}, paddings:is={0,0}, unpooling_type:s, output_size:is={0,0}, "
    "data_format:s=NCHW";

const OpRow kRows[] = {
    {"conv2d", "Input, Filter, Bias?, ResidualData? -> Output", kConv2dAttributes, kPure, inferConv,
     kConvConstraints},
    {"conv2d_grad", "Bias?, Filter, Input, Output@GRAD -> Bias@GRAD?, Filter@GRAD?, Input@GRAD?",
     kConv2dAttributes, kPure, inferGradients},
    {"conv2d_grad_grad",
     "Input, Filter, grad_out, grad_input@GRAD?, grad_filter@GRAD? -> Input@GRAD?, Filter@GRAD?, "
     "grad_out@GRAD?",
     kConv2dAttributes, kPure, inferGradients},
    {"depthwise_conv2d_grad_grad",
     "Input, Filter, grad_out, grad_input@GRAD?, grad_filter@GRAD? -> Input@GRAD?, Filter@GRAD?, "
     "grad_out@GRAD?",
     kConv2dAttributes, kPure, inferGradients},
    {"conv3d_grad_grad",
     "Input, Filter, grad_out, grad_input@GRAD?, grad_filter@GRAD? -> Input@GRAD?, Filter@GRAD?, "
     "grad_out@GRAD?",
     kConv3dAttributes, kPure, inferGradients},
    {"pool2d_double_grad", "grad_x@GRAD -> grad_out@GRAD?", kPool2dAttributes, kPure,
     inferPoolSecondGrad},
    {"depthwise_conv2d", "Input, Filter, Bias?, ResidualData? -> Output", kConv2dAttributes, kPure,
     inferConv, kConvConstraints},
    {"depthwise_conv2d_grad",
     "Bias?, Filter, Input, Output@GRAD -> Bias@GRAD?, Filter@GRAD?, Input@GRAD?",
     kConv2dAttributes, kPure, inferGradients},
    {"conv3d", "Input, Filter, ResidualData? -> Output", kConv3dAttributes, kPure, inferConv,
     kConvConstraints},
    {"conv3d_grad", "Filter, Input, Output@GRAD, ResidualData? -> Filter@GRAD?, Input@GRAD?",
     kConv3dAttributes, kPure, inferGradients},
    {"conv2d_transpose", "Input, Filter, Bias? -> Output", kConv2dTransposeAttributes, kPure,
     inferConvTranspose},
    {"conv2d_transpose_grad",
     "Bias?, Filter, Input, Output@GRAD -> Bias@GRAD?, Filter@GRAD?, Input@GRAD?",
     kConv2dTransposeAttributes, kPure, inferGradients},
    {"depthwise_conv2d_transpose", "Input, Filter, Bias? -> Output", kConv2dTransposeAttributes,
     kPure, inferConvTranspose},
    {"depthwise_conv2d_transpose_grad",
     "Bias?, Filter?, Input?, Output@GRAD -> Filter@GRAD?, Input@GRAD?", kConv2dTransposeAttributes,
     kPure, inferGradients},
    {"conv3d_transpose", "Input, Filter -> Output", kConv3dTransposeAttributes, kPure,
     inferConvTranspose},
    {"conv3d_transpose_grad", "Filter, Input, Output@GRAD -> Filter@GRAD?, Input@GRAD?",
     kConv3dTransposeAttributes, kPure, inferGradients},
    {"deformable_conv", "Input, Offset, Mask, Filter -> Output", kDeformableConvAttributes, kPure,
     inferConv},
    {"deformable_conv_grad",
     "Filter, Input, Mask, Offset, Output@GRAD -> Filter@GRAD?, Input@GRAD?, Mask@GRAD?, "
     "Offset@GRAD?",
     kDeformableConvAttributes, kPure, inferGradients},
    {"deformable_conv_v1", "Input, Offset, Filter -> Output", kDeformableConvAttributes, kPure,
     inferConv},
    {"deformable_conv_v1_grad",
     "Filter, Input, Offset, Output@GRAD -> Filter@GRAD?, Input@GRAD?, Offset@GRAD?",
     kDeformableConvAttributes, kPure, inferGradients},
    {"conv_shift", "X, Y -> Out", "", kPure, nullptr},
    {"conv_shift_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"row_conv", "X, Filter -> Out", "", kPure, inferSame<"X", "Out">},
    {"row_conv_grad", "Filter, Out@GRAD, X -> Filter@GRAD?, X@GRAD?", "", kPure, inferGradients},
    {"tree_conv", "NodesVector, EdgeSet, Filter -> Out", "max_depth:i=2", kPure, nullptr},
    {"tree_conv_grad",
     "EdgeSet?, Filter?, NodesVector?, Out@GRAD -> Filter@GRAD?, NodesVector@GRAD?",
     "max_depth:i=2", kPure, nullptr},
    {"pool2d", "X -> Out", kPool2dAttributes, kPure, inferPool, kPoolConstraints},
    {"pool2d_grad", "Out, Out@GRAD, X -> X@GRAD?", kPool2dAttributes, kPure, inferGradients},
    {"pool3d", "X -> Out", kPool3dAttributes, kPure, inferPool, kPoolConstraints},
    {"pool3d_grad", "Out, Out@GRAD, X -> X@GRAD?", kPool3dAttributes, kPure, inferGradients},
    {"max_pool2d_with_index", "X -> Out, Mask", kMaxPool2dWithIndexAttributes, kPure,
     inferPoolWithIndex},
    {"max_pool2d_with_index_grad", "Mask, Out@GRAD, X -> X@GRAD?", kMaxPool2dWithIndexAttributes,
     kPure, inferGradients},
    {"max_pool3d_with_index", "X -> Out, Mask", kMaxPool3dWithIndexAttributes, kPure,
     inferPoolWithIndex},
    {"max_pool3d_with_index_grad", "Mask, Out@GRAD, X -> X@GRAD?", kMaxPool3dWithIndexAttributes,
     kPure, inferGradients},
    {"unpool", "X, Indices -> Out", kUnpoolAttributes, kPure, nullptr},
    {"unpool_grad", "Indices?, Out?, Out@GRAD, X? -> X@GRAD?", kUnpoolAttributes, kPure,
     inferGradients},
    {"unpool3d", "X, Indices -> Out", kUnpool3dAttributes, kPure, nullptr},
    {"unpool3d_grad", "Indices?, Out?, Out@GRAD, X? -> X@GRAD?", kUnpool3dAttributes, kPure,
     inferGradients},
    {"spp", "X -> Out", "pyramid_height:i, pooling_type:s", kPure, nullptr},
    {"spp_grad", "Out?, Out@GRAD, X? -> X@GRAD?", "pyramid_height:i, pooling_type:s", kPure,
     inferGradients},
};

}  // namespace

Family convolutionFamily() { return {"convolution", kRows}; }

}  // namespace dtranspile::pd
