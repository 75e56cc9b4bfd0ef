// Library calls: family `interpolation`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/interpolation/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_resize_image", Entry<ResizeImage>},
    {"dt_resize_image_grad", Entry<ResizeImageGrad>},
    {"dt_grid_sample", Entry<GridSample>},
    {"dt_grid_sample_grad", Entry<GridSampleGrad>},
    {"dt_affine_grid", Entry<AffineGrid>},
    {"dt_affine_grid_grad", Entry<AffineGridGrad>},
};

}  // namespace

FunctionTable InterpolationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
