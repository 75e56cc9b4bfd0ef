// affine_grid and its gradient (Jaderberg et al. 2015): Output[n, p] = Theta[n] · (x, y, (z,) 1)
// for the places p of a grid that goes from −1 to 1 along each axis: between the centres of the
// border elements (align_corners), or between their outer edges.
#include <algorithm>

#include "runtime/kernels/cpu/ops/interpolation/calls.h"

namespace dtranspile::kernels {
namespace {

struct Grid {
  int64_t batch, cells;
  int axes;
  std::vector<int64_t> extents;
  bool align_corners;
};

// Slots Theta, OutputShape; attributes output_shape, align_corners.
bool Read(OpCall& call, Grid& g) {
  using A = args::dt_affine_grid;
  static_assert(A::OutputShape == args::dt_affine_grid_grad::OutputShape &&
                A::align_corners == args::dt_affine_grid_grad::align_corners &&
                A::output_shape == args::dt_affine_grid_grad::output_shape);
  std::vector<int64_t> shape;
  if (call.Has(A::OutputShape)) {
    if (!IntegersOf(call, call.Arg(A::OutputShape), shape)) return false;
  } else {
    shape.assign(call.Ints(A::output_shape).begin(), call.Ints(A::output_shape).end());
  }
  if (shape.size() != 4 && shape.size() != 5)
    return call.Fail("the output shape has %zu extents, expected 4 or 5", shape.size()), false;
  g = {shape[0],
       1,
       static_cast<int>(shape.size()) - 2,
       {shape.begin() + 2, shape.end()},
       call.Bool(A::align_corners)};
  constexpr int64_t kMostCells = int64_t{1} << 40;
  for (int64_t extent : g.extents)
    if (extent < 1 || __builtin_mul_overflow(g.cells, extent, &g.cells) || g.cells > kMostCells)
      return call.Fail("the output shape has the extent %lld, out of range",
                       static_cast<long long>(extent)),
             false;
  return true;
}

bool ThetaFits(OpCall& call, const DtBuffer& theta, const Grid& g) {
  if (theta.rank == 3 && theta.dims[0] == g.batch && theta.dims[1] == g.axes &&
      theta.dims[2] == g.axes + 1)
    return true;
  return call.Fail("'%s' must have the extents [%lld, %d, %d]", theta.name,
                   static_cast<long long>(g.batch), g.axes, g.axes + 1),
         false;
}

// The place of element i of n.
template <typename T>
T PlaceOf(int64_t i, int64_t n, bool align_corners) {
  const T count = static_cast<T>(n), step = align_corners ? T{2} / (count - 1) : T{2} / count;
  const T start = align_corners ? T{-1} : T{-1} * ((count - 1) / count);
  return start + step * static_cast<T>(i);
}

// (x, y, (z,) 1) of a cell.
template <typename T>
void Base(const Grid& g, int64_t cell, T* base) {
  for (int a = 0; a < g.axes; ++a) {
    const int64_t extent = g.extents[static_cast<size_t>(g.axes - 1 - a)];
    base[a] = PlaceOf<T>(cell % extent, extent, g.align_corners);
    cell /= extent;
  }
  base[g.axes] = 1;
}

}  // namespace

// Theta, OutputShape; output_shape, align_corners -> Output
int32_t AffineGrid(OpCall& call) {
  using A = args::dt_affine_grid;
  Grid g;
  const DtBuffer& theta = call.Arg(A::Theta);
  DtBuffer& out = call.Arg(A::Output);
  if (!Read(call, g)) return 1;
  g.batch = theta.rank > 0 ? theta.dims[0] : 0;  // whatever the output shape says
  if (!ThetaFits(call, theta, g)) return 1;
  std::vector<int64_t> dims = {g.batch};
  dims.insert(dims.end(), g.extents.begin(), g.extents.end());
  dims.push_back(g.axes);
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), theta, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t rows = g.axes, columns = g.axes + 1;
    for (int64_t i = 0; i < g.batch * g.cells; ++i) {
      T base[4];
      Base(g, i % g.cells, base);
      const T* matrix = Data<T>(theta) + i / g.cells * rows * columns;
      for (int64_t r = 0; r < rows; ++r) {
        T sum = 0;
        for (int64_t c = 0; c < columns; ++c) sum += matrix[r * columns + c] * base[c];
        Data<T>(out)[i * rows + r] = sum;
      }
    }
    return 0;
  });
}

// Output@GRAD, OutputShape; … -> Theta@GRAD
int32_t AffineGridGrad(OpCall& call) {
  using A = args::dt_affine_grid_grad;
  Grid g;
  const DtBuffer& gradient = call.Arg(A::Output_GRAD);
  DtBuffer& dtheta = call.Arg(A::Theta_GRAD);
  if (!Read(call, g)) return 1;
  g.batch = gradient.rank > 0 ? gradient.dims[0] : 0;
  if (Elements(gradient) != g.batch * g.cells * g.axes)
    return call.Fail("'%s' has not the extents of the grid", gradient.name);
  if (!call.Resize(dtheta, {g.batch, g.axes, g.axes + 1}) || dtheta.dtype != gradient.dtype)
    return 1;
  return VisitFloat(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t rows = g.axes, columns = g.axes + 1;
    std::fill_n(Data<T>(dtheta), Elements(dtheta), T{0});
    for (int64_t i = 0; i < g.batch * g.cells; ++i) {
      T base[4];
      Base(g, i % g.cells, base);
      T* matrix = Data<T>(dtheta) + i / g.cells * rows * columns;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          matrix[r * columns + c] += Data<T>(gradient)[i * rows + r] * base[c];
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
