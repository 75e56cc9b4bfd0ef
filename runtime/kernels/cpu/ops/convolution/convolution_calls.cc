// Library calls: family `convolution`.
#include "runtime/kernels/cpu/conv.h"
#include "runtime/kernels/cpu/ops/convolution/calls.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/pool.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_conv", Entry<Conv>, kFloats},
    {"dt_conv_bwd_data", Entry<ConvBwdData>, kFloats},
    {"dt_conv_bwd_weights", Entry<ConvBwdWeights>, kFloats},
    {"dt_conv_shift", Entry<ConvShift>, kFloats},
    {"dt_conv_shift_grad", Entry<ConvShiftGrad>, kFloats},
    {"dt_deformable_conv", Entry<DeformableConv>, kFloats},
    {"dt_deformable_conv_grad", Entry<DeformableConvGrad>, kFloats},
    {"dt_max_pool_index_grad", Entry<MaxPoolIndexGrad>, kFloats},
    {"dt_pool", Entry<PoolForward>, kFloats},
    {"dt_pool_bwd", Entry<PoolBwd>, kFloats},
    {"dt_pool_index", Entry<PoolIndex>, kFloats},
    {"dt_row_conv", Entry<RowConv>, kFloats},
    {"dt_row_conv_grad", Entry<RowConvGrad>, kFloats},
    {"dt_spp", Entry<Spp>, kFloats},
    {"dt_spp_grad", Entry<SppGrad>, kFloats},
    {"dt_tree_conv", Entry<TreeConv>, kFloats},
    {"dt_tree_conv_grad", Entry<TreeConvGrad>, kFloats},
    {"dt_unpool", Entry<Unpool>, kFloats},
    {"dt_unpool_grad", Entry<UnpoolGrad>, kFloats},
};

}  // namespace

FunctionTable ConvolutionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
