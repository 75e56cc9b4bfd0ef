// What yolo_box.cc and yolo_loss.cc share (Redmon, Farhadi, "YOLOv3: An incremental improvement",
// 2018). X [N, anchors · (5 + classes), H, W] holds for every anchor and cell x, y, w, h,
// objectness and classes; a box is, in units of the image,
//   ((column + s·σ(x) − (s − 1)/2)/W, (row + …)/H, exp(w) · anchor width/input width, …)
// with s = scale_x_y.
#pragma once

#include <cmath>

#include "runtime/kernels/cpu/ops/detection/calls.h"

namespace dtranspile::kernels {

constexpr int64_t kYoloBoxEntries = 5;

template <typename T>
T YoloSigmoid(T x) {
  return static_cast<T>(1.0 / (1.0 + std::exp(static_cast<double>(-x))));
}

template <typename T>
struct CentredBox {
  T x, y, w, h;
};

// X as the ops see it.
struct YoloCells {
  int64_t batch, boxes, classes, height, width, input_h, input_w,
      first;  // `boxes` per cell; `first`: channels before the boxes
  absl::Span<const int64_t> anchors;
  double scale;

  int64_t Plane() const { return height * width; }
  int64_t Sample() const { return (first + boxes * (kYoloBoxEntries + classes)) * Plane(); }
  // Of entry `e` of a box in a cell.
  int64_t At(int64_t n, int64_t box, int64_t cell, int64_t e) const {
    return n * Sample() + (first + box * (kYoloBoxEntries + classes) + e) * Plane() + cell;
  }
};

// Reads and checks the extents of X for `boxes` per cell; false with a message. `iou_aware`: X has
// one channel per box more, before all others, with the predicted overlap.
bool ReadYoloCells(OpCall& call, const DtBuffer& x, int64_t boxes, int64_t classes,
                   int64_t downsample, absl::Span<const int64_t> anchors, double scale,
                   bool iou_aware, YoloCells& c);

// In units of the image. `anchor`: number of the pair.
template <typename T>
CentredBox<T> YoloBoxAt(const YoloCells& c, const T* x, int64_t n, int64_t box, int64_t cell,
                        int64_t anchor, int64_t grid_h, int64_t grid_w, int64_t input_h,
                        int64_t input_w) {
  const T scale = static_cast<T>(c.scale), bias = static_cast<T>(-0.5 * (c.scale - 1));
  const T column = static_cast<T>(cell % c.width), row = static_cast<T>(cell / c.width);
  const auto anchor_w = static_cast<T>(c.anchors[static_cast<size_t>(2 * anchor)]),
             anchor_h = static_cast<T>(c.anchors[static_cast<size_t>(2 * anchor + 1)]);
  return {(column + YoloSigmoid(x[c.At(n, box, cell, 0)]) * scale + bias) / static_cast<T>(grid_w),
          (row + YoloSigmoid(x[c.At(n, box, cell, 1)]) * scale + bias) / static_cast<T>(grid_h),
          std::exp(x[c.At(n, box, cell, 2)]) * anchor_w / static_cast<T>(input_w),
          std::exp(x[c.At(n, box, cell, 3)]) * anchor_h / static_cast<T>(input_h)};
}

}  // namespace dtranspile::kernels
