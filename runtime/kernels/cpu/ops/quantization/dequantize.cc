// Levels back to numbers: dequantize_linear, fake_channel_wise_dequantize_max_abs. Rows:
// runtime/kernels/signatures/quantization.calls.
#include <vector>

#include "runtime/kernels/cpu/ops/quantization/calls.h"

namespace dtranspile::kernels {
namespace {

int64_t LevelsOf(int64_t bits) { return (int64_t{1} << (bits - 1)) - 1; }

}  // namespace

// X, Scale; quant_axis, bit_length, only_observer -> Y: X · scale / levels
int32_t DequantizeLinear(OpCall& call) {
  using A = args::dt_dequantize_linear;
  const DtBuffer &x = call.Arg(A::X), &scale = call.Arg(A::Scale);
  DtBuffer& y = call.Arg(A::Y);
  const int64_t axis = call.Int(A::quant_axis), bits = call.Int(A::bit_length);
  if (bits < 2 || bits > 16)
    return call.Fail("bit_length %lld, expected 2 to 16", static_cast<long long>(bits));
  if (axis >= x.rank)
    return call.Fail("'%s' has %d dims, none of them is %lld", x.name, x.rank,
                     static_cast<long long>(axis));
  const int64_t channels = axis < 0 ? 1 : x.dims[axis],
                inner =
                    axis < 0 ? Elements(x) : Elements(x, static_cast<int32_t>(axis) + 1, x.rank);
  const bool same = call.Bool(A::only_observer);
  if (!same && Elements(scale) != channels)
    return call.Fail("'%s' has %lld numbers for %lld channels", scale.name,
                     static_cast<long long>(Elements(scale)), static_cast<long long>(channels));
  if (!call.Resize(y, x)) return 1;
  return VisitFloat(call.context(), scale, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto levels = static_cast<T>(LevelsOf(bits));
    return VisitPlain(call.context(), x, [&](auto from) {
      using From = typename decltype(from)::type;
      for (int64_t i = 0, n = Elements(x); i < n; ++i) {
        const T value = static_cast<T>(Data<From>(x)[i]);
        const int64_t c = channels == 1 ? 0 : i / inner % channels;
        Data<T>(y)[i] = same ? value : value * Data<T>(scale)[c] / levels;
      }
      return 0;
    });
  });
}

// X, Scales; quant_bits, quant_axis, x_num_col_dims -> Out: one list of scales, for the channels
// along `quant_axis`; or one for those along `x_num_col_dims`, and one number for all.
int32_t DequantizeChannels(OpCall& call) {
  using A = args::dt_dequantize_channels;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int count = call.Count(A::Scales);
  const absl::Span<const int64_t> bits = call.Ints(A::quant_bits);
  if (count < 1 || count > 2 || static_cast<int>(bits.size()) < count)
    return call.Fail("%d lists of scales and %zu quant_bits", count, bits.size());
  int64_t levels = 1;
  for (int k = 0; k < count; ++k) {
    if (bits[static_cast<size_t>(k)] < 2 || bits[static_cast<size_t>(k)] > 16)
      return call.Fail("quant_bits %lld, expected 2 to 16",
                       static_cast<long long>(bits[static_cast<size_t>(k)]));
    levels *= LevelsOf(bits[static_cast<size_t>(k)]);
  }
  const int64_t axis = call.Int(count == 1 ? A::quant_axis : A::x_num_col_dims);
  if (axis < 0 || axis >= x.rank)
    return call.Fail("'%s' has %d dims, none of them is %lld", x.name, x.rank,
                     static_cast<long long>(axis));
  const DtBuffer& scales = call.Arg(A::Scales, 0);
  const int64_t channels = x.dims[axis],
                inner = Elements(x, static_cast<int32_t>(axis) + 1, x.rank);
  if (Elements(scales) != channels)
    return call.Fail("'%s' has %lld numbers for %lld channels", scales.name,
                     static_cast<long long>(Elements(scales)), static_cast<long long>(channels));
  if (count == 2 && Elements(call.Arg(A::Scales, 1)) != 1)
    return call.Fail("'%s' is not one number", call.Arg(A::Scales, 1).name);
  if (!call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T all = count == 2 ? *Data<T>(call.Arg(A::Scales, 1)) : T{1};
    for (int64_t i = 0, n = Elements(x); i < n; ++i)
      Data<T>(out)[i] =
          Data<T>(x)[i] * Data<T>(scales)[i / inner % channels] * all / static_cast<T>(levels);
    return 0;
  });
}

}  // namespace dtranspile::kernels
