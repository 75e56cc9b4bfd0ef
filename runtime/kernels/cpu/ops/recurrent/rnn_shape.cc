#include "runtime/kernels/cpu/ops/recurrent/rnn.h"

namespace dtranspile::kernels {
namespace {

// The kind of cell and how many gates it has, each a block of `hidden` rows of the weights.
bool ModeOf(OpCall& call, RnnShape& s) {
  using A = args::dt_rnn;
  static_assert(A::mode == args::dt_rnn_grad::mode);
  const std::string_view mode = call.Text(A::mode);
  const std::pair<std::string_view, std::pair<RnnCell, int64_t>> kModes[] = {
      {"LSTM", {RnnCell::kLstm, 4}},
      {"GRU", {RnnCell::kGru, 3}},
      {"RNN_TANH", {RnnCell::kTanh, 1}},
      {"RNN_RELU", {RnnCell::kRelu, 1}}};
  for (const auto& [name, row] : kModes) {
    if (name != mode) continue;
    s.cell = row.first, s.gates = row.second;
    return true;
  }
  return call.Fail("mode '%s'", std::string(mode).c_str()), false;
}

// Four per cell (layer and direction): w_ih [gates · hidden, width of the layer's input], w_hh
// [gates · hidden, hidden] and two biases. Only the number of elements is compared, since programs
// of different versions give them different ranks.
bool WeightsFit(OpCall& call, const RnnShape& s) {
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
      const DtBuffer& w = RnnWeightOf(call, s, cell, which);
      if (Elements(w) != expected[which] || TypeOf(w) != TypeOf(call.Arg(A::Input)))
        return call.Fail("'%s' has not %lld %s elements", w.name,
                         static_cast<long long>(expected[which]), TypeName(call.Arg(A::Input))),
               false;
    }
  }
  return true;
}

}  // namespace

// w_ih, w_hh of every cell come first, then b_ih, b_hh of every cell.
const DtBuffer& RnnWeightOf(OpCall& call, const RnnShape& s, int64_t cell, int which) {
  using A = args::dt_rnn;
  static_assert(A::WeightList == args::dt_rnn_grad::WeightList);
  return call.Arg(
      A::WeightList,
      static_cast<int>(which < 2 ? 2 * cell + which : 2 * s.cells() + 2 * cell + which - 2));
}

// Reads what forward and gradient have in common and checks it, so that the loops after it need
// not. Dropout between layers is refused.
bool RnnShapeOf(OpCall& call, RnnShape& s) {
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

}  // namespace dtranspile::kernels
