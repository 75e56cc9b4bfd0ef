// Library calls: family `convolution`.
#include "runtime/kernels/cpu/ops/convolution/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_unpool", Entry<Unpool>},
    {"dt_unpool_grad", Entry<UnpoolGrad>},
    {"dt_max_pool_index_grad", Entry<MaxPoolIndexGrad>},
    {"dt_spp", Entry<Spp>},
    {"dt_spp_grad", Entry<SppGrad>},
    {"dt_conv_shift", Entry<ConvShift>},
    {"dt_conv_shift_grad", Entry<ConvShiftGrad>},
    {"dt_row_conv", Entry<RowConv>},
    {"dt_row_conv_grad", Entry<RowConvGrad>},
    {"dt_tree_conv", Entry<TreeConv>},
    {"dt_tree_conv_grad", Entry<TreeConvGrad>},
    {"dt_deformable_conv", Entry<DeformableConv>},
    {"dt_deformable_conv_grad", Entry<DeformableConvGrad>},
};

}  // namespace

FunctionTable ConvolutionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
