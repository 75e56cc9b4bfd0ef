// dropout (Srivastava 2014; the framework's dropout op), with the framework's numbers: one for each
// element, drawn in memory order. Rows: runtime/kernels/signatures/random.calls.
#include <cstring>
#include <limits>

#include "runtime/kernels/cpu/ops/random/calls.h"
#include "runtime/kernels/cpu/small_float.h"

namespace dtranspile::kernels {
namespace {

// An element is kept where its number is not below `probability`.
void DrawMask(random::Engine& engine, float probability, int64_t count, uint8_t* mask) {
  if (probability >= 1.0f)
    return static_cast<void>(std::memset(mask, 0, static_cast<size_t>(count)));
  for (int64_t i = 0; i < count; ++i) mask[i] = engine.Canonical<float>() < probability ? 0 : 1;
}

}  // namespace

// Scaled up in training (upscale_in_train), or scaled down in tests (downgrade_in_infer). The mask
// is an output, or scratch where nobody asks for it; drawing is sequential, what follows is
// parallel.
int32_t Dropout(OpCall& call) {
  using A = args::dt_dropout;
  const DtBuffer& x = call.Arg(A::X);
  const auto probability = static_cast<float>(call.Real(A::dropout_prob));
  const bool test = call.Bool(A::is_test),
             up = call.Text(A::dropout_implementation) == "upscale_in_train";
  if (!(probability >= 0.0f && probability <= 1.0f))
    return call.Fail("dropout_prob %g", static_cast<double>(probability));
  DtBuffer *out = call.Has(A::Out) ? &call.Arg(A::Out) : nullptr,
           *mask = call.Has(A::Mask) ? &call.Arg(A::Mask) : nullptr;
  if ((out != nullptr && !call.Resize(*out, x)) || (mask != nullptr && !call.Resize(*mask, x)))
    return 1;
  if (out != nullptr) call.SetLod(*out, OpCall::LodOf(x));
  const int64_t count = Elements(x);
  auto* kept = mask != nullptr ? Data<uint8_t>(*mask)
                               : static_cast<uint8_t*>(dt_scratch(call.context(), count));
  if (kept == nullptr && count > 0)
    return call.Fail("no memory for a mask of %lld elements", static_cast<long long>(count));
  if (test) {
    std::memset(kept, 1, static_cast<size_t>(count));
  } else {
    std::vector<int64_t> seed = {call.Bool(A::fix_seed) ? call.Int(A::seed) : 0};
    if (call.Has(A::Seed) && (!IntegersOf(call, call.Arg(A::Seed), seed) || seed.size() != 1))
      return call.Fail("'%s' is no seed", call.Arg(A::Seed).name);
    DrawMask(EngineOf(call, A::version, seed[0]), probability, count, kept);
  }
  if (out == nullptr) return 0;
  const float divisor = !test && up ? 1.0f - probability : 1.0f,
              factor = test && !up ? 1.0f - probability : 1.0f;
  return VisitAnyFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), count, 1 << 13, [&](int64_t lo, int64_t n) {
      using Wide = decltype(Widen(T()));
      for (int64_t i = lo; i < lo + n; ++i)
        Data<T>(*out)[i] = kept[i] ? Narrow<T>(Widen(Data<T>(x)[i]) * static_cast<Wide>(factor) /
                                               static_cast<Wide>(divisor))
                                   : Narrow<T>(0.0f);
    });
    return 0;
  });
}

// Another number at each run where the attribute is 0.
int32_t Seed(OpCall& call) {
  using A = args::dt_seed;
  DtBuffer& out = call.Arg(A::Out);
  const int64_t one[] = {1}, given = call.Int(A::seed);
  if (!call.Resize(out, one)) return 1;
  if (TypeOf(out) != DType::kInt32) return call.Fail("output '%s' is no int32", out.name);
  *Data<int32_t>(out) =
      static_cast<int32_t>(given != 0 ? given
                                      : random::Generator::Process()
                                            .ForOp(random::Release::kFluid1, 0)
                                            .Integer(1, std::numeric_limits<int32_t>::max()));
  return 0;
}

}  // namespace dtranspile::kernels
