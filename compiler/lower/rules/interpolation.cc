// Lowering rules: family `interpolation`: library calls.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

#define DT_RESIZE_ATTRIBUTES \
  "; data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode, @type"
#define DT_RESIZE "dt_resize_image(X, OutSize, SizeTensor, Scale" DT_RESIZE_ATTRIBUTES ") -> Out"
#define DT_RESIZE_GRAD                                                                \
  "dt_resize_image_grad(X, OutSize, SizeTensor, Scale, Out@GRAD" DT_RESIZE_ATTRIBUTES \
  ") -> "                                                                             \
  "X@GRAD"
#define DT_INTERPOLATION(type) callRule(type, DT_RESIZE), callRule(type "_grad", DT_RESIZE_GRAD)

const LoweringRule kRules[] = {
    DT_INTERPOLATION("linear_interp_v2"),
    DT_INTERPOLATION("bilinear_interp"),
    DT_INTERPOLATION("bilinear_interp_v2"),
    DT_INTERPOLATION("nearest_interp"),
    DT_INTERPOLATION("nearest_interp_v2"),
    DT_INTERPOLATION("bicubic_interp_v2"),
    DT_INTERPOLATION("trilinear_interp"),
    DT_INTERPOLATION("trilinear_interp_v2"),
    callRule("grid_sampler",
             "dt_grid_sample(X, Grid; mode, padding_mode, align_corners) -> Output"),
    callRule("grid_sampler_grad",
             "dt_grid_sample_grad(X, Grid, Output@GRAD; mode, padding_mode, align_corners) -> "
             "X@GRAD, Grid@GRAD"),
    callRule("affine_grid",
             "dt_affine_grid(Theta, OutputShape; output_shape, align_corners) -> Output"),
    callRule(
        "affine_grid_grad",
        "dt_affine_grid_grad(Output@GRAD, OutputShape; output_shape, align_corners) -> Theta@GRAD"),
};

}  // namespace

RuleTable interpolationRules() { return kRules; }

}  // namespace dtranspile::lower
