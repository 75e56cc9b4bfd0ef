// rnn: layers of LSTM, GRU or plain cells over time, one or both directions, with lengths (the
// framework's operator `rnn`; cells: its documentation of LSTMCell, GRUCell, SimpleRNNCell). Time
// comes first: Input [T, N, I]. Gates are i, f, g, o of LSTM, r, z, c of GRU, where the reset gate
// works on the recurrent product. After the end of a sequence the output is 0 and the state stays.
#include "runtime/kernels/cpu/ops/recurrent/rnn.h"

#include <cmath>

#include "runtime/kernels/cpu/gemm.h"

namespace dtranspile::kernels {
namespace {

template <typename T>
T Sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// The new state (and extra) of one element, gates activated in place. `recurrent` are the gates'
// parts from the state before, with their bias.
template <typename T>
void Advance(const RnnShape& s, T* gates, const T* recurrent, T before, T cell_before, T& extra,
             T& state) {
  const int64_t h = s.hidden;
  switch (s.cell) {
    case RnnCell::kLstm: {
      const T i = Sigmoid(gates[0] + recurrent[0]), f = Sigmoid(gates[h] + recurrent[h]),
              g = std::tanh(gates[2 * h] + recurrent[2 * h]),
              o = Sigmoid(gates[3 * h] + recurrent[3 * h]);
      gates[0] = i, gates[h] = f, gates[2 * h] = g, gates[3 * h] = o;
      extra = f * cell_before + i * g;
      state = o * std::tanh(extra);
      return;
    }
    case RnnCell::kGru: {
      const T r = Sigmoid(gates[0] + recurrent[0]), z = Sigmoid(gates[h] + recurrent[h]);
      extra = recurrent[2 * h];
      const T c = std::tanh(gates[2 * h] + r * extra);
      gates[0] = r, gates[h] = z, gates[2 * h] = c;
      state = (before - c) * z + c;
      return;
    }
    case RnnCell::kTanh: state = gates[0] = std::tanh(gates[0] + recurrent[0]); return;
    case RnnCell::kRelu: state = gates[0] = std::max(gates[0] + recurrent[0], T{0}); return;
  }
}

// One direction of one layer. The products with the input are one matrix product over all steps;
// only those with the state before must be made step by step. What the gradient needs goes into
// `reserve` (RnnTape). Rows whose sequence has ended keep their state.
template <typename T>
int32_t RunCell(OpCall& call, const RnnShape& s, int64_t cell, const T* x, T* reserve) {
  using A = args::dt_rnn;
  const RnnTape<T> tape(reserve, s, cell);
  const bool backwards = cell % s.directions == 1;
  const int64_t all = s.gates * s.hidden, width = s.width(cell / s.directions);
  const DType type = TypeOf(call.Arg(A::Input));
  if (Multiply(call.context(), type, Contiguous(false, true, s.steps * s.batch, all, width), x,
               RnnWeightOf(call, s, cell, 0).data, tape.gates) != 0)
    return 1;
  const T *bias = Data<T>(RnnWeightOf(call, s, cell, 2)),
          *recurrent_bias = Data<T>(RnnWeightOf(call, s, cell, 3));
  const T* before = Data<T>(call.Arg(A::PreState, 0)) + cell * s.state();
  const T* cell_before =
      s.cell == RnnCell::kLstm ? Data<T>(call.Arg(A::PreState, 1)) + cell * s.state() : nullptr;
  std::vector<T> recurrent(static_cast<size_t>(s.batch * all));
  for (int64_t k = 0; k < s.steps; ++k) {
    const int64_t t = RnnStepAt(s, backwards, k);
    if (Multiply(call.context(), type, Contiguous(false, true, s.batch, all, s.hidden), before,
                 RnnWeightOf(call, s, cell, 1).data, recurrent.data()) != 0)
      return 1;
    for (int64_t row = 0; row < s.batch; ++row) {
      T *gates = tape.gates + (t * s.batch + row) * all, *parts = recurrent.data() + row * all;
      for (int64_t j = 0; j < all; ++j) gates[j] += bias[j], parts[j] += recurrent_bias[j];
      for (int64_t j = 0; j < s.hidden; ++j) {
        const int64_t at = row * s.hidden + j;
        T &extra = tape.extra[t * s.state() + at], &state = tape.states[t * s.state() + at];
        Advance(s, gates + j, parts + j, before[at],
                cell_before != nullptr ? cell_before[at] : T{0}, extra, state);
        if (s.lives(t, row)) continue;
        state = before[at];
        if (cell_before != nullptr) extra = cell_before[at];
      }
    }
    before = tape.states + t * s.state();
    if (cell_before != nullptr) cell_before = tape.extra + t * s.state();
  }
  const T* last[] = {before, cell_before};
  for (int i = 0; i < s.states(); ++i)
    if (call.Has(A::State) && call.Has(A::State, i))
      std::copy_n(last[i], s.state(), Data<T>(call.Arg(A::State, i)) + cell * s.state());
  return 0;
}

}  // namespace

// ... -> Out, State*, Reserve
int32_t Rnn(OpCall& call) {
  using A = args::dt_rnn;
  RnnShape s;
  if (!RnnShapeOf(call, s)) return 1;
  const DtBuffer& x = call.Arg(A::Input);
  if (call.Has(A::Out) &&
      !call.Resize(call.Arg(A::Out), {s.steps, s.batch, s.directions * s.hidden}))
    return 1;
  for (int i = 0; i < std::min(call.Count(A::State), s.states()); ++i)
    if (call.Has(A::State, i) &&
        !call.Resize(call.Arg(A::State, i), {s.cells(), s.batch, s.hidden}))
      return 1;
  if (call.Has(A::Reserve) &&
      !call.Resize(call.Arg(A::Reserve), {s.cells(), s.steps, s.batch, (s.gates + 2) * s.hidden}))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> own(call.Has(A::Reserve) ? 0 : static_cast<size_t>(s.cells() * s.reserve()));
    T* reserve = call.Has(A::Reserve) ? Data<T>(call.Arg(A::Reserve)) : own.data();
    std::vector<T> input(Data<T>(x), Data<T>(x) + Elements(x));
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      for (int64_t direction = 0; direction < s.directions; ++direction)
        if (RunCell(call, s, layer * s.directions + direction, input.data(), reserve) != 0)
          return 1;
      input = RnnLayerOutput(s, reserve, layer);
    }
    if (call.Has(A::Out)) std::copy(input.begin(), input.end(), Data<T>(call.Arg(A::Out)));
    return 0;
  });
}

}  // namespace dtranspile::kernels
