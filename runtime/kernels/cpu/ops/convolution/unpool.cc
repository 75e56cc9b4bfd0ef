// unpool, unpool3d and their gradients, and the gradient of max_pool2d_with_index and
// max_pool3d_with_index: values of one plane go to, or come from, the positions in another plane
// that a tensor of indices names. Planes are the dims from 2 on. Rules: rules/convolution.cc.
#include <cstring>

#include "runtime/kernels/cpu/ops/convolution/calls.h"

namespace dtranspile::kernels {
namespace {

// Whether `small` and its indices are planes of one another, and `large` has as many.
bool PlanesFit(OpCall& call, const DtBuffer& small, const DtBuffer& index, const DtBuffer& large) {
  if (small.rank < 3 || large.rank != small.rank)
    return call.Fail("'%s' and '%s' must have at least three dims, and as many", small.name,
                     large.name),
           false;
  if (!SameShape(small, index))
    return call.Fail("'%s' has not the extents of '%s'", index.name, small.name), false;
  if (small.dims[0] == large.dims[0] && small.dims[1] == large.dims[1]) return true;
  return call.Fail("'%s' and '%s' differ in batch or channels", small.name, large.name), false;
}

// visit(number of the small element, number of the large element) in order; -1 (an empty window) is
// left out.
template <typename Visit>
int32_t ForPlaces(OpCall& call, const DtBuffer& small, const DtBuffer& index, const DtBuffer& large,
                  Visit&& visit) {
  if (!PlanesFit(call, small, index, large)) return 1;
  const int64_t from = Elements(small, 2, small.rank), to = Elements(large, 2, large.rank),
                count = Elements(small);
  return VisitIndex(call.context(), index, [&](auto tag) -> int32_t {
    using I = typename decltype(tag)::type;
    const I* at = Data<I>(index);
    for (int64_t i = 0; i < count; ++i) {
      if (at[i] < -1 || at[i] >= to)
        return call.Fail(
            "'%s' has the index %lld, out of range for a plane of %lld elements of '%s'",
            index.name, static_cast<long long>(at[i]), static_cast<long long>(to), large.name);
      if (at[i] >= 0) visit(i, i / from * to + at[i]);
    }
    return 0;
  });
}

// The first slots: values, indices; `to` gets them.
int32_t Scatter(OpCall& call, const DtBuffer& values, const DtBuffer& index, DtBuffer& to,
                bool add) {
  return VisitFloat(call.context(), to, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (values.dtype != to.dtype)
      return call.Fail("'%s' and '%s' differ in element type", values.name, to.name);
    std::memset(to.data, 0, static_cast<size_t>(Elements(to) * ElementSize(to)));
    const T* from = Data<T>(values);
    T* out = Data<T>(to);
    return ForPlaces(call, values, index, to,
                     [&](int64_t i, int64_t at) { out[at] = add ? out[at] + from[i] : from[i]; });
  });
}

// output_size where the program gives one, else (in − 1)·stride − 2·padding + kernel.
bool UnpooledDims(OpCall& call, const DtBuffer& x, std::vector<int64_t>& dims) {
  using A = args::dt_unpool;
  const auto kernel = call.Ints(A::ksize), strides = call.Ints(A::strides),
             paddings = call.Ints(A::paddings), size = call.Ints(A::output_size);
  const auto axes = static_cast<size_t>(x.rank - 2);
  if (x.rank < 4 || x.rank > 5 || kernel.size() != axes || strides.size() != axes ||
      paddings.size() != axes) {
    return call.Fail(
               "'%s' has %d dims; an unpooling is over two or three axes, with a kernel extent, "
               "stride "
               "and padding each",
               x.name, x.rank),
           false;
  }
  dims = {x.dims[0], x.dims[1]};
  bool given = size.size() >= axes;
  for (size_t i = 0; given && i < axes; ++i) given = size[size.size() - 1 - i] > 0;
  for (size_t i = 0; i < axes; ++i) {
    int64_t extent = 0;
    const bool overflow = __builtin_mul_overflow(x.dims[2 + i] - 1, strides[i], &extent);
    extent = given ? size[size.size() - axes + i] : extent - 2 * paddings[i] + kernel[i];
    if (overflow || extent < 0)
      return call.Fail("'%s' is unpooled to an extent that is negative or too large", x.name),
             false;
    dims.push_back(extent);
  }
  return true;
}

}  // namespace

// X, Indices; ksize, strides, paddings, output_size -> Out
int32_t Unpool(OpCall& call) {
  using A = args::dt_unpool;
  std::vector<int64_t> dims;
  if (!UnpooledDims(call, call.Arg(A::X), dims) || !call.Resize(call.Arg(A::Out), dims)) return 1;
  return Scatter(call, call.Arg(A::X), call.Arg(A::Indices), call.Arg(A::Out), false);
}

// Indices, Out@GRAD, X -> X@GRAD
int32_t UnpoolGrad(OpCall& call) {
  using A = args::dt_unpool_grad;
  const DtBuffer &index = call.Arg(A::Indices), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!call.Resize(dx, call.Arg(A::X))) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (gradient.dtype != dx.dtype)
      return call.Fail("'%s' and '%s' differ in element type", gradient.name, dx.name);
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
    return ForPlaces(call, dx, index, gradient,
                     [&](int64_t i, int64_t at) { Data<T>(dx)[i] = Data<T>(gradient)[at]; });
  });
}

// Mask, Out@GRAD, X -> X@GRAD
int32_t MaxPoolIndexGrad(OpCall& call) {
  using A = args::dt_max_pool_index_grad;
  if (!call.Resize(call.Arg(A::X_GRAD), call.Arg(A::X))) return 1;
  return Scatter(call, call.Arg(A::Out_GRAD), call.Arg(A::Mask), call.Arg(A::X_GRAD), true);
}

}  // namespace dtranspile::kernels
