// {linear,bilinear,trilinear,nearest,bicubic}_interp, their _v2 and their gradients: images of one,
// two or three axes resized axis by axis. Every element of an output axis takes some elements of
// the input axis, each with a weight (Taps); an element of the output is the sum over the product
// of the axes' taps. Places (the framework's interpolate documentation):
//   align_corners       ratio = (in − 1)/(out − 1), place = ratio · i                 (nearest:
//   rounded) align_mode 0        ratio = in/out (1/scale where _v2 is given a scale), place = ratio
//   · (i + ½) − ½, at least 0 unless cubic align_mode 1        the same ratio, place = ratio · i
//   (nearest: always)
// Linear weights are float32 in every element type, as the framework's. Cubic: Keys 1981 with a =
// −¾, border elements repeated.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/cpu/ops/interpolation/calls.h"

namespace dtranspile::kernels {
namespace {

enum class Method { kNearest, kLinear, kCubic };

struct AxisPlan {
  int64_t in = 1, out = 1;
  float ratio = 0;
};

struct Resize {
  Method method;
  bool align_corners, half_pixel;
  int64_t images, inner;  // elements are [images, D, H, W, inner]; axes that an image lacks are 1
  std::array<AxisPlan, 3> axis;
  std::vector<int64_t> dims;  // of the output

  int64_t Inputs() const { return axis[0].in * axis[1].in * axis[2].in * inner; }
  int64_t Outputs() const { return axis[0].out * axis[1].out * axis[2].out * inner; }
};

// What the elements of an output axis take: `count` places and weights each.
template <typename T>
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> at = {0};
  std::vector<T> weight = {T{1}};
};

bool ReadMethod(OpCall& call, Resize& r) {
  using A = args::dt_resize_image;
  static_assert(A::interp_method == args::dt_resize_image_grad::interp_method);
  static constexpr struct {
    const char* name;
    Method method;
  } kMethods[] = {{"nearest", Method::kNearest},
                  {"linear", Method::kLinear},
                  {"bilinear", Method::kLinear},
                  {"trilinear", Method::kLinear},
                  {"bicubic", Method::kCubic}};
  for (const auto& row : kMethods) {
    if (call.Text(A::interp_method) != row.name) continue;
    r.method = row.method;
    return true;
  }
  return call.Fail("unknown interp_method '%s'", std::string(call.Text(A::interp_method)).c_str()),
         false;
}

// One scale per axis; none is 0. From the tensor Scale, else from the attribute.
bool ScalesOf(OpCall& call, size_t axes, std::vector<float>& scales) {
  using A = args::dt_resize_image;
  static_assert(A::Scale == args::dt_resize_image_grad::Scale &&
                A::scale == args::dt_resize_image_grad::scale);
  std::vector<float> given;
  if (call.Has(A::Scale)) {
    const DtBuffer& scale = call.Arg(A::Scale);
    if (TypeOf(scale) != DType::kFloat32)
      return call.Fail("'%s' holds %s, expected float32", scale.name, TypeName(scale)), false;
    given.assign(Data<float>(scale), Data<float>(scale) + Elements(scale));
  } else {
    for (double value : call.Reals(A::scale)) given.push_back(static_cast<float>(value));
  }
  if (given.size() == 1) given.resize(axes, given[0]);
  scales.assign(axes, 0);
  if (given.size() < axes) return true;
  const bool positive = std::all_of(given.begin(), given.begin() + static_cast<int64_t>(axes),
                                    [](float value) { return value > 0; });
  if (positive) std::copy_n(given.begin(), axes, scales.begin());
  return true;
}

// Extents of the output: SizeTensor, else OutSize, else a scale, else out_d, out_h, out_w.
bool SizesOf(OpCall& call, const std::vector<int64_t>& in, const std::vector<float>& scales,
             std::vector<int64_t>& out) {
  using A = args::dt_resize_image;
  static_assert(A::OutSize == args::dt_resize_image_grad::OutSize &&
                A::SizeTensor == args::dt_resize_image_grad::SizeTensor);
  const size_t axes = in.size();
  out.clear();
  for (size_t i = 0; i < axes; ++i) out.push_back(call.Int(static_cast<int>(1 + 3 - axes + i)));
  for (size_t i = 0; i < axes && scales[0] > 0; ++i)
    out[i] = static_cast<int64_t>(std::min(static_cast<float>(in[i]) * scales[i], 4e9F));
  std::vector<int64_t> given;
  if (call.Has(A::SizeTensor)) {
    for (int i = 0; i < call.Count(A::SizeTensor); ++i) {
      std::vector<int64_t> one;
      if (!IntegersOf(call, call.Arg(A::SizeTensor, i), one)) return false;
      if (one.size() != 1)
        return call.Fail("'%s' has %zu elements, expected one extent",
                         call.Arg(A::SizeTensor, i).name, one.size()),
               false;
      given.push_back(one[0]);
    }
  } else if (call.Has(A::OutSize) && !IntegersOf(call, call.Arg(A::OutSize), given)) {
    return false;
  }
  if (!given.empty() && given.size() < axes)
    return call.Fail("%zu extents are given for %zu axes", given.size(), axes), false;
  if (!given.empty()) out.assign(given.begin(), given.begin() + static_cast<int64_t>(axes));
  constexpr int64_t kMost = int64_t{1} << 31;
  for (int64_t extent : out)
    if (extent < 1 || extent >= kMost)
      return call.Fail("an output extent is %lld, expected 1 to 2^31",
                       static_cast<long long>(extent)),
             false;
  return true;
}

// Slots X, OutSize, SizeTensor, Scale; attributes data_layout, out_d, out_h, out_w, scale,
// interp_method, align_corners, align_mode, @type.
bool Read(OpCall& call, Resize& r) {
  using A = args::dt_resize_image;
  static_assert(A::X == args::dt_resize_image_grad::X &&
                A::align_corners == args::dt_resize_image_grad::align_corners &&
                A::align_mode == args::dt_resize_image_grad::align_mode &&
                A::data_layout == args::dt_resize_image_grad::data_layout &&
                A::type == args::dt_resize_image_grad::type);
  const DtBuffer& x = call.Arg(A::X);
  if (x.rank < 3 || x.rank > 5)
    return call.Fail("'%s' has %d dims, expected 3 to 5", x.name, x.rank), false;
  const auto axes = static_cast<size_t>(x.rank - 2);
  const std::string_view layout = call.Text(A::data_layout);
  const bool last = !layout.empty() && layout.back() == 'C';
  std::vector<int64_t> in(x.dims + (last ? 1 : 2), x.dims + (last ? 1 : 2) + axes), out;
  std::vector<float> scales;
  if (!ReadMethod(call, r) || !ScalesOf(call, axes, scales) || !SizesOf(call, in, scales, out))
    return false;
  r.align_corners = call.Bool(A::align_corners);
  r.half_pixel = !r.align_corners && (call.Int(A::align_mode) == 0 || r.method == Method::kCubic) &&
                 r.method != Method::kNearest;
  r.images = last ? x.dims[0] : x.dims[0] * x.dims[1];
  r.inner = last ? x.dims[x.rank - 1] : 1;
  const bool by_scale = call.Text(A::type).find("_v2") != std::string_view::npos;
  for (size_t i = 0; i < axes; ++i) {
    if (in[i] < 1) return call.Fail("'%s' has an axis without elements", x.name), false;
    AxisPlan& a = r.axis[3 - axes + i];
    a = {in[i], out[i], 0};
    if (a.out <= 1) continue;
    if (r.align_corners) a.ratio = static_cast<float>(a.in - 1) / static_cast<float>(a.out - 1);
    else
      a.ratio = by_scale && scales[i] > 0 ? static_cast<float>(1.0 / static_cast<double>(scales[i]))
                                          : static_cast<float>(a.in) / static_cast<float>(a.out);
  }
  r.dims = {x.dims[0]};
  if (!last) r.dims.push_back(x.dims[1]);
  r.dims.insert(r.dims.end(), out.begin(), out.end());
  if (last) r.dims.push_back(r.inner);
  return true;
}

double PlaceOf(const Resize& r, const AxisPlan& a, int64_t i) {
  if (r.half_pixel) return static_cast<double>(a.ratio) * (static_cast<double>(i) + 0.5) - 0.5;
  return static_cast<double>(a.ratio * static_cast<float>(i));
}

// Cubic convolution (Keys 1981) with a = -0.75, over four elements; those outside are the border's.
template <typename T>
void CubicTaps(const Resize& r, const AxisPlan& a, Taps<T>& taps) {
  constexpr T kA = static_cast<T>(-0.75);
  const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  for (int64_t i = 0; i < a.out; ++i) {
    const T place = static_cast<T>(PlaceOf(r, a, i));
    const T base = std::floor(place), t = place - base;
    const T weights[] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    for (int64_t k = 0; k < 4; ++k) {
      taps.at.push_back(std::clamp<int64_t>(static_cast<int64_t>(base) - 1 + k, 0, a.in - 1));
      taps.weight.push_back(weights[k]);
    }
  }
}

template <typename T>
void LinearTaps(const Resize& r, const AxisPlan& a, Taps<T>& taps) {
  for (int64_t i = 0; i < a.out; ++i) {
    const double place = PlaceOf(r, a, i);
    const int64_t low = std::clamp<int64_t>(static_cast<int64_t>(place), 0, a.in - 1),
                  high = std::min(low + 1, a.in - 1);
    const float share = static_cast<float>(std::max(place, 0.0)) - static_cast<float>(low),
                rest = 1.0F - share;
    taps.at.insert(taps.at.end(), {low, high});
    taps.weight.insert(taps.weight.end(), {static_cast<T>(rest), static_cast<T>(share)});
  }
}

// An axis that is not there has one tap of weight 1.
template <typename T>
Taps<T> TapsOf(const Resize& r, const AxisPlan& a, bool present) {
  Taps<T> taps;
  if (!present) return taps;
  taps.at.clear(), taps.weight.clear();
  switch (r.method) {
    case Method::kCubic: taps.count = 4, CubicTaps(r, a, taps); break;
    case Method::kLinear: taps.count = 2, LinearTaps(r, a, taps); break;
    case Method::kNearest:
      for (int64_t i = 0; i < a.out; ++i) {
        taps.at.push_back(std::clamp<int64_t>(
            static_cast<int64_t>(PlaceOf(r, a, i) + (r.align_corners ? 0.5 : 0.0)), 0, a.in - 1));
        taps.weight.push_back(T{1});
      }
  }
  return taps;
}

// visit(first element of the output cell, first element of the input cell, weight) for every pair
// within an image.
template <typename T, typename Visit>
void ForPairs(const Resize& r, const std::array<Taps<T>, 3>& taps, Visit&& visit) {
  const auto& [td, th, tw] = taps;
  const AxisPlan &height = r.axis[1], &width = r.axis[2];
  const int64_t cells = r.axis[0].out * height.out * width.out;
  for (int64_t cell = 0; cell < cells; ++cell) {
    const int64_t d = cell / (height.out * width.out), h = cell / width.out % height.out,
                  w = cell % width.out;
    for (int64_t i = d * td.count; i < (d + 1) * td.count; ++i)
      for (int64_t j = h * th.count; j < (h + 1) * th.count; ++j)
        for (int64_t k = w * tw.count; k < (w + 1) * tw.count; ++k) {
          const int64_t from =
              (td.at[static_cast<size_t>(i)] * height.in + th.at[static_cast<size_t>(j)]) *
                  width.in +
              tw.at[static_cast<size_t>(k)];
          visit(cell * r.inner, from * r.inner,
                td.weight[static_cast<size_t>(i)] * th.weight[static_cast<size_t>(j)] *
                    tw.weight[static_cast<size_t>(k)]);
        }
  }
}

// Adds to `to`, image by image: the output takes from the input, or the other way round.
template <typename T>
void Move(OpCall& call, const Resize& r, const T* from, T* to, bool back) {
  const std::array<Taps<T>, 3> taps = {TapsOf<T>(r, r.axis[0], r.dims.size() > 4),
                                       TapsOf<T>(r, r.axis[1], r.dims.size() > 3),
                                       TapsOf<T>(r, r.axis[2], true)};
  const int64_t read = back ? r.Outputs() : r.Inputs(), written = back ? r.Inputs() : r.Outputs();
  Parallel(call.context(), r.images, GrainFor((read + written) * static_cast<int64_t>(sizeof(T))),
           [&](int64_t lo, int64_t n) {
             std::fill_n(to + lo * written, n * written, T{0});
             for (int64_t image = lo; image < lo + n; ++image)
               ForPairs(r, taps, [&](int64_t out, int64_t in, T weight) {
                 const T* source = from + image * read + (back ? out : in);
                 T* target = to + image * written + (back ? in : out);
                 for (int64_t c = 0; c < r.inner; ++c) target[c] += weight * source[c];
               });
           });
}

}  // namespace

// … -> Out
int32_t ResizeImage(OpCall& call) {
  using A = args::dt_resize_image;
  Resize r;
  DtBuffer& out = call.Arg(A::Out);
  if (!Read(call, r) || !call.Resize(out, r.dims)) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (out.dtype != call.Arg(A::X).dtype)
      return call.Fail("'%s' and '%s' differ in element type", out.name, call.Arg(A::X).name);
    Move(call, r, Data<T>(call.Arg(A::X)), Data<T>(out), false);
    return 0;
  });
}

// …, Out@GRAD -> X@GRAD
int32_t ResizeImageGrad(OpCall& call) {
  using A = args::dt_resize_image_grad;
  Resize r;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!Read(call, r) || !call.Resize(dx, call.Arg(A::X))) return 1;
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(r.dims))
    return call.Fail("'%s' has not the extents of the resized '%s'", gradient.name,
                     call.Arg(A::X).name);
  return VisitFloat(call.context(), dx, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (dx.dtype != gradient.dtype)
      return call.Fail("'%s' and '%s' differ in element type", dx.name, gradient.name);
    Move(call, r, Data<T>(gradient), Data<T>(dx), true);
    return 0;
  });
}

}  // namespace dtranspile::kernels
