// deformable_conv (Zhu et al. 2018; with Mask), deformable_conv_v1 (Dai et al. 2017; without) and
// their gradients: a convolution whose taps read X between its elements, at their place plus Offset
// [N, groups · taps · (y, x), P, Q], times Mask [N, groups · taps, P, Q]. Outside of X, elements
// are 0; a tap at least one element outside reads 0 and has no gradient. A sample at a time is
// gathered to columns [C · taps, P · Q], which the filter multiplies.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/ops/convolution/calls.h"

namespace dtranspile::kernels {
namespace {

struct Shape {
  int64_t batch, channels, height, width, filters, kernel_h, kernel_w, out_h, out_w, groups,
      offset_groups;
  std::array<int64_t, 2> stride, padding, dilation;

  int64_t Taps() const { return kernel_h * kernel_w; }
  int64_t Cells() const { return out_h * out_w; }
  int64_t Plane() const { return height * width; }
  int64_t Rows() const { return channels * Taps(); }                // of the columns
  int64_t GroupRows() const { return channels / groups * Taps(); }  // that one filter sees
};

// Attributes along (height, width), within bounds that keep all sums below in 64 bits.
bool Pair(OpCall& call, int attr, const char* name, int64_t least, std::array<int64_t, 2>& out) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const auto values = call.Ints(attr);
  if (values.size() == 2 && values[0] >= least && values[1] >= least && values[0] <= kMost &&
      values[1] <= kMost)
    return out = {values[0], values[1]}, true;
  return call.Fail("attribute %s must have two numbers from %lld on", name,
                   static_cast<long long>(least)),
         false;
}

bool HasDims(OpCall& call, const DtBuffer& buffer, const DtBuffer& like,
             const std::array<int64_t, 4>& dims) {
  if (buffer.rank == 4 && std::equal(dims.begin(), dims.end(), buffer.dims) &&
      buffer.dtype == like.dtype)
    return true;
  return call.Fail("'%s' must have the extents [%lld, %lld, %lld, %lld] and the type of '%s'",
                   buffer.name, static_cast<long long>(dims[0]), static_cast<long long>(dims[1]),
                   static_cast<long long>(dims[2]), static_cast<long long>(dims[3]), like.name),
         false;
}

// Slots Input, Offset, Filter, Mask; attributes strides, paddings, dilations, groups,
// deformable_groups.
bool Read(OpCall& call, Shape& s) {
  using A = args::dt_deformable_conv;
  static_assert(A::Filter == args::dt_deformable_conv_grad::Filter &&
                A::Input == args::dt_deformable_conv_grad::Input &&
                A::Mask == args::dt_deformable_conv_grad::Mask &&
                A::Offset == args::dt_deformable_conv_grad::Offset &&
                A::deformable_groups == args::dt_deformable_conv_grad::deformable_groups &&
                A::dilations == args::dt_deformable_conv_grad::dilations &&
                A::groups == args::dt_deformable_conv_grad::groups &&
                A::paddings == args::dt_deformable_conv_grad::paddings &&
                A::strides == args::dt_deformable_conv_grad::strides);
  const DtBuffer &x = call.Arg(A::Input), &filter = call.Arg(A::Filter);
  s.groups = call.Int(A::groups), s.offset_groups = call.Int(A::deformable_groups);
  if (!Pair(call, A::strides, "strides", 1, s.stride) ||
      !Pair(call, A::paddings, "paddings", 0, s.padding) ||
      !Pair(call, A::dilations, "dilations", 1, s.dilation))
    return false;
  if (x.rank != 4 || filter.rank != 4 || filter.dims[2] < 1 || filter.dims[3] < 1)
    return call.Fail("'%s' and '%s' must have four dims", x.name, filter.name), false;
  s.batch = x.dims[0], s.channels = x.dims[1], s.height = x.dims[2], s.width = x.dims[3];
  s.filters = filter.dims[0], s.kernel_h = filter.dims[2], s.kernel_w = filter.dims[3];
  if (s.groups < 1 || s.offset_groups < 1 || s.channels % s.groups != 0 ||
      s.channels % s.offset_groups != 0 || s.filters % s.groups != 0 ||
      filter.dims[1] != s.channels / s.groups)
    return call.Fail(
               "'%s' with %lld channels does not fit '%s', %lld groups and %lld deformable groups",
               x.name, static_cast<long long>(s.channels), filter.name,
               static_cast<long long>(s.groups), static_cast<long long>(s.offset_groups)),
           false;
  const int64_t reach_h = s.height + 2 * s.padding[0] - s.dilation[0] * (s.kernel_h - 1) - 1,
                reach_w = s.width + 2 * s.padding[1] - s.dilation[1] * (s.kernel_w - 1) - 1;
  if (reach_h < 0 || reach_w < 0)
    return call.Fail("'%s' is larger than the padded '%s'", filter.name, x.name), false;
  s.out_h = reach_h / s.stride[0] + 1, s.out_w = reach_w / s.stride[1] + 1;
  int64_t columns;
  constexpr int64_t kMostColumns = int64_t{1} << 56;
  if (__builtin_mul_overflow(s.Rows(), s.Cells(), &columns) || columns > kMostColumns)
    return call.Fail("'%s' has too many columns", x.name), false;
  if (!HasDims(call, call.Arg(A::Offset), x,
               {s.batch, s.offset_groups * s.Taps() * 2, s.out_h, s.out_w}))
    return false;
  return !call.Has(A::Mask) || HasDims(call, call.Arg(A::Mask), x,
                                       {s.batch, s.offset_groups * s.Taps(), s.out_h, s.out_w});
}

// The four elements that a tap reads in a plane, their weights, and how these change with the place
// of the tap.
template <typename T>
struct Corners {
  int64_t at[4] = {};
  T weight[4] = {}, by_y[4] = {}, by_x[4] = {};
};

// Bilinear interpolation at (y, x): weights (1 - fy)(1 - fx) … and their derivatives. A corner
// outside of the plane keeps the weights 0, so that it is read (element 0) without an effect.
template <typename T>
Corners<T> CornersAt(const Shape& s, T y, T x) {
  Corners<T> corners;
  if (!(y > -1 && x > -1 && y < static_cast<T>(s.height) && x < static_cast<T>(s.width)))
    return corners;
  const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  const T fy = y - static_cast<T>(top), fx = x - static_cast<T>(left);
  for (int i = 0; i < 4; ++i) {
    const int64_t h = top + i / 2, w = left + i % 2;
    if (h < 0 || w < 0 || h >= s.height || w >= s.width) continue;
    const T wy = i / 2 == 0 ? 1 - fy : fy, wx = i % 2 == 0 ? 1 - fx : fx;
    corners.at[i] = h * s.width + w;
    corners.weight[i] = wy * wx;
    corners.by_y[i] = i / 2 == 0 ? -wx : wx;
    corners.by_x[i] = i % 2 == 0 ? -wy : wy;
  }
  return corners;
}

// Tensors of one sample.
template <typename T>
struct Sample {
  const T *x, *offset, *mask;  // mask: null where there is none
};

template <typename T>
Sample<T> SampleOf(OpCall& call, const Shape& s, int64_t n) {
  using A = args::dt_deformable_conv;
  static_assert(A::Input == args::dt_deformable_conv_grad::Input &&
                A::Mask == args::dt_deformable_conv_grad::Mask &&
                A::Offset == args::dt_deformable_conv_grad::Offset);
  const int64_t places = s.offset_groups * s.Taps() * s.Cells();
  return {Data<T>(call.Arg(A::Input)) + n * s.channels * s.Plane(),
          Data<T>(call.Arg(A::Offset)) + n * places * 2,
          call.Has(A::Mask) ? Data<T>(call.Arg(A::Mask)) + n * places : nullptr};
}

// visit(corners, mask, place of mask, place of the vertical offset, first row of the columns that
// reads there, cell) for every tap and cell of an offset group; the group's channels read at rows
// first + c · taps. The horizontal offset stands Cells() after.
template <typename T, typename Visit>
void ForTaps(const Shape& s, const Sample<T>& sample, int64_t group, Visit&& visit) {
  const int64_t cells = s.Cells(), first = group * (s.channels / s.offset_groups) * s.Taps();
  for (int64_t tap = 0; tap < s.Taps(); ++tap)
    for (int64_t cell = 0; cell < cells; ++cell) {
      const int64_t place = (group * s.Taps() + tap) * cells + cell,
                    offset = (group * s.Taps() + tap) * 2 * cells + cell;
      const int64_t h =
          cell / s.out_w * s.stride[0] - s.padding[0] + tap / s.kernel_w * s.dilation[0];
      const int64_t w =
          cell % s.out_w * s.stride[1] - s.padding[1] + tap % s.kernel_w * s.dilation[1];
      const auto corners = CornersAt<T>(s, static_cast<T>(h) + sample.offset[offset],
                                        static_cast<T>(w) + sample.offset[offset + cells]);
      visit(corners, sample.mask ? sample.mask[place] : T{1}, place, offset, first + tap, cell);
    }
}

// The four corners weighted by `factor`: the value, or its derivative along an axis.
template <typename T>
T Read4(const T* plane, const Corners<T>& c, const T (&factor)[4]) {
  return plane[c.at[0]] * factor[0] + plane[c.at[1]] * factor[1] + plane[c.at[2]] * factor[2] +
         plane[c.at[3]] * factor[3];
}

// im2col with interpolation: the corners of a tap are found once for all channels that share its
// offset.
template <typename T>
void Gather(DtContext* context, const Shape& s, const Sample<T>& sample, T* columns) {
  const int64_t per_group = s.channels / s.offset_groups;
  Parallel(context, s.offset_groups, 1, [&](int64_t lo, int64_t n) {
    for (int64_t group = lo; group < lo + n; ++group)
      ForTaps(s, sample, group,
              [&](const Corners<T>& corners, T mask, int64_t, int64_t, int64_t row, int64_t cell) {
                const T* plane = sample.x + group * per_group * s.Plane();
                for (int64_t c = 0; c < per_group; ++c, plane += s.Plane())
                  columns[(row + c * s.Taps()) * s.Cells() + cell] =
                      mask * Read4(plane, corners, corners.weight);
              });
  });
}

// y[o] = Σ_k F[o, k] · columns[k] of the filter's group.
template <typename T>
void Multiply(DtContext* context, const Shape& s, const T* filter, const T* columns, T* y) {
  const int64_t rows = s.GroupRows(), cells = s.Cells();
  Parallel(context, s.filters, 1, [&](int64_t lo, int64_t n) {
    for (int64_t o = lo; o < lo + n; ++o) {
      T* __restrict to = y + o * cells;
      std::fill_n(to, cells, T{0});
      for (int64_t k = 0; k < rows; ++k) {
        const T weight = filter[o * rows + k];
        const T* __restrict from = columns + (o / (s.filters / s.groups) * rows + k) * cells;
        for (int64_t i = 0; i < cells; ++i) to[i] += weight * from[i];
      }
    }
  });
}

// Gradient of the columns, and (added) of the filter.
template <typename T>
void MultiplyBackward(DtContext* context, const Shape& s, const T* filter, const T* dy,
                      const T* columns, T* dcolumns, T* dfilter) {
  const int64_t rows = s.GroupRows(), cells = s.Cells(), per_group = s.filters / s.groups;
  Parallel(context, s.Rows(), 1, [&](int64_t lo, int64_t n) {
    for (int64_t row = lo; row < lo + n; ++row) {
      const int64_t group = row / rows, k = row % rows;
      T* __restrict to = dcolumns + row * cells;
      std::fill_n(to, cells, T{0});
      for (int64_t o = group * per_group; o < (group + 1) * per_group; ++o) {
        const T weight = filter[o * rows + k];
        const T* __restrict from = dy + o * cells;
        T sum = 0;
        for (int64_t i = 0; i < cells; ++i) to[i] += weight * from[i];
        for (int64_t i = 0; i < cells; ++i) sum += columns[row * cells + i] * from[i];
        if (dfilter) dfilter[o * rows + k] += sum;
      }
    }
  });
}

// Gradients of one sample; null where nobody wants them.
template <typename T>
struct Gradients {
  T *x, *offset, *mask;
};

// The gradient of Gather. Threads take offset groups, whose channels, offsets and masks are
// disjoint, so nothing is added by two of them. x is added to, the others are set.
template <typename T>
void ScatterBack(DtContext* context, const Shape& s, const Sample<T>& sample, const T* dcolumns,
                 const Gradients<T>& to) {
  const int64_t per_group = s.channels / s.offset_groups, cells = s.Cells();
  Parallel(context, s.offset_groups, 1, [&](int64_t lo, int64_t n) {
    for (int64_t group = lo; group < lo + n; ++group)
      ForTaps(s, sample, group,
              [&](const Corners<T>& corners, T mask, int64_t place, int64_t offset, int64_t row,
                  int64_t cell) {
                T by_y = 0, by_x = 0, by_mask = 0;
                for (int64_t c = 0; c < per_group; ++c) {
                  const int64_t plane = (group * per_group + c) * s.Plane();
                  const T g = dcolumns[(row + c * s.Taps()) * cells + cell];
                  by_mask += g * Read4(sample.x + plane, corners, corners.weight);
                  by_y += g * mask * Read4(sample.x + plane, corners, corners.by_y);
                  by_x += g * mask * Read4(sample.x + plane, corners, corners.by_x);
                  for (int i = 0; to.x && i < 4; ++i)
                    to.x[plane + corners.at[i]] += corners.weight[i] * mask * g;
                }
                if (to.mask) to.mask[place] = by_mask;
                if (to.offset) to.offset[offset] = by_y, to.offset[offset + cells] = by_x;
              });
  });
}

}  // namespace

// Input, Offset, Filter, Mask; strides, paddings, dilations, groups, deformable_groups -> Output
int32_t DeformableConv(OpCall& call) {
  using A = args::dt_deformable_conv;
  Shape s;
  DtBuffer& out = call.Arg(A::Output);
  if (!Read(call, s) || !call.Resize(out, {s.batch, s.filters, s.out_h, s.out_w})) return 1;
  return VisitFloat(call.context(), out, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if (call.Arg(A::Filter).dtype != out.dtype || call.Arg(A::Input).dtype != out.dtype)
      return call.Fail("'%s' and '%s' differ in element type", call.Arg(A::Filter).name, out.name);
    T* columns = static_cast<T*>(
        dt_scratch(call.context(), s.Rows() * s.Cells() * static_cast<int64_t>(sizeof(T))));
    if (columns == nullptr) return call.Fail("no memory for the columns");
    for (int64_t n = 0; n < s.batch; ++n) {
      Gather(call.context(), s, SampleOf<T>(call, s, n), columns);
      Multiply(call.context(), s, Data<T>(call.Arg(A::Filter)), columns,
               Data<T>(out) + n * s.filters * s.Cells());
    }
    return 0;
  });
}

// Input, Offset, Filter, Mask, Output@GRAD; … -> Input@GRAD, Offset@GRAD, Filter@GRAD, Mask@GRAD
int32_t DeformableConvGrad(OpCall& call) {
  using A = args::dt_deformable_conv_grad;
  Shape s;
  if (!Read(call, s) || !HasDims(call, call.Arg(A::Output_GRAD), call.Arg(A::Input),
                                 {s.batch, s.filters, s.out_h, s.out_w}))
    return 1;
  for (int i = 0; i < 4; ++i)
    if (call.Has(A::Input_GRAD + i) && !call.Resize(call.Arg(A::Input_GRAD + i), call.Arg(i)))
      return 1;
  return VisitFloat(call.context(), call.Arg(A::Input), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const int64_t count = s.Rows() * s.Cells(), places = s.offset_groups * s.Taps() * s.Cells();
    T* columns =
        static_cast<T*>(dt_scratch(call.context(), 2 * count * static_cast<int64_t>(sizeof(T))));
    if (columns == nullptr) return call.Fail("no memory for the columns");
    T* outputs[4] = {};
    for (int i = 0; i < 4; ++i) {
      if (!call.Has(A::Input_GRAD + i)) continue;
      outputs[i] = Data<T>(call.Arg(A::Input_GRAD + i));
      std::fill_n(outputs[i], Elements(call.Arg(A::Input_GRAD + i)), T{0});
    }
    const auto at = [](T* data, int64_t offset) { return data ? data + offset : nullptr; };
    for (int64_t n = 0; n < s.batch; ++n) {
      const Sample<T> sample = SampleOf<T>(call, s, n);
      Gather(call.context(), s, sample, columns);
      MultiplyBackward(call.context(), s, Data<T>(call.Arg(A::Filter)),
                       Data<T>(call.Arg(A::Output_GRAD)) + n * s.filters * s.Cells(), columns,
                       columns + count, outputs[2]);
      ScatterBack(call.context(), s, sample, columns + count,
                  Gradients<T>{at(outputs[0], n * s.channels * s.Plane()),
                               at(outputs[1], n * places * 2), at(outputs[3], n * places)});
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
