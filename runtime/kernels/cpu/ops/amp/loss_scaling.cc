// Dynamic loss scaling (Micikevicius 2018; phi check_finite_and_unscale, update_loss_scaling):
// lists of gradients, of any floating-point type. Rows: runtime/kernels/signatures/amp.calls.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/ops/amp/calls.h"
#include "runtime/kernels/cpu/small_float.h"

namespace dtranspile::kernels {
namespace {

constexpr int64_t kGrain = 1 << 13;

template <typename T>
bool AllFinite(DtContext* context, const DtBuffer& x) {
  std::atomic<bool> finite = true;
  Parallel(context, Elements(x), kGrain, [&](int64_t lo, int64_t n) {
    bool all = true;
    for (int64_t i = lo; i < lo + n; ++i) all &= std::isfinite(Widen(Data<T>(x)[i]));
    if (!all) finite = false;
  });
  return finite;
}

// One number of a state or a flag; false with a message where the buffer holds none.
template <typename T>
bool Read(OpCall& call, int slot, DType type, T& value) {
  const DtBuffer& buffer = call.Arg(slot);
  if (TypeOf(buffer) != type || Elements(buffer) < 1)
    return call.Fail("'%s' is no %s of one element", buffer.name, NameOf(type)), false;
  value = *Data<T>(buffer);
  return true;
}

bool CopyState(OpCall& call, int from, int to) {
  if (!call.Has(to)) return true;
  if (!call.Resize(call.Arg(to), call.Arg(from))) return false;
  std::memcpy(call.Arg(to).data, call.Arg(from).data,
              static_cast<size_t>(Elements(call.Arg(from)) * ElementSize(call.Arg(from))));
  return true;
}

// Out = X / Scale; X * 0 from the first list member on that holds something not finite, so that
// this itself becomes NaN (as in the framework; update_loss_scaling makes zeros of it). S: float,
// or double in a program that is computed in it.
template <typename S>
int32_t Unscale(OpCall& call, S scale) {
  using A = args::dt_check_finite_and_unscale;
  bool found = false;
  for (int k = 0; k < call.Count(A::X); ++k) {
    const DtBuffer& x = call.Arg(A::X, k);
    const int32_t failed = VisitAnyFloat(call.context(), x, [&](auto tag) {
      using T = typename decltype(tag)::type;
      found = found || !AllFinite<T>(call.context(), x);
      if (!call.Has(A::Out, k)) return 0;
      DtBuffer& out = call.Arg(A::Out, k);
      if (!call.Resize(out, x)) return 1;
      const S factor = found ? S(0) : 1 / scale;
      Parallel(call.context(), Elements(x), kGrain, [&](int64_t lo, int64_t n) {
        using W = decltype(Widen(T()));
        for (int64_t i = lo; i < lo + n; ++i)
          Data<T>(out)[i] = Narrow<T>(static_cast<W>(Widen(Data<T>(x)[i]) * factor));
      });
      return 0;
    });
    if (failed != 0) return failed;
  }
  if (!call.Has(A::FoundInfinite)) return 0;
  const int64_t one[] = {1};
  if (!call.Resize(call.Arg(A::FoundInfinite), one)) return 1;
  *Data<bool>(call.Arg(A::FoundInfinite)) = found;
  return 0;
}

// The scale after a step with or without something not finite; the counters change with it.
template <typename S>
S NextScale(OpCall& call, bool found, S scale, int32_t& good, int32_t& bad) {
  using A = args::dt_update_loss_scaling;
  if (found) {
    good = 0;
    if (++bad != call.Int(A::decr_every_n_nan_or_inf)) return scale;
    bad = 0;
    return std::max(S(1), scale * static_cast<S>(call.Real(A::decr_ratio)));
  }
  bad = 0;
  if (++good != call.Int(A::incr_every_n_steps)) return scale;
  good = 0;
  const S larger = scale * static_cast<S>(call.Real(A::incr_ratio));
  return std::isfinite(larger) ? larger : scale;
}

// `use` gets the number that a scale is, in its type.
template <typename Use>
int32_t WithScale(OpCall& call, int slot, Use use) {
  const DtBuffer& scale = call.Arg(slot);
  if (Elements(scale) < 1) return call.Fail("'%s' has no element", scale.name);
  return VisitFloat(call.context(), scale,
                    [&](auto tag) { return use(*Data<typename decltype(tag)::type>(scale)); });
}

}  // namespace

// Slots: X, Scale -> Out, FoundInfinite.
int32_t CheckFiniteAndUnscale(OpCall& call) {
  using A = args::dt_check_finite_and_unscale;
  return WithScale(call, A::Scale, [&](auto scale) { return Unscale(call, scale); });
}

// Slots: X, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, StopUpdate, old LossScaling ->
// Out, LossScaling, OutGoodSteps, OutBadSteps.
int32_t UpdateLossScaling(OpCall& call) {
  using A = args::dt_update_loss_scaling;
  bool found = false, stop = call.Bool(A::stop_update);
  if (!Read(call, A::FoundInfinite, DType::kBool, found) ||
      (call.Has(A::StopUpdate) && !Read(call, A::StopUpdate, DType::kBool, stop)))
    return 1;
  for (int k = 0; k < call.Count(A::X); ++k) {
    if (!call.Has(A::Out, k)) continue;
    const DtBuffer& x = call.Arg(A::X, k);
    DtBuffer& out = call.Arg(A::Out, k);
    if (!call.Resize(out, x)) return 1;
    const auto bytes = static_cast<size_t>(Elements(x) * ElementSize(x));
    if (found) std::memset(out.data, 0, bytes);
    else std::memcpy(out.data, x.data, bytes);
  }
  if (!CopyState(call, A::PrevLossScaling, A::LossScaling) ||
      !CopyState(call, A::InGoodSteps, A::OutGoodSteps) ||
      !CopyState(call, A::InBadSteps, A::OutBadSteps))
    return 1;
  if (stop) return 0;
  int32_t good = 0, bad = 0;
  if (!Read(call, A::InGoodSteps, DType::kInt32, good) ||
      !Read(call, A::InBadSteps, DType::kInt32, bad))
    return 1;
  const int32_t failed = WithScale(call, A::PrevLossScaling, [&](auto scale) {
    const auto next = NextScale(call, found, scale, good, bad);
    if (call.Has(A::LossScaling)) *Data<decltype(scale)>(call.Arg(A::LossScaling)) = next;
    return 0;
  });
  if (failed != 0) return failed;
  if (call.Has(A::OutGoodSteps)) *Data<int32_t>(call.Arg(A::OutGoodSteps)) = good;
  if (call.Has(A::OutBadSteps)) *Data<int32_t>(call.Arg(A::OutBadSteps)) = bad;
  return 0;
}

}  // namespace dtranspile::kernels
