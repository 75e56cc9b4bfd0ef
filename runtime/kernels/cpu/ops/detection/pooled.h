// Regions of interest pooled from a feature map, for the ops whose output is a weighted sum over
// elements of one plane of X:
//   Out[roi, c, cell] = Σ_k weight_k · X[image of roi, channel(c, cell), at_k]
// An op says what the taps of a cell are; the sum and its gradient by X are here. Used by roi_*.cc.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {

struct Pooled {
  int64_t batch, channels, height, width;    // X
  int64_t rois, out_channels, out_h, out_w;  // Out
  std::vector<int64_t> image;                // of each roi

  int64_t Cells() const { return out_h * out_w; }
  int64_t Plane() const { return height * width; }
};

// Reads extents of X and the regions, each `columns` numbers of X's type. Images by RoisNum
// (`counts_slot`), else offsets in RoisLod
// (`offsets_slot`), else the LoD of the regions; -1 for slots that the op lacks.
bool ReadPooled(OpCall& call, const DtBuffer& x, const DtBuffer& rois, int64_t columns,
                int offsets_slot, int counts_slot, Pooled& p);

// Attributes pooled_height and pooled_width, checked.
bool ReadCells(OpCall& call, int64_t out_h, int64_t out_w, Pooled& p);

// Both, of an op whose output has the channels of X, or of its gradient: the slots and attributes
// that are read here stand at the same places in both signatures.
template <typename Args, typename Grad>
bool ReadRegions(OpCall& call, Pooled& p) {
  static_assert(Args::ROIs == Grad::ROIs && Args::RoisNum == Grad::RoisNum && Args::X == Grad::X &&
                Args::pooled_height == Grad::pooled_height &&
                Args::pooled_width == Grad::pooled_width);
  if (!ReadPooled(call, call.Arg(Args::X), call.Arg(Args::ROIs), 4, Args::RoisLod, Args::RoisNum,
                  p) ||
      !ReadCells(call, call.Int(Args::pooled_height), call.Int(Args::pooled_width), p))
    return false;
  p.out_channels = p.channels;
  return true;
}

template <typename T>
struct Tap {
  int64_t at;  // in a plane
  T weight;
};

// Groups of output channels share their taps: `groups` of them, of out_channels / groups each.
//   taps(roi, cell, group, std::vector<Tap<T>>& to)     channel(c, cell) of X
template <typename T, typename Taps, typename Channel>
void PoolRois(DtContext* context, const Pooled& p, int64_t groups, const T* x, T* out, Taps&& taps,
              Channel&& channel) {
  const int64_t per_group = p.out_channels / groups;
  Parallel(context, p.rois, 1, [&](int64_t lo, int64_t n) {
    std::vector<Tap<T>> found;
    for (int64_t roi = lo; roi < lo + n; ++roi)
      for (int64_t i = 0; i < groups * p.Cells(); ++i) {
        const int64_t group = i / p.Cells(), cell = i % p.Cells();
        found.clear();
        taps(roi, cell, group, found);
        for (int64_t c = group * per_group; c < (group + 1) * per_group; ++c) {
          const T* plane =
              x + (p.image[static_cast<size_t>(roi)] * p.channels + channel(c, cell)) * p.Plane();
          T sum = 0;
          for (const Tap<T>& tap : found) sum += tap.weight * plane[tap.at];
          out[(roi * p.out_channels + c) * p.Cells() + cell] = sum;
        }
      }
  });
}

// dX, image by image, its regions in order: the same sum for any number of threads.
template <typename T, typename Taps, typename Channel>
void PoolRoisBack(DtContext* context, const Pooled& p, int64_t groups, const T* dout, T* dx,
                  Taps&& taps, Channel&& channel) {
  const int64_t per_group = p.out_channels / groups, sample = p.channels * p.Plane();
  Parallel(context, p.batch, 1, [&](int64_t lo, int64_t n) {
    std::vector<Tap<T>> found;
    std::fill_n(dx + lo * sample, n * sample, T{0});
    for (int64_t roi = 0; roi < p.rois; ++roi) {
      const int64_t image = p.image[static_cast<size_t>(roi)];
      if (image < lo || image >= lo + n) continue;
      for (int64_t i = 0; i < groups * p.Cells(); ++i) {
        const int64_t group = i / p.Cells(), cell = i % p.Cells();
        found.clear();
        taps(roi, cell, group, found);
        for (int64_t c = group * per_group; c < (group + 1) * per_group; ++c) {
          T* plane = dx + image * sample + channel(c, cell) * p.Plane();
          const T g = dout[(roi * p.out_channels + c) * p.Cells() + cell];
          for (const Tap<T>& tap : found) plane[tap.at] += tap.weight * g;
        }
      }
    }
  });
}

}  // namespace dtranspile::kernels
