// Rows of the op table: family `interpolation`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_interpolation.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kLinearInterpV2Attributes =
    "data_layout:s=NCHW, out_d:i=0, out_h:i=0, out_w:i=0, scale:fs={}, interp_method:s=bilinear, "
    "align_corners:b=true, align_mode:i=1";

constexpr const char* kBilinearInterpAttributes =
    "data_layout:s=NCHW, out_d:i=0, out_h:i=0, out_w:i=0, scale:f=0, interp_method:s=bilinear, "
    "align_corners:b=true, align_mode:i=1";

constexpr const char* kGridSamplerAttributes =
    "mode:s=bilinear@1, padding_mode:s=zeros, align_corners:b=true";

const OpRow kRows[] = {
    {"linear_interp_v2", "X, OutSize?, SizeTensor*, Scale? -> Out", kLinearInterpV2Attributes,
     kPure, inferResize},
    {"linear_interp_v2_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kLinearInterpV2Attributes, kPure, inferGradients},
    {"linear_interp", "X, OutSize?, SizeTensor*, Scale? -> Out", kBilinearInterpAttributes, kPure,
     inferResize},
    {"linear_interp_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kBilinearInterpAttributes, kPure, inferGradients},
    {"bicubic_interp", "X, OutSize?, SizeTensor*, Scale? -> Out", kBilinearInterpAttributes, kPure,
     inferResize},
    {"bicubic_interp_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kBilinearInterpAttributes, kPure, inferGradients},
    {"bilinear_interp", "X, OutSize?, SizeTensor*, Scale? -> Out", kBilinearInterpAttributes, kPure,
     inferResize},
    {"bilinear_interp_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kBilinearInterpAttributes, kPure, inferGradients},
    {"bilinear_interp_v2", "X, OutSize?, SizeTensor*, Scale? -> Out", kLinearInterpV2Attributes,
     kPure, inferResize},
    {"bilinear_interp_v2_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kLinearInterpV2Attributes, kPure, inferGradients},
    {"nearest_interp", "X, OutSize?, SizeTensor*, Scale? -> Out", kBilinearInterpAttributes, kPure,
     inferResize},
    {"nearest_interp_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kBilinearInterpAttributes, kPure, inferGradients},
    {"nearest_interp_v2", "X, OutSize?, SizeTensor*, Scale? -> Out", kLinearInterpV2Attributes,
     kPure, inferResize},
    {"nearest_interp_v2_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kLinearInterpV2Attributes, kPure, inferGradients},
    {"bicubic_interp_v2", "X, OutSize?, SizeTensor*, Scale? -> Out", kLinearInterpV2Attributes,
     kPure, inferResize},
    {"bicubic_interp_v2_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kLinearInterpV2Attributes, kPure, inferGradients},
    {"trilinear_interp", "X, OutSize?, SizeTensor*, Scale? -> Out", kBilinearInterpAttributes,
     kPure, inferResize},
    {"trilinear_interp_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kBilinearInterpAttributes, kPure, inferGradients},
    {"trilinear_interp_v2", "X, OutSize?, SizeTensor*, Scale? -> Out", kLinearInterpV2Attributes,
     kPure, inferResize},
    {"trilinear_interp_v2_grad", "Out@GRAD, OutSize?, Scale?, SizeTensor*, X? -> X@GRAD?",
     kLinearInterpV2Attributes, kPure, inferGradients},
    {"grid_sampler", "X, Grid -> Output", kGridSamplerAttributes, kPure, inferGridSample},
    {"grid_sampler_grad", "Grid, Output@GRAD, X -> Grid@GRAD?, X@GRAD?", kGridSamplerAttributes,
     kPure, inferGradients},
    {"affine_grid", "Theta, OutputShape? -> Output", "output_shape:is={}, align_corners:b=true@1",
     kPure, inferAffineGrid},
    {"affine_grid_grad", "Output@GRAD, OutputShape?, Theta? -> Theta@GRAD?",
     "output_shape:is={}, align_corners:b=true@1", kPure, nullptr},
};

}  // namespace

Family interpolationFamily() { return {"interpolation", kRows}; }

}  // namespace dtranspile::pd
