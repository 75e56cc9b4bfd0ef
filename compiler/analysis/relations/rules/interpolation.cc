// Relation rules: family `interpolation`. Images keep apart, in either layout; tensors of extents
// (OutSize, SizeTensor, Scale) are about height and width. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kResize = "X:l, OutSize:w, SizeTensor:w, Scale:w -> Out";
constexpr const char* kResizeGrad = "Out@GRAD:l, X:s, OutSize:w, SizeTensor:w, Scale:w -> X@GRAD";
constexpr const char* kResizeNeeds =
    "data_layout, out_d, out_h, out_w, scale, interp_method, align_corners, align_mode";

// The number of images is that of Theta, and must stand in the output shape too: as an attribute it
// is that of the whole batch, as a tensor it may be the share's own.
void affineGrid(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value theta = op.input(op.hasOutput("Output") ? "Theta" : "Output@GRAD"),
              shape = op.input("OutputShape");
  if (!theta) return;
  const llvm::StringRef result = op.hasOutput("Output") ? "Output" : "Theta@GRAD";
  const Reading &ofTheta = context.relation(theta).whole,
                &ofShape = context.relation(shape ? shape : theta).whole;
  for (unsigned axis = 0; axis < context.axes().count(); ++axis)
    if (context.axes().sizes[axis] > 1 && ofTheta.known && ofTheta.states[axis].isSplit() &&
        (!shape || (ofShape.known && ofShape.states[axis].isReplicated())))
      return context.lose(result, 0,
                          "takes an output shape with the number of images of the whole batch, and "
                          "a rank has a part of them");
  batchwise(context);
}

#define DT_RESIZE(type) \
  {type, batchwise, kResize, kResizeNeeds}, { type "_grad", batchwise, kResizeGrad, kResizeNeeds }

const RuleRow kRows[] = {
    DT_RESIZE("linear_interp_v2"),
    DT_RESIZE("linear_interp"),
    DT_RESIZE("bicubic_interp"),
    DT_RESIZE("bilinear_interp"),
    DT_RESIZE("bilinear_interp_v2"),
    DT_RESIZE("nearest_interp"),
    DT_RESIZE("nearest_interp_v2"),
    DT_RESIZE("bicubic_interp_v2"),
    DT_RESIZE("trilinear_interp"),
    DT_RESIZE("trilinear_interp_v2"),
    {"grid_sampler", batchwise, "X:l, Grid -> Output", "mode, padding_mode, align_corners"},
    {"grid_sampler_grad", batchwise,
     "Output@GRAD:l, Grid, X:s -> X@GRAD; Output@GRAD:l, Grid, X:l -> Grid@GRAD",
     "mode, padding_mode, align_corners"},
    {"affine_grid", affineGrid, "Theta:l, OutputShape:w -> Output", "output_shape, align_corners"},
    {"affine_grid_grad", affineGrid, "Output@GRAD:l, OutputShape:w, Theta:s -> Theta@GRAD",
     "output_shape, align_corners"},
};

}  // namespace

llvm::ArrayRef<RuleRow> interpolationRules() { return kRows; }

}  // namespace dtranspile::verify
