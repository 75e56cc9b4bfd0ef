// Regions pooled by sums: roi_align (He et al. 2017), psroi_pool (Dai et al. 2016), prroi_pool
// (Jiang et al. 2018), and their gradients.
#include <cmath>
#include <limits>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/pooled.h"

namespace dtranspile::kernels {
namespace {

// A count of samples or cells; NaN gives `low`.
int64_t Clamped(double value, int64_t low, int64_t high) {
  return static_cast<int64_t>(
      std::min(std::max(static_cast<double>(low), value), static_cast<double>(high)));
}

// --- roi_align: the mean of samples on a regular grid within the cell, each read between its four
// neighbours. Slots X, ROIs, RoisLod, RoisNum; attributes spatial_scale, pooled_height,
// pooled_width, sampling_ratio, aligned.
// Bilinear interpolation at (y, x) as four taps, weighted by `share`. A place up to one element
// outside reads the border, one further away reads nothing; on the last row or column both
// neighbours are the same element.
template <typename T>
void SampleTaps(const Pooled& p, T y, T x, T share, std::vector<Tap<T>>& to) {
  if (!(y >= -1 && y <= static_cast<T>(p.height) && x >= -1 && x <= static_cast<T>(p.width)))
    return;
  int64_t low[2], high[2];
  T weight[2];
  const T place[2] = {std::max(y, T{0}), std::max(x, T{0})};
  const int64_t extent[2] = {p.height, p.width};
  for (int a = 0; a < 2; ++a) {
    low[a] = std::min(static_cast<int64_t>(place[a]), extent[a] - 1);
    high[a] = std::min(low[a] + 1, extent[a] - 1);
    weight[a] = low[a] == extent[a] - 1 ? T{0} : place[a] - static_cast<T>(low[a]);
  }
  to.push_back({low[0] * p.width + low[1], share * (1 - weight[0]) * (1 - weight[1])});
  to.push_back({low[0] * p.width + high[1], share * (1 - weight[0]) * weight[1]});
  to.push_back({high[0] * p.width + low[1], share * weight[0] * (1 - weight[1])});
  to.push_back({high[0] * p.width + high[1], share * weight[0] * weight[1]});
}

constexpr int64_t kMostSamples = 1 << 12;  // along an axis of a cell

// The taps of one cell as a function of (roi, cell): sampling_ratio² samples, or one per element of
// the cell where it is not positive, in the middle of equal pieces. `aligned` shifts by half an
// element (Detectron2's correction) and lets regions be smaller than one element unless `clips`.
template <typename T>
auto AlignTaps(OpCall& call, const Pooled& p, const T* rois, bool nothing_is_nan, bool clips) {
  using A = args::dt_roi_align;
  static_assert(A::spatial_scale == args::dt_roi_align_grad::spatial_scale &&
                A::sampling_ratio == args::dt_roi_align_grad::sampling_ratio &&
                A::aligned == args::dt_roi_align_grad::aligned);
  const T scale = static_cast<T>(call.Real(A::spatial_scale));
  const int64_t ratio = call.Int(A::sampling_ratio);
  const bool aligned = call.Bool(A::aligned);
  return [=, &p](int64_t roi, int64_t cell, int64_t, std::vector<Tap<T>>& to) {
    const T offset = aligned ? static_cast<T>(0.5) : T{0};
    const int64_t cells[2] = {p.out_h, p.out_w}, at[2] = {cell / p.out_w, cell % p.out_w};
    T start[2], step[2];
    int64_t count[2];
    for (int a = 0; a < 2; ++a) {
      const T begin = rois[roi * 4 + 1 - a] * scale - offset,
              end = rois[roi * 4 + 3 - a] * scale - offset;
      const T side = aligned && !clips ? end - begin : std::max(end - begin, T{1}),
              bin = side / static_cast<T>(cells[a]);
      count[a] = ratio > 0 ? std::min(ratio, kMostSamples)
                           : Clamped(std::ceil(static_cast<double>(bin)), 0, kMostSamples);
      start[a] = begin + static_cast<T>(at[a]) * bin;
      step[a] = count[a] > 0 ? bin / static_cast<T>(count[a]) : T{0};
    }
    // A region without extent has no samples: the framework divides 0 by their number.
    if (count[0] * count[1] == 0 && nothing_is_nan && p.Plane() > 0)
      to.push_back({0, std::numeric_limits<T>::quiet_NaN()});
    const T share = T{1} / static_cast<T>(std::max<int64_t>(count[0] * count[1], 1)),
            half = static_cast<T>(0.5);
    for (int64_t i = 0; i < count[0]; ++i)
      for (int64_t j = 0; j < count[1]; ++j)
        SampleTaps(p, start[0] + (static_cast<T>(i) + half) * step[0],
                   start[1] + (static_cast<T>(j) + half) * step[1], share, to);
  };
}

// Extents and regions of the call and its gradient, which have the same slots.
bool ReadAlign(OpCall& call, Pooled& p) {
  return ReadRegions<args::dt_roi_align, args::dt_roi_align_grad>(call, p);
}

// --- psroi_pool: the mean over a cell, of a channel of its own per cell. Slots X, ROIs, RoisNum;
// attributes output_channels, spatial_scale, pooled_height, pooled_width.
// Every element that the cell touches, with equal shares. Corners are rounded to whole pixels
// before they are scaled, and a region has at least 0.1 elements, as in the kernel of the
// framework.
template <typename T>
auto PositionTaps(OpCall& call, const Pooled& p, const T* rois) {
  using A = args::dt_psroi_pool;
  static_assert(A::spatial_scale == args::dt_psroi_pool_grad::spatial_scale);
  const T scale = static_cast<T>(call.Real(A::spatial_scale));
  return [&p, rois, scale](int64_t roi, int64_t cell, int64_t, std::vector<Tap<T>>& to) {
    const int64_t cells[2] = {p.out_h, p.out_w}, at[2] = {cell / p.out_w, cell % p.out_w},
                  extent[2] = {p.height, p.width};
    int64_t begin[2], end[2];
    for (int a = 0; a < 2; ++a) {
      const T start = std::round(rois[roi * 4 + 1 - a]) * scale,
              stop = (std::round(rois[roi * 4 + 3 - a]) + 1) * scale;
      const T bin = std::max(stop - start, static_cast<T>(0.1)) / static_cast<T>(cells[a]);
      begin[a] = Clamped(std::floor(static_cast<double>(static_cast<T>(at[a]) * bin + start)), 0,
                         extent[a]);
      end[a] = Clamped(std::ceil(static_cast<double>(static_cast<T>(at[a] + 1) * bin + start)), 0,
                       extent[a]);
    }
    const T share =
        T{1} / static_cast<T>(std::max<int64_t>((end[0] - begin[0]) * (end[1] - begin[1]), 1));
    for (int64_t h = begin[0]; h < end[0]; ++h)
      for (int64_t w = begin[1]; w < end[1]; ++w) to.push_back({h * p.width + w, share});
  };
}

bool ReadPosition(OpCall& call, Pooled& p) {
  using A = args::dt_psroi_pool;
  static_assert(A::ROIs == args::dt_psroi_pool_grad::ROIs &&
                A::RoisNum == args::dt_psroi_pool_grad::RoisNum &&
                A::X == args::dt_psroi_pool_grad::X &&
                A::output_channels == args::dt_psroi_pool_grad::output_channels &&
                A::pooled_height == args::dt_psroi_pool_grad::pooled_height &&
                A::pooled_width == args::dt_psroi_pool_grad::pooled_width);
  if (!ReadPooled(call, call.Arg(A::X), call.Arg(A::ROIs), 4, -1, A::RoisNum, p) ||
      !ReadCells(call, call.Int(A::pooled_height), call.Int(A::pooled_width), p))
    return false;
  p.out_channels = call.Int(A::output_channels);
  int64_t needed;
  if (p.out_channels >= 1 && !__builtin_mul_overflow(p.out_channels, p.Cells(), &needed) &&
      needed == p.channels)
    return true;
  return call.Fail("'%s' has %lld channels, expected output_channels (%lld) times the cells",
                   call.Arg(A::X).name, static_cast<long long>(p.channels),
                   static_cast<long long>(p.out_channels)),
         false;
}

// --- prroi_pool: the mean, by integration, of X read between its elements (0 outside). Along an
// axis an element weighs the integral of a hat of width 2 around it. Slots X, ROIs, BatchRoINums;
// attributes spatial_scale, pooled_height, pooled_width.
// The hat is the weight of an element in linear interpolation; its integral from -1 to t is (1 +
// t)² / 2 below 0 and 1 - (1 - t)² / 2 above.
template <typename T>
T HatIntegral(T from, T to) {   // of max(0, 1 − |t|)
  const auto below = [](T t) {  // from −1 to t
    t = std::min(std::max(t, T{-1}), T{1});
    const T half = static_cast<T>(0.5);
    return t < 0 ? half * (t + 1) * (t + 1) : 1 - half * (1 - t) * (1 - t);
  };
  return below(to) - below(from);
}

// An interval along one axis, in elements of X.
template <typename T>
struct Side {
  T from, to;  // of a cell
};

// Along axis a (0: y, 1: x) of cell `at` of `cells`. A region is (x1, y1, x2, y2), hence 1 - a and
// 3 - a.
template <typename T>
Side<T> CellSide(const T* roi, int a, T scale, int64_t cells, int64_t at) {
  const T begin = roi[1 - a] * scale, end = roi[3 - a] * scale,
          bin = std::max(end - begin, T{0}) / static_cast<T>(cells);
  return {begin + static_cast<T>(at) * bin, begin + static_cast<T>(at + 1) * bin};
}

// visit(element, integral of its hat over the side) for the elements that the side meets.
template <typename T, typename Visit>
void ForHats(const Side<T>& side, int64_t extent, Visit&& visit) {
  const int64_t first = Clamped(std::floor(static_cast<double>(side.from)), 0, extent),
                last = Clamped(std::ceil(static_cast<double>(side.to)), -1, extent - 1);
  for (int64_t i = first; i <= last; ++i)
    visit(i, HatIntegral(side.from - static_cast<T>(i), side.to - static_cast<T>(i)));
}

// The double integral of the interpolated X over a cell is separable: each element weighs the
// product of its two hat integrals, divided by the area. Empty cells have no taps and read 0.
template <typename T>
auto PreciseTaps(OpCall& call, const Pooled& p, const T* rois) {
  using A = args::dt_prroi_pool;
  static_assert(A::spatial_scale == args::dt_prroi_pool_grad::spatial_scale);
  const T scale = static_cast<T>(call.Real(A::spatial_scale));
  return [&p, rois, scale](int64_t roi, int64_t cell, int64_t, std::vector<Tap<T>>& to) {
    const Side<T> y = CellSide(rois + roi * 4, 0, scale, p.out_h, cell / p.out_w),
                  x = CellSide(rois + roi * 4, 1, scale, p.out_w, cell % p.out_w);
    const T area = (y.to - y.from) * (x.to - x.from);
    if (!(area > 0)) return;
    ForHats(y, p.height, [&](int64_t h, T weight_h) {
      ForHats(x, p.width, [&](int64_t w, T weight_w) {
        to.push_back({h * p.width + w, weight_h * weight_w / area});
      });
    });
  };
}

bool ReadPrecise(OpCall& call, Pooled& p) {
  using A = args::dt_prroi_pool;
  static_assert(A::BatchRoINums == args::dt_prroi_pool_grad::BatchRoINums &&
                A::ROIs == args::dt_prroi_pool_grad::ROIs && A::X == args::dt_prroi_pool_grad::X &&
                A::pooled_height == args::dt_prroi_pool_grad::pooled_height &&
                A::pooled_width == args::dt_prroi_pool_grad::pooled_width);
  if (!ReadPooled(call, call.Arg(A::X), call.Arg(A::ROIs), 4, -1, A::BatchRoINums, p) ||
      !ReadCells(call, call.Int(A::pooled_height), call.Int(A::pooled_width), p))
    return false;
  p.out_channels = p.channels;
  return true;
}

// What X reads on the line `at` along axis `a`, integrated over the side of the other axis.
template <typename T>
T LineIntegral(const Pooled& p, const T* plane, int a, T at, const Side<T>& across) {
  const int64_t extent = a == 0 ? p.height : p.width;
  T sum = 0;
  const int64_t low = Clamped(std::floor(static_cast<double>(at)), -2, extent);
  for (int64_t i = std::max<int64_t>(low, 0); i <= std::min(low + 1, extent - 1); ++i) {
    const T hat = std::max(1 - std::fabs(at - static_cast<T>(i)), T{0});
    ForHats(across, a == 0 ? p.width : p.height, [&](int64_t j, T weight) {
      sum += hat * weight * plane[a == 0 ? i * p.width + j : j * p.width + i];
    });
  }
  return sum;
}

// Gradient by the regions: a cell's mean changes with its sides, and these with the region's
// corners.
template <typename T>
void PreciseRoisBack(OpCall& call, const Pooled& p, const T* x, const T* rois, const T* out,
                     const T* dout, T* drois) {
  using A = args::dt_prroi_pool_grad;
  const T scale = static_cast<T>(call.Real(A::spatial_scale));
  std::fill_n(drois, p.rois * 4, T{0});
  for (int64_t i = 0; i < p.rois * p.out_channels * p.Cells(); ++i) {
    const int64_t cell = i % p.Cells(), c = i / p.Cells() % p.out_channels,
                  roi = i / p.Cells() / p.out_channels;
    const int64_t cells[2] = {p.out_h, p.out_w}, at[2] = {cell / p.out_w, cell % p.out_w};
    const T* plane = x + (p.image[static_cast<size_t>(roi)] * p.channels + c) * p.Plane();
    const Side<T> sides[2] = {CellSide(rois + roi * 4, 0, scale, p.out_h, at[0]),
                              CellSide(rois + roi * 4, 1, scale, p.out_w, at[1])};
    const T area = (sides[0].to - sides[0].from) * (sides[1].to - sides[1].from);
    if (!(area > 0)) continue;
    for (int a = 0; a < 2; ++a) {
      const T other = sides[1 - a].to - sides[1 - a].from, g = dout[i] / area * scale;
      const T by_from = out[i] * other - LineIntegral(p, plane, a, sides[a].from, sides[1 - a]),
              by_to = LineIntegral(p, plane, a, sides[a].to, sides[1 - a]) - out[i] * other;
      const T from = static_cast<T>(at[a]) / static_cast<T>(cells[a]),
              to = static_cast<T>(at[a] + 1) / static_cast<T>(cells[a]);
      drois[roi * 4 + 1 - a] += g * (by_from * (1 - from) + by_to * (1 - to));
      drois[roi * 4 + 3 - a] += g * (by_from * from + by_to * to);
    }
  }
}

// Out at `slot`; `taps` makes the taps for a type.
template <typename Taps, typename Channel>
int32_t Forward(OpCall& call, const Pooled& p, int slot, Taps&& taps, Channel&& channel) {
  using A = args::dt_prroi_pool;
  static_assert(A::ROIs == args::dt_psroi_pool::ROIs && A::X == args::dt_psroi_pool::X);
  static_assert(A::ROIs == args::dt_roi_align::ROIs && A::X == args::dt_roi_align::X);
  DtBuffer& out = call.Arg(slot);
  if (!call.Resize(out, {p.rois, p.out_channels, p.out_h, p.out_w})) return 1;
  return VisitFloat(call.context(), call.Arg(A::X), [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRois(call.context(), p, 1, Data<T>(call.Arg(A::X)), Data<T>(out),
             taps(call, p, Data<T>(call.Arg(A::ROIs))), channel);
    return 0;
  });
}

// The gradient by X of all three ops: every tap gets its weight times the gradient of the cell.
template <typename Taps, typename Channel>
int32_t Backward(OpCall& call, const Pooled& p, const DtBuffer& gradient, DtBuffer& dx, Taps&& taps,
                 Channel&& channel) {
  using A = args::dt_prroi_pool_grad;
  static_assert(A::ROIs == args::dt_psroi_pool_grad::ROIs && A::X == args::dt_psroi_pool_grad::X);
  static_assert(A::ROIs == args::dt_roi_align_grad::ROIs && A::X == args::dt_roi_align_grad::X);
  if (Elements(gradient) != p.rois * p.out_channels * p.Cells() ||
      gradient.dtype != call.Arg(A::X).dtype)
    return call.Fail("'%s' has not the extents and type of the output", gradient.name);
  if (!call.Resize(dx, call.Arg(A::X))) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRoisBack(call.context(), p, 1, Data<T>(gradient), Data<T>(dx),
                 taps(call, p, Data<T>(call.Arg(A::ROIs))), channel);
    return 0;
  });
}

constexpr auto kAlign = [](OpCall& call, const Pooled& p, const auto* rois) {
  return AlignTaps(call, p, rois, call.Bool(args::dt_roi_align::defects), false);
};
constexpr auto kAlignGrad = [](OpCall& call, const Pooled& p, const auto* rois) {
  // The framework's gradient takes every region for one of extent 1 at least, aligned or not.
  return AlignTaps(call, p, rois, false, call.Bool(args::dt_roi_align_grad::defects));
};
constexpr auto kPosition = [](OpCall& call, const Pooled& p, const auto* rois) {
  return PositionTaps(call, p, rois);
};
constexpr auto kPrecise = [](OpCall& call, const Pooled& p, const auto* rois) {
  return PreciseTaps(call, p, rois);
};
constexpr auto kSameChannel = [](int64_t c, int64_t) { return c; };

}  // namespace

int32_t RoiAlign(OpCall& call) {
  using A = args::dt_roi_align;
  Pooled p;
  return ReadAlign(call, p) ? Forward(call, p, A::Out, kAlign, kSameChannel) : 1;
}

// …, Out@GRAD -> X@GRAD
int32_t RoiAlignGrad(OpCall& call) {
  using A = args::dt_roi_align_grad;
  Pooled p;
  return ReadAlign(call, p) ? Backward(call, p, call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD),
                                       kAlignGrad, kSameChannel)
                            : 1;
}

int32_t PsroiPool(OpCall& call) {
  using A = args::dt_psroi_pool;
  Pooled p;
  if (!ReadPosition(call, p)) return 1;
  return Forward(call, p, A::Out, kPosition,
                 [&](int64_t c, int64_t cell) { return c * p.Cells() + cell; });
}

int32_t PsroiPoolGrad(OpCall& call) {
  using A = args::dt_psroi_pool_grad;
  Pooled p;
  if (!ReadPosition(call, p)) return 1;
  return Backward(call, p, call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD), kPosition,
                  [&](int64_t c, int64_t cell) { return c * p.Cells() + cell; });
}

int32_t PrroiPool(OpCall& call) {
  using A = args::dt_prroi_pool;
  Pooled p;
  return ReadPrecise(call, p) ? Forward(call, p, A::Out, kPrecise, kSameChannel) : 1;
}

// …, Out, Out@GRAD -> X@GRAD, ROIs@GRAD
int32_t PrroiPoolGrad(OpCall& call) {
  using A = args::dt_prroi_pool_grad;
  Pooled p;
  if (!ReadPrecise(call, p)) return 1;
  if (call.Has(A::X_GRAD) &&
      Backward(call, p, call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD), kPrecise, kSameChannel) != 0)
    return 1;
  if (!call.Has(A::ROIs_GRAD)) return 0;
  const DtBuffer &x = call.Arg(A::X), &rois = call.Arg(A::ROIs), &out = call.Arg(A::Out),
                 &gradient = call.Arg(A::Out_GRAD);
  if (Elements(out) != p.rois * p.out_channels * p.Cells() || !SameShape(out, gradient) ||
      out.dtype != x.dtype || gradient.dtype != x.dtype)
    return call.Fail("'%s' and '%s' have not the extents and type of the output", out.name,
                     gradient.name);
  if (!call.Resize(call.Arg(A::ROIs_GRAD), rois)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    PreciseRoisBack(call, p, Data<T>(x), Data<T>(rois), Data<T>(out), Data<T>(gradient),
                    Data<T>(call.Arg(A::ROIs_GRAD)));
    return 0;
  });
}

}  // namespace dtranspile::kernels
