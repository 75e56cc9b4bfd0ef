// What rnn.cc and rnn_grad.cc share: extents, weights and the tape of the operator `rnn`.
//
// What the backward pass needs lies in Reserve: for every layer and direction the activated gates
// [T, N, G·H], then `extra` [T, N, H] (cell states of LSTM, recurrent product of GRU's candidate),
// then states [T, N, H]. Gates are i, f, g, o of LSTM, r, z, c of GRU.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/kernels/cpu/ops/recurrent/calls.h"

namespace dtranspile::kernels {

enum class RnnCell { kLstm, kGru, kTanh, kRelu };

struct RnnShape {
  RnnCell cell = RnnCell::kTanh;
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, layers = 0, directions = 1, gates = 1;
  std::vector<int64_t> lengths;  // empty: all of `steps`

  int64_t cells() const { return layers * directions; }
  int64_t width(int64_t layer) const { return layer == 0 ? input : directions * hidden; }
  int64_t state() const { return batch * hidden; }
  int64_t reserve() const { return steps * state() * (gates + 2); }  // of one cell
  bool lives(int64_t step, int64_t row) const {
    return lengths.empty() || step < lengths[static_cast<size_t>(row)];
  }
  int states() const { return cell == RnnCell::kLstm ? 2 : 1; }
};

// Reads and checks the arguments that rnn and its gradient have in common. False with a message.
bool RnnShapeOf(OpCall& call, RnnShape& s);

// Weight (0: w_ih [G·H, width], 1: w_hh [G·H, H]) or bias (2: b_ih, 3: b_hh, [G·H]) of a cell,
// which is layer · directions + direction.
const DtBuffer& RnnWeightOf(OpCall& call, const RnnShape& s, int64_t cell, int which);

// One cell's part of Reserve.
template <typename T>
struct RnnTape {
  T *gates, *extra, *states;

  RnnTape(T* reserve, const RnnShape& s, int64_t cell) {
    gates = reserve + cell * s.reserve();
    extra = gates + s.steps * s.state() * s.gates;
    states = extra + s.steps * s.state();
  }
};

// Which step is the k-th of a direction.
inline int64_t RnnStepAt(const RnnShape& s, bool backwards, int64_t k) {
  return backwards ? s.steps - 1 - k : k;
}

// Output of a layer, [T, N, D·H]: states where the sequence lives.
template <typename T>
std::vector<T> RnnLayerOutput(const RnnShape& s, T* reserve, int64_t layer) {
  std::vector<T> out(static_cast<size_t>(s.steps * s.state() * s.directions), T{0});
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    const RnnTape<T> tape(reserve, s, layer * s.directions + direction);
    for (int64_t t = 0; t < s.steps; ++t)
      for (int64_t row = 0; row < s.batch; ++row)
        if (s.lives(t, row))
          std::copy_n(tape.states + (t * s.batch + row) * s.hidden, s.hidden,
                      out.data() + ((t * s.batch + row) * s.directions + direction) * s.hidden);
  }
  return out;
}

}  // namespace dtranspile::kernels
