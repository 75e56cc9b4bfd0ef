// Inference and constraints of normalisation and dropout. Rows: normalization.cc, random.cc.
#include "dialects/pd/ops/infer_normalization.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

// The second dim, or the last one with the layout NHWC.
int64_t channelExtent(const OpView& op, DimsRef dims) {
  if (dims.size() < 2) return -1;
  const OpSpec* spec = op.spec();
  bool last = spec && spec->attribute("data_layout") && op.getString("data_layout") == "NHWC";
  return last ? dims.back() : dims[1];
}

// Statistics are float32 also where X is of half precision: they take after the parameters.
DType statisticsType(InferContext& c, const TensorInfo& x) {
  for (llvm::StringRef slot : {"Mean", "Scale", "Bias"})
    if (const TensorInfo* info = c.in(slot)) return info->dtype;
  return x.dtype == DType::kFloat16 || x.dtype == DType::kBFloat16 ? DType::kFloat32 : x.dtype;
}

}  // namespace

// A mean and a variance per channel, four times: what is kept over steps (MeanOut, VarianceOut),
// which are the variables of the inputs, and what the gradient reads.
llvm::LogicalResult inferBatchNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rankKnown && x->rank() < 2) return c.fail("has no channel axis in X " + textOf(x->dims));
  Dims channels = {channelExtent(c.op(), x->dims)};
  if (const TensorInfo* scale = c.in("Scale"))
    if (!agree(scale->dims, channels))
      return c.fail("scales X " + textOf(x->dims) + " by Scale " + textOf(scale->dims));
  c.out("Y", *x);
  for (llvm::StringRef slot : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance"})
    c.out(slot, tensorInfo(statisticsType(c, *x), channels));
  // Workspace of a GPU library: nothing that others see.
  c.out("ReserveSpace", unknownLike(tensorInfo(x->dtype, {})));
  return llvm::success();
}

// Rows are the dims before begin_norm_axis.
llvm::LogicalResult inferLayerNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t axis = c.op().getInt("begin_norm_axis");
  if (axis <= 0 || axis >= std::max<int64_t>(x->rank(), 2))
    return c.fail("normalises from axis " + llvm::Twine(axis) + " of X " + textOf(x->dims));
  std::optional<int64_t> rows = productOf(DimsRef(x->dims).take_front(axis));
  if (!rows) return c.fail("has too many rows in X " + textOf(x->dims));
  c.out("Y", *x);
  // One number per row, flat until 2.5.
  Dims statistics =
      c.programVersion() >= 2006000
          ? Dims(x->dims.begin(), x->dims.begin() + std::min<int64_t>(axis, x->rank()))
          : Dims{*rows};
  for (llvm::StringRef slot : {"Mean", "Variance"})
    c.out(slot, tensorInfo(statisticsType(c, *x), statistics));
  return llvm::success();
}

llvm::LogicalResult inferGroupNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Y", *x);
  int64_t batch = x->dims.empty() ? -1 : x->dims[0];
  for (llvm::StringRef slot : {"Mean", "Variance"})
    c.out(slot, tensorInfo(statisticsType(c, *x), {batch, c.op().getInt("groups")}));
  return llvm::success();
}

llvm::LogicalResult inferInstanceNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() < 2) return c.fail("has no channel axis in X " + textOf(x->dims));
  c.out("Y", *x);
  std::optional<int64_t> rows = productOf(DimsRef(x->dims).take_front(2));
  for (llvm::StringRef slot : {"SavedMean", "SavedVariance"})
    c.out(slot, tensorInfo(statisticsType(c, *x), {rows.value_or(-1)}));
  return llvm::success();
}

// Each takes after what it is a gradient of.
llvm::LogicalResult inferBatchNormSecondGrad(InferContext& c) {
  for (auto [input, output] : {std::pair{"X", "DX"}, {"X", "DDY"}, {"Scale", "DScale"}})
    if (const TensorInfo* like = c.in(input)) c.out(output, *like);
  return llvm::success();
}

// The extents of X, which some versions leave out where Y has the same.
llvm::LogicalResult inferNormGrad(InferContext& c) {
  const TensorInfo *x = c.in("X") ? c.in("X") : c.in("Y"),
                   *scale = c.in("Scale") ? c.in("Scale") : c.in("Bias");
  if (!x) return c.fail("needs an argument in input slot 'X'");
  c.out("X@GRAD", *x);
  for (llvm::StringRef slot : {"Scale@GRAD", "Bias@GRAD"}) {
    if (!c.outCount(slot)) continue;
    if (scale) c.out(slot, *scale);
    else return c.fail("has a gradient of " + slot.drop_back(5) + " and neither Scale nor Bias");
  }
  return llvm::success();
}

llvm::LogicalResult inferDataNorm(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *size = require(c, "BatchSize");
  if (!x || !size) return llvm::failure();
  c.out("Y", *x);
  for (llvm::StringRef slot : {"Means", "Scales"}) c.out(slot, *size);
  return llvm::success();
}

// All outputs are statistics but the gradient of X.
llvm::LogicalResult inferDataNormGrad(InferContext& c) {
  if (failed(inferAllLike(c, "Means"))) return llvm::failure();
  return inferSameAs(c, "X", "X@GRAD");
}

llvm::LogicalResult inferAffineChannelGrad(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *scale = require(c, "Scale");
  if (!gradient || !scale) return llvm::failure();
  c.out("X@GRAD", *gradient);
  for (llvm::StringRef slot : {"Scale@GRAD", "Bias@GRAD"}) c.out(slot, *scale);
  return llvm::success();
}

llvm::LogicalResult inferDropout(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", *x);
  TensorInfo mask = *x;
  mask.dtype = DType::kUInt8;
  c.out("Mask", mask);
  return llvm::success();
}

const Constraint kBatchNormConstraints[2] = {
    {"C1", "Scale, Bias, Mean and Variance must have one number per channel of X",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x) return llvm::success();
       Dims channels = {channelExtent(op, *x)};
       for (llvm::StringRef slot : {"Scale", "Bias", "Mean", "Variance"}) {
         std::optional<Dims> dims = declaredDims(op, slot);
         if (!dims || agree(*dims, channels)) continue;
         found = slot.str() + " " + textOf(*dims) + ", X " + textOf(*x);
         return llvm::failure();
       }
       return llvm::success();
     }},
    {"C2", "epsilon must be between 0 and 0.001",
     [](const OpView& op, std::string& found) {
       double epsilon = op.getFloat("epsilon");
       if (epsilon >= 0 && epsilon <= 0.001 + 1e-9) return llvm::success();
       found = std::to_string(epsilon);
       return llvm::failure();
     }},
};

const Constraint kLayerNormConstraints[2] = {
    {"C1", "begin_norm_axis must be an axis of X after the first",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       int64_t axis = op.getInt("begin_norm_axis");
       if (!x || (axis > 0 && axis < static_cast<int64_t>(x->size()))) return llvm::success();
       found = "begin_norm_axis " + std::to_string(axis) + ", X " + textOf(*x);
       return llvm::failure();
     }},
    {"C2", "Scale and Bias must have as many elements as a row of X",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x) return llvm::success();
       int64_t row = productOf(DimsRef(*x).drop_front(op.getInt("begin_norm_axis"))).value_or(-1);
       for (llvm::StringRef slot : {"Scale", "Bias"}) {
         std::optional<Dims> dims = declaredDims(op, slot);
         if (!dims || agree(productOf(*dims).value_or(-1), row)) continue;
         found = slot.str() + " " + textOf(*dims) + ", X " + textOf(*x);
         return llvm::failure();
       }
       return llvm::success();
     }},
};

const Constraint kDropoutConstraints[2] = {
    {"C1", "dropout_prob must be between 0 and 1",
     [](const OpView& op, std::string& found) {
       double probability = op.getFloat("dropout_prob");
       if (probability >= 0 && probability <= 1) return llvm::success();
       found = std::to_string(probability);
       return llvm::failure();
     }},
    {"C2", "dropout_implementation must be downgrade_in_infer or upscale_in_train",
     [](const OpView& op, std::string& found) {
       found = op.getString("dropout_implementation");
       return llvm::success(found == "downgrade_in_infer" || found == "upscale_in_train");
     }},
};

}  // namespace dtranspile::pd
