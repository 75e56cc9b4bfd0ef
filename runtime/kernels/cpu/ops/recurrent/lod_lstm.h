// The LSTM of ops `lstm` and `lstmp` as their kernels see it (lod_lstm.cc, lod_lstm_grad.cc).
// Formulas: lstm_op.cc, lstmp_op.cc of the framework.
//
//   c~ = cand(x_c + r W_c)      i = gate(x_i + r W_i + w_ic c')      f = gate(x_f + r W_f + w_fc
//   c') c = f c' + i c~             o = gate(x_o + r W_o + w_oc c)       h = o cell(c)
//
// r is the recurrent value of the step before: h, or of lstmp the projection act(h W_proj). Blocks
// of 4 D are in the order c~ i f o.
#pragma once

#include "runtime/kernels/cpu/ops/recurrent/steps.h"

namespace dtranspile::kernels {

struct Lstm {
  int64_t size = 0;       // D
  int64_t recurrent = 0;  // width of r: D, or the columns of ProjWeight
  bool projected = false, peepholes = false, reverse = false;
  bool defects = false;  // gradients as the framework's kernel for whole vectors of 8 float32 has
                         // them (docs/operators/defects.md)
  Activation gate, cell, candidate, projection = Activation::kIdentity;
  double cell_clip = 0, projection_clip = 0;  // 0: none
  Offsets offsets;
  Steps steps;
};

// Slots of the weights are the same forward and backward: H0 1, C0 2, Weight 3, ProjWeight 4,
// Bias 5. Attributes: use_peepholes, is_reverse, gate_, cell_, candidate_activation, @defects, and
// of lstmp cell_clip, proj_clip, proj_activation. `ragged` is an argument with the LoD of the
// input.
bool LstmOf(OpCall& call, const DtBuffer& ragged, Lstm& lstm);

}  // namespace dtranspile::kernels
