// Inference and constraints of reductions and orderings. Rows: reduction.cc.
#include "dialects/pd/ops/infer_reduction.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

// What is left of `dims` without the given axes (1 where kept); nothing when there is no such axis.
// No axes: all of them.
std::optional<Dims> reducedDims(const InferContext& c, DimsRef dims, llvm::ArrayRef<int64_t> axes,
                                bool all, bool keep) {
  llvm::SmallVector<bool> gone(dims.size(), all || axes.empty());
  for (int64_t axis : axes) {
    std::optional<int64_t> at = axisOf(axis, std::max<int64_t>(dims.size(), 1));
    if (!at) return std::nullopt;
    if (!dims.empty()) gone[*at] = true;
  }
  Dims kept;
  for (auto [i, extent] : llvm::enumerate(dims)) {
    if (!gone[i]) kept.push_back(extent);
    else if (keep) kept.push_back(1);
  }
  return kept.empty() ? scalarDims(c) : kept;
}

// All reductions over listed axes; the names of two attributes differ between families of ops.
llvm::LogicalResult reduceTo(InferContext& c, llvm::StringRef axisAttr, llvm::StringRef keepAttr,
                             std::optional<DType> dtype) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::vector<int64_t> axes = c.op().getInts(axisAttr);
  bool all = c.op().getBool("reduce_all");
  std::optional<Dims> dims = reducedDims(c, x->dims, axes, all, c.op().getBool(keepAttr));
  if (!dims) return c.fail("reduces axes " + textOf(axes) + " of X " + textOf(x->dims));
  TensorInfo out = withDims(*x, *dims);
  if (dtype) out.dtype = *dtype;
  // The sequences stay as they were unless their rows are reduced.
  bool rows = all || axes.empty() || llvm::any_of(axes, [&](int64_t axis) {
                return axisOf(axis, std::max<int64_t>(x->rank(), 1)) == 0;
              });
  c.out("Out", rows ? withoutLod(out) : out);
  return llvm::success();
}

}  // namespace

llvm::LogicalResult inferReduce(InferContext& c) {
  std::optional<DType> dtype;
  // From 2.0 on only sums are of the type that is asked for.
  const bool legacy = c.programVersion() > 0 && c.programVersion() < 2000000;
  if (!legacy && c.op().type() != "reduce_sum") return reduceTo(c, "dim", "keep_dim", dtype);
  // From 2.3 on they are of int64 where nothing is asked for.
  const TensorInfo* x = c.in("X");
  if (x && c.programVersion() >= 2003000 && c.op().type() == "reduce_sum" &&
      (x->dtype == DType::kBool || x->dtype == DType::kInt32))
    dtype = DType::kInt64;
  if (c.op().getInt("out_dtype") >= 0 && !(dtype = dtypeAttr(c, "out_dtype")))
    return llvm::failure();
  return reduceTo(c, "dim", "keep_dim", dtype);
}

llvm::LogicalResult inferReduceTest(InferContext& c) {
  return reduceTo(c, "dim", "keep_dim", DType::kBool);
}

llvm::LogicalResult inferMean(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", tensorInfo(x->dtype, scalarDims(c)));
  return llvm::success();
}

llvm::LogicalResult inferLogSumExp(InferContext& c) {
  return reduceTo(c, "axis", "keepdim", std::nullopt);
}

llvm::LogicalResult inferPNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t axis = c.op().getInt("axis");
  bool all = c.op().getBool("asvector");
  std::optional<Dims> dims = reducedDims(c, x->dims, axis, all, c.op().getBool("keepdim"));
  if (!dims) return c.fail("has no axis " + llvm::Twine(axis) + " in X " + textOf(x->dims));
  c.out("Out", withoutLod(withDims(*x, *dims)));
  return llvm::success();
}

llvm::LogicalResult inferCumulative(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", c.op().getBool("flatten") ? withoutLod(withDims(*x, {x->elements()})) : *x);
  return llvm::success();
}

llvm::LogicalResult inferArgExtreme(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t axis = c.op().getInt("axis"), code = c.op().getInt("dtype");
  std::optional<DType> dtype = code < 0 ? DType::kInt64 : dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  bool all = c.op().getBool("flatten");
  std::optional<Dims> dims = reducedDims(c, x->dims, axis, all, c.op().getBool("keepdims"));
  if (!dims) return c.fail("has no axis " + llvm::Twine(axis) + " in X " + textOf(x->dims));
  c.out("Out", tensorInfo(*dtype, *dims));
  return llvm::success();
}

llvm::LogicalResult inferCumulativeExtreme(InferContext& c) {
  const TensorInfo* x = require(c, "x");
  if (!x) return llvm::failure();
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  c.out("out", *x);
  c.out("indices", withoutLod(tensorInfo(*dtype, x->dims)));
  return llvm::success();
}
llvm::LogicalResult inferArgsort(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", *x);
  TensorInfo indices = *x;
  indices.dtype = DType::kInt64;
  c.out("Indices", indices);
  return llvm::success();
}

// The last axis of top_k, that of the attribute in top_k_v2, has extent k; k may come from a
// tensor.
llvm::LogicalResult inferTopK(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t k = numberFrom(c, "K", "k");
  if (k == kUnknownValue) k = -1;
  bool byAxis = c.op().type() == "top_k_v2";
  int64_t axis = byAxis ? c.op().getInt("axis") : -1;
  TensorInfo out = *x;
  if (!x->dims.empty()) {
    std::optional<int64_t> at = axisOf(axis, x->rank());
    if (!at) return c.fail("has no axis " + llvm::Twine(axis) + " in X " + textOf(x->dims));
    if (known(k) && known(x->dims[*at]) && k > x->dims[*at])
      return c.fail("takes the first " + llvm::Twine(k) + " of extent " +
                    llvm::Twine(x->dims[*at]));
    out.dims[*at] = k;
  }
  c.out("Out", out);
  out.dtype = DType::kInt64;
  c.out("Indices", out);
  return llvm::success();
}

llvm::LogicalResult inferPicked(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t axis = c.op().getInt("axis");
  std::optional<Dims> dims = reducedDims(c, x->dims, axis, false, c.op().getBool("keepdim"));
  if (!dims) return c.fail("has no axis " + llvm::Twine(axis) + " in X " + textOf(x->dims));
  c.out("Out", withoutLod(withDims(*x, *dims)));
  c.out("Indices", tensorInfo(DType::kInt64, *dims));
  return llvm::success();
}

// Two places for each median, one after the other.
llvm::LogicalResult inferNanMedian(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const std::vector<int64_t> axes = c.op().getInts("axis");
  std::optional<Dims> dims = reducedDims(c, x->dims, axes, false, c.op().getBool("keepdim"));
  if (!dims) return c.fail("reduces axes " + textOf(axes) + " of X " + textOf(x->dims));
  c.out("Out", withoutLod(withDims(*x, *dims)));
  const int64_t count = productOf(*dims).value_or(-1);
  c.out("MedianIndex", tensorInfo(DType::kInt64, {known(count) ? 2 * count : -1}));
  return llvm::success();
}

// How many numbers are counted is data. Sums of weights are of their type where that is float32.
llvm::LogicalResult inferBinCount(InferContext& c) {
  const TensorInfo* weights = c.in("Weights");
  const DType dtype = !weights                            ? DType::kInt64
                      : weights->dtype == DType::kFloat32 ? DType::kFloat32
                                                          : DType::kFloat64;
  c.out("Out", tensorInfo(dtype, {-1}));
  return llvm::success();
}

llvm::LogicalResult inferHistogram(InferContext& c) {
  if (c.op().getInt("bins") < 1)
    return c.fail("has " + llvm::Twine(c.op().getInt("bins")) + " bins");
  c.out("Out", tensorInfo(DType::kInt64, {c.op().getInt("bins")}));
  return llvm::success();
}

llvm::LogicalResult inferSearchSorted(InferContext& c) {
  const TensorInfo* values = require(c, "Values");
  if (!values) return llvm::failure();
  c.out("Out",
        tensorInfo(c.op().getBool("out_int32") ? DType::kInt32 : DType::kInt64, values->dims));
  return llvm::success();
}

// How many different elements there are is data; Index has one place for each element (or row) of
// X.
llvm::LogicalResult inferUnique(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const OpSpec* spec = c.op().spec();
  std::vector<int64_t> axes =
      spec && spec->attribute("axis") ? c.op().getInts("axis") : std::vector<int64_t>();
  Dims dims = {-1};
  int64_t count = x->elements();
  if (!axes.empty()) {
    std::optional<int64_t> at = axisOf(axes[0], x->rank());
    if (!at) return c.fail("has no axis " + llvm::Twine(axes[0]) + " in X " + textOf(x->dims));
    dims = x->dims;
    count = dims[*at];
    dims[*at] = -1;
  }
  // The attribute says which of the two index types; other codes (the default is one) mean the long
  // one.
  DType index =
      c.op().getInt("dtype") == static_cast<int64_t>(DType::kInt32) ? DType::kInt32 : DType::kInt64;
  c.out("Out", withoutLod(withDims(*x, dims)));
  c.out("Index", tensorInfo(index, {count}));
  for (llvm::StringRef slot : {"Indices", "Counts", "Count"}) c.out(slot, tensorInfo(index, {-1}));
  return llvm::success();
}

const Constraint kReduceConstraints[1] = {
    {"C1", "dim must hold axes of X",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x || op.getBool("reduce_all")) return llvm::success();
       for (int64_t axis : op.getInts("dim")) {
         if (axisOf(axis, std::max<int64_t>(x->size(), 1))) continue;
         found = "axis " + std::to_string(axis) + " of X " + textOf(*x);
         return llvm::failure();
       }
       return llvm::success();
     }},
};

const Constraint kTopKConstraints[1] = {
    {"C1", "k must be positive unless given by a tensor",
     [](const OpView& op, std::string& found) {
       if (op.hasInput("K") || op.getInt("k") >= 1) return llvm::success();
       found = "k " + std::to_string(op.getInt("k"));
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd
