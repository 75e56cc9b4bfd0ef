// Updates by a gradient of SelectedRows that leave the rows it does not list as they are: sgd,
// adagrad, adam with lazy_mode, ftrl, in place where the plan gives old and new value the same
// memory. All but sgd sum repeated rows first. Formulas:
// runtime/kernels/signatures/optimizer.calls.
#include "runtime/kernels/cpu/ops/rows.h"

#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/ops/optimizer/calls.h"

namespace dtranspile::kernels {
namespace {

// State of an optimizer that is as large as the parameter: slot of the old value, slot of the new
// one.
struct State {
  int in, out;
};

// The new values, first equal to the old ones; null in `data` where nobody reads one. The row
// gradient has to fit the first.
template <typename T, size_t N>
bool States(OpCall& call, const State (&states)[N], const DtBuffer& gradient, T* (&data)[N]) {
  for (size_t i = 0; i < N; ++i) {
    const DtBuffer &from = call.Arg(states[i].in), &param = call.Arg(states[0].in);
    if (!SameShape(from, param) || TypeOf(from) != TypeOf(param))
      return call.Fail("'%s' and '%s' differ in extents or element type", from.name, param.name),
             false;
    if (!call.Has(states[i].out))
      return call.Fail("the new value of '%s' is not asked for", from.name), false;
    DtBuffer& to = call.Arg(states[i].out);
    if (!call.Resize(to, from)) return false;
    if (to.data != from.data)
      std::memcpy(to.data, from.data, static_cast<size_t>(Elements(from) * ElementSize(from)));
    data[i] = Data<T>(to);
  }
  const DtBuffer& param = call.Arg(states[0].in);
  const exec::Value& rows = *OpCall::ValueOf(gradient);
  if (param.rank >= 1 && rows.height == param.dims[0] && RowWidth(gradient) == RowWidth(param) &&
      TypeOf(gradient) == TypeOf(param))
    return true;
  return call.Fail("'%s' has rows of another height, width or element type than '%s'",
                   gradient.name, param.name),
         false;
}

// The one element of an argument.
template <typename T>
bool Number(OpCall& call, int slot, T& value) {
  const DtBuffer& buffer = call.Arg(slot);
  if (Elements(buffer) != 1 || ElementSize(buffer) != static_cast<int64_t>(sizeof(T)))
    return call.Fail("'%s' is no single number of the parameter's type", buffer.name), false;
  value = *Data<T>(buffer);
  return true;
}

// An update by rows: slots Param, Grad (SelectedRows), LearningRate. update(gradient, new values of
// the states, rate) once all of them are checked.
template <size_t N, typename Update>
int32_t UpdateRows(OpCall& call, const State (&states)[N], Update&& update) {
  using A = args::dt_adagrad_rows;
  static_assert(A::Grad == args::dt_adam_rows::Grad &&
                A::LearningRate == args::dt_adam_rows::LearningRate &&
                A::Param == args::dt_adam_rows::Param);
  static_assert(A::Grad == args::dt_ftrl_rows::Grad &&
                A::LearningRate == args::dt_ftrl_rows::LearningRate &&
                A::Param == args::dt_ftrl_rows::Param);
  static_assert(A::Grad == args::dt_sgd_rows::Grad &&
                A::LearningRate == args::dt_sgd_rows::LearningRate &&
                A::Param == args::dt_sgd_rows::Param);
  const DtBuffer& gradient = call.Arg(A::Grad);
  if (RowsOf(call, gradient) == nullptr) return 1;
  return VisitFloat(call.context(), call.Arg(A::Param), [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    T *data[N], rate = 0;
    return States<T>(call, states, gradient, data) && Number(call, A::LearningRate, rate)
               ? update(gradient, data, rate)
               : 1;
  });
}

// An attribute as the framework has it: single precision.
template <typename T>
T Attribute(OpCall& call, int attr) {
  return static_cast<T>(static_cast<float>(call.Real(attr)));
}

// The square root as an instruction: std::sqrt has to set errno, which keeps loops from being
// vectorised.
template <typename T>
T Root(T x) {
  return __builtin_elementwise_sqrt(x);
}

// update(element of the parameter, gradient) over the rows, repeated ones summed; rows are shared
// out over the threads. `states`: how many arrays of the parameter's size an update touches. Rows
// lie far apart, so memory is asked for those to come.
template <typename T, size_t N, typename Update>
void ForEachElement(OpCall& call, const DtBuffer& gradient, T* const (&states)[N],
                    Update&& update) {
  constexpr int64_t kAhead = 8, kLine = 64 / sizeof(T);
  const exec::Value& value = *OpCall::ValueOf(gradient);
  const RowGroups groups = GroupRows(value.rows, value.height);
  const int64_t width = RowWidth(gradient);
  const auto ask = [&](int64_t row) {
    for (T* state : states)
      for (int64_t j = 0; j < width; j += kLine) __builtin_prefetch(state + row * width + j, 1);
  };
  Parallel(call.context(), groups.size(), GrainFor(width * static_cast<int64_t>(N * sizeof(T))),
           [&](int64_t lo, int64_t n) {
             std::vector<T> sum(static_cast<size_t>(width));
             for (int64_t i = lo; i < lo + n; ++i) {
               if (i + kAhead < lo + n) ask(groups.rows[static_cast<size_t>(i + kAhead)]);
               const T* g = GroupValue(groups, i, Data<const T>(gradient), width, sum.data());
               const int64_t first = groups.rows[static_cast<size_t>(i)] * width;
               for (int64_t j = 0; j < width; ++j) update(first + j, g[j]);
             }
           });
}

}  // namespace

// Param, Grad, LearningRate -> ParamOut
int32_t SgdRows(OpCall& call) {
  using A = args::dt_sgd_rows;
  return UpdateRows(call, {{A::Param, A::ParamOut}},
                    [&](const DtBuffer& gradient, auto& data, auto rate) -> int32_t {
                      using T = decltype(rate);
                      const int64_t width = RowWidth(gradient);
                      const std::vector<int64_t>& rows = OpCall::ValueOf(gradient)->rows;
                      for (size_t i = 0; i < rows.size(); ++i)
                        for (int64_t j = 0; j < width; ++j)
                          data[0][rows[i] * width + j] -=
                              rate * Data<T>(gradient)[static_cast<int64_t>(i) * width + j];
                      return 0;
                    });
}

// Param, Grad, LearningRate, Moment; epsilon -> ParamOut, MomentOut
int32_t AdagradRows(OpCall& call) {
  using A = args::dt_adagrad_rows;
  return UpdateRows(call, {{A::Param, A::ParamOut}, {A::Moment, A::MomentOut}},
                    [&](const DtBuffer& gradient, auto& data, auto rate) -> int32_t {
                      using T = decltype(rate);
                      const T epsilon = Attribute<T>(call, A::epsilon);
                      ForEachElement(call, gradient, data, [=](int64_t at, T g) {
                        data[1][at] += g * g;
                        data[0][at] -= rate * g / (Root(data[1][at]) + epsilon);
                      });
                      return 0;
                    });
}

// Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow; beta1, beta2, epsilon, @version
// -> ParamOut, Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut
int32_t AdamRows(OpCall& call) {
  using A = args::dt_adam_rows;
  return UpdateRows(
      call, {{A::Param, A::ParamOut}, {A::Moment1, A::Moment1Out}, {A::Moment2, A::Moment2Out}},
      [&](const DtBuffer& gradient, auto& data, auto rate) -> int32_t {
        using T = decltype(rate);
        T power1 = 0, power2 = 0;
        if (!Number(call, A::Beta1Pow, power1) || !Number(call, A::Beta2Pow, power2)) return 1;
        const T beta1 = Attribute<T>(call, A::beta1), beta2 = Attribute<T>(call, A::beta2);
        // The framework moves the powers on, in place, before it updates rows: a
        // sparse step is corrected with those of the next one.
        power1 *= beta1;
        power2 *= beta2;
        const T correction = std::sqrt(1 - power2);
        const bool legacy = call.Int(A::version) > 0 && call.Int(A::version) < 2000000;
        const T epsilon = Attribute<T>(call, A::epsilon) * (legacy ? T{1} : correction),
                step = rate * correction / (1 - power1);
        ForEachElement(call, gradient, data, [=](int64_t at, T g) {
          T &m = data[1][at], &v = data[2][at];
          m = beta1 * m + (1 - beta1) * g;
          v = beta2 * v + (1 - beta2) * g * g;
          data[0][at] -= step * (m / (Root(v) + epsilon));
        });
        const T next[] = {power1, power2};
        for (int i = 0; i < 2; ++i) {
          if (!call.Has(A::Beta1PowOut + i)) continue;
          if (!call.Resize(call.Arg(A::Beta1PowOut + i), call.Arg(A::Beta1Pow + i))) return 1;
          *Data<T>(call.Arg(A::Beta1PowOut + i)) = next[i];
        }
        return 0;
      });
}

// Param, Grad, LearningRate, SquaredAccumulator, LinearAccumulator; l1, l2, lr_power -> ParamOut,
// SquaredAccumOut, LinearAccumOut
int32_t FtrlRows(OpCall& call) {
  using A = args::dt_ftrl_rows;
  return UpdateRows(call,
                    {{A::Param, A::ParamOut},
                     {A::SquaredAccumulator, A::SquaredAccumOut},
                     {A::LinearAccumulator, A::LinearAccumOut}},
                    [&](const DtBuffer& gradient, auto& data, auto rate) -> int32_t {
                      using T = decltype(rate);
                      constexpr double kTiny = 1e-10;
                      const T l1 = Attribute<T>(call, A::l1) + static_cast<T>(kTiny),
                              l2 = Attribute<T>(call, A::l2) + static_cast<T>(kTiny),
                              power = Attribute<T>(call, A::lr_power);
                      ForEachElement(call, gradient, data, [=](int64_t at, T g) {
                        T &p = data[0][at], &n = data[1][at], &z = data[2][at];
                        const T sum = n + g * g, after = std::pow(sum, -power),
                                before = std::pow(n, -power);
                        z += g - (after - before) / rate * p;
                        n = sum;
                        const T bound = z > 0 ? l1 : -l1;
                        p = std::fabs(z) > l1 ? (bound - z) / (after / rate + 2 * l2) : T{0};
                      });
                      return 0;
                    });
}

}  // namespace dtranspile::kernels
