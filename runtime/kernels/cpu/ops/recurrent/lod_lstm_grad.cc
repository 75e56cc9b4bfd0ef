// Gradients of lstm and lstmp (lod_lstm.h): back through the steps. The framework's kernels pass no
// gradient into Cell from outside, so it is no input here either (lstm_op.h, lstmp_op.h).
#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"
#include "runtime/kernels/cpu/ops/recurrent/lod_lstm.h"

namespace dtranspile::kernels {
namespace {

// All in the order of the steps. `before`: the values of the step before, zero where there are
// none.
template <typename T>
struct Backward {
  const T *gates, *activated, *hidden;
  T *state, *state_before, *cells, *cells_before;
  T *dstate, *dhidden, *dcells, *dgates, *dfirst_state, *dfirst_cell;
};

// The gradient of the cell. Where the cell was clipped, nothing passes. With the framework's
// defects the first of each 8 elements decides whether all of them were clipped, and without a clip
// only what comes from the step after passes.
template <typename T>
T CellGradient(const Lstm& l, const T* cell, int64_t j, T after, T through) {
  const T decides = cell[l.defects ? j - j % 8 : j];
  if (l.cell_clip > 0 && std::abs(decides) >= static_cast<T>(l.cell_clip)) return T{0};
  return l.defects && l.cell_clip <= 0 ? after : after + through;
}

// One row of a step: from dhidden and dcell to dgates and the gradient of the cell before (null
// where nobody wants it).
template <typename T>
void CellBackward(const Lstm& l, const T* peepholes, const T* gates, const T* cell, const T* before,
                  const T* activated, const T* dhidden, const T* dcell, T* dgates, T* dbefore) {
  const int64_t d = l.size;
  const T *candidate = gates, *input = gates + d, *forget = gates + 2 * d, *output = gates + 3 * d;
  for (int64_t j = 0; j < d; ++j) {
    const T dout = Deactivate(l.gate, dhidden[j] * activated[j], output[j]);
    const T through = Deactivate(l.cell, dhidden[j] * output[j], activated[j]) +
                      (peepholes == nullptr ? T{0} : dout * peepholes[2 * d + j]);
    const T dc = CellGradient(l, cell, j, dcell[j], through);
    const T dcandidate = Deactivate(l.candidate, dc * input[j], candidate[j]);
    const T din = Deactivate(l.gate, dc * candidate[j], input[j]);
    const T dforget = Deactivate(l.gate, dc * before[j], forget[j]);
    dgates[j] = dcandidate, dgates[d + j] = din, dgates[2 * d + j] = dforget,
    dgates[3 * d + j] = dout;
    if (dbefore == nullptr) continue;
    dbefore[j] = dc * forget[j] +
                 (peepholes == nullptr ? T{0} : din * peepholes[j] + dforget * peepholes[d + j]);
  }
}

// From the gradient of what recurs to that of the hidden values.
template <typename T>
int32_t ThroughProjection(OpCall& call, const Lstm& l, const Backward<T>& b, int64_t begin,
                          int64_t size) {
  using A = args::dt_lstm_grad;
  if (!l.projected) return 0;
  const int64_t d = l.size, r = l.recurrent;
  T* gradient = b.dstate + begin * r;
  const T* state = b.state + begin * r;
  for (int64_t k = 0; k < size * r; ++k) {
    if (l.projection_clip > 0 && std::abs(state[k]) >= static_cast<T>(l.projection_clip))
      gradient[k] = 0;
    gradient[k] = Deactivate(l.projection, gradient[k], state[k]);
  }
  return Multiply(call.context(), {false, true, size, d, r, r, r, d}, gradient,
                  Data<T>(call.Arg(A::ProjWeight)), b.dhidden + begin * d);
}

// From the last step to the first: gradients of the step's cells and gates, then what goes through
// the recurrent weight to the state of the step before, added to what that has from outside. Only
// the sequences still running at a step take part; as steps are sorted by length, they are the
// first rows of the step before.
template <typename T>
int32_t RunSteps(OpCall& call, const Lstm& l, const Backward<T>& b) {
  using A = args::dt_lstm_grad;
  const int64_t d = l.size, r = l.recurrent;
  const T* weight = Data<T>(call.Arg(A::Weight));
  const T* peepholes = l.peepholes ? Data<T>(call.Arg(A::Bias)) + 4 * d : nullptr;
  for (int64_t n = l.steps.count() - 1; n >= 0; --n) {
    const int64_t begin = l.steps.begin(n), size = l.steps.size(n);
    if (ThroughProjection(call, l, b, begin, size)) return 1;
    T* dbefore = n > 0 ? b.dcells + l.steps.begin(n - 1) * d : b.dfirst_cell;
    Parallel(call.context(), size, GrainFor(d * 64), [&](int64_t lo, int64_t count) {
      for (int64_t i = lo; i < lo + count; ++i) {
        const int64_t at = (begin + i) * d;
        CellBackward(l, peepholes, b.gates + 4 * at, b.cells + at, b.cells_before + at,
                     b.activated + at, b.dhidden + at, b.dcells + at, b.dgates + 4 * at,
                     dbefore == nullptr ? nullptr : dbefore + i * d);
      }
    });
    T* into = n > 0 ? b.dstate + l.steps.begin(n - 1) * r : b.dfirst_state;
    if (into != nullptr &&
        Multiply(call.context(), {false, true, size, r, 4 * d, 4 * d, 4 * d, r, n > 0 ? 1.0 : 0.0},
                 b.dgates + begin * 4 * d, weight, into))
      return 1;
  }
  return 0;
}

// Values of the step before at every place.
template <typename T>
void Before(OpCall& call, const Lstm& l, int first, int64_t width, const T* values, T* to) {
  for (int64_t i = 0; l.steps.count() > 0 && i < l.steps.size(0); ++i) {
    if (call.Has(first))
      std::copy_n(Data<T>(call.Arg(first)) + l.steps.sequences[static_cast<size_t>(i)] * width,
                  width, to + i * width);
    else std::fill_n(to + i * width, width, T{0});
  }
  for (int64_t n = 1; n < l.steps.count(); ++n)
    std::copy_n(values + l.steps.begin(n - 1) * width, l.steps.size(n) * width,
                to + l.steps.begin(n) * width);
}

// One product over all steps each, after the gates' gradients are known: dW = hᵀ₋₁·dgates, dP =
// hiddenᵀ·dstate. Of the peepholes, input and forget gate see the cell before, the output gate the
// new one; the bias holds the gates' own 4·d numbers, then those three.
template <typename T>
int32_t WeightGradients(OpCall& call, const Lstm& l, const Backward<T>& b) {
  using A = args::dt_lstm_grad;
  const int64_t d = l.size, r = l.recurrent, rows = l.steps.total();
  if (call.Has(A::Weight_GRAD)) {
    DtBuffer& out = call.Arg(A::Weight_GRAD);
    if (!call.Resize(out, call.Arg(A::Weight)) ||
        Multiply(call.context(), {true, false, r, 4 * d, rows, r, 4 * d, 4 * d}, b.state_before,
                 b.dgates, Data<T>(out)))
      return 1;
  }
  if (call.Has(A::ProjWeight_GRAD)) {
    DtBuffer& out = call.Arg(A::ProjWeight_GRAD);
    if (!call.Resize(out, call.Arg(A::ProjWeight)) ||
        Multiply(call.context(), {true, false, d, r, rows, d, r, r}, b.hidden, b.dstate,
                 Data<T>(out)))
      return 1;
  }
  if (!call.Has(A::Bias_GRAD)) return 0;
  DtBuffer& out = call.Arg(A::Bias_GRAD);
  if (!call.Resize(out, call.Arg(A::Bias))) return 1;
  T* bias = Data<T>(out);
  std::fill_n(bias, Elements(out), T{0});
  AddColumnSums(b.dgates, rows, 4 * d, 4 * d, bias);
  for (int64_t k = 0; l.peepholes && k < rows; ++k)
    for (int64_t j = 0; j < d; ++j) {
      const T* dgates = b.dgates + k * 4 * d;
      bias[4 * d + j] += dgates[d + j] * b.cells_before[k * d + j];
      bias[5 * d + j] += dgates[2 * d + j] * b.cells_before[k * d + j];
      bias[6 * d + j] += dgates[3 * d + j] * b.cells[k * d + j];
    }
  return 0;
}

// The gradient of a first state, rows in the order of the sequences; those without a step get none.
template <typename T>
int32_t FirstGradient(OpCall& call, const Lstm& l, int slot, int64_t width, const T* from) {
  if (!call.Has(slot)) return 0;
  DtBuffer& out = call.Arg(slot);
  if (!call.Resize(out, {CountOf(l.offsets), width})) return 1;
  std::fill_n(Data<T>(out), Elements(out), T{0});
  for (int64_t i = 0; l.steps.count() > 0 && i < l.steps.size(0); ++i)
    std::copy_n(from + i * width, width,
                Data<T>(out) + l.steps.sequences[static_cast<size_t>(i)] * width);
  return 0;
}

// Everything is brought into the order of the steps first and back at the end. Without a projection
// the hidden values are the state, so that their gradients share a buffer.
template <typename T>
int32_t Run(OpCall& call, const Lstm& l) {
  using A = args::dt_lstm_grad;
  const int64_t d = l.size, r = l.recurrent, rows = l.steps.total(), count = CountOf(l.offsets);
  Backward<T> b = {};
  b.gates = Data<T>(call.Arg(A::BatchGate));
  b.activated = Data<T>(call.Arg(A::BatchCellPreAct));
  b.hidden = l.projected ? Data<T>(call.Arg(A::BatchHidden)) : nullptr;
  const auto matrix = [&](int64_t width) { return Scratch<T>(call, rows * width); };
  b.state = matrix(r), b.state_before = matrix(r), b.cells = matrix(d), b.cells_before = matrix(d);
  b.dstate = matrix(r), b.dcells = matrix(d), b.dgates = matrix(4 * d);
  b.dhidden = l.projected ? matrix(d) : b.dstate;
  if (call.Has(A::H0_GRAD)) b.dfirst_state = Scratch<T>(call, count * r);
  if (call.Has(A::C0_GRAD)) b.dfirst_cell = Scratch<T>(call, count * d);
  ToSteps(l.steps, Data<T>(call.Arg(A::Hidden)), r, b.state);
  ToSteps(l.steps, Data<T>(call.Arg(A::Cell)), d, b.cells);
  ToSteps(l.steps, Data<T>(call.Arg(A::Hidden_GRAD)), r, b.dstate);
  Before(call, l, A::H0, r, b.state, b.state_before);
  Before(call, l, A::C0, d, b.cells, b.cells_before);
  std::fill_n(b.dcells, rows * d, T{0});
  if (RunSteps(call, l, b) || WeightGradients(call, l, b)) return 1;
  if (FirstGradient(call, l, A::H0_GRAD, r, b.dfirst_state) ||
      FirstGradient(call, l, A::C0_GRAD, d, b.dfirst_cell))
    return 1;
  if (!call.Has(A::Input_GRAD)) return 0;
  DtBuffer& dinput = call.Arg(A::Input_GRAD);
  if (!call.Resize(dinput, {rows, 4 * d})) return 1;
  FromSteps(l.steps, b.dgates, 4 * d, Data<T>(dinput));
  return 0;
}

}  // namespace

int32_t LodLstmGrad(OpCall& call) {
  using A = args::dt_lstm_grad;
  Lstm l;
  const DtBuffer& state = call.Arg(A::Hidden);
  if (!CheckTypes(call, state,
                  {A::H0, A::C0, A::Weight, A::ProjWeight, A::Bias, A::Cell, A::BatchGate,
                   A::BatchCellPreAct, A::BatchHidden, A::Hidden_GRAD, A::Input_GRAD, A::H0_GRAD,
                   A::C0_GRAD, A::Weight_GRAD, A::ProjWeight_GRAD, A::Bias_GRAD}))
    return 1;
  if (!LstmOf(call, state, l)) return 1;
  const int64_t rows = l.steps.total();
  const bool fits = CheckMatrix(call, state, rows, l.recurrent) &&
                    CheckMatrix(call, call.Arg(A::Hidden_GRAD), rows, l.recurrent) &&
                    CheckMatrix(call, call.Arg(A::Cell), rows, l.size) &&
                    CheckMatrix(call, call.Arg(A::BatchGate), rows, 4 * l.size) &&
                    CheckMatrix(call, call.Arg(A::BatchCellPreAct), rows, l.size) &&
                    (!l.projected || CheckMatrix(call, call.Arg(A::BatchHidden), rows, l.size));
  if (!fits) return 1;
  return VisitFloat(call.context(), state,
                    [&](auto tag) { return Run<typename decltype(tag)::type>(call, l); });
}

}  // namespace dtranspile::kernels
