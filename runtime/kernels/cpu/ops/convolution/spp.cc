// spp and its gradient: spatial pyramid pooling (He et al. 2014). Level l pools every plane to 2^l
// × 2^l cells, with windows of ⌈extent / 2^l⌉ that start half of what they exceed the plane before
// it; the levels stand one after the other in a row of Out.
#include <algorithm>
#include <limits>

#include "runtime/kernels/cpu/ops/convolution/calls.h"

namespace dtranspile::kernels {
namespace {

struct Span {
  int64_t begin, end;
};

Span CellOf(int64_t cell, int64_t extent, int64_t bins) {
  const int64_t kernel = (extent + bins - 1) / bins, padding = (kernel * bins - extent + 1) / 2,
                begin = cell * kernel - padding;
  const int64_t first = std::max<int64_t>(begin, 0);
  return {first, std::max(first, std::min(begin + kernel, extent))};
}

struct Pyramid {
  int64_t batch, channels, height, width, levels, row;  // `row`: elements of Out for one sample
  bool max;
};

// A row of the output has (4^levels - 1)/3 cells for each channel.
bool Read(OpCall& call, const DtBuffer& x, Pyramid& p) {
  using A = args::dt_spp;
  static_assert(A::pooling_type == args::dt_spp_grad::pooling_type &&
                A::pyramid_height == args::dt_spp_grad::pyramid_height);
  if (x.rank != 4) return call.Fail("'%s' has %d dims, expected 4", x.name, x.rank), false;
  p = {x.dims[0],
       x.dims[1],
       x.dims[2],
       x.dims[3],
       call.Int(A::pyramid_height),
       0,
       call.Text(A::pooling_type) == "max"};
  if (!p.max && call.Text(A::pooling_type) != "avg")
    return call.Fail("unknown pooling_type, expected max or avg"), false;
  constexpr int64_t kMostLevels = 16;
  if (p.levels < 1 || p.levels > kMostLevels)
    return call.Fail("pyramid_height %lld, expected 1 to %lld", static_cast<long long>(p.levels),
                     static_cast<long long>(kMostLevels)),
           false;
  p.row = p.channels * (((int64_t{1} << (2 * p.levels)) - 1) / 3);
  return true;
}

// visit(plane of X, position in a row of Out, rows, columns) for every cell of a sample.
template <typename Visit>
void ForCells(const Pyramid& p, Visit&& visit) {
  int64_t at = 0;
  for (int64_t level = 0; level < p.levels; ++level) {
    const int64_t bins = int64_t{1} << level;
    for (int64_t c = 0; c < p.channels; ++c)
      for (int64_t cell = 0; cell < bins * bins; ++cell)
        visit(c, at++, CellOf(cell / bins, p.height, bins), CellOf(cell % bins, p.width, bins));
  }
}

template <typename T>
T Pool(const Pyramid& p, const T* plane, Span rows, Span columns) {
  T result = p.max ? std::numeric_limits<T>::lowest() : T{0};
  for (int64_t h = rows.begin; h < rows.end; ++h)
    for (int64_t w = columns.begin; w < columns.end; ++w) {
      const T value = plane[h * p.width + w];
      result = p.max ? std::max(result, value) : result + value;
    }
  const int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
  return p.max ? result : result / static_cast<T>(std::max<int64_t>(count, 1));
}

// Of equal largest elements the first one gets the gradient, as in the framework.
template <typename T>
void PoolBackward(const Pyramid& p, const T* plane, T y, T dy, T* to, Span rows, Span columns) {
  const auto count =
      static_cast<T>(std::max<int64_t>((rows.end - rows.begin) * (columns.end - columns.begin), 1));
  for (int64_t h = rows.begin; h < rows.end; ++h)
    for (int64_t w = columns.begin; w < columns.end; ++w) {
      const int64_t at = h * p.width + w;
      if (!p.max) to[at] += dy / count;
      else if (plane[at] == y) {
        to[at] += dy;
        return;
      }
    }
}

}  // namespace

// X; pyramid_height, pooling_type -> Out
int32_t Spp(OpCall& call) {
  using A = args::dt_spp;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Pyramid p;
  if (!Read(call, x, p) || !call.Resize(out, {p.batch, p.row})) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t plane = p.height * p.width;
    Parallel(call.context(), p.batch, 1, [&](int64_t lo, int64_t n) {
      for (int64_t b = lo; b < lo + n; ++b)
        ForCells(p, [&](int64_t c, int64_t at, Span rows, Span columns) {
          Data<T>(out)[b * p.row + at] =
              Pool(p, Data<T>(x) + (b * p.channels + c) * plane, rows, columns);
        });
    });
    return 0;
  });
}

// X, Out@GRAD; pyramid_height, pooling_type -> X@GRAD
int32_t SppGrad(OpCall& call) {
  using A = args::dt_spp_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Pyramid p;
  if (!Read(call, x, p) || !call.Resize(dx, x)) return 1;
  if (Elements(gradient) != p.batch * p.row || gradient.dtype != x.dtype)
    return call.Fail("'%s' has not the extents and type of the pooled '%s'", gradient.name, x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t plane = p.height * p.width;
    Parallel(call.context(), p.batch, 1, [&](int64_t lo, int64_t n) {
      std::fill_n(Data<T>(dx) + lo * p.channels * plane, n * p.channels * plane, T{0});
      for (int64_t b = lo; b < lo + n; ++b)
        ForCells(p, [&](int64_t c, int64_t at, Span rows, Span columns) {
          const int64_t start = (b * p.channels + c) * plane;
          const T y = p.max ? Pool(p, Data<T>(x) + start, rows, columns) : T{0};
          PoolBackward(p, Data<T>(x) + start, y, Data<T>(gradient)[b * p.row + at],
                       Data<T>(dx) + start, rows, columns);
        });
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels
