// Training with rounding in mind (Jacob et al. 2018; the framework's fake_quantize ops): numbers
// are rounded to the levels that `bit_length` bits have within ± a scale, the largest magnitude of
// the tensor, of a channel, of a window of steps, or its moving average. fake_quantize_… give the
// level, …_quantize_dequantize_… the number that it stands for. Rows:
// runtime/kernels/signatures/quantization.calls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/quantization/calls.h"

namespace dtranspile::kernels {
namespace {

// How a tensor is rounded. Products are formed in the order of the framework's kernels: halves of
// levels are exact numbers, and another order would round some of them the other way.
struct Levels {
  double count = 127;  // to either side of 0
  bool toEven = false, numbers = false;
};

bool LevelsOf(OpCall& call, int bits, int round, std::string_view type, Levels& levels) {
  if (call.Int(bits) < 1 || call.Int(bits) > 16)
    return call.Fail("bit_length %lld, expected 1 to 16", static_cast<long long>(call.Int(bits))),
           false;
  levels.count = static_cast<double>((int64_t{1} << (call.Int(bits) - 1)) - 1);
  levels.toEven = call.Int(round) == 0;
  levels.numbers = type.find("_dequantize_") != std::string_view::npos;
  return true;
}

// Two roundings, by version of the op: half to even and then clipped to [-levels - 1, levels], or
// clipped to ± scale and then half away from zero. A scale that is nearly 0 is moved away from it.
template <typename T>
void Round(const Levels& levels, T scale, const T* x, int64_t n, T* out) {
  const T count = static_cast<T>(levels.count),
          inverse =
              scale <= static_cast<T>(1e-30) ? T{1} / (scale + static_cast<T>(1e-6)) : T{1} / scale;
  for (int64_t i = 0; i < n; ++i) {
    T level;
    if (levels.toEven) {
      level = std::min(std::max(std::nearbyint(count * inverse * x[i]), -count - 1), count);
    } else {
      const T within = x[i] < -scale ? -scale : x[i] > scale ? scale : x[i];
      level = std::round(count * inverse * within);
    }
    out[i] = levels.numbers ? level * scale / count : level;
  }
}

template <typename T>
T Largest(const T* x, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
  return largest;
}

// A tensor as [outer, channels, inner], or as one channel.
struct Channels {
  int64_t outer = 1, count = 1, inner = 1;
};
bool ChannelsOf(OpCall& call, const DtBuffer& x, int64_t axis, Channels& channels) {
  if (axis >= x.rank)
    return call.Fail("'%s' has %d dims, none of them is %lld", x.name, x.rank,
                     static_cast<long long>(axis)),
           false;
  const auto at = static_cast<int32_t>(axis);
  channels = axis < 0 ? Channels{1, 1, Elements(x)}
                      : Channels{Elements(x, 0, at), x.dims[at], Elements(x, at + 1, x.rank)};
  return true;
}

template <typename T>
std::vector<T> LargestOf(const Channels& channels, const T* x) {
  std::vector<T> largest(static_cast<size_t>(channels.count));
  for (int64_t o = 0; o < channels.outer; ++o)
    for (int64_t c = 0; c < channels.count; ++c) {
      T& one = largest[static_cast<size_t>(c)];
      one = std::max(one, Largest(x + (o * channels.count + c) * channels.inner, channels.inner));
    }
  return largest;
}

template <typename T>
void RoundChannels(const Levels& levels, const Channels& channels, const T* scales, const T* x,
                   T* out) {
  for (int64_t o = 0; o < channels.outer; ++o)
    for (int64_t c = 0; c < channels.count; ++c) {
      const int64_t at = (o * channels.count + c) * channels.inner;
      Round(levels, scales[c], x + at, channels.inner, out + at);
    }
}

// An output of some numbers, where somebody reads it.
template <typename T>
bool Give(OpCall& call, int slot, const std::vector<T>& values) {
  if (!call.Has(slot)) return true;
  DtBuffer& out = call.Arg(slot);
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  if (!call.Resize(out, dims)) return false;
  std::copy(values.begin(), values.end(), Data<T>(out));
  return true;
}

bool IsOne(OpCall& call, const DtBuffer& buffer) {
  return Elements(buffer) == 1 || (call.Fail("'%s' is not one number", buffer.name), false);
}

// The running sum and number of steps, both of which fade, with one more magnitude. Slots of the
// state before, then after.
struct Running {
  int oldSum, oldCount, sum, count;
};
template <typename T>
bool Average(OpCall& call, const Running& slots, T rate, T magnitude, T& scale) {
  if (!call.Has(slots.oldSum) || !call.Has(slots.oldCount))
    return call.Fail("InAccum and InState are needed for a moving average"), false;
  const DtBuffer &sum = call.Arg(slots.oldSum), &count = call.Arg(slots.oldCount);
  if (!IsOne(call, sum) || !IsOne(call, count)) return false;
  const T total = rate * *Data<T>(sum) + magnitude, steps = rate * *Data<T>(count) + 1;
  scale = total / steps;
  return Give<T>(call, slots.sum, {total}) && Give<T>(call, slots.count, {steps});
}

// `out` rounded within one scale, where it is read.
template <typename T>
bool GiveRounded(OpCall& call, int slot, const DtBuffer& x, const Levels& levels,
                 const Channels& channels, const T* scales) {
  if (!call.Has(slot)) return true;
  DtBuffer& out = call.Arg(slot);
  if (!call.Resize(out, x)) return false;
  RoundChannels(levels, channels, scales, Data<T>(x), Data<T>(out));
  return true;
}

bool GiveSame(OpCall& call, int slot, const DtBuffer& x) {
  if (!call.Has(slot)) return true;
  DtBuffer& out = call.Arg(slot);
  if (!call.Resize(out, x)) return false;
  std::memmove(out.data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  return true;
}

// Test mode: the running range stays as it is.
bool Keep(OpCall& call, int from, int to) {
  if (!call.Has(to)) return true;
  if (call.Has(from)) return GiveSame(call, to, call.Arg(from));
  return call.Fail("InAccum and InState are needed for a moving average"), false;
}

Channels Whole(const DtBuffer& x) { return {1, 1, Elements(x)}; }

}  // namespace

// X; bit_length, round_type, @type -> Out, OutScale
int32_t QuantizeAbsMax(OpCall& call) {
  using A = args::dt_quantize_abs_max;
  const DtBuffer& x = call.Arg(A::X);
  Levels levels;
  if (!LevelsOf(call, A::bit_length, A::round_type, call.Text(A::type), levels)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> scale = {Largest(Data<T>(x), Elements(x))};
    return Give(call, A::OutScale, scale) &&
                   GiveRounded(call, A::Out, x, levels, Whole(x), scale.data())
               ? 0
               : 1;
  });
}

// X; quant_axis, bit_length, round_type, @type -> Out, OutScale
int32_t QuantizeChannels(OpCall& call) {
  using A = args::dt_quantize_channels;
  const DtBuffer& x = call.Arg(A::X);
  Levels levels;
  Channels channels;
  const int64_t axis = call.Int(A::quant_axis);
  if (axis != 0 && axis != 1)
    return call.Fail("quant_axis %lld, expected 0 or 1", static_cast<long long>(axis));
  if (!LevelsOf(call, A::bit_length, A::round_type, call.Text(A::type), levels) ||
      !ChannelsOf(call, x, axis, channels))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> scales = LargestOf(channels, Data<T>(x));
    return Give(call, A::OutScale, scales) &&
                   GiveRounded(call, A::Out, x, levels, channels, scales.data())
               ? 0
               : 1;
  });
}

// X, InScale, InAccum, InState; moving_rate, bit_length, is_test, round_type, @type -> Out,
// OutScale, OutState, OutAccum
int32_t QuantizeAverage(OpCall& call) {
  using A = args::dt_quantize_average;
  const DtBuffer &x = call.Arg(A::X), &old = call.Arg(A::InScale);
  Levels levels;
  if (!LevelsOf(call, A::bit_length, A::round_type, call.Text(A::type), levels) ||
      !IsOne(call, old))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scale = {*Data<T>(old)};
    if (call.Bool(A::is_test)) {
      if (!Keep(call, A::InAccum, A::OutAccum) || !Keep(call, A::InState, A::OutState)) return 1;
    } else if (!Average(call, {A::InAccum, A::InState, A::OutAccum, A::OutState},
                        static_cast<T>(call.Real(A::moving_rate)), Largest(Data<T>(x), Elements(x)),
                        scale[0])) {
      return 1;
    }
    return Give(call, A::OutScale, scale) &&
                   GiveRounded(call, A::Out, x, levels, Whole(x), scale.data())
               ? 0
               : 1;
  });
}

// X, InAccum, InState; moving_rate -> Out, OutScale, OutState, OutAccum: X as it is
int32_t ObserveRange(OpCall& call) {
  using A = args::dt_observe_range;
  const DtBuffer& x = call.Arg(A::X);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scale(1);
    return Average(call, {A::InAccum, A::InState, A::OutAccum, A::OutState},
                   static_cast<T>(call.Real(A::moving_rate)), Largest(Data<T>(x), Elements(x)),
                   scale[0]) &&
                   Give(call, A::OutScale, scale) && GiveSame(call, A::Out, x)
               ? 0
               : 1;
  });
}

// X, InScale, Iter, OldScales; window_size, bit_length, is_test, round_type -> Out, OutScale,
// OutScales: the largest magnitude of a window of steps, whose own ones are kept. The largest one
// is looked for again when it leaves the window.
int32_t QuantizeRange(OpCall& call) {
  using A = args::dt_quantize_range;
  const DtBuffer &x = call.Arg(A::X), &old = call.Arg(A::InScale);
  const int64_t window = call.Int(A::window_size);
  const bool test = call.Bool(A::is_test);
  Levels levels;
  if (!LevelsOf(call, A::bit_length, A::round_type, "", levels) || !IsOne(call, old)) return 1;
  if (!test && (!call.Has(A::Iter) || !call.Has(A::OldScales)))
    return call.Fail("Iter and OutScales are needed for a window of steps");
  if (!test && (window < 1 || Elements(call.Arg(A::OldScales)) != window))
    return call.Fail("'%s' has not one number for each of %lld steps", call.Arg(A::OldScales).name,
                     static_cast<long long>(window));
  if (!test && (!IsOne(call, call.Arg(A::Iter)) || *Data<int64_t>(call.Arg(A::Iter)) < 0))
    return call.Fail("'%s' is no number of a step", call.Arg(A::Iter).name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scale = {*Data<T>(old)};
    if (test) {
      if (call.Has(A::OutScales) && call.Has(A::OldScales) &&
          !GiveSame(call, A::OutScales, call.Arg(A::OldScales)))
        return 1;
    } else {
      const int64_t step = *Data<int64_t>(call.Arg(A::Iter));
      const T* kept = Data<T>(call.Arg(A::OldScales));
      std::vector<T> scales(kept, kept + window);
      T& place = scales[static_cast<size_t>(step % window)];
      const T leaves = place;
      place = Largest(Data<T>(x), Elements(x));
      if (scale[0] < place) scale[0] = place;
      else if (std::fabs(leaves - scale[0]) < static_cast<T>(1e-6))
        scale[0] = Largest(scales.data(), std::min(step, window));
      if (!Give(call, A::OutScales, scales)) return 1;
    }
    return Give(call, A::OutScale, scale) &&
                   GiveRounded(call, A::Out, x, levels, Whole(x), scale.data())
               ? 0
               : 1;
  });
}

// X, Scale, ZeroPoint (which the framework does not look at), InAccum, InState; quant_axis,
// bit_length, round_type, is_test, only_observer -> Y, OutState, OutAccum, OutScale. In training
// the scale is that of X, of one for all a moving average with the rate 0.9.
int32_t QuantizeLinear(OpCall& call) {
  using A = args::dt_quantize_linear;
  const DtBuffer &x = call.Arg(A::X), &given = call.Arg(A::Scale);
  const int64_t axis = call.Int(A::quant_axis);
  Levels levels;
  Channels channels;
  if (!LevelsOf(call, A::bit_length, A::round_type, "", levels) ||
      !ChannelsOf(call, x, axis, channels))
    return 1;
  const bool test = call.Bool(A::is_test);
  if (test && Elements(given) != channels.count)
    return call.Fail("'%s' has %lld numbers for %lld channels", given.name,
                     static_cast<long long>(Elements(given)),
                     static_cast<long long>(channels.count));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> scales;
    if (test) scales.assign(Data<T>(given), Data<T>(given) + channels.count);
    else scales = LargestOf(channels, Data<T>(x));
    if (!test && axis < 0 &&
        !Average(call, {A::InAccum, A::InState, A::OutAccum, A::OutState}, static_cast<T>(0.9f),
                 scales[0], scales[0]))
      return 1;
    if (!Give(call, A::OutScale, scales) ||
        (test && !(Keep(call, A::InAccum, A::OutAccum) && Keep(call, A::InState, A::OutState))))
      return 1;
    if (call.Bool(A::only_observer)) return GiveSame(call, A::Y, x) ? 0 : 1;
    return GiveRounded(call, A::Y, x, levels, channels, scales.data()) ? 0 : 1;
  });
}

}  // namespace dtranspile::kernels
