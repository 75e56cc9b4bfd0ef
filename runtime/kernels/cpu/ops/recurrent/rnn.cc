// rnn: layers of LSTM, GRU or plain cells over time, one or both directions, with lengths (the
// framework's operator `rnn`; cells: its documentation of LSTMCell, GRUCell, SimpleRNNCell). Time
// comes first: Input [T, N, I]. Gates are i, f, g, o of LSTM, r, z, c of GRU, where the reset gate
// works on the recurrent product. After the end of a sequence the output is 0 and the state stays.
//
// What the backward pass needs lies in Reserve: for every layer and direction the activated gates
// [T, N, G·H], then `extra` [T, N, H] (cell states of LSTM, recurrent product of GRU's candidate),
// then states [T, N, H].
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/recurrent/calls.h"

namespace dtranspile::kernels {
namespace {

enum class Cell { kLstm, kGru, kTanh, kRelu };

struct Shape {
  Cell cell = Cell::kTanh;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, layers = 0, directions = 1, gates = 1;
  std::vector<int64_t> lengths;  // empty: all of `steps`

  int64_t cells() const { return layers * directions; }
  int64_t width(int64_t layer) const { return layer == 0 ? input : directions * hidden; }
  int64_t state() const { return batch * hidden; }
  int64_t reserve() const { return steps * state() * (gates + 2); }  // of one cell
  bool lives(int64_t step, int64_t row) const {
    return lengths.empty() || step < lengths[static_cast<size_t>(row)];
  }
  int states() const { return cell == Cell::kLstm ? 2 : 1; }
};

bool ModeOf(OpCall& call, Shape& s) {
  using A = args::dt_rnn;
  static_assert(A::mode == args::dt_rnn_grad::mode);
  const std::string_view mode = call.Text(A::mode);
  const std::pair<std::string_view, std::pair<Cell, int64_t>> kModes[] = {
      {"LSTM", {Cell::kLstm, 4}},
      {"GRU", {Cell::kGru, 3}},
      {"RNN_TANH", {Cell::kTanh, 1}},
      {"RNN_RELU", {Cell::kRelu, 1}}};
  for (const auto& [name, row] : kModes) {
    if (name != mode) continue;
    s.cell = row.first, s.gates = row.second;
    return true;
  }
  return call.Fail("mode '%s'", std::string(mode).c_str()), false;
}

// w_ih, w_hh of every cell come first, then b_ih, b_hh of every cell.
const DtBuffer& WeightOf(OpCall& call, const Shape& s, int64_t cell, int which) {
  using A = args::dt_rnn;
  static_assert(A::WeightList == args::dt_rnn_grad::WeightList);
  return call.Arg(
      A::WeightList,
      static_cast<int>(which < 2 ? 2 * cell + which : 2 * s.cells() + 2 * cell + which - 2));
}

bool WeightsFit(OpCall& call, const Shape& s) {
  using A = args::dt_rnn;
  static_assert(A::Input == args::dt_rnn_grad::Input &&
                A::WeightList == args::dt_rnn_grad::WeightList);
  if (call.Count(A::WeightList) != 4 * s.cells())
    return call.Fail("%d weights and biases for %lld cells", call.Count(A::WeightList),
                     static_cast<long long>(s.cells())),
           false;
  for (int64_t cell = 0; cell < s.cells(); ++cell) {
    const int64_t rows = s.gates * s.hidden,
                  expected[] = {rows * s.width(cell / s.directions), rows * s.hidden, rows, rows};
    for (int which = 0; which < 4; ++which) {
      const DtBuffer& w = WeightOf(call, s, cell, which);
      if (Elements(w) != expected[which] || TypeOf(w) != TypeOf(call.Arg(A::Input)))
        return call.Fail("'%s' has not %lld %s elements", w.name,
                         static_cast<long long>(expected[which]), TypeName(call.Arg(A::Input))),
               false;
    }
  }
  return true;
}

bool ShapeOf(OpCall& call, Shape& s) {
  using A = args::dt_rnn;
  static_assert(A::Input == args::dt_rnn_grad::Input &&
                A::PreState == args::dt_rnn_grad::PreState &&
                A::SequenceLength == args::dt_rnn_grad::SequenceLength);
  static_assert(A::dropout_prob == args::dt_rnn_grad::dropout_prob &&
                A::hidden_size == args::dt_rnn_grad::hidden_size &&
                A::is_bidirec == args::dt_rnn_grad::is_bidirec &&
                A::is_test == args::dt_rnn_grad::is_test &&
                A::num_layers == args::dt_rnn_grad::num_layers);
  const DtBuffer& x = call.Arg(A::Input);
  constexpr int64_t kMostLayers = 1024;
  if (x.rank != 3)
    return call.Fail("'%s' has %d dims, expected [steps, batch, columns]", x.name, x.rank), false;
  if (!ModeOf(call, s)) return false;
  s.steps = x.dims[0], s.batch = x.dims[1], s.input = x.dims[2];
  s.directions = call.Bool(A::is_bidirec) ? 2 : 1, s.layers = call.Int(A::num_layers),
  s.hidden = call.Int(A::hidden_size);
  if (s.layers < 1 || s.layers > kMostLayers || s.hidden < 1 || s.hidden > INT32_MAX / 8)
    return call.Fail("%lld layers of %lld", static_cast<long long>(s.layers),
                     static_cast<long long>(s.hidden)),
           false;
  if (call.Real(A::dropout_prob) > 0 && !call.Bool(A::is_test) && s.layers > 1)
    return call.Fail("dropout between the layers of rnn is not supported"), false;
  if (call.Count(A::PreState) != s.states())
    return call.Fail("%d initial states, expected %d", call.Count(A::PreState), s.states()), false;
  for (int i = 0; i < s.states(); ++i)
    if (Elements(call.Arg(A::PreState, i)) != s.cells() * s.state() ||
        TypeOf(call.Arg(A::PreState, i)) != TypeOf(x))
      return call.Fail("'%s' is not [cells, batch, hidden]", call.Arg(A::PreState, i).name), false;
  if (call.Has(A::SequenceLength)) {
    if (!IntegersOf(call, call.Arg(A::SequenceLength), s.lengths)) return false;
    if (static_cast<int64_t>(s.lengths.size()) != s.batch)
      return call.Fail("'%s' has not one length per row", call.Arg(A::SequenceLength).name), false;
    for (int64_t length : s.lengths)
      if (length < 0 || length > s.steps)
        return call.Fail("'%s' has the length %lld of %lld steps", call.Arg(A::SequenceLength).name,
                         static_cast<long long>(length), static_cast<long long>(s.steps)),
               false;
  }
  return WeightsFit(call, s);
}

template <typename T>
T Sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// One cell's part of Reserve.
template <typename T>
struct Tape {
  T *gates, *extra, *states;

  Tape(T* reserve, const Shape& s, int64_t cell) {
    gates = reserve + cell * s.reserve();
    extra = gates + s.steps * s.state() * s.gates;
    states = extra + s.steps * s.state();
  }
};

// Which step is the k-th of a direction.
int64_t StepAt(const Shape& s, bool backwards, int64_t k) {
  return backwards ? s.steps - 1 - k : k;
}

// Output of a layer, [T, N, D·H]: states where the sequence lives.
template <typename T>
std::vector<T> LayerOutput(const Shape& s, T* reserve, int64_t layer) {
  std::vector<T> out(static_cast<size_t>(s.steps * s.state() * s.directions), T{0});
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const Tape<T> tape(reserve, s, layer * s.directions + direction);
    for (int64_t t = 0; t < s.steps; ++t)
      for (int64_t row = 0; row < s.batch; ++row)
        if (s.lives(t, row))
          std::copy_n(tape.states + (t * s.batch + row) * s.hidden, s.hidden,
                      out.data() + ((t * s.batch + row) * s.directions + direction) * s.hidden);
  }
  return out;
}

// The new state (and extra) of one element, gates activated in place. `recurrent` are the gates'
// parts from the state before, with their bias.
template <typename T>
void Advance(const Shape& s, T* gates, const T* recurrent, T before, T cell_before, T& extra,
             T& state) {
  const int64_t h = s.hidden;
  switch (s.cell) {
    case Cell::kLstm: {
      const T i = Sigmoid(gates[0] + recurrent[0]), f = Sigmoid(gates[h] + recurrent[h]),
              g = std::tanh(gates[2 * h] + recurrent[2 * h]),
              o = Sigmoid(gates[3 * h] + recurrent[3 * h]);
      gates[0] = i, gates[h] = f, gates[2 * h] = g, gates[3 * h] = o;
      extra = f * cell_before + i * g;
      state = o * std::tanh(extra);
      return;
    }
    case Cell::kGru: {
      const T r = Sigmoid(gates[0] + recurrent[0]), z = Sigmoid(gates[h] + recurrent[h]);
      extra = recurrent[2 * h];
      const T c = std::tanh(gates[2 * h] + r * extra);
      gates[0] = r, gates[h] = z, gates[2 * h] = c;
      state = (before - c) * z + c;
      return;
    }
    case Cell::kTanh: state = gates[0] = std::tanh(gates[0] + recurrent[0]); return;
    case Cell::kRelu: state = gates[0] = std::max(gates[0] + recurrent[0], T{0}); return;
  }
}

template <typename T>
int32_t RunCell(OpCall& call, const Shape& s, int64_t cell, const T* x, T* reserve) {
  using A = args::dt_rnn;
  const Tape<T> tape(reserve, s, cell);
  const bool backwards = cell % s.directions == 1;
  const int64_t all = s.gates * s.hidden, width = s.width(cell / s.directions);
  const DType type = TypeOf(call.Arg(A::Input));
  if (Multiply(call.context(), type, Contiguous(false, true, s.steps * s.batch, all, width), x,
               WeightOf(call, s, cell, 0).data, tape.gates) != 0)
    return 1;
  const T *bias = Data<T>(WeightOf(call, s, cell, 2)),
          *recurrent_bias = Data<T>(WeightOf(call, s, cell, 3));
  const T* before = Data<T>(call.Arg(A::PreState, 0)) + cell * s.state();
  const T* cell_before =
      s.cell == Cell::kLstm ? Data<T>(call.Arg(A::PreState, 1)) + cell * s.state() : nullptr;
  std::vector<T> recurrent(static_cast<size_t>(s.batch * all));
  for (int64_t k = 0; k < s.steps; ++k) {
    const int64_t t = StepAt(s, backwards, k);
    if (Multiply(call.context(), type, Contiguous(false, true, s.batch, all, s.hidden), before,
                 WeightOf(call, s, cell, 1).data, recurrent.data()) != 0)
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
  Shape s;
  if (!ShapeOf(call, s)) return 1;
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
      input = LayerOutput(s, reserve, layer);
    }
    if (call.Has(A::Out)) std::copy(input.begin(), input.end(), Data<T>(call.Arg(A::Out)));
    return 0;
  });
}

namespace {

// Gradients of the gates before their activation, by those of the new state and cell; what goes to
// the state before besides the product with w_hh is added to d_before, d_cell_before. `recurrent`
// differs from `d` for GRU's candidate.
template <typename T>
void Retreat(const Shape& s, const T* gates, T extra, T before, T cell_before, T d_state, T d_cell,
             T* d, T* recurrent, T& d_before, T& d_cell_before) {
  const int64_t h = s.hidden;
  switch (s.cell) {
    case Cell::kLstm: {
      const T i = gates[0], f = gates[h], g = gates[2 * h], o = gates[3 * h],
              squashed = std::tanh(extra);
      const T dc = d_cell + d_state * o * (1 - squashed * squashed);
      d[0] = dc * g * i * (1 - i), d[h] = dc * cell_before * f * (1 - f),
      d[2 * h] = dc * i * (1 - g * g), d[3 * h] = d_state * squashed * o * (1 - o);
      d_cell_before += dc * f;
      break;
    }
    case Cell::kGru: {
      const T r = gates[0], z = gates[h], c = gates[2 * h];
      d[2 * h] = d_state * (1 - z) * (1 - c * c);
      d[0] = d[2 * h] * extra * r * (1 - r), d[h] = d_state * (before - c) * z * (1 - z);
      d_before += d_state * z;
      break;
    }
    case Cell::kTanh: d[0] = d_state * (1 - gates[0] * gates[0]); break;
    case Cell::kRelu: d[0] = gates[0] > 0 ? d_state : T{0}; break;
  }
  for (int64_t k = 0; k < s.gates; ++k) recurrent[k * h] = d[k * h];
  if (s.cell == Cell::kGru) recurrent[2 * h] = d[2 * h] * gates[0];
}

template <typename T>
void SumColumns(const T* x, int64_t rows, int64_t width, T* out) {
  std::fill_n(out, width, T{0});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) out[j] += x[i * width + j];
}

// `dx` gets what this cell adds to the gradient of its input.
template <typename T>
int32_t RunCellBack(OpCall& call, const Shape& s, int64_t cell, const T* x, const T* d_out,
                    T* reserve, T* dx) {
  using A = args::dt_rnn_grad;
  const Tape<T> tape(reserve, s, cell);
  const int64_t direction = cell % s.directions, all = s.gates * s.hidden,
                width = s.width(cell / s.directions), rows = s.steps * s.batch;
  const DType type = TypeOf(call.Arg(A::Input));
  std::vector<T> d(static_cast<size_t>(rows * all), T{0}), recurrent(d.size(), T{0}),
      previous(static_cast<size_t>(rows * s.hidden));
  std::vector<T> d_state(static_cast<size_t>(s.state()), T{0}), d_cell(d_state.size(), T{0}),
      d_before(d_state.size()), d_cell_before(d_state.size());
  std::vector<T>* carried[] = {&d_state, &d_cell};
  for (int i = 0; i < s.states(); ++i)
    if (i < call.Count(A::State_GRAD) && call.Has(A::State_GRAD, i))
      std::copy_n(Data<T>(call.Arg(A::State_GRAD, i)) + cell * s.state(), s.state(),
                  carried[i]->data());
  for (int64_t k = s.steps; k-- > 0;) {
    const int64_t t = StepAt(s, direction == 1, k),
                  earlier = k == 0 ? -1 : StepAt(s, direction == 1, k - 1);
    const T* before = earlier < 0 ? Data<T>(call.Arg(A::PreState, 0)) + cell * s.state()
                                  : tape.states + earlier * s.state();
    const T* cell_before = s.cell != Cell::kLstm ? before
                           : earlier < 0 ? Data<T>(call.Arg(A::PreState, 1)) + cell * s.state()
                                         : tape.extra + earlier * s.state();
    std::copy_n(before, s.state(), previous.data() + t * s.state());
    std::fill(d_before.begin(), d_before.end(), T{0});
    std::fill(d_cell_before.begin(), d_cell_before.end(), T{0});
    for (int64_t row = 0; row < s.batch; ++row)
      for (int64_t j = 0; j < s.hidden; ++j) {
        const auto at = static_cast<size_t>(row * s.hidden + j);
        const int64_t step_row = t * s.batch + row;
        if (!s.lives(t, row)) {
          d_before[at] += d_state[at], d_cell_before[at] += d_cell[at];
          continue;
        }
        const T whole = d_state[at] + d_out[(step_row * s.directions + direction) * s.hidden + j];
        Retreat(s, tape.gates + step_row * all + j, tape.extra[step_row * s.hidden + j], before[at],
                cell_before[at], whole, d_cell[at], d.data() + step_row * all + j,
                recurrent.data() + step_row * all + j, d_before[at], d_cell_before[at]);
      }
    if (Multiply(call.context(), type, Contiguous(false, false, s.batch, s.hidden, all, 1),
                 recurrent.data() + t * s.batch * all, WeightOf(call, s, cell, 1).data,
                 d_before.data()) != 0)
      return 1;
    d_state.swap(d_before);
    d_cell.swap(d_cell_before);
  }
  for (int i = 0; i < s.states(); ++i)
    if (i < call.Count(A::PreState_GRAD) && call.Has(A::PreState_GRAD, i))
      std::copy_n(carried[i]->data(), s.state(),
                  Data<T>(call.Arg(A::PreState_GRAD, i)) + cell * s.state());
  auto gradient = [&](int which) -> T* {
    const auto at =
        static_cast<int>(which < 2 ? 2 * cell + which : 2 * s.cells() + 2 * cell + which - 2);
    return at < call.Count(A::WeightList_GRAD) && call.Has(A::WeightList_GRAD, at)
               ? Data<T>(call.Arg(A::WeightList_GRAD, at))
               : nullptr;
  };
  DtContext* context = call.context();
  if (T* to = gradient(0);
      to != nullptr &&
      Multiply(context, type, Contiguous(true, false, all, width, rows), d.data(), x, to) != 0)
    return 1;
  if (T* to = gradient(1);
      to != nullptr && Multiply(context, type, Contiguous(true, false, all, s.hidden, rows),
                                recurrent.data(), previous.data(), to) != 0)
    return 1;
  if (T* to = gradient(2); to != nullptr) SumColumns(d.data(), rows, all, to);
  if (T* to = gradient(3); to != nullptr) SumColumns(recurrent.data(), rows, all, to);
  return Multiply(context, type, Contiguous(false, false, rows, width, all, 1), d.data(),
                  WeightOf(call, s, cell, 0).data, dx);
}

bool ResizeGradients(OpCall& call, int from, int to) {
  for (int i = 0; i < std::min(call.Count(from), call.Count(to)); ++i)
    if (call.Has(to, i) && !call.Resize(call.Arg(to, i), call.Arg(from, i))) return false;
  return true;
}

}  // namespace

// ..., Reserve, Out@GRAD, State@GRAD* -> Input@GRAD, PreState@GRAD*, WeightList@GRAD*
int32_t RnnGrad(OpCall& call) {
  using A = args::dt_rnn_grad;
  Shape s;
  if (!ShapeOf(call, s)) return 1;
  const DtBuffer &x = call.Arg(A::Input), &reserve_buffer = call.Arg(A::Reserve);
  if (Elements(reserve_buffer) != s.cells() * s.reserve() || TypeOf(reserve_buffer) != TypeOf(x))
    return call.Fail("'%s' is not from the forward op", reserve_buffer.name);
  if (call.Has(A::Out_GRAD) &&
      (Elements(call.Arg(A::Out_GRAD)) != s.steps * s.state() * s.directions ||
       TypeOf(call.Arg(A::Out_GRAD)) != TypeOf(x)))
    return call.Fail("'%s' does not fit", call.Arg(A::Out_GRAD).name);
  for (int i = 0; i < call.Count(A::State_GRAD); ++i)
    if (call.Has(A::State_GRAD, i) &&
        (Elements(call.Arg(A::State_GRAD, i)) != s.cells() * s.state() ||
         TypeOf(call.Arg(A::State_GRAD, i)) != TypeOf(x)))
      return call.Fail("'%s' does not fit", call.Arg(A::State_GRAD, i).name);
  if (!ResizeGradients(call, A::Input, A::Input_GRAD) ||
      !ResizeGradients(call, A::PreState, A::PreState_GRAD) ||
      !ResizeGradients(call, A::WeightList, A::WeightList_GRAD))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* reserve = Data<T>(reserve_buffer);
    std::vector<T> d_out(static_cast<size_t>(s.steps * s.state() * s.directions), T{0});
    if (call.Has(A::Out_GRAD))
      std::copy_n(Data<T>(call.Arg(A::Out_GRAD)), d_out.size(), d_out.data());
    for (int64_t layer = s.layers; layer-- > 0;) {
      const std::vector<T> input = layer == 0 ? std::vector<T>(Data<T>(x), Data<T>(x) + Elements(x))
                                              : LayerOutput(s, reserve, layer - 1);
      std::vector<T> dx(input.size(), T{0});
      for (int64_t direction = 0; direction < s.directions; ++direction)
        if (RunCellBack(call, s, layer * s.directions + direction, input.data(), d_out.data(),
                        reserve, dx.data()) != 0)
          return 1;
      d_out = std::move(dx);
    }
    if (call.Has(A::Input_GRAD))
      std::copy(d_out.begin(), d_out.end(), Data<T>(call.Arg(A::Input_GRAD)));
    return 0;
  });
}

}  // namespace dtranspile::kernels
