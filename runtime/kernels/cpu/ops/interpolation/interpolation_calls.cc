// Library calls: family `interpolation`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/interpolation/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_resize_image", Entry<ResizeImage>, kFloats},
    {"dt_resize_image_grad", Entry<ResizeImageGrad>, kFloats},
    {"dt_grid_sample", Entry<GridSample>, kFloats},
    {"dt_grid_sample_grad", Entry<GridSampleGrad>, kFloats},
    {"dt_affine_grid", Entry<AffineGrid>, kFloats},
    {"dt_affine_grid_grad", Entry<AffineGridGrad>, kFloats},
};

}  // namespace

FunctionTable InterpolationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
