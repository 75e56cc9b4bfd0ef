// Extents and parameters of the convolution calls (conv.h), read and checked once; shared by the oneDNN path (conv.cc) and the plain
// loops (conv_direct.cc).
#pragma once

#include <cstdint>

#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

struct ConvGeometry {
  int64_t batch, channels, height, width;  // X
  int64_t filters, kernel_h, kernel_w;     // F: [filters, channels / groups, kernel_h, kernel_w]
  int64_t out_height, out_width;           // Y
  int64_t stride_h, stride_w, top, bottom, left, right, dilation_h, dilation_w, groups;
  bool nhwc;

  double Work() const {  // multiplications of one sample
    return static_cast<double>(filters) * static_cast<double>(channels / groups) * static_cast<double>(kernel_h * kernel_w) *
           static_cast<double>(out_height * out_width);
  }
};

// Reads the ints of `call` and the extents of x, f, y (arguments of one element type). False with a message if they do not fit.
bool ReadConv(DtContext* context, const DtCall* call, const DtBuffer& x, const DtBuffer& f, const DtBuffer& y, ConvGeometry& g);

// The three calls in float64.
void DirectForward(DtContext* context, const ConvGeometry& g, const double* x, const double* f, double* y);
void DirectBackwardData(DtContext* context, const ConvGeometry& g, const double* f, const double* dy, double* dx);
void DirectBackwardWeights(DtContext* context, const ConvGeometry& g, const double* x, const double* dy, double* df);

}  // namespace dtranspile::kernels
