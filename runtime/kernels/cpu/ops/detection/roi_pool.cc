// roi_pool (Girshick 2015) and its gradient: the largest element of each cell of a region whose
// corners are rounded to elements. Slots X, ROIs, RoisLod, RoisNum; attributes spatial_scale,
// pooled_height, pooled_width.
#include <cmath>
#include <limits>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/pooled.h"

namespace dtranspile::kernels {
namespace {

struct Span {
  int64_t begin, end;
};

bool Read(OpCall& call, Pooled& p) {
  return ReadRegions<args::dt_roi_pool, args::dt_roi_pool_grad>(call, p);
}

// Elements of one axis that a cell covers.
template <typename T>
Span CellOf(const T* roi, int axis, T scale, int64_t cells, int64_t at, int64_t extent) {
  constexpr double kFar = 1e15;
  const auto whole = [&](T value) {
    return static_cast<int64_t>(
        std::min(std::max(-kFar, static_cast<double>(std::round(value * scale))), kFar));
  };
  const int64_t begin = whole(roi[1 - axis]), end = whole(roi[3 - axis]);
  const T bin = static_cast<T>(std::max<int64_t>(end - begin + 1, 1)) / static_cast<T>(cells);
  const auto clip = [&](double value) {
    return std::min(std::max(static_cast<int64_t>(value) + begin, int64_t{0}), extent);
  };
  return {clip(std::floor(static_cast<double>(static_cast<T>(at) * bin))),
          clip(std::ceil(static_cast<double>(static_cast<T>(at + 1) * bin)))};
}

}  // namespace

// … -> Out, Argmax
int32_t RoiPool(OpCall& call) {
  using A = args::dt_roi_pool;
  Pooled p;
  if (!Read(call, p)) return 1;
  const DtBuffer &x = call.Arg(A::X), &rois = call.Arg(A::ROIs);
  const std::initializer_list<int64_t> dims = {p.rois, p.out_channels, p.out_h, p.out_w};
  const bool read = call.Has(A::Out), places = call.Has(A::Argmax);
  if ((read && !call.Resize(call.Arg(A::Out), dims)) ||
      (places && !call.Resize(call.Arg(A::Argmax), dims)))
    return 1;
  int64_t* const argmax = places ? Data<int64_t>(call.Arg(A::Argmax)) : nullptr;
  if (places && TypeOf(call.Arg(A::Argmax)) != DType::kInt64)
    return call.Fail("'%s' must hold int64", call.Arg(A::Argmax).name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T scale = static_cast<T>(call.Real(A::spatial_scale));
    T* const out = read ? Data<T>(call.Arg(A::Out)) : nullptr;
    Parallel(call.context(), p.rois, 1, [&](int64_t lo, int64_t n) {
      for (int64_t i = lo * p.channels * p.Cells(); i < (lo + n) * p.channels * p.Cells(); ++i) {
        const int64_t cell = i % p.Cells(), roi = i / p.Cells() / p.channels;
        const Span rows =
                       CellOf(Data<T>(rois) + roi * 4, 0, scale, p.out_h, cell / p.out_w, p.height),
                   columns =
                       CellOf(Data<T>(rois) + roi * 4, 1, scale, p.out_w, cell % p.out_w, p.width);
        const T* plane = Data<T>(x) + (p.image[static_cast<size_t>(roi)] * p.channels +
                                       i / p.Cells() % p.channels) *
                                          p.Plane();
        const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
        T best = empty ? T{0} : std::numeric_limits<T>::lowest();
        int64_t at = -1;
        for (int64_t h = rows.begin; h < rows.end; ++h)
          for (int64_t w = columns.begin; w < columns.end; ++w)
            if (plane[h * p.width + w] > best) at = h * p.width + w, best = plane[at];
        if (read) out[i] = best;
        if (places) argmax[i] = at;
      }
    });
    return 0;
  });
}

// …, Argmax, Out@GRAD -> X@GRAD
int32_t RoiPoolGrad(OpCall& call) {
  using A = args::dt_roi_pool_grad;
  Pooled p;
  if (!Read(call, p)) return 1;
  const DtBuffer &argmax = call.Arg(A::Argmax), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const int64_t count = p.rois * p.channels * p.Cells();
  if (Elements(argmax) != count || Elements(gradient) != count ||
      gradient.dtype != call.Arg(A::X).dtype)
    return call.Fail("'%s' and '%s' have not the extents of the output", argmax.name,
                     gradient.name);
  std::vector<int64_t> places;
  if (!IntegersOf(call, argmax, places) || !call.Resize(dx, call.Arg(A::X))) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(dx), Elements(dx), T{0});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = places[static_cast<size_t>(i)];
      if (at >= p.Plane())
        return call.Fail("'%s' has the index %lld, a plane has %lld elements", argmax.name,
                         static_cast<long long>(at), static_cast<long long>(p.Plane()));
      if (at < 0) continue;
      Data<T>(dx)[(p.image[static_cast<size_t>(i / p.Cells() / p.channels)] * p.channels +
                   i / p.Cells() % p.channels) *
                      p.Plane() +
                  at] += Data<T>(gradient)[i];
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
