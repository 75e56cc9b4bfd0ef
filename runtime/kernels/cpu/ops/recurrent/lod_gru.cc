// gru over sequences and its gradient. Formulas: gru_op.cc of the framework.
//
//   u = gate(x_u + h' W_u)   r = gate(x_r + h' W_r)   c = act(x_c + (r h') W_c)   h = (1 - u) h' +
//   u c   (origin_mode: h = u h' + (1 - u) c)
//
// Blocks of 3 D are in the order u r c. Weight is declared [D, 3D] but holds a contiguous [D, 2D]
// for u and r, then a contiguous [D, D] for c.
#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"
#include "runtime/kernels/cpu/ops/recurrent/steps.h"

namespace dtranspile::kernels {
namespace {

struct Gru {
  int64_t size = 0;  // D
  bool reverse = false, origin = false;
  Activation activation, gate;
  Offsets offsets;
  Steps steps;
};

// Attributes 0..3: activation, gate_activation, is_reverse, origin_mode.
// Reads what the call and its gradient share. `ragged` has the LoD; steps are the rows of all
// sequences with the same distance from their begin, or end with is_reverse: one product of
// matrices per step instead of one per row.
bool GruOf(OpCall& call, const DtBuffer& ragged, const DtBuffer& weight, const DtBuffer* h0,
           Gru& g) {
  using A = args::dt_gru;
  static_assert(A::activation == args::dt_gru_grad::activation &&
                A::gate_activation == args::dt_gru_grad::gate_activation &&
                A::is_reverse == args::dt_gru_grad::is_reverse &&
                A::origin_mode == args::dt_gru_grad::origin_mode);
  if (weight.rank != 2 || weight.dims[0] * 3 != weight.dims[1])
    return call.Fail("Weight '%s' must be [D, 3D]", weight.name), false;
  g.size = weight.dims[0];
  g.reverse = call.Bool(A::is_reverse);
  g.origin = call.Bool(A::origin_mode);
  if (!ActivationOf(call, A::activation, g.activation) ||
      !ActivationOf(call, A::gate_activation, g.gate) || !SequencesOf(call, ragged, g.offsets))
    return false;
  g.steps = StepsOf(g.offsets, g.reverse);
  return h0 == nullptr || CheckMatrix(call, *h0, CountOf(g.offsets), g.size);
}

// First states in the order of the sequences of a step.
template <typename T>
T* FirstOf(OpCall& call, const Gru& g, const DtBuffer& h0) {
  T* first = Scratch<T>(call, CountOf(g.offsets) * g.size);
  for (size_t k = 0; k < g.steps.sequences.size(); ++k)
    std::copy_n(Data<T>(h0) + g.steps.sequences[k] * g.size, g.size,
                first + static_cast<int64_t>(k) * g.size);
  return first;
}

namespace forward {

// One step: `before` (null: zeros) is the hidden value of the step before.
template <typename T>
int32_t Step(OpCall& call, const Gru& g, int64_t size, const T* before, T* gates, T* reset,
             T* hidden) {
  using A = args::dt_gru;
  const int64_t d = g.size;
  const T* weight = Data<T>(call.Arg(A::Weight));
  if (before != nullptr &&
      Multiply(call.context(), {false, false, size, 2 * d, d, d, 2 * d, 3 * d, 1}, before, weight,
               gates))
    return 1;
  Parallel(call.context(), size, GrainFor(d * 32), [&](int64_t lo, int64_t count) {
    for (int64_t i = lo; i < lo + count; ++i)
      for (int64_t j = 0; j < d; ++j) {
        T *u = gates + i * 3 * d + j, *r = u + d;
        *u = Activate(g.gate, *u);
        *r = Activate(g.gate, *r);
        reset[i * d + j] = before == nullptr ? T{0} : *r * before[i * d + j];
      }
  });
  if (before != nullptr && Multiply(call.context(), {false, false, size, d, d, d, d, 3 * d, 1},
                                    reset, weight + 2 * d * d, gates + 2 * d))
    return 1;
  Parallel(call.context(), size, GrainFor(d * 32), [&](int64_t lo, int64_t count) {
    for (int64_t i = lo; i < lo + count; ++i)
      for (int64_t j = 0; j < d; ++j) {
        T *u = gates + i * 3 * d + j, *c = u + 2 * d;
        const T h = before == nullptr ? T{0} : before[i * d + j];
        *c = Activate(g.activation, *c);
        hidden[i * d + j] = g.origin ? *u * h + (T{1} - *u) * *c : h - *u * h + *u * *c;
      }
  });
  return 0;
}

// Values by step (BatchGate, BatchHidden …) are outputs of the op, which its gradient reads.
// Sequences are sorted by length, longest first, so that the rows of step n are the first ones of
// step n - 1 and `before` is a prefix of the step before.
template <typename T>
int32_t Run(OpCall& call, const Gru& g) {
  using A = args::dt_gru;
  const DtBuffer& input = call.Arg(A::Input);
  const int64_t d = g.size, rows = g.steps.total();
  T* gates = OutputOrScratch<T>(call, A::BatchGate, rows, 3 * d);
  T* reset = OutputOrScratch<T>(call, A::BatchResetHiddenPrev, rows, d);
  T* hidden = OutputOrScratch<T>(call, A::BatchHidden, rows, d);
  if (gates == nullptr || reset == nullptr || hidden == nullptr) return 1;
  const T* first = call.Has(A::H0) ? FirstOf<T>(call, g, call.Arg(A::H0)) : nullptr;
  ToSteps(g.steps, Data<T>(input), 3 * d, gates);
  for (int64_t k = 0; call.Has(A::Bias) && k < rows; ++k)
    for (int64_t j = 0; j < 3 * d; ++j) gates[k * 3 * d + j] += Data<T>(call.Arg(A::Bias))[j];
  for (int64_t n = 0; n < g.steps.count(); ++n) {
    const int64_t begin = g.steps.begin(n);
    const T* before = n > 0 ? hidden + g.steps.begin(n - 1) * d : first;
    if (Step(call, g, g.steps.size(n), before, gates + begin * 3 * d, reset + begin * d,
             hidden + begin * d))
      return 1;
  }
  if (!call.Has(A::Hidden)) return 0;
  DtBuffer& out = call.Arg(A::Hidden);
  if (!call.Resize(out, {rows, d})) return 1;
  OpCall::SetLod(out, OpCall::LodOf(input));
  FromSteps(g.steps, hidden, d, Data<T>(out));
  return 0;
}

}  // namespace forward

namespace backward {

template <typename T>
struct Step {
  const T *gates, *before;  // before: null for zeros
  const T* dhidden;
  T *dgates, *dreset, *dbefore;  // dbefore: to be added to; null where nobody wants it
  int64_t size;
  bool resets;  // the reset gate gets its gradient
};

// Whether the gradient of first states that nobody wants is left out of that of the reset gate and
// of the weights too (docs/operators/defects.md).
bool LeavesFirst(OpCall& call) {
  using A = args::dt_gru_grad;
  return !call.Has(A::H0_GRAD) && call.Given(A::defects) && call.Bool(A::defects);
}

// The derivatives of Step: from h to u, c and h'; through W_c to r h', then to r and h'; through
// W_u and W_r to h'. The parts that h' gets are added to dbefore, which already has the gradient
// that comes from outside.
template <typename T>
int32_t RunStep(OpCall& call, const Gru& g, const Step<T>& s) {
  using A = args::dt_gru_grad;
  const int64_t d = g.size;
  const T* weight = Data<T>(call.Arg(A::Weight));
  const auto rows = [&](auto&& body) {
    Parallel(call.context(), s.size, GrainFor(d * 32), [&](int64_t lo, int64_t count) {
      for (int64_t i = lo; i < lo + count; ++i)
        for (int64_t j = 0; j < d; ++j) body(i * 3 * d + j, i * d + j);
    });
  };
  rows([&](int64_t gate, int64_t at) {
    const T u = s.gates[gate], c = s.gates[gate + 2 * d],
            h = s.before == nullptr ? T{0} : s.before[at], dh = s.dhidden[at];
    s.dgates[gate] = Deactivate(g.gate, dh * (g.origin ? h - c : c - h), u);
    s.dgates[gate + 2 * d] = Deactivate(g.activation, dh * (g.origin ? T{1} - u : u), c);
    if (s.dbefore != nullptr) s.dbefore[at] += dh * (g.origin ? u : T{1} - u);
  });
  // The gradient of r h', then of r and h'.
  if (Multiply(call.context(), {false, true, s.size, d, d, 3 * d, d, d}, s.dgates + 2 * d,
               weight + 2 * d * d, s.dreset))
    return 1;
  rows([&](int64_t gate, int64_t at) {
    const T r = s.gates[gate + d], h = s.before == nullptr ? T{0} : s.before[at];
    s.dgates[gate + d] = s.resets ? Deactivate(g.gate, s.dreset[at] * h, r) : T{0};
    if (s.dbefore != nullptr) s.dbefore[at] += s.dreset[at] * r;
  });
  if (s.dbefore == nullptr) return 0;
  return Multiply(call.context(), {false, true, s.size, d, 2 * d, 3 * d, 2 * d, d, 1}, s.dgates,
                  weight, s.dbefore);
}

// dW is a product over all rows of all steps at once: h'ᵀ d(u, r) and (r h')ᵀ dc. h' of a row is
// the hidden value of the step before, shifted into place first.
template <typename T>
int32_t WeightGradient(OpCall& call, const Gru& g, const T* first, const T* dgates) {
  using A = args::dt_gru_grad;
  if (!call.Has(A::Weight_GRAD)) return 0;
  const int64_t d = g.size, rows = g.steps.total();
  DtBuffer& out = call.Arg(A::Weight_GRAD);
  if (!call.Resize(out, call.Arg(A::Weight))) return 1;
  T* before = Scratch<T>(call, rows * d);
  for (int64_t n = 0; n < g.steps.count(); ++n) {
    const T* from = n > 0 ? Data<T>(call.Arg(A::BatchHidden)) + g.steps.begin(n - 1) * d : first;
    if (from != nullptr) std::copy_n(from, g.steps.size(n) * d, before + g.steps.begin(n) * d);
    else std::fill_n(before + g.steps.begin(n) * d, g.steps.size(n) * d, T{0});
  }
  if (Multiply(call.context(), {true, false, d, 2 * d, rows, d, 3 * d, 2 * d}, before, dgates,
               Data<T>(out)))
    return 1;
  const int64_t skipped = LeavesFirst(call) && g.steps.count() > 0 ? g.steps.size(0) : 0;
  return Multiply(call.context(), {true, false, d, d, rows - skipped, d, 3 * d, d},
                  Data<T>(call.Arg(A::BatchResetHiddenPrev)) + skipped * d,
                  dgates + skipped * 3 * d + 2 * d, Data<T>(out) + 2 * d * d);
}

// Steps from the last to the first; then weights, bias (column sums), first states and input, as
// far as somebody wants them. Without a slot for the gradient of H0 the first step has nobody to
// give to.
template <typename T>
int32_t Run(OpCall& call, const Gru& g) {
  using A = args::dt_gru_grad;
  const int64_t d = g.size, rows = g.steps.total(), count = CountOf(g.offsets);
  const T* hidden = Data<T>(call.Arg(A::BatchHidden));
  const T* first = call.Has(A::H0) ? FirstOf<T>(call, g, call.Arg(A::H0)) : nullptr;
  const bool leavesFirst = LeavesFirst(call);
  T *dhidden = Scratch<T>(call, rows * d), *dgates = Scratch<T>(call, rows * 3 * d),
    *dreset = Scratch<T>(call, rows * d);
  T* dfirst = nullptr;
  if (call.Has(A::H0_GRAD))
    dfirst = std::fill_n(Scratch<T>(call, count * d), count * d, T{0}) - count * d;
  ToSteps(g.steps, Data<T>(call.Arg(A::Hidden_GRAD)), d, dhidden);
  for (int64_t n = g.steps.count() - 1; n >= 0; --n) {
    const int64_t begin = g.steps.begin(n), last = n > 0 ? g.steps.begin(n - 1) * d : 0;
    const Step<T> step{Data<T>(call.Arg(A::BatchGate)) + begin * 3 * d,
                       n > 0 ? hidden + last : first,
                       dhidden + begin * d,
                       dgates + begin * 3 * d,
                       dreset + begin * d,
                       n > 0 ? dhidden + last : dfirst,
                       g.steps.size(n),
                       n > 0 || !leavesFirst};
    if (RunStep(call, g, step)) return 1;
  }
  if (WeightGradient(call, g, leavesFirst ? nullptr : first, dgates)) return 1;
  if (call.Has(A::Bias_GRAD)) {
    DtBuffer& out = call.Arg(A::Bias_GRAD);
    if (!call.Resize(out, {1, 3 * d})) return 1;
    std::fill_n(Data<T>(out), 3 * d, T{0});
    AddColumnSums(dgates, rows, 3 * d, 3 * d, Data<T>(out));
  }
  if (call.Has(A::H0_GRAD)) {
    DtBuffer& out = call.Arg(A::H0_GRAD);
    if (!call.Resize(out, {count, d})) return 1;
    for (size_t k = 0; k < g.steps.sequences.size(); ++k)
      std::copy_n(dfirst + static_cast<int64_t>(k) * d, d, Data<T>(out) + g.steps.sequences[k] * d);
  }
  if (!call.Has(A::Input_GRAD)) return 0;
  DtBuffer& out = call.Arg(A::Input_GRAD);
  if (!call.Resize(out, {rows, 3 * d})) return 1;
  FromSteps(g.steps, dgates, 3 * d, Data<T>(out));
  return 0;
}

}  // namespace backward
}  // namespace

int32_t LodGru(OpCall& call) {
  using A = args::dt_gru;
  using namespace forward;
  Gru g;
  const DtBuffer& input = call.Arg(A::Input);
  if (!CheckTypes(call, input,
                  {A::H0, A::Weight, A::Bias, A::BatchGate, A::BatchResetHiddenPrev, A::BatchHidden,
                   A::Hidden}))
    return 1;
  if (!GruOf(call, input, call.Arg(A::Weight), call.Has(A::H0) ? &call.Arg(A::H0) : nullptr, g))
    return 1;
  if (!CheckMatrix(call, input, g.steps.total(), 3 * g.size)) return 1;
  if (call.Has(A::Bias) && !CheckMatrix(call, call.Arg(A::Bias), 1, 3 * g.size)) return 1;
  return VisitFloat(call.context(), input,
                    [&](auto tag) { return Run<typename decltype(tag)::type>(call, g); });
}

int32_t LodGruGrad(OpCall& call) {
  using A = args::dt_gru_grad;
  using namespace backward;
  Gru g;
  const DtBuffer& hidden = call.Arg(A::Hidden);
  if (!CheckTypes(call, hidden,
                  {A::H0, A::Weight, A::BatchGate, A::BatchResetHiddenPrev, A::BatchHidden,
                   A::Hidden_GRAD, A::Input_GRAD, A::H0_GRAD, A::Weight_GRAD, A::Bias_GRAD}))
    return 1;
  if (!GruOf(call, hidden, call.Arg(A::Weight), call.Has(A::H0) ? &call.Arg(A::H0) : nullptr, g))
    return 1;
  const int64_t rows = g.steps.total(), d = g.size;
  if (!CheckMatrix(call, hidden, rows, d) ||
      !CheckMatrix(call, call.Arg(A::Hidden_GRAD), rows, d) ||
      !CheckMatrix(call, call.Arg(A::BatchGate), rows, 3 * d) ||
      !CheckMatrix(call, call.Arg(A::BatchResetHiddenPrev), rows, d) ||
      !CheckMatrix(call, call.Arg(A::BatchHidden), rows, d))
    return 1;
  return VisitFloat(call.context(), hidden,
                    [&](auto tag) { return Run<typename decltype(tag)::type>(call, g); });
}

}  // namespace dtranspile::kernels
