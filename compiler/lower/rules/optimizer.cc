// Lowering rules: family `optimizer`. Updates by the framework's kernels of each version
// (`legacy`: 1.x); the papers behind them: Adam and AdaMax (Kingma, Ba 2014), RMSProp centred
// (Graves 2013), Adadelta (Zeiler 2012), Adagrad (Duchi 2011), FTRL (McMahan 2013), LAMB (You
// 2019), AdamW (Loshchilov, Hutter 2017).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

// The running powers of beta are one element each: a formula of their own, after the update that
// reads them. With SkipUpdate (loss scaling found something infinite) all stays as it is.
constexpr const char* kAdam =
    "b1 = or(Beta1Tensor, beta1); b2 = or(Beta2Tensor, beta2); skip = or(SkipUpdate, 0);"
    "m = moment(Moment1, Grad, b1); v = square_moment(Moment2, Grad, b2);"
    "Moment1Out = skip ? Moment1 : m; Moment2Out = skip ? Moment2 : v;"
    "w = or(MasterParam, Param); p = w - adam_step(m, v, LearningRate, Beta1Pow, Beta2Pow, "
    "adam_epsilon(or(EpsilonTensor, epsilon), Beta2Pow, legacy)); ParamOut = skip ? Param : p; "
    "MasterParamOut = skip ? w : p"
    "\nskip = or(SkipUpdate, 0);"
    "Beta1PowOut = skip ? Beta1Pow : Beta1Pow * or(Beta1Tensor, beta1);"
    "Beta2PowOut = skip ? Beta2Pow : Beta2Pow * or(Beta2Tensor, beta2)";

using llvm::LogicalResult;

// A gradient of SelectedRows for an update that touches every row: those not listed have the
// gradient 0.
LogicalResult lowerDenselyBy(OpLowering& op, const char* formula, bool search = false) {
  auto gradient = op.in("Grad"), param = op.in("Param");
  if (!gradient || !param) return op.unsupported("an absent input");
  TensorRef dense = op.temporary("Grad", gradient->dtype, param->dims);
  op.call("dt_rows_to_dense", {.tensors = {{"X", *gradient}, {"Out", dense}},
                               .attributes = {{"search", int64_t{search}}},
                               .anyExtents = true});
  LoweringRule rule = *findRule(op.op().type());
  if (formula) rule.formula = formula;
  return applyFormula(rule, op, {.tensors = {{"Grad", dense}}});
}

LogicalResult lowerDensely(OpLowering& op) { return lowerDenselyBy(op, nullptr); }

// The framework looks rows up by bisection, in whatever order they are listed.
LogicalResult lowerBySearch(OpLowering& op) {
  return lowerDenselyBy(op, nullptr, !op.mendsDefects());
}

// The framework's update by rows multiplies the running powers of beta first, in their own memory,
// and then reads them: one step ahead of the dense update (adam_kernel.cc of selected_rows;
// measured in 1.8 and 2.6).
constexpr const char* kAdamOfRows =
    "b1 = or(Beta1Tensor, beta1); b2 = or(Beta2Tensor, beta2);"
    "m = moment(Moment1, Grad, b1); v = square_moment(Moment2, Grad, b2);"
    "Moment1Out = m; Moment2Out = v; ahead1 = Beta1Pow * b1; ahead2 = Beta2Pow * b2;"
    "ParamOut = Param - adam_step(m, v, LearningRate, ahead1, ahead2, "
    "adam_epsilon(or(EpsilonTensor, epsilon), ahead2, legacy))"
    "\nBeta1PowOut = Beta1Pow * or(Beta1Tensor, beta1);"
    "Beta2PowOut = Beta2Pow * or(Beta2Tensor, beta2)";

LogicalResult lowerAdamRows(OpLowering& op) {
  if (!op.op().getBool("lazy_mode")) return lowerDenselyBy(op, kAdamOfRows);
  return op.callRow();
}

constexpr const char* kStates[] = {"Param",   "Grad",    "LearningRate", "Velocity",
                                   "Moment1", "Moment2", "Beta1Pow",     "Beta2Pow"};
constexpr const char* kResults[] = {"ParamOut",   "VelocityOut", "Moment1Out",
                                    "Moment2Out", "Beta1PowOut", "Beta2PowOut"};

// Slots of lists: the update of one parameter after the other. `numbers` gives what differs from
// one to the next.
template <typename Numbers>
LogicalResult forEachParam(OpLowering& op, llvm::StringRef text, InnerDims inner, Numbers numbers) {
  if (op.has("MasterParam") || op.op().getBool("multi_precision"))
    return op.unsupported("multi_precision");
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (unsigned i = 0; i < op.op().inputCount("Param"); ++i) {
    OpLowering::Bindings bindings{.inner = inner};
    for (const char* slot : kStates) {
      // One rate may serve all.
      const unsigned at = i < op.op().inputCount(slot) ? i : 0;
      if (auto tensor = op.in(slot, at)) bindings.tensors.emplace_back(slot, *tensor);
    }
    for (const char* slot : kResults) {
      if (auto tensor = op.out(slot, i)) bindings.tensors.emplace_back(slot, *tensor);
    }
    bindings.numbers = {{"legacy", op.version() > 0 && op.version() < 2000000},
                        {"exact", op.mendsDefects()}};
    numbers(i, bindings.numbers);
    for (llvm::StringRef line : lines) {
      if (llvm::failed(op.formula(line, bindings))) return llvm::failure();
    }
  }
  return llvm::success();
}

using Numbers = std::vector<std::pair<std::string, double>>;

LogicalResult lowerMergedAdam(OpLowering& op) {
  if (op.op().getBool("use_global_beta_pow")) return op.unsupported("use_global_beta_pow");
  return forEachParam(op, kAdam, nullptr, [](unsigned, Numbers&) {});
}

LogicalResult lowerMergedMomentum(OpLowering& op) {
  const std::vector<std::string> methods = op.op().getStrings("regularization_method");
  const std::vector<double> coefficients = op.op().getFloats("regularization_coeff");
  const char* text =
      "g = decayed(Grad, Param, exact ? rescale_grad : 1, regularization_coeff, l2); v = mu * "
      "Velocity + g;"
      "VelocityOut = v; ParamOut = Param - momentum_step(g, v, LearningRate, mu, use_nesterov)";
  return forEachParam(op, text, nullptr, [&](unsigned i, Numbers& numbers) {
    const bool decays = i < methods.size() && i < coefficients.size() && methods[i] == "l2_decay";
    numbers.emplace_back("l2", decays);
    numbers.emplace_back("regularization_coeff", decays ? coefficients[i] : 0);
  });
}

// You, Gitman, Ginsburg 2017. One weight decay in old files, a list in new ones.
LogicalResult lowerLarsMomentum(OpLowering& op) {
  const bool one = llvm::isa_and_nonnull<mlir::FloatAttr>(op.op().attr("lars_weight_decay"));
  const std::vector<double> decays =
      one ? std::vector<double>{op.op().getFloat("lars_weight_decay")}
          : op.op().getFloats("lars_weight_decay");
  if (decays.empty()) return op.unsupported("an empty lars_weight_decay");
  const char* text =
      "g = rescale_grad * Grad; p = sqrt(sum(Param * Param)); q = sqrt(sum(g * g));"
      "lr = (legacy || decay > 0) && p > 0 && q > 0 ? LearningRate * lars_coeff * p / (q + decay * "
      "p + "
      "epsilon) : LearningRate;"
      "v = mu * Velocity + lr * (g + decay * Param); VelocityOut = v; ParamOut = Param - v";
  const InnerDims all = [](const std::vector<int64_t>& domain) {
    return std::vector<bool>(domain.size(), true);
  };
  return forEachParam(op, text, all, [&](unsigned i, Numbers& numbers) {
    numbers.emplace_back("decay", decays[i < decays.size() ? i : 0]);
  });
}

const LoweringRule kRules[] = {
    formulaRule(
        "sgd", Inner::None,
        "p = or(MasterParam, Param) - LearningRate * Grad; ParamOut = p; MasterParamOut = p",
        "dt_sgd_rows"),
    {"momentum", Inner::None,
     // rescale_grad counts for nothing in dense updates of processors.
     "w = or(MasterParam, Param);"
     "g = decayed(Grad, w, exact || sparse ? rescale_grad : 1, regularization_coeff, "
     "regularization_method);"
     "v = mu * Velocity + g; VelocityOut = v;"
     "p = w - momentum_step(g, v, LearningRate, mu, use_nesterov); ParamOut = p; MasterParamOut = "
     "p",
     lowerBySearch},
    functionRule("merged_momentum", lowerMergedMomentum),
    functionRule("lars_momentum", lowerLarsMomentum),
    functionRule("merged_adam", lowerMergedAdam),
    // Sums move on to the next place so that they lose no digits, and are begun anew where the
    // window has become too long.
    {"average_accumulates", Inner::None,
     "u = in_num_updates + 1; n = in_num_accumulates + 1;"
     "full = window_is_full(u, n, average_window, min_average_window, max_average_window);"
     "s = in_sum_1 + param; move = rem(u, 16384) == 0; t = move ? in_sum_2 + s : in_sum_2; r = "
     "move ? 0 : s;"
     "out_sum_1 = full ? 0 : r; out_sum_2 = full ? 0 : t; out_sum_3 = full ? r + t : in_sum_3"
     "\nu = in_num_updates + 1; n = in_num_accumulates + 1;"
     "full = window_is_full(u, n, average_window, min_average_window, max_average_window);"
     "out_num_updates = u; out_num_accumulates = full ? 0 : n;"
     "out_old_num_accumulates = full ? n : in_old_num_accumulates"},
    callRule("dpsgd", "dt_dpsgd"),
    {"adam", Inner::None, kAdam, lowerAdamRows, "dt_adam_rows"},
    {"adamw", Inner::None,
     "b1 = or(Beta1Tensor, beta1); b2 = or(Beta2Tensor, beta2); skip = or(SkipUpdate, 0);"
     "m = moment(Moment1, Grad, b1); v = square_moment(Moment2, Grad, b2);"
     "Moment1Out = skip ? Moment1 : m; Moment2Out = skip ? Moment2 : v;"
     "w = or(MasterParam, Param);"
     "lr = LearningRate * lr_ratio; p = with_decay ? w * (1 - lr * coeff) : w;"
     "q = p - adam_step(m, v, lr, Beta1Pow, Beta2Pow, adam_epsilon(or(EpsilonTensor, "
     "epsilon), Beta2Pow, 0)); ParamOut = skip ? Param : q; MasterParamOut = skip ? w : q"
     "\nskip = or(SkipUpdate, 0);"
     "Beta1PowOut = skip ? Beta1Pow : Beta1Pow * or(Beta1Tensor, beta1);"
     "Beta2PowOut = skip ? Beta2Pow : Beta2Pow * or(Beta2Tensor, beta2)"},
    {"adamax", Inner::None,
     "m = moment(Moment, Grad, beta1); u = max(abs(Grad), beta2 * InfNorm + epsilon); "
     "MomentOut = m; InfNormOut = u;"
     "ParamOut = Param - LearningRate / (1 - Beta1Pow) * (m / u)"},
    formulaRule("adagrad", Inner::None,
                "m = Moment + Grad * Grad; MomentOut = m; ParamOut = Param - LearningRate * Grad / "
                "(sqrt(m) + epsilon)",
                "dt_adagrad_rows"),
    {"decayed_adagrad", Inner::None,
     "m = square_moment(Moment, Grad, decay); MomentOut = m; ParamOut = Param - "
     "LearningRate * Grad / (sqrt(m) + epsilon)"},
    {"adadelta", Inner::None,
     // 1.x evaluates the step once more after it has overwritten AvgSquaredUpdate.
     "a = square_moment(AvgSquaredGrad, Grad, rho); d = -sqrt((AvgSquaredUpdate + epsilon) / "
     "(a + epsilon)) * Grad;"
     "u = square_moment(AvgSquaredUpdate, d, rho); AvgSquaredGradOut = a; AvgSquaredUpdateOut = "
     "u;"
     "ParamOut = Param + or(LearningRate, 1) * (legacy ? -sqrt((u + epsilon) / (a + epsilon)) * "
     "Grad : d)"},
    {"rmsprop", Inner::None,
     "s = square_moment(MeanSquare, Grad, decay); h = centered ? moment(or(MeanGrad, 0), Grad, "
     "decay) : or(MeanGrad, 0);"
     "d = centered ? s - h * h + epsilon : s + epsilon; w = momentum * Moment + LearningRate * "
     "Grad / sqrt(d);"
     "MeanSquareOut = s; MeanGradOut = h; MomentOut = w; ParamOut = Param - w",
     lowerBySearch},
    formulaRule("ftrl", Inner::None,
                "n = SquaredAccumulator + Grad * Grad; a = l1 + 1e-10; b = l2 + 1e-10;"
                "after = lr_power == -0.5 ? sqrt(n) : pow(n, -lr_power); before = lr_power == -0.5 "
                "? sqrt(SquaredAccumulator) : pow(SquaredAccumulator, -lr_power);"
                "z = LinearAccumulator + Grad - (after - before) / LearningRate * Param; "
                "SquaredAccumOut = n; LinearAccumOut = z;"
                "ParamOut = abs(z) > a ? (a * sign(z) - z) / (after / LearningRate + 2 * b) : 0",
                "dt_ftrl_rows"),
    {"lamb", Inner::All,
     "m = moment(Moment1, Grad, beta1); v = square_moment(Moment2, Grad, beta2);"
     "Moment1Out = m; Moment2Out = v;"
     "mh = legacy ? m : m / (1 - Beta1Pow); vh = legacy ? v : v / (1 - Beta2Pow); "
     "w = or(MasterParam, Param); u = mh / (sqrt(vh) + epsilon) + weight_decay * w;"
     "p = sqrt(sum(w * w)); q = sqrt(sum(u * u)); n = w - "
     "LearningRate * (p > 0 && q > 0 && (legacy || always_adapt || "
     "weight_decay > 0) ? p / q : 1) * u; ParamOut = n; MasterParamOut = n"
     "\nBeta1PowOut = Beta1Pow * beta1; Beta2PowOut = Beta2Pow * beta2",
     lowerDensely},
    {"proximal_gd", Inner::None,
     "t = Param - LearningRate * Grad; ParamOut = shrunk(t, LearningRate, l1, l2)"},
    {"proximal_adagrad", Inner::None,
     "m = Moment + Grad * Grad; lr = LearningRate / sqrt(m); t = Param - lr * Grad; MomentOut = m;"
     "ParamOut = shrunk(t, LearningRate, l1, l2)"},
};

}  // namespace

RuleTable optimizerRules() { return kRules; }

}  // namespace dtranspile::lower
