// Relation rules: moves within images (family `shape` of the op table). Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Dims that are padded on neither side keep their places.
void pad(RuleContext& context) {
  const pd::OpView& op = context.op();
  const std::vector<int64_t> paddings = op.getInts("paddings");
  auto labels = [&](mlir::Value value) {
    Labels own = ownLabels(value);
    for (size_t d = 0; d < own.size(); ++d)
      if (2 * d + 1 >= paddings.size() || paddings[2 * d] != 0 || paddings[2 * d + 1] != 0)
        own[d] = kWholeDim;
    return own;
  };
  for (const Clause& clause : context.clauses())
    giveResults(context, clause, formOf(context, clause, labels), labels);
}

// A dim is kept as it is where it is cut from its begin and the extent is that of X: -1. (An extent
// that is given is that of the whole, also where a rank has a part.)
void crop(RuleContext& context) {
  const pd::OpView& op = context.op();
  const std::vector<int64_t> offsets = op.getInts("offsets"), shape = op.getInts("shape");
  auto labels = [&](mlir::Value value) {
    Labels own = ownLabels(value);
    for (size_t d = 0; d < own.size(); ++d)
      if (d >= offsets.size() || d >= shape.size() || offsets[d] != 0 || shape[d] != -1)
        own[d] = kWholeDim;
    return own;
  };
  for (const Clause& clause : context.clauses())
    giveResults(context, clause, formOf(context, clause, labels), labels);
}

// Y is put at the begin of a constant of X's extents: where these are equal, and known to be, it
// keeps its places.
void padLike(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value large = op.input(op.hasOutput("Out") ? "X" : "Out@GRAD"),
              small = op.hasOutput("Out") ? op.input("Y") : op.output("Y@GRAD");
  if (!large || !small || rankOf(large) != rankOf(small)) return;
  const llvm::SmallVector<int64_t> all = dimsOf(large), some = dimsOf(small);
  auto labels = [&](mlir::Value value) {
    Labels own = ownLabels(value);
    for (size_t d = 0; d < own.size(); ++d)
      if (all[d] < 0 || all[d] != some[d]) own[d] = kWholeDim;
    return own;
  };
  for (const Clause& clause : context.clauses())
    giveResults(context, clause, formOf(context, clause, labels), labels);
}

// Frames of one video lie after each other. The kernel takes whole videos only, so that a part of
// unknown extent that it takes cuts none; where extents are known, all ranks must have whole ones.
void temporalShift(RuleContext& context) {
  const Clause& clause = context.clauses()[0];
  mlir::Value x = context.op().input(clause.inputs[0].slot);
  if (!x || rankOf(x) == 0) return;
  const int64_t frames = std::max<int64_t>(context.op().getInt("seg_num"), 1), rows = dimsOf(x)[0];
  const Reading& whole = context.relation(x).whole;
  for (unsigned axis = 0; whole.known && rows >= 0 && axis < context.axes().count(); ++axis)
    if (whole.states[axis].isSplit() && rows % (frames * context.axes().sizes[axis]) != 0)
      return context.lose(clause.outputs[0].slot, 0, "takes parts that cut videos");
  batchwise(context);
}

constexpr const char *kMove = "X:l -> Out", *kMoveGrad = "Out@GRAD:l -> X@GRAD",
                     *kMoveGradOfX = "Out@GRAD:l, X:s -> X@GRAD";

const RuleRow kRows[] = {
    {"channel_shuffle", batchwise, kMove, "groups, data_format"},
    {"channel_shuffle_grad", batchwise, kMoveGrad, "groups, data_format"},
    {"shuffle_channel", batchwise, kMove, "group"},
    {"shuffle_channel_grad", batchwise, kMoveGrad, "group"},
    {"pixel_shuffle", batchwise, kMove, "upscale_factor, data_format"},
    {"pixel_shuffle_grad", batchwise, kMoveGrad, "upscale_factor, data_format"},
    {"pixel_unshuffle", batchwise, kMove, "downscale_factor, data_format"},
    {"pixel_unshuffle_grad", batchwise, kMoveGrad, "downscale_factor, data_format"},
    {"space_to_depth", batchwise, kMove, "blocksize"},
    {"space_to_depth_grad", batchwise, kMoveGradOfX, "blocksize"},
    {"temporal_shift", temporalShift, kMove, "seg_num, shift_ratio, data_format"},
    {"temporal_shift_grad", temporalShift, kMoveGrad, "seg_num, shift_ratio, data_format"},
    {"pad", pad, "X -> Out", "paddings, pad_value"},
    {"pad_grad", pad, kMoveGrad, "paddings, pad_value"},
    {"pad2d", batchwise, "X, Paddings:w -> Out", "paddings, pad_value, mode, data_format"},
    {"pad2d_grad", batchwise, "Out@GRAD:l, X:s, Paddings:w -> X@GRAD",
     "paddings, pad_value, mode, data_format"},
    {"pad3d", batchwise, "X, Paddings:w -> Out", "paddings, mode, value, data_format"},
    {"pad3d_grad", batchwise, "Out@GRAD:l, X:s, Paddings:w -> X@GRAD",
     "paddings, mode, value, data_format"},
    {"pad_constant_like", padLike, "X:s, Y -> Out", "pad_value"},
    {"pad_constant_like_grad", padLike, "Out@GRAD:l, Y:s -> Y@GRAD", "pad_value"},
    {"crop", crop, kMove, "offsets, shape"},
    {"crop_grad", crop, kMoveGradOfX, "offsets, shape"},
    {"crop_tensor", crop, kMove, "offsets, shape"},
    {"crop_tensor_grad", crop, kMoveGradOfX, "offsets, shape"},
    {"unfold", batchwise, "X:l -> Y", "kernel_sizes, strides, paddings, dilations"},
    {"unfold_grad", batchwise, "Y@GRAD:l, X:s -> X@GRAD",
     "kernel_sizes, strides, paddings, dilations"},
    {"fold", batchwise, "X:l -> Y", "output_sizes, kernel_sizes, strides, paddings, dilations"},
    {"fold_grad", batchwise, "Y@GRAD:l, X:s -> X@GRAD",
     "output_sizes, kernel_sizes, strides, paddings, dilations"},
    {"im2sequence", batchwise, "X:l, Y -> Out", "kernels, strides, paddings, out_stride"},
    {"im2sequence_grad", batchwise, kMoveGradOfX, "kernels, strides, paddings, out_stride"},
};

}  // namespace

llvm::ArrayRef<RuleRow> visionRules() { return kRows; }

}  // namespace dtranspile::verify
