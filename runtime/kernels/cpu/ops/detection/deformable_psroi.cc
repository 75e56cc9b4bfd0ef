// deformable_psroi_pooling (Dai et al. 2017) and its gradients: position-sensitive pooling of
// regions by samples, each cell moved by Trans [rois, 2 · classes, parts, parts] times trans_std
// times the region's sides. Slots Input, ROIs, Trans; attributes no_trans, spatial_scale,
// output_dim, group_size, pooled_height, pooled_width, part_size, sample_per_part, trans_std.
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/pooled.h"

namespace dtranspile::kernels {
namespace {

struct Deformable {
  Pooled p;
  bool moved;
  int64_t group[2], part[2], samples, classes;
  double scale, deviation;

  // Output channel c reads, in each cell, the input channel of the group that the cell falls into:
  // channels are [output_dim, group rows, group columns].
  int64_t ChannelOf(int64_t c, int64_t cell) const {
    const int64_t row = std::min(cell / p.out_w * group[0] / p.out_h, group[0] - 1),
                  column = std::min(cell % p.out_w * group[1] / p.out_w, group[1] - 1);
    return (c * group[0] + row) * group[1] + column;
  }
  // Of the horizontal shift of a cell in Trans; the vertical one stands a plane of parts after.
  int64_t ShiftAt(int64_t roi, int64_t cls, int64_t cell) const {
    const int64_t row = cell / p.out_w * part[0] / p.out_h,
                  column = cell % p.out_w * part[1] / p.out_w;
    return ((roi * classes + cls) * 2 * part[0] + row) * part[1] + column;
  }
  int64_t Parts() const { return part[0] * part[1]; }
};

// Attributes and extents of the call and its gradient. Classes are pairs of planes in Trans; output
// channels are shared out among them evenly.
bool Read(OpCall& call, Deformable& d) {
  using A = args::dt_deformable_psroi_pooling;
  static_assert(A::Input == args::dt_deformable_psroi_pooling_grad::Input &&
                A::ROIs == args::dt_deformable_psroi_pooling_grad::ROIs &&
                A::Trans == args::dt_deformable_psroi_pooling_grad::Trans &&
                A::group_size == args::dt_deformable_psroi_pooling_grad::group_size &&
                A::no_trans == args::dt_deformable_psroi_pooling_grad::no_trans &&
                A::output_dim == args::dt_deformable_psroi_pooling_grad::output_dim &&
                A::part_size == args::dt_deformable_psroi_pooling_grad::part_size &&
                A::pooled_height == args::dt_deformable_psroi_pooling_grad::pooled_height &&
                A::pooled_width == args::dt_deformable_psroi_pooling_grad::pooled_width &&
                A::sample_per_part == args::dt_deformable_psroi_pooling_grad::sample_per_part &&
                A::spatial_scale == args::dt_deformable_psroi_pooling_grad::spatial_scale &&
                A::trans_std == args::dt_deformable_psroi_pooling_grad::trans_std);
  const DtBuffer& x = call.Arg(A::Input);
  constexpr int64_t kMost = 1 << 10;
  if (!ReadPooled(call, x, call.Arg(A::ROIs), 4, -1, -1, d.p) ||
      !ReadCells(call, call.Int(A::pooled_height), call.Int(A::pooled_width), d.p))
    return false;
  const auto group = call.Ints(A::group_size), part = call.Ints(A::part_size);
  d.p.out_channels = call.Int(A::output_dim), d.samples = call.Int(A::sample_per_part),
  d.scale = call.Real(A::spatial_scale), d.deviation = call.Real(A::trans_std),
  d.moved = !call.Bool(A::no_trans);
  for (const auto& sizes : {group, part})
    if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1 || sizes[0] > kMost || sizes[1] > kMost)
      return call.Fail("group_size and part_size must have two numbers from 1 to %lld",
                       static_cast<long long>(kMost)),
             false;
  std::copy(group.begin(), group.end(), d.group), std::copy(part.begin(), part.end(), d.part);
  if (d.samples < 1 || d.samples > kMost || d.p.out_channels < 1 ||
      d.p.out_channels * d.group[0] * d.group[1] > d.p.channels)
    return call.Fail("'%s' has %lld channels: too few for output_dim %lld in %lld × %lld groups",
                     x.name, static_cast<long long>(d.p.channels),
                     static_cast<long long>(d.p.out_channels), static_cast<long long>(d.group[0]),
                     static_cast<long long>(d.group[1])),
           false;
  d.classes = 1;
  if (!d.moved) return true;
  const DtBuffer& trans = call.Arg(A::Trans);
  if (trans.rank != 4 || trans.dims[0] != d.p.rois || trans.dims[1] < 2 ||
      trans.dims[2] != d.part[0] || trans.dims[3] != d.part[1] || trans.dtype != x.dtype)
    return call.Fail("'%s' must be [%lld, 2 · classes, %lld, %lld] of the type of '%s'", trans.name,
                     static_cast<long long>(d.p.rois), static_cast<long long>(d.part[0]),
                     static_cast<long long>(d.part[1]), x.name),
           false;
  d.classes = trans.dims[1] / 2;
  return d.p.out_channels % d.classes == 0 ||
         (call.Fail("output_dim %lld is no multiple of %lld classes",
                    static_cast<long long>(d.p.out_channels), static_cast<long long>(d.classes)),
          false);
}

// A sample between its four neighbours in a plane.
template <typename T>
struct SamplePoint {
  int64_t at[4];  // (top, left), (top, right), (bottom, left), (bottom, right)
  T x, y;         // distance from top left
};

// visit(point, sides of the region) for the samples of a cell within X.
template <typename T, typename Visit>
void ForSamples(const Deformable& d, const T* roi, const T* shift, int64_t cell, Visit&& visit) {
  const T scale = static_cast<T>(static_cast<float>(d.scale)), half = static_cast<T>(0.5);
  const int64_t cells[2] = {d.p.out_h, d.p.out_w}, at[2] = {cell / d.p.out_w, cell % d.p.out_w},
                extent[2] = {d.p.height, d.p.width};
  T side[2], start[2], step[2];
  for (int a = 0; a < 2; ++a) {
    const T begin = std::round(roi[1 - a]) * scale - half,
            end = (std::round(roi[3 - a]) + 1) * scale - half;
    side[a] = std::max(end - begin, static_cast<T>(0.1));
    const T bin = side[a] / static_cast<T>(cells[a]);
    const T moved =
        shift ? shift[(1 - a) * d.Parts()] * static_cast<T>(static_cast<float>(d.deviation))
              : T{0};  // the horizontal one stands first
    start[a] = static_cast<T>(at[a]) * bin + begin + moved * side[a];
    step[a] = bin / static_cast<T>(d.samples);
  }
  for (int64_t i = 0; i < d.samples; ++i)
    for (int64_t j = 0; j < d.samples; ++j) {
      T place[2] = {start[0] + static_cast<T>(i) * step[0], start[1] + static_cast<T>(j) * step[1]};
      int64_t low[2], high[2];
      bool inside = true;
      for (int a = 0; a < 2; ++a) {
        const T last = static_cast<T>(extent[a] - 1);
        inside = inside && place[a] >= -half && place[a] <= last + half;
        if (!inside) break;
        place[a] = std::min(std::max(place[a], T{0}), last);
        low[a] = static_cast<int64_t>(std::floor(place[a])),
        high[a] = static_cast<int64_t>(std::ceil(place[a]));
      }
      if (!inside) continue;
      visit(SamplePoint<T>{{low[0] * d.p.width + low[1], low[0] * d.p.width + high[1],
                            high[0] * d.p.width + low[1], high[0] * d.p.width + high[1]},
                           place[1] - static_cast<T>(low[1]),
                           place[0] - static_cast<T>(low[0])},
            side);
    }
}

template <typename T>
const T* ShiftOf(OpCall& call, const Deformable& d, int64_t roi, int64_t cls, int64_t cell) {
  using A = args::dt_deformable_psroi_pooling;
  static_assert(A::Trans == args::dt_deformable_psroi_pooling_grad::Trans);
  return d.moved ? Data<T>(call.Arg(A::Trans)) + d.ShiftAt(roi, cls, cell) : nullptr;
}

// The taps of a cell: each sample's neighbours, by the number of samples.
template <typename T>
auto TapsOf(OpCall& call, const Deformable& d) {
  using A = args::dt_deformable_psroi_pooling;
  static_assert(A::ROIs == args::dt_deformable_psroi_pooling_grad::ROIs);
  return [&call, &d](int64_t roi, int64_t cell, int64_t cls, std::vector<Tap<T>>& to) {
    ForSamples(d, Data<T>(call.Arg(A::ROIs)) + roi * 4, ShiftOf<T>(call, d, roi, cls, cell), cell,
               [&](const SamplePoint<T>& s, const T*) {
                 to.push_back({s.at[0], (1 - s.y) * (1 - s.x)});
                 to.push_back({s.at[1], (1 - s.y) * s.x});
                 to.push_back({s.at[2], s.y * (1 - s.x)});
                 to.push_back({s.at[3], s.y * s.x});
               });
    const T count = static_cast<T>(std::max<size_t>(to.size() / 4, 1));
    for (Tap<T>& tap : to) tap.weight /= count;
  };
}

// Number of samples of each cell.
template <typename T>
void CountSamples(OpCall& call, const Deformable& d, T* counts) {
  using A = args::dt_deformable_psroi_pooling;
  const int64_t per_class = d.p.out_channels / d.classes;
  for (int64_t i = 0; i < d.p.rois * d.p.out_channels * d.p.Cells(); ++i) {
    const int64_t cell = i % d.p.Cells(), c = i / d.p.Cells() % d.p.out_channels,
                  roi = i / d.p.Cells() / d.p.out_channels;
    counts[i] = 0;
    ForSamples(d, Data<T>(call.Arg(A::ROIs)) + roi * 4,
               ShiftOf<T>(call, d, roi, c / per_class, cell), cell,
               [&](const SamplePoint<T>&, const T*) { counts[i] += 1; });
  }
}

// The shift moves all samples of a cell by trans · deviation · side. The derivative of an
// interpolated value by its place is the difference of the neighbours, weighted across: summed over
// the samples, times side and deviation, divided by their number.
template <typename T>
void TransBack(OpCall& call, const Deformable& d, const T* dout, T* dtrans) {
  using A = args::dt_deformable_psroi_pooling_grad;
  const int64_t per_class = d.p.out_channels / d.classes;
  const T deviation = static_cast<T>(static_cast<float>(d.deviation));
  std::fill_n(dtrans, Elements(call.Arg(A::Trans)), T{0});
  for (int64_t i = 0; i < d.p.rois * d.p.out_channels * d.p.Cells(); ++i) {
    const int64_t cell = i % d.p.Cells(), c = i / d.p.Cells() % d.p.out_channels,
                  roi = i / d.p.Cells() / d.p.out_channels, cls = c / per_class;
    const T* plane =
        Data<T>(call.Arg(A::Input)) +
        (d.p.image[static_cast<size_t>(roi)] * d.p.channels + d.ChannelOf(c, cell)) * d.p.Plane();
    T by_x = 0, by_y = 0, count = 0;
    ForSamples(d, Data<T>(call.Arg(A::ROIs)) + roi * 4, ShiftOf<T>(call, d, roi, cls, cell), cell,
               [&](const SamplePoint<T>& s, const T* side) {
                 const T v[4] = {plane[s.at[0]], plane[s.at[1]], plane[s.at[2]], plane[s.at[3]]};
                 by_x += ((v[1] - v[0]) * (1 - s.y) + (v[3] - v[2]) * s.y) * side[1];
                 by_y += ((v[2] - v[0]) * (1 - s.x) + (v[3] - v[1]) * s.x) * side[0];
                 count += 1;
               });
    if (count == 0) continue;
    const int64_t at = d.ShiftAt(roi, cls, cell);
    dtrans[at] += by_x * deviation * dout[i] / count;
    dtrans[at + d.Parts()] += by_y * deviation * dout[i] / count;
  }
}

}  // namespace

// … -> Output, TopCount
int32_t DeformablePsroiPooling(OpCall& call) {
  using A = args::dt_deformable_psroi_pooling;
  Deformable d;
  if (!Read(call, d)) return 1;
  const DtBuffer& x = call.Arg(A::Input);
  const std::vector<int64_t> dims = {d.p.rois, d.p.out_channels, d.p.out_h, d.p.out_w};
  Output out(call, 3, TypeOf(x), dims);
  if (!out.ok()) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    PoolRois(call.context(), d.p, d.classes, Data<T>(x), out.template data<T>(), TapsOf<T>(call, d),
             [&](int64_t c, int64_t cell) { return d.ChannelOf(c, cell); });
    if (!call.Has(A::TopCount)) return 0;
    Output counts(call, 4, TypeOf(x), dims);
    if (counts.ok()) CountSamples(call, d, counts.template data<T>());
    return counts.ok() ? 0 : 1;
  });
}

// …, Output@GRAD -> Input@GRAD, Trans@GRAD
int32_t DeformablePsroiPoolingGrad(OpCall& call) {
  using A = args::dt_deformable_psroi_pooling_grad;
  Deformable d;
  if (!Read(call, d)) return 1;
  const DtBuffer &x = call.Arg(A::Input), &gradient = call.Arg(A::Output_GRAD);
  if (Elements(gradient) != d.p.rois * d.p.out_channels * d.p.Cells() || gradient.dtype != x.dtype)
    return call.Fail("'%s' has not the extents and type of the output", gradient.name);
  if ((call.Has(A::Input_GRAD) && !call.Resize(call.Arg(A::Input_GRAD), x)) ||
      (call.Has(A::Trans_GRAD) && !call.Resize(call.Arg(A::Trans_GRAD), call.Arg(A::Trans))))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (call.Has(A::Input_GRAD))
      PoolRoisBack(call.context(), d.p, d.classes, Data<T>(gradient),
                   Data<T>(call.Arg(A::Input_GRAD)), TapsOf<T>(call, d),
                   [&](int64_t c, int64_t cell) { return d.ChannelOf(c, cell); });
    if (!call.Has(A::Trans_GRAD)) return 0;
    if (d.moved) TransBack(call, d, Data<T>(gradient), Data<T>(call.Arg(A::Trans_GRAD)));
    else std::fill_n(Data<T>(call.Arg(A::Trans_GRAD)), Elements(call.Arg(A::Trans_GRAD)), T{0});
    return 0;
  });
}

}  // namespace dtranspile::kernels
