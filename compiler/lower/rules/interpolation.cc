// Lowering rules: family `interpolation`: library calls.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("linear_interp_v2", "dt_resize_image"),
    callRule("linear_interp_v2_grad", "dt_resize_image_grad"),
    callRule("linear_interp", "dt_resize_image"),
    callRule("linear_interp_grad", "dt_resize_image_grad"),
    callRule("bicubic_interp", "dt_resize_image"),
    callRule("bicubic_interp_grad", "dt_resize_image_grad"),
    callRule("bilinear_interp", "dt_resize_image"),
    callRule("bilinear_interp_grad", "dt_resize_image_grad"),
    callRule("bilinear_interp_v2", "dt_resize_image"),
    callRule("bilinear_interp_v2_grad", "dt_resize_image_grad"),
    callRule("nearest_interp", "dt_resize_image"),
    callRule("nearest_interp_grad", "dt_resize_image_grad"),
    callRule("nearest_interp_v2", "dt_resize_image"),
    callRule("nearest_interp_v2_grad", "dt_resize_image_grad"),
    callRule("bicubic_interp_v2", "dt_resize_image"),
    callRule("bicubic_interp_v2_grad", "dt_resize_image_grad"),
    callRule("trilinear_interp", "dt_resize_image"),
    callRule("trilinear_interp_grad", "dt_resize_image_grad"),
    callRule("trilinear_interp_v2", "dt_resize_image"),
    callRule("trilinear_interp_v2_grad", "dt_resize_image_grad"),
    callRule("grid_sampler", "dt_grid_sample"),
    callRule("grid_sampler_grad", "dt_grid_sample_grad"),
    callRule("affine_grid", "dt_affine_grid"),
    callRule("affine_grid_grad", "dt_affine_grid_grad"),
};

}  // namespace

RuleTable interpolationRules() { return kRules; }

}  // namespace dtranspile::lower
