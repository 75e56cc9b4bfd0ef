// dpsgd (Abadi 2016; phi dpsgd): the gradient clipped by its norm, with one normal number for all
// elements as noise. Row: runtime/kernels/signatures/optimizer.calls.
#include <cmath>

#include "runtime/kernels/cpu/ops/optimizer/calls.h"
#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::kernels {

// The normal number is drawn by the polar method (Marsaglia), as the framework does it, so that the
// sequence of the engine is the same.
int32_t Dpsgd(OpCall& call) {
  using A = args::dt_dpsgd;
  const DtBuffer &param = call.Arg(A::Param), &gradient = call.Arg(A::Grad),
                 &rate = call.Arg(A::LearningRate);
  DtBuffer& out = call.Arg(A::ParamOut);
  if (!SameShape(param, gradient) || Elements(rate) != 1)
    return call.Fail("'%s', '%s' and '%s' do not belong together", param.name, gradient.name,
                     rate.name);
  if (!SameType(call, param, gradient) || !SameType(call, param, rate) || !call.Resize(out, param))
    return 1;
  const double clip = call.Real(A::clip), batch = call.Real(A::batch_size),
               sigma = call.Real(A::sigma);
  // The engine of 1.x in all releases.
  random::Engine& engine =
      random::Generator::Process().ForOp(random::Release::kFluid1, call.Int(A::seed));
  return VisitFloat(call.context(), param, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double squares = 0;
    for (int64_t i = 0; i < Elements(gradient); ++i)
      squares += static_cast<double>(Data<T>(gradient)[i]) * Data<T>(gradient)[i];
    const T norm = static_cast<T>(std::sqrt(squares)),
            scale = norm > clip ? norm / static_cast<T>(clip) : T(1);
    T x = 0, square = 0;
    do {
      x = T(2) * engine.Canonical<T>() - T(1);
      const T y = T(2) * engine.Canonical<T>() - T(1);
      square = x * x + y * y;
    } while (square >= T(1) || square == T(0));
    const T noise = x * std::sqrt(T(-2) * std::log(square) / square) * static_cast<T>(sigma) /
                    static_cast<T>(batch);
    for (int64_t i = 0; i < Elements(param); ++i)
      Data<T>(out)[i] = Data<T>(param)[i] - *Data<T>(rate) * (Data<T>(gradient)[i] / scale + noise);
    return 0;
  });
}

}  // namespace dtranspile::kernels
