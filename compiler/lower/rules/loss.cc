// Lowering rules: family `loss`. Hard labels pick their element by comparison, never by indexing memory; dt_check_range refuses labels
// that are no class and not ignore_index, as the framework does.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

LogicalResult rowFormula(OpLowering& op, const char* formula) {
  OpLowering::Bindings bindings;
  const int64_t axis = op.op().hasAttr("axis") ? op.op().getInt("axis") : -1;
  bindings.inner = [axis](const std::vector<int64_t>& domain) {
    std::vector<bool> mask(domain.size(), false);
    const auto rank = static_cast<int64_t>(domain.size());
    if (rank > 0) mask[(axis + rank) % rank] = true;
    return mask;
  };
  return op.formula(formula, bindings);
}

void checkLabels(OpLowering& op, int64_t classes) {
  auto label = op.in("Label");
  if (!label) return;
  op.call("dt_check_range", {*label}, {}, {.ints = {0, classes, 1, op.op().getInt("ignore_index")}, .strings = {pd::nameOf(op.op().input("Label")).str()}, .keep = true, .anyExtents = true});
}

// With the class dim at `axis` of input `slot`.
int64_t classesOf(OpLowering& op, llvm::StringRef slot) {
  const auto dims = op.in(slot)->dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = op.op().hasAttr("axis") ? op.op().getInt("axis") : -1;
  return rank ? dims[(axis + rank) % rank] : 1;
}

LogicalResult lowerSoftmaxWithCrossEntropy(OpLowering& op) {
  if (!op.has("Logits") || !op.has("Label")) return op.unsupported("an absent input");
  if (!op.op().getBool("use_softmax")) return op.unsupported("use_softmax = false");
  if (op.op().getBool("soft_label")) {
    return rowFormula(op, "m = max(Logits); Softmax = exp(Logits - m); s = sum(Softmax); Softmax = Softmax / s; l = log(s);"
                          "Loss[r] = -sum(Label * (Logits - m - l))");
  }
  checkLabels(op, classesOf(op, "Logits"));
  return rowFormula(op, "m = max(Logits); Softmax = exp(Logits - m); s = sum(Softmax); p = sum(position == Label[r] ? Logits : 0); Softmax = Softmax / s;"
                        "Loss[r] = Label[r] == ignore_index ? 0 : log(s) + m - p");
}

LogicalResult lowerSoftmaxWithCrossEntropyGrad(OpLowering& op) {
  if (op.op().getBool("soft_label")) return rowFormula(op, "Logits@GRAD = (Softmax - Label) * Loss@GRAD[r]");
  return rowFormula(op, "Logits@GRAD = Label[r] == ignore_index ? 0 : (Softmax - (position == Label[r] ? 1 : 0)) * Loss@GRAD[r]");
}

// The framework clips the logarithm of 0 to -1e20.
LogicalResult lowerCrossEntropy(OpLowering& op) {
  if (!op.has("X") || !op.has("Label")) return op.unsupported("an absent input");
  const bool second = op.op().type() == "cross_entropy2";
  if (!second && op.op().getBool("soft_label")) return rowFormula(op, "Y[r] = -sum(Label * max(log(X), -1e20))");
  checkLabels(op, classesOf(op, "X"));
  return rowFormula(op, "p = sum(position == Label[r] ? X : 0); MatchX[r] = p; Y[r] = Label[r] == ignore_index ? 0 : -max(log(p), -1e20)");
}

LogicalResult lowerCrossEntropyGrad(OpLowering& op) {
  if (op.op().getBool("soft_label")) return rowFormula(op, "X@GRAD = -Y@GRAD[r] * Label / X");
  return rowFormula(op, "X@GRAD = position == Label[r] && Label[r] != ignore_index ? -Y@GRAD[r] / X : 0");
}

LogicalResult lowerCrossEntropyGrad2(OpLowering& op) {
  return rowFormula(op, "X@GRAD = position == Label[r] && Label[r] != ignore_index ? -Y@GRAD[r] / MatchX[r] : 0");
}

const LoweringRule kRules[] = {
    callRule("crf_decoding", "dt_crf_decoding(Emission, Transition, Label, Length) -> ViterbiPath"),
    callRule("linear_chain_crf", "dt_linear_chain_crf(Emission, Transition, Label, Length) -> Alpha, EmissionExps, TransitionExps, LogLikelihood"),
    callRule("linear_chain_crf_grad", "dt_linear_chain_crf_grad(Emission, Transition, Label, Length, Alpha, EmissionExps, TransitionExps, LogLikelihood@GRAD)"
                                      " -> Emission@GRAD, Transition@GRAD"),
    callRule("warpctc", "dt_warpctc(Logits, Label, LogitsLength, LabelLength; blank) -> WarpCTCGrad, Loss"),
    callRule("warpctc_grad", "dt_warpctc_grad(Logits, LogitsLength, WarpCTCGrad, Loss@GRAD; norm_by_times) -> Logits@GRAD"),
    {"softmax_with_cross_entropy", Inner::None, nullptr, lowerSoftmaxWithCrossEntropy},
    {"softmax_with_cross_entropy_grad", Inner::None, nullptr, lowerSoftmaxWithCrossEntropyGrad},
    {"cross_entropy", Inner::None, nullptr, lowerCrossEntropy},
    {"cross_entropy_grad", Inner::None, nullptr, lowerCrossEntropyGrad},
    {"cross_entropy2", Inner::None, nullptr, lowerCrossEntropy},
    {"cross_entropy_grad2", Inner::None, nullptr, lowerCrossEntropyGrad2},
    {"log_loss", Inner::None, "Loss = -Labels * log(Predicted + epsilon) - (1 - Labels) * log(1 - Predicted + epsilon)"},
    {"log_loss_grad", Inner::None,
     "Predicted@GRAD = Loss@GRAD * (-Labels / (Predicted + epsilon) + (1 - Labels) / (1 - Predicted + epsilon))"},
    {"huber_loss", Inner::None, "d = Y - X; Residual = d; Out = abs(d) <= delta ? 0.5 * d * d : delta * (abs(d) - 0.5 * delta)"},
    {"huber_loss_grad", Inner::None,
     "g = Out@GRAD * (abs(Residual) <= delta ? Residual : delta * sign(Residual)); X@GRAD = -g; Y@GRAD = g"},
};

}  // namespace

RuleTable lossRules() { return kRules; }

}  // namespace dtranspile::lower
