// Inference of operators that pick elements by position. Rows: indexing.cc.
#include "dialects/pd/ops/infer_indexing.h"

#include "dialects/pd/ops/infer_elementwise.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

// Removes axes of extent 1 that a slice took one element of; what is left of all is a scalar.
Dims dropAxes(const InferContext& c, DimsRef dims, llvm::ArrayRef<int64_t> axes) {
  Dims kept;
  for (auto [i, extent] : llvm::enumerate(dims))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i))) kept.push_back(extent);
  return kept.empty() && !dims.empty() ? scalarDims(c) : kept;
}

// One entry per axis named: bounds that only the run knows are kUnknownValue, axes are counted from
// the front.
struct SliceLists {
  std::vector<int64_t> axes;
  Dims starts, ends, strides;
};

// The bounds of a slice; failure after a report, nothing when their values come with the data.
llvm::LogicalResult readSlice(InferContext& c, bool strided, int64_t rank,
                              std::optional<SliceLists>& lists) {
  SliceLists read;
  read.axes = c.op().getInts("axes");
  std::optional<Dims> starts = listFrom(c, "StartsTensorList", "StartsTensor", "starts"),
                      ends = listFrom(c, "EndsTensorList", "EndsTensor", "ends");
  std::optional<Dims> strides = strided
                                    ? listFrom(c, "StridesTensorList", "StridesTensor", "strides")
                                    : Dims(read.axes.size(), 1);
  if (!starts || !ends || !strides) return llvm::success();
  if (starts->size() != read.axes.size() || ends->size() != read.axes.size() ||
      strides->size() != read.axes.size())
    return c.fail("has " + llvm::Twine(read.axes.size()) + " axes, " + llvm::Twine(starts->size()) +
                  " starts and " + llvm::Twine(ends->size()) + " ends");
  for (int64_t& axis : read.axes) {
    std::optional<int64_t> at = axisOf(axis, rank);
    if (!at)
      return c.fail("has no axis " + llvm::Twine(axis) + " in a tensor of rank " +
                    llvm::Twine(rank));
    axis = *at;
  }
  read.starts = *starts;
  read.ends = *ends;
  read.strides = *strides;
  lists = std::move(read);
  return llvm::success();
}

// Elements of a slice with a stride of either sign, as the framework counts them
// (StridedSliceOutDims): bounds are clamped to 0, so that with a negative stride only an end of -1
// reaches the first element.
int64_t stridedExtent(int64_t extent, int64_t start, int64_t end, int64_t stride) {
  if (!known(extent) || extent == INT64_MAX || start == kUnknownValue || end == kUnknownValue ||
      stride == kUnknownValue)
    return -1;
  if (start < 0) start = std::max<int64_t>(start + extent, 0);
  if (end < 0 && !(end == -1 && stride < 0)) end = std::max<int64_t>(end + extent, 0);
  if (stride < 0) {
    start = std::min(start, extent) + 1;
    end = std::min(end, extent) + 1;
  }
  if (stride < 0 ? start < end : start > end) return 0;
  int64_t left = std::max<int64_t>(std::min(start, end), 0),
          right = std::min(std::max(start, end), extent);
  int64_t step = stride < 0 ? -stride : stride;
  return right <= left ? 0 : (right - left - 1) / step + 1;
}

// A slice of an array of tensors is an array, or, with decrease_axis, one of its tensors. Of a
// tensor only the axes named change; a slice of rows loses their sequences.
llvm::LogicalResult inferSliceOf(InferContext& c, bool strided) {
  const TensorInfo* input = require(c, "Input");
  if (!input) return llvm::failure();
  std::vector<int64_t> decrease = c.op().getInts("decrease_axis");
  if (input->kind == Kind::TensorArray) {
    TensorInfo out = *input;
    if (!decrease.empty()) out.kind = Kind::Tensor;
    c.out("Out", out);
    return llvm::success();
  }
  std::optional<SliceLists> lists;
  if (failed(readSlice(c, strided, input->rank(), lists))) return llvm::failure();
  Dims dims = input->dims;
  std::vector<int64_t> axes = lists ? lists->axes : c.op().getInts("axes");
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= input->rank()) continue;
    if (!lists) dims[axis] = -1;
    else if (strided && lists->strides[i] == 0)
      return c.fail("has stride 0 on axis " + llvm::Twine(axis));
    else if (strided)
      dims[axis] = stridedExtent(dims[axis], lists->starts[i], lists->ends[i], lists->strides[i]);
    else dims[axis] = sliceExtent(dims[axis], lists->starts[i], lists->ends[i]);
  }
  // One element of a dropped axis is left.
  for (int64_t axis : decrease)
    if (axis >= 0 && axis < input->rank() && known(dims[axis]) && dims[axis] != 1)
      return c.fail("drops axis " + llvm::Twine(axis) + " of extent " + llvm::Twine(dims[axis]));
  TensorInfo out = withDims(*input, dropAxes(c, dims, decrease));
  c.out("Out", llvm::is_contained(axes, 0) ? withoutLod(out) : out);
  return llvm::success();
}

}  // namespace

// Bounds count from the end where negative and are cut at the extent; an empty slice has 0.
int64_t sliceExtent(int64_t extent, int64_t start, int64_t end) {
  if (!known(extent) || start == kUnknownValue || end == kUnknownValue) return -1;
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  return std::max<int64_t>(clamp(end) - clamp(start), 0);
}

llvm::LogicalResult inferSlice(InferContext& c) { return inferSliceOf(c, false); }
llvm::LogicalResult inferStridedSlice(InferContext& c) { return inferSliceOf(c, true); }

// Rows (positions along an axis) by a vector of numbers; a single number drops the dim.
llvm::LogicalResult inferGather(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *index = require(c, "Index");
  if (!x || !index) return llvm::failure();
  if (index->dtype != DType::kInt32 && index->dtype != DType::kInt64)
    return c.fail(llvm::Twine("wants Index of int32 or int64, found ") + NameOf(index->dtype));
  int64_t axis = numberFrom(c, "Axis", "axis");
  if (axis == kUnknownValue) {
    c.out("Out", withDims(*x, Dims(x->dims.size(), -1)));
    return llvm::success();
  }
  std::optional<int64_t> at = axisOf(axis, x->rank());
  if (!at) return noAxis(c, axis, x->dims);
  Dims dims = x->dims;
  if (index->dims.empty()) dims.erase(dims.begin() + *at);
  else dims[*at] = index->dims[0];
  c.out("Out", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// The last dim of Index holds positions along the first dims of X; what is left of X's dims follows
// those of Index.
llvm::LogicalResult inferGatherNd(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *index = require(c, "Index");
  if (!x || !index) return llvm::failure();
  int64_t depth = index->dims.empty() ? -1 : index->dims.back();
  if (depth < 0) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  if (depth > x->rank())
    return c.fail("indexes " + llvm::Twine(depth) + " axes of X " + textOf(x->dims));
  Dims dims(index->dims.begin(), index->dims.end() - 1);
  dims.append(x->dims.begin() + depth, x->dims.end());
  c.out("Out", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// As many positions as Index has.
llvm::LogicalResult inferIndexSelect(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *index = require(c, "Index");
  if (!x || !index) return llvm::failure();
  std::optional<int64_t> at = axisOf(c.op().getInt("dim"), x->rank());
  if (!at) return noAxis(c, c.op().getInt("dim"), x->dims);
  Dims dims = x->dims;
  dims[*at] = index->dims.empty() ? 1 : index->dims[0];
  c.out("Out", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// Per row of X the elements that the row of Index names.
llvm::LogicalResult inferIndexAddGrad(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *value = require(c, "AddValue");
  if (!gradient || !value) return llvm::failure();
  c.out("X@GRAD", *gradient);
  c.out("AddValue@GRAD", *value);
  return llvm::success();
}

// As many rows as asked for, else as X has. The framework sets extents of the counts for means
// only.
namespace {

// The extents of a message of two rows, whose dims broadcast; nothing after a report.
std::optional<Dims> messageDims(InferContext& c, const TensorInfo& x, const TensorInfo& y) {
  if (x.dims.empty() || y.dims.empty()) {
    (void)c.fail("has operands without rows");
    return std::nullopt;
  }
  std::optional<Dims> dims =
      broadcastDims(DimsRef(x.dims).drop_front(), DimsRef(y.dims).drop_front(), -1);
  if (!dims)
    (void)c.fail("has rows of " + textOf(x.dims) + " and " + textOf(y.dims) +
                 ", which do not broadcast");
  const std::string message = c.op().getString("message_op");
  if (!dims || message == "ADD" || message == "MUL") return dims;
  (void)c.fail("has message_op '" + message + "', expected ADD or MUL");
  return std::nullopt;
}

}  // namespace

// Messages of rows and edges, pooled by where they go.
llvm::LogicalResult inferSendEdges(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  std::optional<Dims> dims = messageDims(c, *x, *y);
  if (!dims) return llvm::failure();
  std::optional<Dims> size = listFrom(c, "", "Out_size", "out_size");
  int64_t rows = x->dims[0];
  if (!size || size->size() > 1) rows = -1;
  else if (size->size() == 1 && size->front() == kUnknownValue) rows = -1;
  else if (size->size() == 1 && size->front() > 0) rows = size->front();
  dims->insert(dims->begin(), rows);
  c.out("Out", withoutLod(withDims(*x, *dims)));
  const bool counted = c.op().getString("reduce_op") == "MEAN";
  c.out("Dst_count", tensorInfo(DType::kInt32, counted ? Dims{rows} : Dims{}));
  return llvm::success();
}

// A message of two rows for each edge.
llvm::LogicalResult inferSendBoth(InferContext& c) {
  const TensorInfo *x = require(c, "x"), *y = require(c, "y"), *edges = require(c, "src_index");
  if (!x || !y || !edges) return llvm::failure();
  std::optional<Dims> dims = messageDims(c, *x, *y);
  if (!dims) return llvm::failure();
  dims->insert(dims->begin(), edges->dims.empty() ? -1 : edges->dims[0]);
  c.out("out", withoutLod(withDims(*x, *dims)));
  return llvm::success();
}

llvm::LogicalResult inferSendReceive(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->dims.empty()) return c.fail("has an X without rows");
  std::optional<Dims> size = listFrom(c, "", "Out_size", "out_size");
  Dims dims = x->dims;
  if (!size || size->size() > 1) dims[0] = -1;
  else if (size->size() == 1 && size->front() == kUnknownValue) dims[0] = -1;
  else if (size->size() == 1 && size->front() > 0) dims[0] = size->front();
  c.out("Out", withoutLod(withDims(*x, dims)));
  const bool counted = c.op().getString("reduce_op") == "MEAN";
  c.out("Dst_count", tensorInfo(DType::kInt32, counted ? Dims{dims[0]} : Dims{}));
  return llvm::success();
}

llvm::LogicalResult inferIndexSample(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *index = require(c, "Index");
  if (!x || !index) return llvm::failure();
  c.out("Out", withDims(*x, index->dims));
  return llvm::success();
}

// Every candidate has a gradient, zero in the rows that were not taken.
llvm::LogicalResult inferMultiplexGrad(InferContext& c) {
  const TensorInfo* gradient = require(c, "Out@GRAD");
  if (!gradient) return llvm::failure();
  for (unsigned i = 0, n = c.outCount("X@GRAD"); i < n; ++i) c.out("X@GRAD", i, *gradient);
  return llvm::success();
}

}  // namespace dtranspile::pd
