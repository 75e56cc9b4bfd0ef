// Inference of quantization: what is rounded keeps its extents; scales are one number, or one for
// each channel. Used by the rows of quantization.cc.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferQuantize(InferContext& c);          // one scale
llvm::LogicalResult inferQuantizeChannels(InferContext& c);  // one of each channel, dim 0 or 1
llvm::LogicalResult inferQuantizeLinear(InferContext& c);    // quantize_linear, dequantize_linear

}  // namespace dtranspile::pd
