// Inference and constraints of convolutions and pooling.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// One spatial axis of a window that slides over an input.
struct Window {
  int64_t input, kernel, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // padding
  bool ceil = false;              // counts a last window that hangs over the end
  bool one = false;  // of pools: a window that does not fit, by less than the stride, is one all
                     // the same (the framework's division is rounded towards 0)
};
// Number of positions: (input + before + after - dilation (kernel - 1) - 1 [+ stride - 1]) / stride
// + 1, -1 when the input is not known; nothing when there is none or the stride is not positive.
std::optional<int64_t> windowCount(const Window& window);

// The windows of a conv or pool op over the spatial axes of an input, padding resolved (conv_op.h:
// UpdatePaddingAndDilation: SAME centres ceil(input / stride) windows and ignores dilations, VALID
// does not pad, EXPLICIT takes one number per axis or one per side). Nothing, and `error` says why,
// when lists are of the wrong length.
struct WindowRequest {
  DimsRef input;  // spatial extents
  DimsRef kernel;
  bool isPool = false;
};
std::optional<llvm::SmallVector<Window, 3>> windowsOf(const OpView& op,
                                                      const WindowRequest& request,
                                                      std::string& error);

// True when channels are the last axis (NHWC, NDHWC).
bool channelsLast(const OpView& op);

llvm::LogicalResult inferConv(InferContext& c);
llvm::LogicalResult inferConvTranspose(InferContext& c);
llvm::LogicalResult inferPoolSecondGrad(InferContext& c);
llvm::LogicalResult inferPool(InferContext& c);
llvm::LogicalResult inferPoolWithIndex(InferContext& c);

extern const Constraint kConvConstraints[3];  // C1 ranks, C2 channels, C3 groups
extern const Constraint kPoolConstraints[1];  // C1 rank

}  // namespace dtranspile::pd
