// Lowering rules: family `normalization`. Rows are channels (batch_norm) or samples (layer_norm);
// SavedVariance of batch_norm is 1/sqrt(variance + epsilon), as is that of instance_norm; Variance
// of layer_norm and group_norm is the variance. Gradients: Ioffe, Szegedy 2015 and Ba, Kiros,
// Hinton 2016.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

// Statistics are those of the batch, or, `fixed`, the running ones; these move by the momentum k:
// new = k·old + (1 − k)·batch. `m`, `v` by two passes (the mean of squared distances, not E[x²] −
// m², which cancels).
const char* const kBatchNorm =
    "fixed = is_test && !trainable_statistics || use_global_stats; k = legacy ? "
    "or(MomentumTensor, momentum) : momentum;"
    "m = fixed ? Mean[r] : sum(X) / count; v = fixed ? Variance[r] : sum(square(X - m)) / count; i "
    "= rsqrt(v + epsilon);"
    "Y = (X - m) * (i * or(Scale[r], 1)) + or(Bias[r], 0); SavedMean[r] = m; SavedVariance[r] = i;"
    "MeanOut[r] = fixed ? Mean[r] : Mean[r] * k + m * (1 - k); VarianceOut[r] = fixed ? "
    "Variance[r] : Variance[r] * k + v * (1 - k)";

// With x̂ = (x − m)·i: dβ = Σ dy, dγ = Σ dy·x̂, dx = γ·i·(dy − dβ/n − x̂·dγ/n); with fixed
// statistics neither mean nor variance depends on x, and dx = γ·i·dy.
const char* const kBatchNormGrad =
    "fixed = is_test && !trainable_statistics || use_global_stats;"
    "m = fixed ? or(Mean[r], or(MeanOut[r], 0)) : SavedMean[r]; i = fixed ? rsqrt(or(Variance[r], "
    "or(VarianceOut[r], 0)) + epsilon) : SavedVariance[r];"
    "h = (X - m) * i; b = sum(Y@GRAD); s = sum(Y@GRAD * h); Bias@GRAD[r] = b; Scale@GRAD[r] = s; g "
    "= i * or(Scale[r], 1);"
    "X@GRAD = fixed ? Y@GRAD * g : g * (Y@GRAD - b / count - h * (s / count))";

// The gradient of that gradient: with ddx, ddγ and ddβ flowing into dx, dγ and dβ, means over n and
// A = Σ ddx·(dy − mean dy − x̂·mean(dy·x̂)), it is what the sum Σ ddx·dx + ddγ·dγ + ddβ·dβ has for
// its derivatives: by dy, γ and x (of x̂ and i too, where statistics are those of the batch).
#define DT_SECOND_GRADIENT                                                                    \
  "p = sum(dy) / count; b = sum(dy * h) / count; q = sum(d) / count; a = sum(d * h) / count;" \
  "u = d - q - h * a; w = dy - p - h * b; t = sum(d * dy) / count - p * q - a * b;"

const char* const kBatchNormSecondGrad =
    "fixed = is_test && !trainable_statistics || use_global_stats;"
    "m = fixed ? or(Mean[r], 0) : or(SavedMean[r], 0);"
    "i = fixed ? rsqrt(or(Variance[r], 0) + epsilon) : or(SavedVariance[r], 0);"
    "dy = DY; h = (X - m) * i; d = or(DDX, 0); s = or(Scale[r], 1); e = or(DDScale[r], "
    "0);" DT_SECOND_GRADIENT
    "DDY = s * i * (fixed ? d : u) + e * h + or(DDBias[r], 0);"
    "DScale[r] = i * (fixed ? sum(d * dy) : count * t);"
    "DX = fixed ? e * i * dy : e * i * w - s * i * i * (b * u + a * w + h * t)";

using llvm::LogicalResult;

int64_t product(llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

bool channelsLast(OpLowering& op) {
  const std::string layout = op.op().getString("data_layout");
  return layout == "NHWC" || layout == "NDHWC";
}

// Binds slots, inputs or outputs, under dims and an alignment of their own. Fails where the
// elements are not as many.
// An axis of -1 is the usual alignment.
class Reshaped {
 public:
  Reshaped(OpLowering& op, OpLowering::Bindings& bindings) : op_(op), bindings_(bindings) {}

  bool add(llvm::ArrayRef<const char*> slots, const std::vector<int64_t>& dims, int axis = -1) {
    for (const char* slot : slots) {
      std::optional<TensorRef> tensor = op_.op().hasOutput(slot) ? op_.out(slot) : op_.in(slot);
      if (!tensor) continue;
      if (tensor->elements() != product(dims)) return false;
      bindings_.tensors.emplace_back(slot, TensorRef{tensor->buffer, tensor->dtype, dims, axis});
    }
    return true;
  }

 private:
  OpLowering& op_;
  OpLowering::Bindings& bindings_;
};

// Rows are (sample, group): X as [batch, groups, channels of a group, positions] or, channels last,
// [batch, positions, groups, channels].
LogicalResult groupNorm(OpLowering& op, const char* text) {
  auto x = op.op().hasOutput("Y") ? op.in("X") : op.in("Y@GRAD");
  if (!x || x->dims.size() < 2) return op.unsupported("an X without channels");
  const llvm::ArrayRef<int64_t> dims = x->dims;
  const bool last = channelsLast(op);
  const int64_t channels = last ? dims.back() : dims[1], groups = op.op().getInt("groups");
  if (groups < 1 || channels % groups != 0)
    return op.unsupported(llvm::Twine(groups) + " groups of " + llvm::Twine(channels) +
                          " channels");
  const int64_t positions = product(last ? dims.drop_front().drop_back() : dims.drop_front(2)),
                each = channels / groups;
  const std::vector<int64_t> cut = last ? std::vector<int64_t>{dims[0], positions, groups, each}
                                        : std::vector<int64_t>{dims[0], groups, each, positions};
  OpLowering::Bindings bindings;
  bindings.inner = [last](const std::vector<int64_t>&) {
    return last ? std::vector<bool>{false, true, false, true}
                : std::vector<bool>{false, false, true, true};
  };
  Reshaped reshaped(op, bindings);
  if (!reshaped.add({"X", "Y", "Y@GRAD", "X@GRAD"}, cut) ||
      !reshaped.add({"Scale", "Bias", "Scale@GRAD", "Bias@GRAD"}, {groups, each}, last ? 2 : 1))
    return op.unsupported("Scale or Bias of another extent than the channels");
  return op.formula(text, bindings);
}

LogicalResult lowerGroupNorm(OpLowering& op) {
  return groupNorm(
      op,
      "m = sum(X) / count; v = sum(square(X - m)) / count; Mean[r] = m; Variance[r] = v;"
      "Y = (X - m) * rsqrt(v + epsilon) * or(Scale, 1) + or(Bias, 0)");
}
// 1.x gives the gradient Y in place of X. Without Scale the framework leaves the mean of the
// gradient out.
LogicalResult lowerGroupNormGrad(OpLowering& op) {
  const std::string normal = op.has("X") && op.has("Mean")
                                 ? "h = (X - Mean[r]) * k;"
                                 : "h = (Y - or(Bias, 0)) / or(Scale, 1);";
  return groupNorm(op, ("k = rsqrt(Variance[r] + epsilon);" + normal +
                        "g = Y@GRAD * or(Scale, 1);"
                        "X@GRAD = k * (g - (has(Scale) ? sum(g) : 0) / count - h * (sum(g * h) / "
                        "count)); Scale@GRAD = Y@GRAD * h; Bias@GRAD = Y@GRAD")
                           .c_str());
}

// Rows are (sample, channel).
LogicalResult instanceNorm(OpLowering& op, const char* text) {
  auto x = op.in("X");
  if (!x || x->dims.size() < 2) return op.unsupported("an X without channels");
  const llvm::ArrayRef<int64_t> dims = x->dims;
  OpLowering::Bindings bindings;
  bindings.inner = [](const std::vector<int64_t>&) {
    return std::vector<bool>{false, false, true};
  };
  Reshaped reshaped(op, bindings);
  if (!reshaped.add({"X", "Y", "Y@GRAD", "X@GRAD"},
                    {dims[0], dims[1], product(dims.drop_front(2))}) ||
      !reshaped.add({"Scale", "Bias", "Scale@GRAD", "Bias@GRAD"}, {dims[1]}, 1))
    return op.unsupported("Scale or Bias of another extent than the channels");
  return op.formula(text, bindings);
}

LogicalResult lowerInstanceNorm(OpLowering& op) {
  return instanceNorm(op,
                      "m = sum(X) / count; i = rsqrt(sum(square(X - m)) / count + epsilon); "
                      "SavedMean[r] = m; SavedVariance[r] = i;"
                      "Y = (X - m) * i * or(Scale, 1) + or(Bias, 0)");
}
LogicalResult lowerInstanceNormGrad(OpLowering& op) {
  return instanceNorm(op,
                      "k = SavedVariance[r]; h = (X - SavedMean[r]) * k; g = Y@GRAD * or(Scale, 1);"
                      "X@GRAD = k * (g - sum(g) / count - h * (sum(g * h) / count)); Scale@GRAD = "
                      "Y@GRAD * h; Bias@GRAD = Y@GRAD");
}

LogicalResult lowerInstanceNormSecondGrad(OpLowering& op) {
  auto x = op.in("x");
  if (!x || x->dims.size() < 2) return op.unsupported("an x without channels");
  const llvm::ArrayRef<int64_t> dims = x->dims;
  OpLowering::Bindings bindings;
  bindings.inner = [](const std::vector<int64_t>&) {
    return std::vector<bool>{false, false, true};
  };
  Reshaped reshaped(op, bindings);
  if (!reshaped.add({"x", "grad_y", "grad_x@GRAD", "x@GRAD", "grad_y@GRAD"},
                    {dims[0], dims[1], product(dims.drop_front(2))}) ||
      !reshaped.add({"fwd_scale", "grad_scale@GRAD", "grad_bias@GRAD"}, {dims[1]}, 1))
    return op.unsupported("a scale or bias of another extent than the channels");
  // A sum over positions, then over the samples.
  const TensorRef slopes = op.temporary("slopes", x->dtype, {dims[0], dims[1]});
  bindings.tensors.emplace_back("slopes", slopes);
  if (failed(op.formula(
          "i = saved_variance[r]; dy = grad_y; h = (x - saved_mean[r]) * i; d = or(grad_x@GRAD, 0);"
          "s = or(fwd_scale, 1); e = or(grad_scale@GRAD, 0);" DT_SECOND_GRADIENT
          "grad_y@GRAD = s * i * u + e * h + or(grad_bias@GRAD, 0); slopes[r] = i * count * t;"
          "x@GRAD = e * i * w - s * i * i * (b * u + a * w + h * t)",
          bindings)))
    return llvm::failure();
  const auto scale = op.out("fwd_scale@GRAD");
  if (!scale) return llvm::success();
  return op.formula("fwd_scale@GRAD = slopes", {.tensors = {{"slopes", slopes}}});
}

// batch_norm, then an activation (Rota Bulo 2018).
LogicalResult lowerInplaceAbn(OpLowering& op) {
  const std::string activation = op.op().getString("activation");
  const std::string y = activation.empty() || activation == "identity" ? "Y"
                        : activation == "leaky_relu"                   ? "max(Y, alpha * Y)"
                        : activation == "elu" ? "Y < 0 ? alpha * expm1(Y) : Y"
                                              : "";
  if (y.empty()) return op.unsupported("activation '" + activation + "'");
  const bool last = channelsLast(op);
  OpLowering::Bindings bindings;
  bindings.inner = [last](const std::vector<int64_t>& domain) {
    std::vector<bool> mask(domain.size(), true);
    if (!mask.empty()) mask[last ? mask.size() - 1 : std::min<size_t>(1, mask.size() - 1)] = false;
    return mask;
  };
  bindings.numbers = {{"legacy", op.version() > 0 && op.version() < 2000000}};
  return op.formula(std::string(kBatchNorm) + "; Y = " + y, bindings);
}

// Scale and Bias are aligned with the channels, the second dim or the last one; a matrix has its
// channels in its only other dim.
LogicalResult affineChannel(OpLowering& op, const char* text) {
  auto x = op.op().hasOutput("Out") ? op.in("X") : op.in("Out@GRAD");
  if (!x || x->dims.empty()) return op.unsupported("an X without channels");
  const int axis = channelsLast(op) ? static_cast<int>(x->dims.size()) - 1
                                    : std::min<int>(1, static_cast<int>(x->dims.size()) - 1);
  return op.formula(text, {.axes = {{"Scale", axis}, {"Bias", axis}}});
}
LogicalResult lowerAffineChannel(OpLowering& op) {
  return affineChannel(op, "Out = X * Scale + Bias");
}
LogicalResult lowerAffineChannelGrad(OpLowering& op) {
  return affineChannel(
      op, "X@GRAD = Out@GRAD * Scale; Scale@GRAD = Out@GRAD * X; Bias@GRAD = Out@GRAD");
}

// X as [batch, slots, slot_dim]: where slot_dim is given, a slot whose first number (the shows) is
// 0 counts for nothing.
// data_norm (the framework's op of click-through models): columns are normed by sums that the
// optimizer keeps, mean = BatchSum / BatchSize and scale = sqrt(BatchSize / BatchSquareSum).
class DataNorm {
 public:
  explicit DataNorm(OpLowering& op) : op_(op), given_(op.op().getInt("slot_dim")) {}

  LogicalResult forward() {
    if (failed(findLive()) ||
        failed(run("Y = live[r] == 0 ? 0 : (X - BatchSum / BatchSize) * sqrt(BatchSize / "
                   "BatchSquareSum) * scale + shift")))
      return llvm::failure();
    return op_.formula("Means = BatchSum / BatchSize; Scales = sqrt(BatchSize / BatchSquareSum)");
  }

  // The gradients of the statistics are those of this batch, which the optimizer adds up; the
  // statistics, outputs too, stay as they are.
  LogicalResult backward() {
    const auto means = op_.in("Means");
    if (!means) return op_.unsupported("absent Means");
    if (failed(findLive())) return llvm::failure();
    for (const char* name : {"n", "total", "squares"})
      columns_.emplace_back(name, op_.temporary(name, means->dtype, means->dims));
    if (failed(run("n = live[r]; total = live[r] * X; squares = live[r] * square(X - Means); g = "
                   "Y@GRAD * live[r]; bias@GRAD = g;"
                   "scale_w@GRAD = g * (X - Means) * Scales; X@GRAD = scales ? g * Scales * scale "
                   ": Y@GRAD * Scales")))
      return llvm::failure();
    for (const char* slot : {"BatchSize", "BatchSum", "BatchSquareSum"}) {
      auto old = op_.in((llvm::Twine("$") + slot).str());
      if (old &&
          failed(op_.formula((llvm::Twine(slot) + " = old").str(), {.tensors = {{"old", *old}}})))
        return llvm::failure();
    }
    return op_.formula(std::string("d = ") + (given_ > 0 ? "max(n, 1)" : "1") +
                           "; BatchSize@GRAD = n / d; BatchSum@GRAD = total / d; "
                           "BatchSquareSum@GRAD = squares / d + n * epsilon",
                       {.tensors = columns_});
  }

 private:
  static bool failed(LogicalResult result) { return llvm::failed(result); }

  LogicalResult findLive() {
    auto x = op_.in("X");
    const int64_t columns = x && x->dims.size() == 2 ? x->dims[1] : 0,
                  width = given_ > 0 ? given_ : columns;
    if (width == 0 || columns % width != 0)
      return op_.unsupported("an X that is no matrix of slots");
    cut_ = {x->dims[0], columns / width, width};
    if (given_ <= 0) return llvm::success();
    live_ = op_.temporary("live", x->dtype, {cut_[0], cut_[1]});
    return run("live[r] = sum(position == 0 && abs(X) >= 1e-7 ? 1 : 0)");
  }

  // scale_w and bias count where the op says so.
  LogicalResult run(const std::string& text) {
    const bool scales = op_.op().getBool("enable_scale_and_shift") && op_.has("scale_w");
    const std::string named =
        scales ? "scale = scale_w; shift = or(bias, 0); " : "scale = 1; shift = 0; ";
    OpLowering::Bindings bindings;
    bindings.numbers = {{"scales", scales}};
    bindings.inner = [](const std::vector<int64_t>&) {
      return std::vector<bool>{false, false, true};
    };
    Reshaped reshaped(op_, bindings);
    const std::vector<int64_t> columns = {cut_[1], cut_[2]};
    if (!reshaped.add({"X", "Y", "Y@GRAD", "X@GRAD"}, cut_) ||
        !reshaped.add({"BatchSize", "BatchSum", "BatchSquareSum", "Means", "Scales", "scale_w",
                       "bias", "scale_w@GRAD", "bias@GRAD"},
                      columns))
      return op_.unsupported("statistics of another extent than the columns of X");
    if (live_) bindings.tensors.emplace_back("live", *live_);
    else bindings.numbers.emplace_back("live", 1);
    for (const auto& [name, tensor] : columns_)
      bindings.tensors.emplace_back(name, TensorRef{tensor.buffer, tensor.dtype, columns});
    return op_.formula(named + text, bindings);
  }

  OpLowering& op_;
  int64_t given_;
  std::vector<int64_t> cut_;
  std::optional<TensorRef> live_;
  std::vector<std::pair<std::string, TensorRef>> columns_;
};

LogicalResult lowerDataNorm(OpLowering& op) { return DataNorm(op).forward(); }
LogicalResult lowerDataNormGrad(OpLowering& op) { return DataNorm(op).backward(); }

const LoweringRule kRules[] = {
    {"batch_norm", Inner::NotChannel, kBatchNorm},
    {"batch_norm_grad", Inner::NotChannel, kBatchNormGrad},
    {"batch_norm_grad_grad", Inner::NotChannel, kBatchNormSecondGrad},
    {"sync_batch_norm", Inner::NotChannel, kBatchNorm},
    {"sync_batch_norm_grad", Inner::NotChannel, kBatchNormGrad},
    functionRule("inplace_abn", lowerInplaceAbn),
    functionRule("group_norm", lowerGroupNorm),
    functionRule("group_norm_grad", lowerGroupNormGrad),
    functionRule("instance_norm", lowerInstanceNorm),
    functionRule("instance_norm_grad", lowerInstanceNormGrad),
    functionRule("instance_norm_double_grad", lowerInstanceNormSecondGrad),
    functionRule("affine_channel", lowerAffineChannel),
    functionRule("affine_channel_grad", lowerAffineChannelGrad),
    functionRule("data_norm", lowerDataNorm),
    functionRule("data_norm_grad", lowerDataNormGrad),
    {"label_smooth_grad", Inner::None, "X@GRAD = (1 - epsilon) * Out@GRAD"},
    {"label_smooth", Inner::Last, "Out = (1 - epsilon) * X + epsilon * or(PriorDist, 1 / count)"},
    callRule("lrn", "dt_lrn"),
    callRule("lrn_grad", "dt_lrn_grad"),
    callRule("spectral_norm", "dt_spectral_norm"),
    callRule("spectral_norm_grad", "dt_spectral_norm_grad"),
    {"layer_norm", Inner::FromAxis,
     "m = sum(X) / count; v = sum(square(X - m)) / count; Mean[r] = m; Variance[r] = v;"
     "Y = (X - m) * rsqrt(v + epsilon) * or(Scale[i], 1) + or(Bias[i], 0)"},
    {"layer_norm_grad", Inner::FromAxis,
     "k = rsqrt(Variance[r] + epsilon); h = (X - Mean[r]) * k; g = Y@GRAD * or(Scale[i], 1);"
     "X@GRAD = k * (g - sum(g) / count - h * (sum(g * h) / count)); Scale@GRAD[i] = Y@GRAD * h; "
     "Bias@GRAD[i] = Y@GRAD"},
};

}  // namespace

RuleTable normalizationRules() { return kRules; }

}  // namespace dtranspile::lower
