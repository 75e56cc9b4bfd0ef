#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/rows.h"
#include "runtime/kernels/cpu/ops/detection/yolo.h"

namespace dtranspile::kernels {

bool ReadYoloCells(OpCall& call, const DtBuffer& x, int64_t boxes, int64_t classes,
                   int64_t downsample, absl::Span<const int64_t> anchors, double scale,
                   bool iou_aware, YoloCells& c) {
  constexpr int64_t kMostClasses = int64_t{1} << 24, kMostDownsample = 1 << 16;
  if (x.rank != 4 || boxes < 1 || classes < 1 || classes > kMostClasses || downsample < 1 ||
      downsample > kMostDownsample || anchors.size() % 2 != 0 || x.dims[2] < 1 || x.dims[3] < 1)
    return call.Fail(
               "'%s' must have four dims, with %lld boxes per cell, %lld classes, a "
               "downsample_ratio of %lld and pairs of anchors",
               x.name, static_cast<long long>(boxes), static_cast<long long>(classes),
               static_cast<long long>(downsample)),
           false;
  c = {x.dims[0],
       boxes,
       classes,
       x.dims[2],
       x.dims[3],
       downsample * x.dims[2],
       downsample * x.dims[3],
       iou_aware ? boxes : 0,
       anchors,
       scale};
  if (x.dims[1] == c.first + boxes * (kYoloBoxEntries + classes)) return true;
  return call.Fail("'%s' has %lld channels, expected %lld", x.name,
                   static_cast<long long>(x.dims[1]),
                   static_cast<long long>(c.first + boxes * (kYoloBoxEntries + classes))),
         false;
}

// X, ImgSize; class_num, anchors, downsample_ratio, conf_thresh, clip_bbox, scale_x_y, iou_aware,
// iou_aware_factor, @version -> Boxes, Scores. Boxes of a confidence below the threshold are 0. In
// releases 1.x the height of the grid and of the input serve both axes.
int32_t YoloBox(OpCall& call) {
  using A = args::dt_yolo_box;
  const DtBuffer &x = call.Arg(A::X), &size = call.Arg(A::ImgSize);
  const auto anchors = call.Ints(A::anchors);
  const bool iou_aware = call.Bool(A::iou_aware);
  YoloCells c;
  if (!ReadYoloCells(call, x, static_cast<int64_t>(anchors.size() / 2), call.Int(A::class_num),
                     call.Int(A::downsample_ratio), anchors, call.Real(A::scale_x_y), iou_aware, c))
    return 1;
  std::vector<int64_t> sizes;
  if (!IntegersOf(call, size, sizes)) return 1;
  if (static_cast<int64_t>(sizes.size()) != 2 * c.batch)
    return call.Fail("'%s' must hold a height and a width for each image", size.name);
  const int64_t count = c.boxes * c.Plane();
  Output boxes(call, 2, TypeOf(x), {c.batch, count, 4}),
      scores(call, 3, TypeOf(x), {c.batch, count, c.classes});
  if (!boxes.ok() || !scores.ok()) return 1;
  const bool square = call.Int(A::version) > 0 && call.Int(A::version) < 2000000;
  return VisitFloat(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const T threshold = static_cast<T>(static_cast<float>(call.Real(A::conf_thresh))),
            factor = static_cast<T>(static_cast<float>(call.Real(A::iou_aware_factor)));
    const T* data = Data<T>(x);
    std::fill_n(boxes.template data<T>(), Elements(*boxes), T{0});
    std::fill_n(scores.template data<T>(), Elements(*scores), T{0});
    for (int64_t i = 0; i < c.batch * count; ++i) {
      const int64_t n = i / count, box = i % count / c.Plane(), cell = i % c.Plane();
      T confidence = YoloSigmoid(data[c.At(n, box, cell, 4)]);
      if (iou_aware)
        confidence = std::pow(confidence, 1 - factor) *
                     std::pow(YoloSigmoid(data[n * c.Sample() + box * c.Plane() + cell]), factor);
      if (confidence < threshold) continue;
      const T height = static_cast<T>(sizes[static_cast<size_t>(2 * n)]),
              width = static_cast<T>(sizes[static_cast<size_t>(2 * n + 1)]);
      const CentredBox<T> b =
          YoloBoxAt(c, data, n, box, cell, box, c.height, square ? c.height : c.width, c.input_h,
                    square ? c.input_h : c.input_w);
      T* out = boxes.template data<T>() + i * 4;
      out[0] = (b.x - b.w / 2) * width, out[1] = (b.y - b.h / 2) * height,
      out[2] = (b.x + b.w / 2) * width, out[3] = (b.y + b.h / 2) * height;
      if (call.Bool(A::clip_bbox)) {
        out[0] = out[0] > 0 ? out[0] : T{0}, out[1] = out[1] > 0 ? out[1] : T{0};
        out[2] = out[2] < width - 1 ? out[2] : width - 1,
        out[3] = out[3] < height - 1 ? out[3] : height - 1;
      }
      for (int64_t k = 0; k < c.classes; ++k)
        scores.template data<T>()[i * c.classes + k] =
            confidence * YoloSigmoid(data[c.At(n, box, cell, kYoloBoxEntries + k)]);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
