// Grids of default boxes over a feature map: prior_box (Liu et al. 2016), density_prior_box (Zhang
// et al. 2017, FaceBoxes) and anchor_generator (Ren et al. 2015). Output [H, W, boxes of a cell, 4]
// and as many variances.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/rows.h"

namespace dtranspile::kernels {
namespace {

// Half sides of the boxes of a cell and shifts of their centres, in pixels of the image.
template <typename T>
struct CellBox {
  T half_w, half_h, shift_x = 0, shift_y = 0;
};

// 1 and the given ratios, each once, with their inverses if `flip`.
std::vector<float> Ratios(absl::Span<const double> given, bool flip) {
  constexpr float kSame = 1e-6F;
  std::vector<float> ratios = {1.0F};
  for (double value : given) {
    const auto ratio = static_cast<float>(value);
    if (std::any_of(ratios.begin(), ratios.end(),
                    [&](float known) { return std::fabs(ratio - known) < kSame; }))
      continue;
    ratios.push_back(ratio);
    if (flip) ratios.push_back(1.0F / ratio);
  }
  return ratios;
}

// SSD's boxes of a cell: for each min_size s one per ratio r, s·√r × s/√r, and, with a max_size S,
// a square of side √(s·S). That square comes last, or, with min_max_aspect_ratios_order, second
// after the one of ratio 1 (Caffe's order, in which trained heads of detectors have their
// channels).
template <typename T>
std::vector<CellBox<T>> PriorCell(OpCall& call) {
  using A = args::dt_prior_box;
  const auto min_sizes = call.Reals(A::min_sizes), max_sizes = call.Reals(A::max_sizes);
  const std::vector<float> ratios = Ratios(call.Reals(A::aspect_ratios), call.Bool(A::flip));
  const bool max_second = call.Bool(A::min_max_aspect_ratios_order);
  std::vector<CellBox<T>> boxes;
  for (size_t s = 0; s < min_sizes.size(); ++s) {
    const T least = static_cast<T>(min_sizes[s]);
    const auto add = [&](T w, T h) { boxes.push_back({w / 2, h / 2}); };
    const auto add_max = [&] {
      if (s >= max_sizes.size()) return;
      const T side = std::sqrt(least * static_cast<T>(max_sizes[s]));
      add(side, side);
    };
    if (max_second) add(least, least), add_max();
    for (float ratio : ratios) {
      if (max_second && std::fabs(ratio - 1.0F) < 1e-6F) continue;
      add(least * std::sqrt(static_cast<T>(ratio)), least / std::sqrt(static_cast<T>(ratio)));
    }
    if (!max_second) add_max();
  }
  return boxes;
}

// FaceBoxes' denser grid: a size of density d has d × d boxes per ratio, whose centres are step / d
// apart (in whole pixels) and centred in the cell.
template <typename T>
std::vector<CellBox<T>> DensityCell(absl::Span<const double> sizes, absl::Span<const double> ratios,
                                    absl::Span<const int64_t> densities, int64_t step) {
  std::vector<CellBox<T>> boxes;
  for (size_t s = 0; s < sizes.size(); ++s) {
    const int64_t shift = step / densities[s];
    for (double ratio : ratios) {
      const T root = std::sqrt(static_cast<T>(ratio)), size = static_cast<T>(sizes[s]);
      for (int64_t i = 0; i < densities[s] * densities[s]; ++i) {
        const auto place = [&](int64_t n) {
          return static_cast<T>(-static_cast<double>(step) / 2. + static_cast<double>(shift) / 2. +
                                static_cast<double>(n * shift));
        };
        boxes.push_back(
            {size * root / 2, size / root / 2, place(i % densities[s]), place(i / densities[s])});
      }
    }
  }
  return boxes;
}

template <typename T>
T Clip01(T value) {
  return std::min(std::max(value, T{0}), T{1});
}

// Feature map and image, and how far apart the cells are in the image.
template <typename T>
struct Grid {
  int64_t height, width;
  T image_w, image_h, step_w, step_h, offset;
};

// Slots Input, Image.
template <typename T>
bool ReadGrid(OpCall& call, double step_w, double step_h, double offset, Grid<T>& g) {
  using A = args::dt_density_prior_box;
  static_assert(A::Image == args::dt_prior_box::Image && A::Input == args::dt_prior_box::Input);
  const DtBuffer &input = call.Arg(A::Input), &image = call.Arg(A::Image);
  if (input.rank != 4 || image.rank != 4 || input.dims[2] < 1 || input.dims[3] < 1 ||
      image.dims[2] < 1 || image.dims[3] < 1)
    return call.Fail("'%s' and '%s' must have four dims, none of them empty", input.name,
                     image.name),
           false;
  g = {input.dims[2],
       input.dims[3],
       static_cast<T>(image.dims[3]),
       static_cast<T>(image.dims[2]),
       static_cast<T>(step_w),
       static_cast<T>(step_h),
       static_cast<T>(offset)};
  if (step_w != 0 && step_h != 0) return true;
  g.step_w = g.image_w / static_cast<T>(g.width);
  g.step_h = g.image_h / static_cast<T>(g.height);
  return true;
}

// [height, width, count, 4] or [height · width · count, 4].
std::vector<int64_t> PriorDims(int64_t height, int64_t width, size_t count, bool flat) {
  const auto n = static_cast<int64_t>(count);
  return flat ? std::vector<int64_t>{height * width * n, 4}
              : std::vector<int64_t>{height, width, n, 4};
}

// The four variances, repeated for each box.
template <typename T>
int32_t FillVariances(OpCall& call, const DtBuffer& out, absl::Span<const double> variances) {
  if (variances.size() != 4) return call.Fail("%zu variances, expected 4", variances.size());
  for (int64_t i = 0, n = Elements(out); i < n; ++i)
    Data<T>(out)[i] = static_cast<T>(variances[static_cast<size_t>(i % 4)]);
  return 0;
}

// Boxes of all cells, as shares of the image: x0, y0, x1, y1. `offset` of a step is the centre of a
// cell.
template <typename T>
void FillBoxes(const Grid<T>& g, const std::vector<CellBox<T>>& cell, bool clip, T* out) {
  for (int64_t h = 0; h < g.height; ++h)
    for (int64_t w = 0; w < g.width; ++w) {
      const T x = (static_cast<T>(w) + g.offset) * g.step_w,
              y = (static_cast<T>(h) + g.offset) * g.step_h;
      for (const CellBox<T>& box : cell) {
        const T values[] = {
            (x + box.shift_x - box.half_w) / g.image_w, (y + box.shift_y - box.half_h) / g.image_h,
            (x + box.shift_x + box.half_w) / g.image_w, (y + box.shift_y + box.half_h) / g.image_h};
        for (T value : values) *out++ = clip ? Clip01(value) : value;
      }
    }
}

}  // namespace

// Input, Image; min_sizes, max_sizes, aspect_ratios, variances, flip, clip, step_w, step_h, offset,
// min_max_aspect_ratios_order -> Boxes, Variances
int32_t PriorBox(OpCall& call) {
  using A = args::dt_prior_box;
  return VisitFloat(call.context(), call.Arg(A::Input), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    Grid<T> g;
    if (!ReadGrid(call, call.Real(A::step_w), call.Real(A::step_h), call.Real(A::offset), g))
      return 1;
    const auto cell = PriorCell<T>(call);
    const std::vector<int64_t> dims = PriorDims(g.height, g.width, cell.size(), false);
    Output boxes(call, 2, TypeOf(call.Arg(A::Input)), dims),
        variances(call, 3, TypeOf(call.Arg(A::Input)), dims);
    if (!boxes.ok() || !variances.ok()) return 1;
    FillBoxes(g, cell, call.Bool(A::clip), boxes.template data<T>());
    return FillVariances<T>(call, *variances, call.Reals(A::variances));
  });
}

// Input, Image; variances, clip, flatten_to_2d, step_w, step_h, offset, fixed_sizes, fixed_ratios,
// densities -> Boxes, Variances. Boxes are cut at the image whether clipped or not.
int32_t DensityPriorBox(OpCall& call) {
  using A = args::dt_density_prior_box;
  const auto sizes = call.Reals(A::fixed_sizes), ratios = call.Reals(A::fixed_ratios);
  const auto densities = call.Ints(A::densities);
  constexpr int64_t kMostDensity = 1 << 10;
  if (densities.size() != sizes.size())
    return call.Fail("%zu densities for %zu sizes", densities.size(), sizes.size());
  for (int64_t density : densities)
    if (density < 1 || density > kMostDensity)
      return call.Fail("a density is %lld, expected 1 to %lld", static_cast<long long>(density),
                       static_cast<long long>(kMostDensity));
  return VisitFloat(call.context(), call.Arg(A::Input), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    Grid<T> g;
    if (!ReadGrid(call, call.Real(A::step_w), call.Real(A::step_h), call.Real(A::offset), g))
      return 1;
    const auto step = static_cast<int64_t>(static_cast<double>(g.step_w + g.step_h) * 0.5);
    const auto cell = DensityCell<T>(sizes, ratios, densities, step);
    const std::vector<int64_t> dims =
        PriorDims(g.height, g.width, cell.size(), call.Bool(A::flatten_to_2d));
    Output boxes(call, 2, TypeOf(call.Arg(A::Input)), dims),
        variances(call, 3, TypeOf(call.Arg(A::Input)), dims);
    if (!boxes.ok() || !variances.ok()) return 1;
    FillBoxes(g, cell, call.Bool(A::clip), boxes.template data<T>());
    for (int64_t i = 0, n = Elements(*boxes); i < n; ++i) {
      T& value = boxes.template data<T>()[i];
      value = i % 4 < 2 ? std::max(value, T{0}) : std::min(value, T{1});
    }
    return FillVariances<T>(call, *variances, call.Reals(A::variances));
  });
}

// Input; anchor_sizes, aspect_ratios, variances, stride, offset -> Anchors, Variances
// Faster R-CNN's: a base box of the area of a cell with the sides in the ratio, rounded to whole
// pixels, scaled to the size. In pixels of the image, both ends of a box included (hence − 1).
int32_t AnchorGenerator(OpCall& call) {
  using A = args::dt_anchor_generator;
  const DtBuffer& input = call.Arg(A::Input);
  const auto sizes = call.Reals(A::anchor_sizes), ratios = call.Reals(A::aspect_ratios),
             stride = call.Reals(A::stride);
  if (input.rank != 4 || stride.size() != 2)
    return call.Fail("'%s' must have four dims, and stride two numbers", input.name);
  const int64_t height = input.dims[2], width = input.dims[3];
  const std::vector<int64_t> dims = PriorDims(height, width, sizes.size() * ratios.size(), false);
  Output anchors(call, 1, TypeOf(input), dims), variances(call, 2, TypeOf(input), dims);
  if (!anchors.ok() || !variances.ok()) return 1;
  return VisitFloat(call.context(), input, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const T stride_w = static_cast<T>(stride[0]), stride_h = static_cast<T>(stride[1]),
            offset = static_cast<T>(call.Real(A::offset));
    T* out = anchors.template data<T>();
    for (int64_t h = 0; h < height; ++h)
      for (int64_t w = 0; w < width; ++w) {
        const T x = static_cast<T>(w) * stride_w + offset * (stride_w - 1),
                y = static_cast<T>(h) * stride_h + offset * (stride_h - 1);
        for (double ratio : ratios)
          for (double size : sizes) {
            const T base_w = std::round(std::sqrt(stride_w * stride_h / static_cast<T>(ratio))),
                    base_h = std::round(base_w * static_cast<T>(ratio));
            const T half_w = static_cast<T>(0.5) * (static_cast<T>(size) / stride_w * base_w - 1),
                    half_h = static_cast<T>(0.5) * (static_cast<T>(size) / stride_h * base_h - 1);
            for (T value : {x - half_w, y - half_h, x + half_w, y + half_h}) *out++ = value;
          }
      }
    return FillVariances<T>(call, *variances, call.Reals(A::variances));
  });
}

}  // namespace dtranspile::kernels
