// Gradient of rnn (rnn.cc): back through time, the layers from the last to the first. Per cell one
// pass over the steps gives the gradients of all gates before their activation, with one product
// with w_hh per step, which is what a step has to wait for; those of the weights and of the input
// are then one product each over all steps.
#include <cmath>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/recurrent/rnn.h"

namespace dtranspile::kernels {
namespace {

// Gradients of the gates before their activation, by those of the new state and cell; what goes to
// the state before besides the product with w_hh is added to d_before, d_cell_before. `recurrent`
// differs from `d` for GRU's candidate.
// With σ' = σ(1 − σ) and tanh' = 1 − tanh²:
//   LSTM  c = f·c₋₁ + i·g, h = o·tanh(c): dc = d_cell + d_state·o·tanh'(c); extra is c
//   GRU   h = (1 − z)·c + z·h₋₁, c = tanh(x + r·extra): extra is w_hh·h₋₁ + b_hh of the candidate,
//         whose gradient (`recurrent`) thus has the factor r
template <typename T>
void Retreat(const RnnShape& s, const T* gates, T extra, T before, T cell_before, T d_state,
             T d_cell, T* d, T* recurrent, T& d_before, T& d_cell_before) {
  const int64_t h = s.hidden;
  switch (s.cell) {
    case RnnCell::kLstm: {
      const T i = gates[0], f = gates[h], g = gates[2 * h], o = gates[3 * h],
              squashed = std::tanh(extra);
      const T dc = d_cell + d_state * o * (1 - squashed * squashed);
      d[0] = dc * g * i * (1 - i), d[h] = dc * cell_before * f * (1 - f),
      d[2 * h] = dc * i * (1 - g * g), d[3 * h] = d_state * squashed * o * (1 - o);
      d_cell_before += dc * f;
      break;
    }
    case RnnCell::kGru: {
      const T r = gates[0], z = gates[h], c = gates[2 * h];
      d[2 * h] = d_state * (1 - z) * (1 - c * c);
      d[0] = d[2 * h] * extra * r * (1 - r), d[h] = d_state * (before - c) * z * (1 - z);
      d_before += d_state * z;
      break;
    }
    case RnnCell::kTanh: d[0] = d_state * (1 - gates[0] * gates[0]); break;
    case RnnCell::kRelu: d[0] = gates[0] > 0 ? d_state : T{0}; break;
  }
  for (int64_t k = 0; k < s.gates; ++k) recurrent[k * h] = d[k * h];
  if (s.cell == RnnCell::kGru) recurrent[2 * h] = d[2 * h] * gates[0];
}

// A bias's gradient: it was added to every row.
template <typename T>
void SumColumns(const T* x, int64_t rows, int64_t width, T* out) {
  std::fill_n(out, width, T{0});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) out[j] += x[i * width + j];
}

// `dx` gets what this cell adds to the gradient of its input.
// A row past its sequence's length passes its state through unchanged, and so the gradients; its
// gates keep the gradient 0, which lets the products over all steps be plain ones.
template <typename T>
int32_t RunCellBack(OpCall& call, const RnnShape& s, int64_t cell, const T* x, const T* d_out,
                    T* reserve, T* dx) {
  using A = args::dt_rnn_grad;
  const RnnTape<T> tape(reserve, s, cell);
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
    const int64_t t = RnnStepAt(s, direction == 1, k),
                  earlier = k == 0 ? -1 : RnnStepAt(s, direction == 1, k - 1);
    const T* before = earlier < 0 ? Data<T>(call.Arg(A::PreState, 0)) + cell * s.state()
                                  : tape.states + earlier * s.state();
    const T* cell_before = s.cell != RnnCell::kLstm ? before
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
                 recurrent.data() + t * s.batch * all, RnnWeightOf(call, s, cell, 1).data,
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
                  RnnWeightOf(call, s, cell, 0).data, dx);
}

// Gradients have the extents of what they belong to; those that nobody wants are passed over.
bool ResizeGradients(OpCall& call, int from, int to) {
  for (int i = 0; i < std::min(call.Count(from), call.Count(to)); ++i)
    if (call.Has(to, i) && !call.Resize(call.Arg(to, i), call.Arg(from, i))) return false;
  return true;
}

}  // namespace

// ..., Reserve, Out@GRAD, State@GRAD* -> Input@GRAD, PreState@GRAD*, WeightList@GRAD*
int32_t RnnGrad(OpCall& call) {
  using A = args::dt_rnn_grad;
  RnnShape s;
  if (!RnnShapeOf(call, s)) return 1;
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
                                              : RnnLayerOutput(s, reserve, layer - 1);
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
