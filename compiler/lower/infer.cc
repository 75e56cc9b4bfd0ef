#include "compiler/lower/infer.h"

#include <algorithm>

#include "llvm/ADT/StringMap.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;
using llvm::success;
using pd::InferContext;
using pd::OpView;
using pd::TensorInfo;
using Dims = llvm::SmallVector<int64_t, 4>;

std::string text(llvm::ArrayRef<int64_t> dims) {
  std::string s;
  for (int64_t d : dims) s += (s.empty() ? "" : ", ") + std::to_string(d);
  return "[" + s + "]";
}

int64_t product(llvm::ArrayRef<int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

TensorInfo with(TensorInfo info, Dims dims) {
  info.dims = std::move(dims);
  return info;
}
TensorInfo with(TensorInfo info, Dims dims, DType dtype) {
  info.dtype = dtype;
  return with(std::move(info), std::move(dims));
}

// [1] until 2.4, [] from 2.5 on.
Dims scalarDims(InferContext& c) { return c.programVersion() >= 2005000 ? Dims{} : Dims{1}; }

DType dtypeAttr(InferContext& c, llvm::StringRef name, DType otherwise) {
  if (!c.op().hasAttr(name)) return otherwise;
  return DTypeFromCode(static_cast<int32_t>(c.op().getInt(name))).value_or(otherwise);
}

const TensorInfo* first(InferContext& c) {
  for (const std::string& slot : c.op().inputSlots()) {
    if (const TensorInfo* info = c.in(slot)) return info;
  }
  return nullptr;
}

LogicalResult like(InferContext& c, llvm::StringRef input, llvm::StringRef output) {
  const TensorInfo* x = c.in(input);
  if (!x) return c.fail("needs input " + input);
  c.out(output, *x);
  return success();
}


LogicalResult inferBinary(InferContext& c) {
  const TensorInfo *x = c.in("X"), *y = c.in("Y");
  if (!x || !y) return c.fail("needs X and Y");
  const int64_t axis = c.op().hasAttr("axis") ? c.op().getInt("axis") : -1;
  auto dims = broadcastDims(x->dims, y->dims, axis);
  if (!dims) return c.fail("X " + text(x->dims) + " and Y " + text(y->dims) + " do not broadcast at axis " + llvm::Twine(axis));
  c.out("Out", with(x->rank() >= y->rank() ? *x : with(*y, y->dims, x->dtype), *dims));
  return success();
}

LogicalResult inferComparison(InferContext& c) {
  const TensorInfo *x = c.in("X"), *y = c.in("Y");
  if (!x || !y) return c.fail("needs X and Y");
  const int64_t axis = c.op().hasAttr("axis") ? c.op().getInt("axis") : -1;
  auto dims = broadcastDims(x->dims, y->dims, axis);
  if (!dims) return c.fail("X " + text(x->dims) + " and Y " + text(y->dims) + " do not broadcast");
  c.out("Out", with(*x, *dims, DType::kBool));
  return success();
}

LogicalResult inferPredicate(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  c.out("Out", with(*x, x->dims, DType::kBool));
  return success();
}

LogicalResult inferMul(InferContext& c) {
  const TensorInfo *x = c.in("X"), *y = c.in("Y");
  const int64_t xn = c.op().getInt("x_num_col_dims"), yn = c.op().getInt("y_num_col_dims");
  if (!x || !y || xn < 1 || yn < 1 || xn >= x->rank() || yn >= y->rank()) return c.fail("needs X and Y of rank above x_num_col_dims, y_num_col_dims");
  llvm::ArrayRef<int64_t> xd(x->dims), yd(y->dims);
  if (product(xd.drop_front(xn)) != product(yd.take_front(yn))) return c.fail("cannot multiply " + text(xd) + " by " + text(yd));
  Dims dims(xd.take_front(xn));
  dims.append(yd.begin() + yn, yd.end());
  c.out("Out", with(*x, dims));
  return success();
}

LogicalResult inferMatmul(InferContext& c) {
  const TensorInfo *x = c.in("X"), *y = c.in("Y");
  if (!x || !y || x->rank() < 1 || y->rank() < 1) return c.fail("needs X and Y of rank 1 or more");
  const bool v2 = c.op().type() == "matmul_v2";
  bool tx = false, ty = false;
  if (c.op().type() != "bmm") {
    tx = c.op().getBool(v2 ? "trans_x" : "transpose_X");
    ty = c.op().getBool(v2 ? "trans_y" : "transpose_Y");
  }
  Dims a = x->dims, b = y->dims;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (tx && !row) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (ty && !column) std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (a.back() != b[b.size() - 2]) return c.fail("cannot multiply " + text(x->dims) + " by " + text(y->dims));
  auto batch = broadcastDims(llvm::ArrayRef(a).drop_back(2), llvm::ArrayRef(b).drop_back(2), -1);
  if (!batch) return c.fail("batch dims of " + text(x->dims) + " and " + text(y->dims) + " do not broadcast");
  Dims dims = *batch;
  if (!row) dims.push_back(a[a.size() - 2]);
  if (!column) dims.push_back(b.back());
  if (row && column && dims.empty()) dims = scalarDims(c);
  c.out("Out", with(*x, dims));
  return success();
}

// Layout of an image op: true for channel last.
bool channelLast(const OpView& op) {
  std::string layout = op.getString("data_format");
  return layout == "NHWC";
}

LogicalResult inferConv2d(InferContext& c) {
  const TensorInfo *x = c.in("Input"), *f = c.in("Filter");
  if (!x || !f || x->rank() != 4 || f->rank() != 4) return c.fail("needs Input and Filter of rank 4");
  const bool last = channelLast(c.op());
  const int64_t h = last ? 1 : 2, channel = last ? 3 : 1;
  auto strides = c.op().getInts("strides"), dilations = c.op().getInts("dilations");
  if (strides.size() != 2 || dilations.size() != 2) return c.fail("strides and dilations have two elements");
  auto pads = spatialPaddings(c.op(), {x->dims[h], x->dims[h + 1]}, {f->dims[2], f->dims[3]}, strides, dilations);
  if (pads.empty()) return c.fail("paddings have two or four elements");
  if (x->dims[channel] != f->dims[1] * c.op().getInt("groups")) return c.fail("Input has " + llvm::Twine(x->dims[channel]) + " channels, Filter wants " + llvm::Twine(f->dims[1] * c.op().getInt("groups")));
  Dims dims = x->dims;
  dims[channel] = f->dims[0];
  for (int i = 0; i < 2; ++i) {
    const int64_t window = dilations[i] * (f->dims[2 + i] - 1) + 1;
    const int64_t room = x->dims[h + i] + pads[2 * i] + pads[2 * i + 1] - window;
    if (strides[i] <= 0 || room < 0) return c.fail("the filter does not fit into the padded input");
    dims[h + i] = room / strides[i] + 1;
  }
  c.out("Output", with(*x, dims));
  return success();
}

LogicalResult inferPool2d(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x || x->rank() != 4) return c.fail("needs X of rank 4");
  const OpView& op = c.op();
  const int64_t h = channelLast(op) ? 1 : 2;
  auto kernel = op.getInts("ksize"), strides = op.getInts("strides");
  if (kernel.size() != 2 || strides.size() != 2) return c.fail("ksize and strides have two elements");
  Dims dims = x->dims;
  if (op.getBool("adaptive") || op.getBool("global_pooling")) {
    for (int i = 0; i < 2; ++i) dims[h + i] = op.getBool("global_pooling") ? 1 : kernel[i];
    c.out("Out", with(*x, dims));
    return success();
  }
  auto pads = spatialPaddings(op, {x->dims[h], x->dims[h + 1]}, kernel, strides, {1, 1});
  if (pads.empty()) return c.fail("paddings have two or four elements");
  for (int i = 0; i < 2; ++i) {
    const int64_t room = x->dims[h + i] + pads[2 * i] + pads[2 * i + 1] - kernel[i];
    if (strides[i] <= 0 || room < 0) return c.fail("the window does not fit into the padded input");
    dims[h + i] = (room + (op.getBool("ceil_mode") ? strides[i] - 1 : 0)) / strides[i] + 1;
  }
  c.out("Out", with(*x, dims));
  return success();
}

LogicalResult setViewed(InferContext& c, Dims dims) {
  const TensorInfo* x = c.in("X");
  if (product(dims) != product(x->dims)) return c.fail("cannot view " + text(x->dims) + " as " + text(dims));
  Dims xshape = {0};
  xshape.append(x->dims);
  c.out("Out", with(*x, dims));
  c.out("XShape", with(*x, xshape));
  return success();
}

LogicalResult inferReshape(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  llvm::SmallVector<int64_t> shape;
  if (c.inCount("ShapeTensor") || c.in("Shape")) {
    auto known = c.constant("Shape");
    if (!known) return c.fail("takes its shape from a tensor whose value is not known while compiling");
    shape = *known;
  } else {
    auto ints = c.op().getInts("shape");
    shape.assign(ints.begin(), ints.end());
  }
  Dims dims;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i >= x->dims.size()) return c.fail("shape has a 0 where the input has no dim");
    dims.push_back(shape[i] == 0 ? x->dims[i] : shape[i]);
    if (dims.back() == -1 && open >= 0) return c.fail("shape has more than one -1");
    if (dims.back() == -1) open = static_cast<int64_t>(i);
    else known *= dims.back();
  }
  if (open >= 0) dims[open] = known ? product(x->dims) / known : 0;
  return setViewed(c, dims);
}

LogicalResult inferSqueeze(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  std::vector<bool> drop(x->rank(), false);
  auto axes = c.op().getInts("axes");
  for (int64_t axis : axes) {
    if (axis < 0) axis += x->rank();
    if (axis < 0 || axis >= x->rank()) return c.fail("axes leave the rank");
    drop[axis] = x->dims[axis] == 1;
  }
  Dims dims;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (axes.empty() ? x->dims[i] != 1 : !drop[i]) dims.push_back(x->dims[i]);
  }
  return setViewed(c, dims);
}

LogicalResult inferUnsqueeze(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  Dims dims = x->dims;
  for (int64_t axis : c.op().getInts("axes")) {
    if (axis < 0) axis += static_cast<int64_t>(dims.size()) + 1;
    if (axis < 0 || axis > static_cast<int64_t>(dims.size())) return c.fail("axes leave the rank");
    dims.insert(dims.begin() + axis, 1);
  }
  return setViewed(c, dims);
}

LogicalResult inferFlatten(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  const int64_t axis = c.op().getInt("axis");
  if (axis < 0 || axis > x->rank()) return c.fail("axis leaves the rank");
  llvm::ArrayRef<int64_t> dims(x->dims);
  return setViewed(c, {product(dims.take_front(axis)), product(dims.drop_front(axis))});
}

LogicalResult inferFlattenRange(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  int64_t start = c.op().getInt("start_axis"), stop = c.op().getInt("stop_axis");
  if (start < 0) start += x->rank();
  if (stop < 0) stop += x->rank();
  if (start < 0 || stop >= x->rank() || start > stop) return x->rank() == 0 ? setViewed(c, {1}) : c.fail("start_axis, stop_axis leave the rank");
  llvm::ArrayRef<int64_t> all(x->dims);
  Dims dims(all.take_front(start));
  dims.push_back(product(all.slice(start, stop - start + 1)));
  dims.append(all.begin() + stop + 1, all.end());
  return setViewed(c, dims);
}

// Gradients of views: XShape is [0] + dims of X.
LogicalResult inferViewGrad(InferContext& c) {
  const TensorInfo *xshape = c.in("XShape"), *gradient = c.in("Out@GRAD");
  if (!gradient) return c.fail("needs Out@GRAD");
  if (!xshape) return like(c, "X", "X@GRAD");
  c.out("X@GRAD", with(*gradient, Dims(llvm::ArrayRef<int64_t>(xshape->dims).drop_front())));
  return success();
}

LogicalResult inferReduce(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  const std::vector<bool> reduced = reducedDims(c.op(), x->rank());
  Dims dims;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (!reduced[i]) dims.push_back(x->dims[i]);
    else if (c.op().getBool("keep_dim")) dims.push_back(1);
  }
  if (dims.empty() && !c.op().getBool("keep_dim")) dims = scalarDims(c);
  DType dtype = x->dtype;
  if (c.op().hasAttr("out_dtype") && c.op().getInt("out_dtype") >= 0) dtype = dtypeAttr(c, "out_dtype", dtype);
  c.out("Out", with(*x, dims, dtype));
  return success();
}

LogicalResult inferMean(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  c.out("Out", with(*x, scalarDims(c)));
  return success();
}

LogicalResult inferCast(InferContext& c) {
  const TensorInfo* x = c.in("X");
  auto dtype = DTypeFromCode(static_cast<int32_t>(c.op().getInt("out_dtype")));
  if (!x || !dtype) return c.fail("needs X and a known out_dtype");
  c.out("Out", with(*x, x->dims, *dtype));
  return success();
}

LogicalResult inferShaped(InferContext& c) {
  if (c.in("ShapeTensor") || c.inCount("ShapeTensorList") || c.in("ValueTensor")) return c.fail("takes its shape from a tensor: not supported");
  auto shape = c.op().getInts("shape");
  TensorInfo info;
  info.dims.assign(shape.begin(), shape.end());
  info.dtype = dtypeAttr(c, "dtype", DType::kFloat32);
  if (llvm::any_of(info.dims, [](int64_t d) { return d < 0; })) return c.fail("shape " + text(info.dims) + " has a negative extent");
  c.out("Out", info);
  return success();
}

LogicalResult inferBatchSizeLike(InferContext& c) {
  const TensorInfo* x = c.in("Input");
  auto shape = c.op().getInts("shape");
  const int64_t from = c.op().getInt("input_dim_idx"), to = c.op().getInt("output_dim_idx");
  if (!x || from < 0 || from >= x->rank() || to < 0 || to >= static_cast<int64_t>(shape.size())) return c.fail("input_dim_idx, output_dim_idx leave the ranks");
  TensorInfo info;
  info.dims.assign(shape.begin(), shape.end());
  info.dims[to] = x->dims[from];
  info.dtype = dtypeAttr(c, "dtype", DType::kFloat32);
  c.out("Out", info);
  return success();
}

LogicalResult inferFillLike(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  const int64_t dtype = c.op().hasAttr("dtype") ? c.op().getInt("dtype") : -1;
  c.out("Out", with(*x, x->dims, dtype < 0 ? x->dtype : DTypeFromCode(static_cast<int32_t>(dtype)).value_or(x->dtype)));
  return success();
}

// Losses with one value per row: the last dim becomes 1.
LogicalResult inferRowLoss(InferContext& c) {
  const bool softmax = c.op().hasOutput("Loss");
  const TensorInfo* x = c.in(softmax ? "Logits" : "X");
  if (!x || x->rank() < 1) return c.fail("needs an input of rank 1 or more");
  int64_t axis = c.op().hasAttr("axis") ? c.op().getInt("axis") : -1;
  if (axis < 0) axis += x->rank();
  if (axis < 0 || axis >= x->rank()) return c.fail("axis leaves the rank");
  Dims dims = x->dims;
  dims[axis] = 1;
  c.out(softmax ? "Loss" : "Y", with(*x, dims));
  c.out("MatchX", with(*x, dims));
  c.out("Softmax", *x);
  Dims xshape = x->dims;
  xshape.push_back(0);
  c.out("XShape", with(*x, xshape));
  return success();
}

LogicalResult inferCrossEntropyGrad2(InferContext& c) {
  const TensorInfo *xshape = c.in("XShape"), *gradient = c.in("Y@GRAD");
  if (!xshape || !gradient || xshape->rank() < 1) return c.fail("needs XShape and Y@GRAD");
  c.out("X@GRAD", with(*gradient, Dims(llvm::ArrayRef<int64_t>(xshape->dims).drop_back())));
  return success();
}

LogicalResult inferTopK(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x || x->rank() < 1 || c.in("K")) return c.fail("needs X and k as an attribute");
  Dims dims = x->dims;
  int64_t axis = c.op().type() == "top_k_v2" ? c.op().getInt("axis") : -1;
  if (axis < 0) axis += x->rank();
  if (axis < 0 || axis >= x->rank()) return c.fail("axis leaves the rank");
  dims[axis] = c.op().getInt("k");
  if (dims[axis] < 1 || dims[axis] > x->dims[axis]) return c.fail("k is " + llvm::Twine(dims[axis]) + " for an extent of " + llvm::Twine(x->dims[axis]));
  c.out("Out", with(*x, dims));
  c.out("Indices", with(*x, dims, DType::kInt64));
  return success();
}

LogicalResult inferAccuracy(InferContext& c) {
  TensorInfo one;
  one.dims = scalarDims(c);
  c.out("Accuracy", one);
  c.out("Correct", with(one, one.dims, DType::kInt32));
  c.out("Total", with(one, one.dims, DType::kInt32));
  return success();
}

LogicalResult inferBatchNorm(InferContext& c) {
  const TensorInfo *x = c.in("X"), *mean = c.in("Mean");
  if (!x || !mean || x->rank() < 2) return c.fail("needs X and Mean");
  c.out("Y", *x);
  for (llvm::StringRef slot : {"MeanOut", "VarianceOut", "SavedMean", "SavedVariance"}) c.out(slot, *mean);
  c.out("ReserveSpace", with(*x, {0}));
  return success();
}

LogicalResult inferLayerNorm(InferContext& c) {
  const TensorInfo* x = c.in("X");
  const int64_t axis = c.op().getInt("begin_norm_axis");
  if (!x || axis < 1 || axis > x->rank()) return c.fail("begin_norm_axis leaves the rank of X");
  TensorInfo rows = with(*x, {product(llvm::ArrayRef<int64_t>(x->dims).take_front(axis))});
  c.out("Y", *x);
  c.out("Mean", rows);
  c.out("Variance", rows);
  return success();
}

LogicalResult inferTranspose(InferContext& c) {
  const TensorInfo* x = c.in("X");
  auto axis = c.op().getInts("axis");
  if (!x || static_cast<int64_t>(axis.size()) != x->rank()) return c.fail("axis has one entry per dim of X");
  Dims dims;
  for (int64_t a : axis) {
    if (a < 0 || a >= x->rank()) return c.fail("axis leaves the rank");
    dims.push_back(x->dims[a]);
  }
  Dims xshape = {0};
  xshape.append(x->dims);
  c.out("Out", with(*x, dims));
  c.out("XShape", with(*x, xshape));
  return success();
}

LogicalResult inferLookup(InferContext& c) {
  const TensorInfo *w = c.in("W"), *ids = c.in("Ids");
  if (!w || !ids || w->rank() != 2) return c.fail("needs W of rank 2 and Ids");
  Dims dims = ids->dims;
  if (c.op().type() == "lookup_table") {
    if (dims.empty() || dims.back() != 1) return c.fail("the last dim of Ids is 1");
    dims.pop_back();
  }
  dims.push_back(w->dims[1]);
  c.out("Out", with(*ids, dims, w->dtype));
  return success();
}

LogicalResult inferFinite(InferContext& c) {
  for (unsigned i = 0; i < c.inCount("X"); ++i) {
    if (c.in("X", i)) c.out("Out", i, *c.in("X", i));
  }
  TensorInfo flag;
  flag.dims = {1};
  flag.dtype = DType::kBool;
  c.out("FoundInfinite", flag);
  return success();
}

LogicalResult inferDropout(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x) return c.fail("needs X");
  c.out("Out", *x);
  c.out("Mask", with(*x, x->dims, DType::kUInt8));
  return success();
}

LogicalResult inferOneHot(InferContext& c) {
  const TensorInfo* x = c.in("X");
  if (!x || c.in("depth_tensor")) return c.fail("needs X and depth as an attribute");
  Dims dims = x->dims;
  if (c.op().type() == "one_hot" && !dims.empty() && dims.back() == 1) dims.pop_back();
  dims.push_back(c.op().getInt("depth"));
  c.out("Out", with(*x, dims, dtypeAttr(c, "dtype", DType::kFloat32)));
  return success();
}

LogicalResult inferAssignValue(InferContext& c) {
  TensorInfo info;
  auto shape = c.op().getInts("shape");
  info.dims.assign(shape.begin(), shape.end());
  info.dtype = dtypeAttr(c, "dtype", DType::kFloat32);
  c.out("Out", info);
  return success();
}

struct Row {
  llvm::StringLiteral types;  // blank-separated
  pd::InferFn infer;
};

const Row kRows[] = {
    {"elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_max elementwise_min elementwise_pow elementwise_mod "
     "elementwise_floordiv elementwise_fmax elementwise_fmin minus grad_add",
     inferBinary},
    {"equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor", inferComparison},
    {"logical_not isfinite_v2 isinf_v2 isnan_v2", inferPredicate},
    {"mul", inferMul},
    {"matmul matmul_v2 bmm", inferMatmul},
    {"conv2d depthwise_conv2d", inferConv2d},
    {"pool2d", inferPool2d},
    {"reshape reshape2", inferReshape},
    {"squeeze squeeze2", inferSqueeze},
    {"unsqueeze unsqueeze2", inferUnsqueeze},
    {"flatten flatten2", inferFlatten},
    {"flatten_contiguous_range", inferFlattenRange},
    {"reshape_grad reshape2_grad squeeze_grad squeeze2_grad unsqueeze_grad unsqueeze2_grad flatten_grad flatten2_grad "
     "flatten_contiguous_range_grad transpose_grad transpose2_grad",
     inferViewGrad},
    {"transpose transpose2", inferTranspose},
    {"reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_all reduce_any", inferReduce},
    {"mean", inferMean},
    {"cast", inferCast},
    {"fill_constant uniform_random gaussian_random truncated_gaussian_random", inferShaped},
    {"assign_value", inferAssignValue},
    {"fill_constant_batch_size_like uniform_random_batch_size_like gaussian_random_batch_size_like", inferBatchSizeLike},
    {"fill_any_like fill_zeros_like", inferFillLike},
    {"cross_entropy cross_entropy2 softmax_with_cross_entropy", inferRowLoss},
    {"cross_entropy_grad2", inferCrossEntropyGrad2},
    {"top_k top_k_v2", inferTopK},
    {"accuracy", inferAccuracy},
    {"batch_norm sync_batch_norm", inferBatchNorm},
    {"layer_norm", inferLayerNorm},
    {"lookup_table lookup_table_v2", inferLookup},
    {"check_finite_and_unscale", inferFinite},
    {"dropout", inferDropout},
    {"one_hot one_hot_v2", inferOneHot},
};

pd::InferFn findInfer(llvm::StringRef type) {
  static const auto* table = [] {
    auto* map = new llvm::StringMap<pd::InferFn>();
    for (const Row& row : kRows) {
      llvm::SmallVector<llvm::StringRef> types;
      row.types.split(types, ' ', -1, false);
      for (llvm::StringRef type : types) (*map)[type] = row.infer;
    }
    return map;
  }();
  return table->lookup(type);
}

// `S@GRAD` is like S, `SOut` like S; a gradient whose forward input is not there is like the gradient that comes in.
LogicalResult inferByName(InferContext& c, llvm::StringRef slot) {
  llvm::StringRef base = slot;
  const bool gradient = base.consume_back("@GRAD");
  const bool state = !gradient && base.consume_back("Out") && !base.empty();
  if (gradient || state) {
    llvm::StringRef from = c.inCount(base) ? base : gradient && c.inCount("Out") ? "Out" : gradient && c.inCount("Softmax") ? "Softmax" : gradient ? "Out@GRAD" : "";
    if (c.inCount(from)) {
      for (unsigned i = 0; i < c.outCount(slot); ++i) {
        if (const TensorInfo* info = c.in(from, std::min(i, c.inCount(from) - 1))) c.out(slot, i, *info);
      }
      return success();
    }
  }
  const TensorInfo* x = c.in("X") ? c.in("X") : first(c);
  if (!x) return c.fail("has no input to take the shape of " + slot + " from");
  for (unsigned i = 0; i < c.outCount(slot); ++i) c.out(slot, i, *x);
  return success();
}

}  // namespace

std::optional<Dims> broadcastDims(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y, int64_t axis) {
  if (x.size() < y.size()) {
    if (axis <= 0 || axis == static_cast<int64_t>(y.size() - x.size())) return broadcastDims(y, x, -1);
    return broadcastDims(y, x, axis);
  }
  if (axis >= 0) {
    while (!y.empty() && y.back() == 1 && axis + y.size() > x.size()) y = y.drop_back();
  }
  const int64_t first = axis >= 0 ? axis : static_cast<int64_t>(x.size() - y.size());
  if (first + y.size() > x.size()) return std::nullopt;
  Dims dims(x);
  for (size_t i = 0; i < y.size(); ++i) {
    int64_t& d = dims[first + i];
    if (d != y[i] && d != 1 && y[i] != 1) return std::nullopt;
    if (d == 1) d = y[i];
  }
  return dims;
}

std::vector<bool> reducedDims(const OpView& op, int64_t rank) {
  auto dims = op.getInts("dim");
  const bool all = op.getBool("reduce_all") || dims.empty();
  std::vector<bool> reduced(rank, all);
  for (int64_t d : dims) {
    if (d < 0) d += rank;
    if (d >= 0 && d < rank) reduced[d] = true;
  }
  return reduced;
}

llvm::SmallVector<int64_t, 4> spatialPaddings(const OpView& op, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> kernel,
                                              llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations) {
  const std::string algorithm = op.getString("padding_algorithm");
  if (algorithm == "VALID") return {0, 0, 0, 0};
  if (algorithm == "SAME") {
    llvm::SmallVector<int64_t, 4> pads;
    for (int i = 0; i < 2; ++i) {
      const int64_t out = (extents[i] + strides[i] - 1) / std::max<int64_t>(1, strides[i]);
      const int64_t total = std::max<int64_t>(0, (out - 1) * strides[i] + kernel[i] - extents[i]);
      pads.append({total / 2, total - total / 2});
    }
    return pads;
  }
  auto p = op.getInts("paddings");
  if (p.size() == 2) return {p[0], p[0], p[1], p[1]};
  if (p.size() == 4) return {p[0], p[1], p[2], p[3]};
  return {};
}

LogicalResult inferOp(InferContext& context) {
  if (const pd::OpSpec* spec = context.op().spec(); spec && spec->infer) return spec->infer(context);
  if (pd::InferFn infer = findInfer(context.op().type())) return infer(context);
  for (const std::string& slot : context.op().outputSlots()) {
    if (llvm::failed(inferByName(context, slot))) return llvm::failure();
  }
  return success();
}

}  // namespace dtranspile::lower
