// grid_sampler and its gradient (Jaderberg et al. 2015), over two or three axes: X [N, C, (D,) H,
// W] read at the places of Grid [N, (D',) H', W', axes], which go from −1 to 1 along each axis, the
// last axis of X first:
//   align_corners  place = (g + 1)/2 · (extent − 1),   else  (g + 1)/2 · extent − ½
// Places outside: `zeros` reads 0 there, `border` moves them to the border, `reflection` mirrors
// them at the border elements (align_corners) or half an element outside of them, then moves them
// to the border.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/cpu/ops/interpolation/calls.h"

namespace dtranspile::kernels {
namespace {

struct Sampler {
  int64_t batch, channels, cells;
  int axes;
  std::array<int64_t, 3> extent;  // of X; the first axes of `axes`
  bool nearest, align_corners, border, reflection;

  int64_t Plane() const { return extent[0] * extent[1] * extent[2]; }
};

// Slots X, Grid; attributes mode, padding_mode, align_corners.
bool Read(OpCall& call, Sampler& s) {
  using A = args::dt_grid_sample;
  static_assert(A::Grid == args::dt_grid_sample_grad::Grid &&
                A::X == args::dt_grid_sample_grad::X &&
                A::align_corners == args::dt_grid_sample_grad::align_corners &&
                A::mode == args::dt_grid_sample_grad::mode &&
                A::padding_mode == args::dt_grid_sample_grad::padding_mode);
  const DtBuffer &x = call.Arg(A::X), &grid = call.Arg(A::Grid);
  if ((x.rank != 4 && x.rank != 5) || grid.rank != x.rank ||
      grid.dims[grid.rank - 1] != x.rank - 2 || grid.dims[0] != x.dims[0] || grid.dtype != x.dtype)
    return call.Fail(
               "'%s' must be [N, C, H, W] or [N, C, D, H, W], and '%s' [N, .., axes] of its type",
               x.name, grid.name),
           false;
  const std::string_view mode = call.Text(A::mode), padding = call.Text(A::padding_mode);
  s = {x.dims[0],
       x.dims[1],
       Elements(grid, 1, grid.rank - 1),
       x.rank - 2,
       {1, 1, 1},
       mode == "nearest",
       call.Bool(A::align_corners),
       padding == "border",
       padding == "reflection"};
  if (!s.nearest && mode != "bilinear")
    return call.Fail("unknown mode '%s'", std::string(mode).c_str()), false;
  if (!s.border && !s.reflection && padding != "zeros")
    return call.Fail("unknown padding_mode '%s'", std::string(padding).c_str()), false;
  for (int i = 0; i < s.axes; ++i) {
    s.extent[static_cast<size_t>(i)] = x.dims[2 + i];
    if (x.dims[2 + i] < 1) return call.Fail("'%s' has an axis without elements", x.name), false;
  }
  return true;
}

template <typename T>
struct Place {
  T at, slope;  // how `at` changes with the grid
};

template <typename T>
Place<T> Clipped(Place<T> p, T last) {
  const T at = std::min(std::max(p.at, T{0}), last);
  return {at, at == p.at ? p.slope : T{0}};
}

// Where a coordinate of the grid is along an axis, and the derivative of that by the coordinate.
// Outside, places are clipped (border) or reflected at the borders; each reflection turns the sign
// of the derivative.
template <typename T>
Place<T> PlaceOf(const Sampler& s, T g, int64_t extent) {
  const T last = static_cast<T>(extent - 1), span = s.align_corners ? last : last + 1,
          half = static_cast<T>(0.5);
  Place<T> p{(g + 1) * half * span - (s.align_corners ? T{0} : half), span * half};
  if (s.border) return Clipped(p, last);
  if (!s.reflection) return p;
  const T shift = s.align_corners ? T{0} : half, period = 2 * span;
  if (period == 0) return {0, 0};
  const T shifted = p.at + shift, distance = std::abs(shifted),
          extra = distance - std::floor(distance / period) * period;
  const bool negative = shifted<0, flipped = extra> period - extra;
  p = {std::min(extra, period - extra) - shift, negative == flipped ? p.slope : -p.slope};
  return s.align_corners ? p : Clipped(p, last);
}

// The elements of a plane that a place reads (−1: outside), their weights, and how these change
// along each axis of the grid.
template <typename T>
struct Corners {
  int count = 0;
  int64_t at[8];
  T weight[8], slope[8][3];
};

// The 2^axes elements around a place, with their weights and the derivatives of the weights along
// each axis of the grid; -1 for elements outside, which are 0. With `nearest` there is one.
template <typename T>
Corners<T> CornersOf(const Sampler& s, const T* grid) {
  Corners<T> corners;
  T low[3], share[3];
  Place<T> places[3];
  for (int a = 0; a < s.axes; ++a) {
    places[a] = PlaceOf(s, grid[s.axes - 1 - a], s.extent[static_cast<size_t>(a)]);
    low[a] = s.nearest ? std::round(places[a].at) : std::floor(places[a].at);
    share[a] = places[a].at - low[a];
  }
  corners.count = s.nearest ? 1 : 1 << s.axes;
  for (int i = 0; i < corners.count; ++i) {
    int64_t at = 0;
    T weight = 1;
    T factor[3];
    for (int a = 0; a < s.axes; ++a) {
      const bool high = (i >> a & 1) != 0;
      const T place = low[a] + (high ? 1 : 0);
      const int64_t extent = s.extent[static_cast<size_t>(a)];
      // The nearest element over three axes is looked for only where the place itself is inside,
      // over two where the element is.
      const T checked = s.nearest && s.axes == 3 ? places[a].at : place;
      const bool inside = checked >= 0 && checked <= static_cast<T>(extent - 1);
      at = inside && at >= 0 ? at * extent + static_cast<int64_t>(place) : -1;
      factor[a] = s.nearest ? T{1} : high ? share[a] : 1 - share[a];
      weight *= factor[a];
    }
    corners.at[i] = at;
    corners.weight[i] = weight;
    for (int a = 0; a < s.axes; ++a) {
      T slope = s.nearest ? T{0} : (i >> a & 1) != 0 ? places[a].slope : -places[a].slope;
      for (int b = 0; b < s.axes; ++b) slope *= b == a ? T{1} : factor[b];
      corners.slope[i][s.axes - 1 - a] = slope;
    }
  }
  return corners;
}

}  // namespace

// X, Grid; mode, padding_mode, align_corners -> Output
int32_t GridSample(OpCall& call) {
  using A = args::dt_grid_sample;
  Sampler s;
  DtBuffer& out = call.Arg(A::Output);
  if (!Read(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::X), &grid = call.Arg(A::Grid);
  std::vector<int64_t> dims = {s.batch, s.channels};
  dims.insert(dims.end(), grid.dims + 1, grid.dims + grid.rank - 1);
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t plane = s.Plane();
    Parallel(call.context(), s.batch * s.cells,
             GrainFor(s.channels * 4 * static_cast<int64_t>(sizeof(T))),
             [&](int64_t lo, int64_t n) {
               for (int64_t i = lo; i < lo + n; ++i) {
                 const auto corners = CornersOf<T>(s, Data<T>(grid) + i * s.axes);
                 const int64_t sample = i / s.cells;
                 for (int64_t c = 0; c < s.channels; ++c) {
                   T sum = 0;
                   for (int k = 0; k < corners.count; ++k)
                     if (corners.at[k] >= 0)
                       sum += Data<T>(x)[(sample * s.channels + c) * plane + corners.at[k]] *
                              corners.weight[k];
                   Data<T>(out)[(sample * s.channels + c) * s.cells + i % s.cells] = sum;
                 }
               }
             });
    return 0;
  });
}

// X, Grid, Output@GRAD; … -> X@GRAD, Grid@GRAD
int32_t GridSampleGrad(OpCall& call) {
  using A = args::dt_grid_sample_grad;
  Sampler s;
  if (!Read(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::X), &grid = call.Arg(A::Grid),
                 &gradient = call.Arg(A::Output_GRAD);
  if (Elements(gradient) != s.batch * s.channels * s.cells || gradient.dtype != x.dtype)
    return call.Fail("'%s' has not the extents and type of the output", gradient.name);
  for (int slot : {3, 4})
    if (call.Has(slot) && !call.Resize(call.Arg(slot), call.Arg(slot - 3))) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t plane = s.Plane();
    T *dx = call.Has(A::X_GRAD) ? Data<T>(call.Arg(A::X_GRAD)) : nullptr,
      *dgrid = call.Has(A::Grid_GRAD) ? Data<T>(call.Arg(A::Grid_GRAD)) : nullptr;
    Parallel(call.context(), s.batch, 1, [&](int64_t lo, int64_t n) {
      if (dx) std::fill_n(dx + lo * s.channels * plane, n * s.channels * plane, T{0});
      for (int64_t i = lo * s.cells; i < (lo + n) * s.cells; ++i) {
        const auto corners = CornersOf<T>(s, Data<T>(grid) + i * s.axes);
        T along[3] = {};
        for (int64_t c = 0; c < s.channels; ++c) {
          const int64_t start = (i / s.cells * s.channels + c) * plane;
          const T g = Data<T>(gradient)[(i / s.cells * s.channels + c) * s.cells + i % s.cells];
          for (int k = 0; k < corners.count; ++k) {
            if (corners.at[k] < 0) continue;
            if (dx) dx[start + corners.at[k]] += g * corners.weight[k];
            for (int a = 0; a < s.axes; ++a)
              along[a] += g * Data<T>(x)[start + corners.at[k]] * corners.slope[k][a];
          }
        }
        for (int a = 0; dgrid && a < s.axes; ++a) dgrid[i * s.axes + a] = along[a];
      }
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels
