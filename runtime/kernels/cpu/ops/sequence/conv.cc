// sequence_conv and its gradient: a context window of rows around every row, times a filter. The
// windows are laid out as a matrix [rows, contextLength * width], of which the product with the
// filter is taken. Slots and attributes: runtime/kernels/signatures/sequence.calls.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// The window around row t is [t + start, t + start + length) of its own sequence. Rows outside are
// 0, or with `trainable` rows of PaddingData, one per distance from the sequence.
struct Context {
  int64_t length = 0, start = 0, rows = 0, width = 0;
  bool trainable = false;

  int64_t window() const { return length * width; }
  int64_t above() const {
    return std::max<int64_t>(0, -start);
  }  // rows of PaddingData for places before a sequence; those after it follow
  int64_t padding_rows() const { return above() + std::max<int64_t>(0, start + length - 1); }
};

// Attributes 0..3: contextLength, contextStart, contextStride, paddingTrainable. Slots 0, 1, 2: X,
// PaddingData, Filter.
// Bounds keep the window matrix's extents within 64 bits.
bool ContextOf(OpCall& call, Context& context, Offsets& offsets) {
  using A = args::dt_sequence_conv;
  static_assert(A::Filter == args::dt_sequence_conv_grad::Filter &&
                A::PaddingData == args::dt_sequence_conv_grad::PaddingData &&
                A::X == args::dt_sequence_conv_grad::X &&
                A::contextLength == args::dt_sequence_conv_grad::contextLength &&
                A::contextStart == args::dt_sequence_conv_grad::contextStart &&
                A::contextStride == args::dt_sequence_conv_grad::contextStride &&
                A::paddingTrainable == args::dt_sequence_conv_grad::paddingTrainable);
  const DtBuffer &x = call.Arg(A::X), &filter = call.Arg(A::Filter);
  if (!SequencesOf(call, x, offsets)) return false;
  constexpr int64_t kLargest = 1 << 24;
  context = {call.Int(A::contextLength), call.Int(A::contextStart), x.dims[0], RowSize(x),
             call.Bool(A::paddingTrainable)};
  if (context.length <= 0 || context.length > kLargest || std::abs(context.start) > kLargest)
    return call.Fail("contextLength %lld, contextStart %lld",
                     static_cast<long long>(context.length), static_cast<long long>(context.start)),
           false;
  if (call.Int(A::contextStride) != 1)
    return call.Fail("contextStride %lld is not supported, only 1",
                     static_cast<long long>(call.Int(A::contextStride))),
           false;
  if (filter.rank != 2 || static_cast<__int128>(context.length) * context.width != filter.dims[0]) {
    call.Fail("Filter '%s' has %lld rows, expected %lld x %lld", filter.name,
              static_cast<long long>(filter.rank > 0 ? filter.dims[0] : 0),
              static_cast<long long>(context.length), static_cast<long long>(context.width));
    return false;
  }
  if (!context.trainable) return true;
  const DtBuffer& padding = call.Arg(A::PaddingData);
  if (padding.rank == 2 && padding.dims[0] == context.padding_rows() &&
      padding.dims[1] == context.width)
    return true;
  call.Fail("PaddingData '%s' must be [%lld, %lld]", padding.name,
            static_cast<long long>(context.padding_rows()), static_cast<long long>(context.width));
  return false;
}

// visit(place in the window matrix, row of X or -1, row of PaddingData) for every place of every
// window of sequence i.
template <typename Visit>
void ForEachPlace(const Context& c, const Offsets& offsets, int64_t i, Visit&& visit) {
  const int64_t first = offsets[static_cast<size_t>(i)], length = LengthAt(offsets, i);
  for (int64_t t = 0; t < length; ++t)
    for (int64_t k = 0; k < c.length; ++k) {
      const int64_t at = t + c.start + k;
      const bool inside = at >= 0 && at < length;
      visit(((first + t) * c.length + k) * c.width, inside ? first + at : -1,
            at < 0 ? at + c.above() : c.above() + at - length);
    }
}

// Scratch for [rows, length · width]; null where that is too large.
template <typename T>
T* Windows(OpCall& call, const Context& c) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(c.rows, c.window() * static_cast<int64_t>(sizeof(T)), &bytes))
    return nullptr;
  return static_cast<T*>(dt_scratch(call.context(), std::max<int64_t>(bytes, 1)));
}

// im2col along sequences. Every place is written, by row, by padding or by 0.
template <typename T>
void FillWindows(OpCall& call, const Context& c, const Offsets& offsets, T* windows) {
  using A = args::dt_sequence_conv;
  static_assert(A::PaddingData == args::dt_sequence_conv_grad::PaddingData &&
                A::X == args::dt_sequence_conv_grad::X);
  const T* x = Data<T>(call.Arg(A::X));
  const T* padding = c.trainable ? Data<T>(call.Arg(A::PaddingData)) : nullptr;
  Parallel(call.context(), CountOf(offsets),
           GrainFor(c.rows * c.window() * static_cast<int64_t>(sizeof(T)) /
                    std::max<int64_t>(CountOf(offsets), 1)),
           [&](int64_t lo, int64_t n) {
             for (int64_t i = lo; i < lo + n; ++i)
               ForEachPlace(c, offsets, i, [&](int64_t place, int64_t row, int64_t padding_row) {
                 if (row >= 0) std::copy_n(x + row * c.width, c.width, windows + place);
                 else if (padding != nullptr)
                   std::copy_n(padding + padding_row * c.width, c.width, windows + place);
                 else std::fill_n(windows + place, c.width, T{0});
               });
           });
}

}  // namespace

// Scratch for the windows is contextLength times the input.
int32_t SequenceConv(OpCall& call) {
  using A = args::dt_sequence_conv;
  const DtBuffer &x = call.Arg(A::X), &filter = call.Arg(A::Filter);
  DtBuffer& out = call.Arg(A::Out);
  Context c;
  Offsets offsets;
  if (!ContextOf(call, c, offsets) || !CheckTypes(call, x, {A::PaddingData, A::Filter, A::Out}) ||
      !call.Resize(out, {c.rows, filter.dims[1]}))
    return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* windows = Windows<T>(call, c);
    if (windows == nullptr) return call.Fail("no memory for the context windows of '%s'", x.name);
    FillWindows(call, c, offsets, windows);
    const int64_t columns = filter.dims[1];
    return Multiply(call.context(),
                    {false, false, c.rows, columns, c.window(), c.window(), columns, columns},
                    windows, Data<T>(filter), Data<T>(out));
  });
}

// dFilter = windowsᵀ · dOut. dOut · Filterᵀ is the gradient of the window matrix, which is added up
// into the rows that the windows were filled from; those of a window overlap, so this goes by
// sequence on one thread. One scratch matrix serves both.
int32_t SequenceConvGrad(OpCall& call) {
  using A = args::dt_sequence_conv_grad;
  const DtBuffer &x = call.Arg(A::X), &filter = call.Arg(A::Filter),
                 &gradient = call.Arg(A::Out_GRAD);
  Context c;
  Offsets offsets;
  if (!ContextOf(call, c, offsets) || !CheckTypes(call, x,
                                                  {A::PaddingData, A::Filter, A::Out_GRAD,
                                                   A::X_GRAD, A::Filter_GRAD, A::PaddingData_GRAD}))
    return 1;
  const int64_t columns = filter.dims[1];
  if (gradient.rank != 2 || gradient.dims[0] != c.rows || gradient.dims[1] != columns)
    return call.Fail("'%s' must be [%lld, %lld]", gradient.name, static_cast<long long>(c.rows),
                     static_cast<long long>(columns));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* windows = Windows<T>(call, c);
    if (windows == nullptr) return call.Fail("no memory for the context windows of '%s'", x.name);
    if (call.Has(A::Filter_GRAD)) {
      DtBuffer& dfilter = call.Arg(A::Filter_GRAD);
      if (!call.Resize(dfilter, filter)) return 1;
      FillWindows(call, c, offsets, windows);
      if (Multiply(call.context(),
                   {true, false, c.window(), columns, c.rows, c.window(), columns, columns},
                   windows, Data<T>(gradient), Data<T>(dfilter)))
        return 1;
    }
    const bool padded = call.Has(A::PaddingData_GRAD) && c.trainable;
    if (!call.Has(A::X_GRAD) && !padded) return 0;
    if (Multiply(call.context(),
                 {false, true, c.rows, c.window(), columns, columns, columns, c.window()},
                 Data<T>(gradient), Data<T>(filter), windows))
      return 1;
    T *dx = nullptr, *dpadding = nullptr;
    if (call.Has(A::X_GRAD)) {
      if (!call.Resize(call.Arg(A::X_GRAD), x)) return 1;
      OpCall::SetLod(call.Arg(A::X_GRAD), OpCall::LodOf(x));
      dx = Data<T>(call.Arg(A::X_GRAD));
      std::fill_n(dx, Elements(x), T{0});
    }
    if (padded) {
      if (!call.Resize(call.Arg(A::PaddingData_GRAD), call.Arg(A::PaddingData))) return 1;
      dpadding = Data<T>(call.Arg(A::PaddingData_GRAD));
      std::fill_n(dpadding, Elements(call.Arg(A::PaddingData)), T{0});
    }
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      ForEachPlace(c, offsets, i, [&](int64_t place, int64_t row, int64_t padding_row) {
        T* to = row >= 0 ? (dx == nullptr ? nullptr : dx + row * c.width)
                         : (dpadding == nullptr ? nullptr : dpadding + padding_row * c.width);
        for (int64_t j = 0; to != nullptr && j < c.width; ++j) to[j] += windows[place + j];
      });
    return 0;
  });
}

}  // namespace dtranspile::kernels
