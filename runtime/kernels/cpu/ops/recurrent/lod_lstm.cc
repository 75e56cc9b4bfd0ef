// lstm and lstmp over sequences (lod_lstm.h). All sequences advance together, one product with the
// recurrent weights per step.
#include "runtime/kernels/cpu/ops/recurrent/lod_lstm.h"

#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"

namespace dtranspile::kernels {
namespace {

// To [-limit, limit]; a limit that is not positive stands for none.
template <typename T>
T Clip(T x, double limit) {
  return limit > 0 ? std::clamp(x, static_cast<T>(-limit), static_cast<T>(limit)) : x;
}

// One row of a step: gates before activation in, activated ones out.
// i = g(i + w_ic c'), f = g(f + w_fc c'), c = act(candidate) i + c' f, o = g(o + w_oc c), h = o
// act(c): the cell with peepholes of Gers and Schmidhuber 2000, which the output gate looks through
// at the new cell. `before` is null where c' is 0.
template <typename T>
void CellForward(const Lstm& l, const T* peepholes, const T* before, T* gates, T* cell,
                 T* activated, T* hidden) {
  const int64_t d = l.size;
  T *candidate = gates, *input = gates + d, *forget = gates + 2 * d, *output = gates + 3 * d;
  for (int64_t j = 0; j < d; ++j) {
    const T c = before == nullptr ? T{0} : before[j];
    candidate[j] = Activate(l.candidate, candidate[j]);
    input[j] = Activate(l.gate, input[j] + (peepholes == nullptr ? T{0} : c * peepholes[j]));
    forget[j] = Activate(l.gate, forget[j] + (peepholes == nullptr ? T{0} : c * peepholes[d + j]));
    cell[j] = Clip(candidate[j] * input[j] + c * forget[j], l.cell_clip);
    output[j] = Activate(
        l.gate, output[j] + (peepholes == nullptr ? T{0} : cell[j] * peepholes[2 * d + j]));
    activated[j] = Activate(l.cell, cell[j]);
    hidden[j] = output[j] * activated[j];
  }
}

// All in the order of the steps.
template <typename T>
struct Forward {
  T *gates, *cells, *activated, *hidden,
      *state;  // state: what recurs; the memory of `hidden` without a projection
  const T *first_state = nullptr, *first_cell = nullptr;
};

// Per step: gates += state · W for all sequences that go on, then the cells row by row, then the
// projection of lstmp (Sak et al. 2014), if any, which is what recurs. Steps depend on one another;
// rows of a step are shared among the threads.
template <typename T>
int32_t RunSteps(OpCall& call, const Lstm& l, Forward<T>& f) {
  using A = args::dt_lstm;
  const int64_t d = l.size, r = l.recurrent;
  const T* weight = Data<T>(call.Arg(A::Weight));
  const T* peepholes = l.peepholes ? Data<T>(call.Arg(A::Bias)) + 4 * d : nullptr;
  for (int64_t n = 0; n < l.steps.count(); ++n) {
    const int64_t begin = l.steps.begin(n), size = l.steps.size(n);
    const T* state = n > 0 ? f.state + l.steps.begin(n - 1) * r : f.first_state;
    const T* cells = n > 0 ? f.cells + l.steps.begin(n - 1) * d : f.first_cell;
    T* gates = f.gates + begin * 4 * d;
    if (state != nullptr &&
        Multiply(call.context(), {false, false, size, 4 * d, r, r, 4 * d, 4 * d, 1}, state, weight,
                 gates))
      return 1;
    Parallel(call.context(), size, GrainFor(d * 64), [&](int64_t lo, int64_t count) {
      for (int64_t i = lo; i < lo + count; ++i)
        CellForward(l, peepholes, cells == nullptr ? nullptr : cells + i * d, gates + i * 4 * d,
                    f.cells + (begin + i) * d, f.activated + (begin + i) * d,
                    f.hidden + (begin + i) * d);
    });
    if (!l.projected) continue;
    T* out = f.state + begin * r;
    if (Multiply(call.context(), {false, false, size, r, d, d, r, r}, f.hidden + begin * d,
                 Data<T>(call.Arg(A::ProjWeight)), out))
      return 1;
    for (int64_t k = 0; k < size * r; ++k)
      out[k] = Clip(Activate(l.projection, out[k]), l.projection_clip);
  }
  return 0;
}

// First states in the order of the sequences of a step; null where the program has none.
template <typename T>
const T* FirstOf(OpCall& call, const Lstm& l, int slot, int64_t width) {
  if (!call.Has(slot)) return nullptr;
  T* first = Scratch<T>(call, CountOf(l.offsets) * width);
  for (size_t k = 0; k < l.steps.sequences.size(); ++k)
    std::copy_n(Data<T>(call.Arg(slot)) + l.steps.sequences[k] * width, width,
                first + static_cast<int64_t>(k) * width);
  return first;
}

// Input is already multiplied with the input weights by the op before; the bias is added to all
// rows at once. Values by step are outputs that the gradient reads, and scratch where nobody asks
// for them.
template <typename T>
int32_t Run(OpCall& call, const Lstm& l) {
  using A = args::dt_lstm;
  const DtBuffer& input = call.Arg(A::Input);
  const int64_t d = l.size, r = l.recurrent, rows = l.steps.total();
  Forward<T> f{OutputOrScratch<T>(call, A::BatchGate, rows, 4 * d), Scratch<T>(call, rows * d),
               OutputOrScratch<T>(call, A::BatchCellPreAct, rows, d),
               OutputOrScratch<T>(call, A::BatchHidden, rows, d), nullptr};
  if (f.gates == nullptr || f.activated == nullptr || f.hidden == nullptr) return 1;
  f.state = l.projected ? Scratch<T>(call, rows * r) : f.hidden;
  f.first_state = FirstOf<T>(call, l, A::H0, r);
  f.first_cell = FirstOf<T>(call, l, A::C0, d);
  ToSteps(l.steps, Data<T>(input), 4 * d, f.gates);
  if (call.Has(A::Bias)) {
    const T* bias = Data<T>(call.Arg(A::Bias));
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t j = 0; j < 4 * d; ++j) f.gates[k * 4 * d + j] += bias[j];
  }
  if (RunSteps(call, l, f)) return 1;
  for (const auto& [slot, width, from] :
       {std::tuple(A::Hidden, r, f.state), std::tuple(A::Cell, d, f.cells)}) {
    if (!call.Has(slot)) continue;
    DtBuffer& out = call.Arg(slot);
    if (!call.Resize(out, {rows, width})) return 1;
    OpCall::SetLod(out, OpCall::LodOf(input));
    FromSteps(l.steps, from, width, Data<T>(out));
  }
  return 0;
}

}  // namespace

// Reads what the call and its gradient share. Bias has 4 D elements, with peepholes 3 D more
// (input, forget, output). `defects` imitates a vectorised kernel of the framework, which exists
// for float32 and sizes that are multiples of 8.
bool LstmOf(OpCall& call, const DtBuffer& ragged, Lstm& l) {
  using A = args::dt_lstm;
  static_assert(A::Bias == args::dt_lstm_grad::Bias && A::C0 == args::dt_lstm_grad::C0 &&
                A::H0 == args::dt_lstm_grad::H0 &&
                A::ProjWeight == args::dt_lstm_grad::ProjWeight &&
                A::Weight == args::dt_lstm_grad::Weight);
  static_assert(A::candidate_activation == args::dt_lstm_grad::candidate_activation &&
                A::cell_activation == args::dt_lstm_grad::cell_activation &&
                A::cell_clip == args::dt_lstm_grad::cell_clip &&
                A::defects == args::dt_lstm_grad::defects &&
                A::gate_activation == args::dt_lstm_grad::gate_activation &&
                A::is_reverse == args::dt_lstm_grad::is_reverse &&
                A::proj_activation == args::dt_lstm_grad::proj_activation &&
                A::proj_clip == args::dt_lstm_grad::proj_clip &&
                A::use_peepholes == args::dt_lstm_grad::use_peepholes);
  const DtBuffer& weight = call.Arg(A::Weight);
  if (weight.rank != 2 || weight.dims[1] % 4 != 0)
    return call.Fail("Weight '%s' must have 4 D columns", weight.name), false;
  l.recurrent = weight.dims[0];
  l.size = weight.dims[1] / 4;
  l.projected = call.Has(A::ProjWeight);
  l.reverse = call.Bool(A::is_reverse);
  l.defects = call.Bool(A::defects) && static_cast<DType>(weight.dtype) == DType::kFloat32 &&
              l.size % 8 == 0;
  if (!ActivationOf(call, A::gate_activation, l.gate) ||
      !ActivationOf(call, A::cell_activation, l.cell) ||
      !ActivationOf(call, A::candidate_activation, l.candidate))
    return false;
  if (l.projected) {
    l.cell_clip = call.Real(A::cell_clip);
    l.projection_clip = call.Real(A::proj_clip);
    // The framework's kernel applies the activation of the cell wherever one is asked for.
    if (!ActivationOf(call, A::proj_activation, l.projection)) return false;
    if (l.projection != Activation::kIdentity) l.projection = l.cell;
    if (!CheckMatrix(call, call.Arg(A::ProjWeight), l.size, l.recurrent)) return false;
  } else if (l.recurrent != l.size) {
    return call.Fail("Weight '%s' must be [D, 4D]", weight.name), false;
  }
  l.peepholes = call.Bool(A::use_peepholes) && call.Has(A::Bias);
  if (call.Has(A::Bias) && Elements(call.Arg(A::Bias)) != (l.peepholes ? 7 : 4) * l.size)
    return call.Fail("Bias '%s' must have %lld elements", call.Arg(A::Bias).name,
                     static_cast<long long>((l.peepholes ? 7 : 4) * l.size)),
           false;
  if (!SequencesOf(call, ragged, l.offsets)) return false;
  l.steps = StepsOf(l.offsets, l.reverse);
  const int64_t count = CountOf(l.offsets);
  return (!call.Has(A::H0) || CheckMatrix(call, call.Arg(A::H0), count, l.recurrent)) &&
         (!call.Has(A::C0) || CheckMatrix(call, call.Arg(A::C0), count, l.size));
}

int32_t LodLstm(OpCall& call) {
  using A = args::dt_lstm;
  Lstm l;
  const DtBuffer& input = call.Arg(A::Input);
  if (!CheckTypes(call, input,
                  {A::H0, A::C0, A::Weight, A::ProjWeight, A::Bias, A::Hidden, A::Cell,
                   A::BatchGate, A::BatchCellPreAct, A::BatchHidden}))
    return 1;
  if (!LstmOf(call, input, l) || !CheckMatrix(call, input, l.steps.total(), 4 * l.size)) return 1;
  return VisitFloat(call.context(), input,
                    [&](auto tag) { return Run<typename decltype(tag)::type>(call, l); });
}

}  // namespace dtranspile::kernels
