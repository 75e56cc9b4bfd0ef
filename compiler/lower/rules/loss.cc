// Lowering rules: family `loss`. Hard labels pick their element by comparison, never by indexing
// memory; dt_check_range refuses labels that are no class and not ignore_index, as the framework
// does.
#include <cmath>

#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// Over the class dim (`axis`, by default the last).
LogicalResult rowFormula(OpLowering& op, const char* formula, double first = 0) {
  OpLowering::Bindings bindings;
  // Softmax of the framework's processors never sees more than 64 below the maximum, so that no
  // loss is much above 64.
  bindings.numbers = {{"lowest", op.mendsDefects() ? -HUGE_VAL : -64}, {"first", first}};
  const int64_t axis = op.op().hasAttr("axis") ? op.op().getInt("axis") : -1;
  bindings.inner = [axis](const std::vector<int64_t>& domain) {
    std::vector<bool> mask(domain.size(), false);
    const auto rank = static_cast<int64_t>(domain.size());
    if (rank > 0) mask[(axis + rank) % rank] = true;
    return mask;
  };
  return op.formula(formula, bindings);
}

// A call in front of the formula: comparing would silently find no class for a label that is none.
void checkLabels(OpLowering& op, int64_t classes) {
  auto label = op.in("Label");
  if (!label) return;
  const bool ignores = op.op().spec() && op.op().spec()->attribute("ignore_index");
  OpLowering::CallArguments call{.tensors = {{"Ids", *label}}, .keep = true, .anyExtents = true};
  call.attributes = {{"lower", int64_t{0}},
                     {"upper", classes},
                     {"name", pd::nameOf(op.op().input("Label")).str()}};
  if (ignores) call.attributes.emplace_back("ignore", op.op().getInt("ignore_index"));
  op.call("dt_check_range", call);
}

// With the class dim at `axis` of input `slot`.
int64_t classesOf(OpLowering& op, llvm::StringRef slot) {
  const auto dims = op.in(slot)->dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = op.op().hasAttr("axis") ? op.op().getInt("axis") : -1;
  return rank ? dims[(axis + rank) % rank] : 1;
}

// With z = x − max x and s = Σ exp z the loss is log s − z[label]: no logarithm of a small softmax
// is taken.
LogicalResult lowerSoftmaxWithCrossEntropy(OpLowering& op) {
  if (!op.has("Logits") || !op.has("Label")) return op.unsupported("an absent input");
  const bool soft = op.op().getBool("soft_label");
  if (!soft) checkLabels(op, classesOf(op, "Logits"));
  if (!op.op().getBool("use_softmax")) {
    // Logits are probabilities already.
    return rowFormula(op, soft ? "Softmax = Logits; Loss[r] = -sum(Label * max(log(Logits), -1e20))"
                               : "p = sum(position == Label[r] ? Logits : 0); Softmax = Logits; "
                                 "Loss[r] = Label[r] == ignore_index ? 0 : -max(log(p), -1e20)");
  }
  if (soft) {
    return rowFormula(op,
                      "z = max(Logits - max(Logits), lowest); Softmax = exp(z); s = sum(Softmax); "
                      "Softmax = Softmax / s; l = log(s); Loss[r] = -sum(Label * (z - l))");
  }
  return rowFormula(
      op,
      "z = max(Logits - max(Logits), lowest); Softmax = exp(z); s = sum(Softmax); p = "
      "sum(position == Label[r] ? z : 0); Softmax = Softmax / s;"
      "Loss[r] = Label[r] == ignore_index ? 0 : log(s) - p");
}

// Deng et al. 2019: Logits are cosines; that of the label's angle θ becomes
// cos(margin1·θ + margin2) − margin3, and all are scaled.
LogicalResult lowerMarginCrossEntropy(OpLowering& op) {
  if (!op.has("Logits") || !op.has("Label")) return op.unsupported("an absent input");
  checkLabels(op, classesOf(op, "Logits"));
  return rowFormula(
      op,
      "own = position == Label[r];"
      "c = own ? cos(margin1 * acos(Logits) + margin2) - margin3 : Logits; y = c * scale;"
      "z = y - max(y); Softmax = exp(z); s = sum(Softmax); p = sum(own ? z : 0);"
      "Softmax = Softmax / s; Loss[r] = log(s) - p");
}
// With dcos(margin1·θ + margin2)/dcos θ = margin1·sin(margin1·θ + margin2)/sin θ.
LogicalResult lowerMarginCrossEntropyGrad(OpLowering& op) {
  return rowFormula(
      op,
      "own = position == Label[r]; slope = margin1 == 1 && margin2 == 0 ? 1 : margin1 * "
      "sin(margin1 * acos(Logits) + margin2) / sqrt(1 - Logits * Logits);"
      "Logits@GRAD = Loss@GRAD[r] * scale * (own ? (Softmax - 1) * slope : Softmax)");
}

// ∂loss/∂x = softmax − onehot(label), or softmax − label where labels are probabilities, which sum
// to 1.
LogicalResult lowerSoftmaxWithCrossEntropyGrad(OpLowering& op) {
  if (!op.op().getBool("use_softmax")) {
    return rowFormula(op, op.op().getBool("soft_label")
                              ? "Logits@GRAD = -Label / Softmax * Loss@GRAD[r]"
                              : "Logits@GRAD = position == Label[r] && Label[r] != ignore_index ? "
                                "-Loss@GRAD[r] / Softmax : 0");
  }
  if (op.op().getBool("soft_label"))
    return rowFormula(op, "Logits@GRAD = (Softmax - Label) * Loss@GRAD[r]");
  // The loss of a label that 1.x ignores is 0, its gradient is not.
  if (op.version() > 0 && op.version() < 2000000 && !op.mendsDefects())
    return rowFormula(op,
                      "Logits@GRAD = (Softmax - (position == Label[r] ? 1 : 0)) * Loss@GRAD[r]");
  return rowFormula(op,
                    "Logits@GRAD = Label[r] == ignore_index ? 0 : (Softmax - (position == Label[r] "
                    "? 1 : 0)) * Loss@GRAD[r]");
}

// Of the classes of one rank, which are those from rank · C on: a label that another has is none.
LogicalResult lowerSplitSoftmaxGrad(OpLowering& op) {
  const auto classes = op.in("Softmax");
  if (!classes || !op.has("Label")) return op.unsupported("an absent input");
  return rowFormula(op,
                    "Logits@GRAD = Label[r] == ignore_index ? 0 : (Softmax - (position == Label[r] "
                    "- first ? 1 : 0)) * Loss@GRAD[r]",
                    static_cast<double>(op.op().getInt("rank") * classesOf(op, "Softmax")));
}

// The framework clips the logarithm of 0 to -1e20.
LogicalResult lowerCrossEntropy(OpLowering& op) {
  if (!op.has("X") || !op.has("Label")) return op.unsupported("an absent input");
  const bool second = op.op().type() == "cross_entropy2";
  if (!second && op.op().getBool("soft_label"))
    return rowFormula(op, "Y[r] = -sum(Label * max(log(X), -1e20))");
  checkLabels(op, classesOf(op, "X"));
  return rowFormula(op,
                    "p = sum(position == Label[r] ? X : 0);"
                    "MatchX[r] = Label[r] == ignore_index ? 0 : p; Y[r] = Label[r] == "
                    "ignore_index ? 0 : -max(log(p), -1e20)");
}

LogicalResult lowerCrossEntropyGrad(OpLowering& op) {
  if (op.op().getBool("soft_label")) return rowFormula(op, "X@GRAD = -Y@GRAD[r] * Label / X");
  return rowFormula(
      op, "X@GRAD = position == Label[r] && Label[r] != ignore_index ? -Y@GRAD[r] / X : 0");
}

LogicalResult lowerCrossEntropyGrad2(OpLowering& op) {
  return rowFormula(
      op, "X@GRAD = position == Label[r] && Label[r] != ignore_index ? -Y@GRAD[r] / MatchX[r] : 0");
}

OpLowering::Bindings innerAll() {
  return {.inner = [](const std::vector<int64_t>& domain) {
    return std::vector<bool>(domain.size(), true);
  }};
}

// What `normalize` divides by: the number of labels that count.
LogicalResult sigmoidCrossEntropy(OpLowering& op, const std::string& value,
                                  const std::string& result) {
  // The whole part of a soft label is what the framework compares.
  const std::string kept = "v = int32(Label) != ignore_index ? " + value + " : 0; ";
  if (!op.op().getBool("normalize")) return op.formula(kept + result + " = v");
  return op.formula("n = sum(int32(Label) != ignore_index ? 1 : 0); " + kept + result +
                        " = v / max(float(n), 1e-6)",
                    innerAll());
}

LogicalResult lowerSigmoidCrossEntropy(OpLowering& op) {
  return sigmoidCrossEntropy(op, "max(X, 0) - X * Label + log1p(exp(-abs(X))) * or(pos_weight, 1)",
                             "Out");
}
LogicalResult lowerSigmoidCrossEntropyGrad(OpLowering& op) {
  return sigmoidCrossEntropy(op, "Out@GRAD * (sigmoid(X) * or(pos_weight, 1) - Label)", "X@GRAD");
}

// Refuses a `reduction` that the framework does not know.
LogicalResult checkReduction(OpLowering& op, llvm::ArrayRef<llvm::StringRef> known) {
  const std::string reduction = op.op().getString("reduction");
  return llvm::is_contained(known, reduction) ? llvm::success()
                                              : op.unsupported("reduction '" + reduction + "'");
}

// What the sum over all `elements` is divided by; empty where X has no batch.
std::string divisorOf(OpLowering& op, const std::string& elements) {
  const std::string reduction = op.op().getString("reduction");
  if (reduction == "mean") return elements;
  if (reduction != "batchmean") return "1";
  auto x = op.in("X");
  if (!x || x->dims.empty()) return "";
  int64_t each = 1;
  for (size_t d = 1; d < x->dims.size(); ++d) each *= x->dims[d];
  return each > 0 ? elements + " / " + std::to_string(each) : "";
}

constexpr llvm::StringRef kDivergenceReductions[] = {"mean", "sum", "batchmean", "none"};

LogicalResult lowerKlDivergence(OpLowering& op) {
  if (failed(checkReduction(op, kDivergenceReductions))) return llvm::failure();
  const std::string divisor = divisorOf(op, "count");
  if (divisor.empty()) return op.unsupported("reduction batchmean of such an X");
  const std::string text =
      "v = log_target ? exp(Target) * (Target - X) : Target <= 0 ? 0 : Target * (log(Target) - "
      "X); ";
  if (op.op().getString("reduction") == "none") return op.formula(text + "Loss = v");
  return op.formula(text + "Loss[r] = sum(v) / (" + divisor + ")", innerAll());
}

// ∂/∂x of t (log t − x) is −t; where the target is given as its logarithm, −exp(t).
LogicalResult lowerKlDivergenceGrad(OpLowering& op) {
  if (failed(checkReduction(op, kDivergenceReductions))) return llvm::failure();
  const std::string divisor = divisorOf(op, "rows");
  if (divisor.empty()) return op.unsupported("reduction batchmean of such an X");
  return op.formula("X@GRAD = -(log_target ? exp(Target) : max(Target, 0)) * Loss@GRAD / (" +
                    divisor + ")");
}

// The sum, the mean, or X as it is; the inference knows no other number.
LogicalResult lowerIdentityLoss(OpLowering& op) {
  const int64_t reduction = op.op().getInt("reduction");
  if (reduction == 2) return op.formula("Out = X");
  return op.formula(reduction == 1 ? "Out[r] = sum(X) / count" : "Out[r] = sum(X)", innerAll());
}
LogicalResult lowerIdentityLossGrad(OpLowering& op) {
  const int64_t reduction = op.op().getInt("reduction");
  if (reduction == 2) return op.formula("X@GRAD = Out@GRAD");
  return op.formula(reduction == 1 ? "X@GRAD = Out@GRAD[r] / count" : "X@GRAD = Out@GRAD[r]",
                    innerAll());
}

// Class scores are dim 1 of X, whatever comes after it.
OpLowering::Bindings innerClasses() {
  return {.inner = [](const std::vector<int64_t>& domain) {
    std::vector<bool> mask(domain.size(), false);
    if (mask.size() > 1) mask[1] = true;
    return mask;
  }};
}

constexpr llvm::StringRef kLikelihoodReductions[] = {"mean", "sum", "none"};

// Samples first, then their sum: over them alone, or over the weights of their classes.
LogicalResult lowerNegativeLogLikelihood(OpLowering& op) {
  if (failed(checkReduction(op, kLikelihoodReductions))) return llvm::failure();
  auto x = op.in("X"), label = op.in("Label"), out = op.out("Out"), total = op.out("Total_weight");
  if (!x || !label || x->dims.size() < 2) return op.unsupported("an X without classes");
  checkLabels(op, x->dims[1]);
  const std::string reduction = op.op().getString("reduction");
  OpLowering::Bindings bindings = innerClasses();
  const TensorRef losses =
      reduction == "none" && out ? *out : op.temporary("losses", x->dtype, label->dims);
  const TensorRef weights = op.temporary("weights", x->dtype, label->dims);
  bindings.tensors = {{"losses", losses}, {"weights", weights}};
  if (llvm::failed(
          op.formula("here = position == Label[r] && Label[r] != ignore_index; w = sum(here ? "
                     "or(Weight[i], 1) : 0); p = sum(here ? X * or(Weight[i], 1) : 0);"
                     "losses[r] = -p; weights[r] = w",
                     bindings)))
    return llvm::failure();
  bindings = innerAll();
  bindings.tensors = {{"losses", losses}, {"weights", weights}};
  if (reduction == "none") return total ? op.formula("Total_weight = 0") : llvm::success();
  return op.formula(
      reduction == "mean"
          ? "s = sum(losses); k = sum(weights); Total_weight[r] = k; Out[r] = k != 0 ? s / k : s"
          : "Total_weight[r] = sum(weights); Out[r] = sum(losses)",
      bindings);
}

LogicalResult lowerNegativeLogLikelihoodGrad(OpLowering& op) {
  if (failed(checkReduction(op, kLikelihoodReductions))) return llvm::failure();
  const std::string reduction = op.op().getString("reduction");
  const char* gradient = reduction == "none"   ? "g = Out@GRAD[r];"
                         : reduction == "mean" ? "g = Out@GRAD / Total_weight;"
                                               : "g = Out@GRAD;";
  return op.formula(
      std::string(gradient) +
          "X@GRAD = position == Label[r] && Label[r] != ignore_index ? -g * or(Weight[i], 1) : 0",
      innerClasses());
}

// Hidasi et al. 2016 (BPR): the mean over all other classes of log(1 + exp(x_j − x_label)).
LogicalResult lowerBayesianRanking(OpLowering& op) {
  checkLabels(op, classesOf(op, "X"));
  return rowFormula(op,
                    "p = sum(position == Label[r] ? X : 0); Y[r] = sum(position == Label[r] ? 0 : "
                    "log(1 + min(exp(X - p), 1e20))) / (count - 1)");
}
LogicalResult lowerBayesianRankingGrad(OpLowering& op) {
  return rowFormula(op,
                    "p = sum(position == Label[r] ? X : 0); e = position == Label[r] ? 0 : 1 / (1 "
                    "+ exp(p - X)); s = sum(e);"
                    "X@GRAD = Y@GRAD[r] / (count - 1) * (position == Label[r] ? -s : e)");
}

const LoweringRule kRules[] = {
    callRule("crf_decoding", "dt_crf_decoding"),
    callRule("viterbi_decode", "dt_viterbi"),
    callRule("linear_chain_crf", "dt_linear_chain_crf"),
    callRule("linear_chain_crf_grad", "dt_linear_chain_crf_grad"),
    callRule("warpctc", "dt_warpctc"),
    callRule("warpctc_grad", "dt_warpctc_grad"),
    functionRule("margin_cross_entropy", lowerMarginCrossEntropy),
    functionRule("margin_cross_entropy_grad", lowerMarginCrossEntropyGrad),
    functionRule("softmax_with_cross_entropy", lowerSoftmaxWithCrossEntropy),
    functionRule("softmax_with_cross_entropy_grad", lowerSoftmaxWithCrossEntropyGrad),
    functionRule("c_softmax_with_cross_entropy_grad", lowerSplitSoftmaxGrad),
    functionRule("cross_entropy", lowerCrossEntropy),
    functionRule("cross_entropy_grad", lowerCrossEntropyGrad),
    functionRule("cross_entropy2", lowerCrossEntropy),
    functionRule("cross_entropy_grad2", lowerCrossEntropyGrad2),
    functionRule("sigmoid_cross_entropy_with_logits", lowerSigmoidCrossEntropy),
    functionRule("sigmoid_cross_entropy_with_logits_grad", lowerSigmoidCrossEntropyGrad),
    {"bce_loss", Inner::None,
     "Out = (Label - 1) * max(log(1 - X), -100) - Label * max(log(X), -100)"},
    {"bce_loss_grad", Inner::None, "X@GRAD = Out@GRAD * (X - Label) / max((1 - X) * X, 1e-12)"},
    functionRule("nll_loss", lowerNegativeLogLikelihood),
    functionRule("nll_loss_grad", lowerNegativeLogLikelihoodGrad),
    functionRule("identity_loss", lowerIdentityLoss),
    functionRule("identity_loss_grad", lowerIdentityLossGrad),
    functionRule("kldiv_loss", lowerKlDivergence),
    functionRule("kldiv_loss_grad", lowerKlDivergenceGrad),
    {"hinge_loss", Inner::None, "Loss = max(1 - Logits * (2 * Labels - 1), 0)"},
    {"hinge_loss_grad", Inner::None,
     "t = 2 * Labels - 1; Logits@GRAD = Logits * t < 1 ? -Loss@GRAD * t : 0"},
    {"modified_huber_loss", Inner::None,
     "v = X * (2 * Y - 1); IntermediateVal = v; Out = v < -1 ? -4 * v : v < 1 ? square(1 - v) : 0"},
    {"modified_huber_loss_grad", Inner::None,
     "v = IntermediateVal; t = 2 * Y - 1;"
     "X@GRAD = v < -1 ? -4 * t * Out@GRAD : v < 1 ? -2 * (1 - v) * t * Out@GRAD : 0"},
    {"rank_loss", Inner::None, "d = Left - Right; Out = log(1 + exp(d)) - Label * d"},
    {"rank_loss_grad", Inner::None,
     "g = Out@GRAD * (1 / (1 + exp(Right - Left)) - Label); Left@GRAD = g; Right@GRAD = -g"},
    {"margin_rank_loss", Inner::None,
     "v = max(margin - Label * (X1 - X2), 0); Out = v; Activated = v > 0 ? 1 : 0"},
    {"margin_rank_loss_grad", Inner::None,
     "g = Out@GRAD * Label * Activated; X1@GRAD = -g; X2@GRAD = g"},
    functionRule("bpr_loss", lowerBayesianRanking),
    functionRule("bpr_loss_grad", lowerBayesianRankingGrad),
    // Label below -1: no click; below 0: a click; from 0 on the teacher's number, plus 1 with a
    // click.
    {"teacher_student_sigmoid_loss", Inner::None,
     "v = log_one_plus_exp(X);"
     "Y = Label < -1 ? v : Label < 0 ? v - X : Label < 1 ? v + v - X * Label : v - X + v - X * "
     "(Label - 1)"},
    {"teacher_student_sigmoid_loss_grad", Inner::None,
     "p = sigmoid(X); d = Label < -1 ? -p : Label < 0 ? 1 - p : Label - 2 * p;"
     "X@GRAD = X >= soft_max_up_bound || X <= soft_max_lower_bound ? 0 : -Y@GRAD * d"},
    // Lin 2017. Class k is label k + 1, label -1 counts for nothing.
    {"sigmoid_focal_loss", Inner::Last,
     "n = max(float(FgNum), 1); p = sigmoid(X); hit = Label[r] == position + 1;"
     "miss = Label[r] != -1 && !hit;"
     "Out = -(hit ? alpha / n * pow(1 - p, gamma) * log_probability(p) : 0) - (miss ? (1 - alpha) "
     "/ n "
     "* pow(p, gamma) * -log_one_plus_exp(X) : 0)"},
    {"sigmoid_focal_loss_grad", Inner::Last,
     "n = max(float(FgNum), 1); p = sigmoid(X); hit = Label[r] == position + 1;"
     "miss = Label[r] != -1 && !hit; hi = log_probability(p); lo = -log_one_plus_exp(X);"
     "up = pow(1 - p, gamma) * (1 - p - p * gamma * hi); down = pow(p, gamma) * (lo * (1 - p) * "
     "gamma - p);"
     "X@GRAD = Out@GRAD * (-(hit ? alpha / n * up : 0) - (miss ? (1 - alpha) / n * down : 0))"},
    {"smooth_l1_loss", Inner::NotFirst,
     "s = sigma * sigma; d = (X - Y) * or(InsideWeight, 1); Diff = d;"
     // Without weights inside those outside count for nothing.
     "o = has(InsideWeight) ? or(OutsideWeight, 1) : 1;"
     "Out[r] = sum((abs(d) < 1 / s ? 0.5 * d * d * s : abs(d) - 0.5 / s) * o)"},
    {"smooth_l1_loss_grad", Inner::NotFirst,
     "s = sigma * sigma; o = has(InsideWeight) ? or(OutsideWeight, 1) : 1;"
     "g = Out@GRAD[r] * or(InsideWeight, 1) * o * (abs(Diff) < 1 / s ? s * Diff : sign(Diff));"
     "X@GRAD = g; Y@GRAD = -g"},
    callRule("center_loss", "dt_center_loss"),
    {"center_loss_grad", Inner::NotFirst, "X@GRAD = Loss@GRAD[r] * SampleCenterDiff"},
    {"log_loss", Inner::None,
     "Loss = -Labels * log(Predicted + epsilon) - (1 - Labels) * log(1 - Predicted + epsilon)"},
    {"log_loss_grad", Inner::None,
     "Predicted@GRAD = Loss@GRAD * (-Labels / (Predicted + epsilon) + (1 - Labels) / (1 - "
     "Predicted + epsilon))"},
    {"huber_loss", Inner::None,
     "d = Y - X; Residual = d; Out = abs(d) <= delta ? 0.5 * d * d : delta * (abs(d) - 0.5 * "
     "delta)"},
    {"huber_loss_grad", Inner::None,
     "g = Out@GRAD * (abs(Residual) <= delta ? Residual : delta * sign(Residual)); X@GRAD = -g; "
     "Y@GRAD = g"},
};

}  // namespace

RuleTable lossRules() { return kRules; }

}  // namespace dtranspile::lower
