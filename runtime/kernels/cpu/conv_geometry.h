// Extents and parameters of the convolution calls (conv.h), read and checked once; shared by the
// oneDNN path (conv.cc) and the plain loops (conv_direct.cc).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/exec/abi.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// One spatial axis: extents of X, F and Y along it, and how the filter moves.
struct ConvAxis {
  int64_t in = 1, kernel = 1, out = 1, stride = 1, before = 0, after = 0, dilation = 1;
  bool operator==(const ConvAxis&) const = default;
};

struct ConvGeometry {
  int64_t batch, channels, filters,
      groups;  // X: [batch, channels, in...], F: [filters, channels / groups, kernel...]
  bool channels_last;
  int axes;                      // 2 or 3
  std::array<ConvAxis, 3> axis;  // depth, height, width; in two dimensions the depth is 1

  bool operator==(const ConvGeometry&) const = default;

  // Product of a member over the axes.
  int64_t Product(int64_t ConvAxis::* member) const {
    return axis[0].*member * (axis[1].*member) * (axis[2].*member);
  }
  int64_t Inputs() const { return Product(&ConvAxis::in); }
  int64_t Outputs() const { return Product(&ConvAxis::out); }
  int64_t Taps() const { return Product(&ConvAxis::kernel); }

  double Work() const {  // multiplications of one sample
    return static_cast<double>(filters) * static_cast<double>(channels / groups) *
           static_cast<double>(Taps()) * static_cast<double>(Outputs());
  }
};

// Extents of Y, from those of X and F and the attributes of `call`. False with a message if they do
// not fit.
bool ConvOutDims(OpCall& call, const DtBuffer& x, const DtBuffer& f, std::vector<int64_t>& dims);

// Reads the attributes of `call` and the extents of x, f, y (arguments of one element type). False
// with a message if they do not fit.
bool ReadConv(OpCall& call, const DtBuffer& x, const DtBuffer& f, const DtBuffer& y,
              ConvGeometry& g);

// The three calls in float64.
void DirectForward(DtContext* context, const ConvGeometry& g, const double* x, const double* f,
                   double* y);
void DirectBackwardData(DtContext* context, const ConvGeometry& g, const double* f,
                        const double* dy, double* dx);
void DirectBackwardWeights(DtContext* context, const ConvGeometry& g, const double* x,
                           const double* dy, double* df);

}  // namespace dtranspile::kernels
