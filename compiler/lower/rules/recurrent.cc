// Lowering rules: family `recurrent`. Kernels: runtime/kernels/cpu/ops/recurrent.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

// Both gradients are one kernel. The framework's own loses the gradient of the cell for widths that
// fill its vectors (docs/operators/defects.md): that is said once for every such op, because the
// program trains, and learns less than it should.
llvm::LogicalResult lowerLstmGrad(OpLowering& op) {
  const bool projected = op.op().type() == "lstmp_grad";
  const auto weight = op.in("Weight");
  const bool vectors = weight && weight->dtype == DType::kFloat32 && weight->dims.size() == 2 &&
                       weight->dims[1] % 32 == 0;
  if (vectors && !op.mendsDefects() && (!projected || op.op().getFloat("cell_clip") <= 0)) {
    op.op().operation()->emitWarning()
        << op.op().type()
        << ": the framework's kernel passes no gradient through the cell at widths that are "
           "multiples of 8, here "
        << weight->dims[1] / 4
        << "; its values are reproduced (--mend-defects: the whole gradient)";
  }
  return op.callRow();
}

// The framework's kernel gives nothing to the reset gate and the weights for the first step where
// nobody wants the gradient of the first states (docs/operators/defects.md).
llvm::LogicalResult lowerGruGrad(OpLowering& op) {
  if (op.op().input("H0") && !op.op().output("H0@GRAD") && !op.mendsDefects())
    op.op().operation()->emitWarning()
        << "gru_grad: H0 takes no gradient, so the framework's kernel leaves the first step out of "
           "the gradients of the reset gate and of the weights; its values are reproduced "
           "(--mend-defects: the whole gradient)";
  return op.callRow();
}

const LoweringRule kRules[] = {
    callRule("beam_search", "dt_beam_search"),
    callRule("beam_search_decode", "dt_beam_search_decode"),
    callRule("gru", "dt_gru"),
    choiceRule("gru_grad", lowerGruGrad, "dt_gru_grad"),
    // lstm and lstmp are one kernel, which sees by ProjWeight which of them it is.
    callRule("lstm",
             "dt_lstm(ProjWeight=-, cell_clip=-, proj_clip=-, proj_activation=-, BatchHidden=-)"),
    choiceRule("lstm_grad", lowerLstmGrad,
               "dt_lstm_grad(ProjWeight=-, BatchHidden=-, cell_clip=-, proj_clip=-, "
               "proj_activation=-, ProjWeight@GRAD=-)"),
    callRule("lstmp", "dt_lstm(Hidden=Projection)"),
    choiceRule("lstmp_grad", lowerLstmGrad,
               "dt_lstm_grad(Input=-, Hidden=Projection, Hidden@GRAD=Projection@GRAD)"),
    callRule("gru_unit", "dt_gru_unit"),
    callRule("gru_unit_grad", "dt_gru_unit_grad"),
    callRule("lstm_unit", "dt_lstm_unit"),
    callRule("lstm_unit_grad", "dt_lstm_unit_grad"),
    callRule("rnn", "dt_rnn"),
    callRule("rnn_grad", "dt_rnn_grad"),
};

}  // namespace

RuleTable recurrentRules() { return kRules; }

}  // namespace dtranspile::lower
