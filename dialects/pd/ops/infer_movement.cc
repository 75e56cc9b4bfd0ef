#include "dialects/pd/ops/infer_movement.h"

#include "dialects/pd/ops/infer_elementwise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

// Extents with an unknown among them are unknown; so is what does not fit (kernels refuse it).
int64_t sum(int64_t a, int64_t b) {
  int64_t result;
  return known(a) && b != kUnknownValue && !llvm::AddOverflow(a, b, result) && result >= 0 ? result
                                                                                           : -1;
}

int64_t product(std::initializer_list<int64_t> extents) {
  return productOf(DimsRef(extents)).value_or(-1);
}

int64_t quotient(int64_t extent, int64_t by) { return known(extent) && by > 0 ? extent / by : -1; }

// An argument of exactly `rank` dims; null after a report.
const TensorInfo* requireRank(InferContext& c, llvm::StringRef slot, int64_t rank) {
  const TensorInfo* info = require(c, slot);
  if (!info || info->rank() == rank) return info;
  (void)c.fail("needs " + llvm::Twine(rank) + " dims of " + slot + ", not " + textOf(info->dims));
  return nullptr;
}

// Where an image has its channels and its rows.
struct Layout {
  size_t channel, row;
};
// [batch, channels, spatial …], or, where the format ends in C, [batch, spatial …, channels].
Layout layoutOf(const OpView& op, int64_t rank) {
  const bool has = op.spec() && op.spec()->attribute("data_format");
  const bool last = has && llvm::StringRef(op.getString("data_format")).ends_with("C");
  return last ? Layout{static_cast<size_t>(rank) - 1, 1} : Layout{1, 2};
}

// The factor of an op that exchanges channels and space.
int64_t factorOf(const OpView& op) {
  for (const char* name : {"upscale_factor", "downscale_factor", "blocksize"})
    if (op.spec()->attribute(name)) return op.getInt(name);
  return 1;
}

// Windows of one dim; attributes are 32 bits wide.
int64_t windows(int64_t extent, int64_t before, int64_t after, int64_t kernel, int64_t dilation,
                int64_t stride) {
  const int64_t padded = sum(sum(extent, before), after), reach = dilation * (kernel - 1) + 1;
  return known(padded) && padded >= reach && stride > 0 ? (padded - reach) / stride + 1 : -1;
}

int64_t at(llvm::ArrayRef<int64_t> pair, size_t k) { return pair[pair.size() == 1 ? 0 : k]; }

// Windows along both spatial dims and elements of one.
struct WindowCount {
  int64_t down, across, kernel;
};

// Nothing after a report.
std::optional<WindowCount> windowsOf(InferContext& c, const char* kernelName, int64_t height,
                                     int64_t width) {
  const std::vector<int64_t> kernel = c.op().getInts(kernelName),
                             stride = c.op().getInts("strides"),
                             padding = c.op().getInts("paddings");
  const std::vector<int64_t> dilation = c.op().spec()->attribute("dilations")
                                            ? c.op().getInts("dilations")
                                            : std::vector<int64_t>{1, 1};
  const bool odd = padding.size() != 1 && padding.size() != 2 && padding.size() != 4;
  if (odd || kernel.empty() || kernel.size() > 2 || stride.empty() || stride.size() > 2 ||
      dilation.empty() || dilation.size() > 2) {
    (void)c.fail("has windows of " + textOf(kernel) + " with strides " + textOf(stride) +
                 " and paddings " + textOf(padding));
    return std::nullopt;
  }
  const size_t after = padding.size() == 4 ? 2 : 0;
  WindowCount w;
  w.down = windows(height, at(padding, 0), at(padding, after), at(kernel, 0), at(dilation, 0),
                   at(stride, 0));
  w.across = windows(width, at(padding, 1), at(padding, after + 1), at(kernel, 1), at(dilation, 1),
                     at(stride, 1));
  w.kernel = product({at(kernel, 0), at(kernel, 1)});
  return w;
}

}  // namespace

// The parts as positions of a new dim.
LogicalResult inferUnstackGrad(InferContext& c) {
  const TensorInfo* y = require(c, "Y@GRAD");
  if (!y) return failure();
  std::optional<int64_t> axis = axisOf(c.op().getInt("axis"), y->rank() + 1);
  if (!axis) return noAxis(c, c.op().getInt("axis"), y->dims);
  Dims dims = y->dims;
  dims.insert(dims.begin() + *axis, c.inCount("Y@GRAD"));
  c.out("X@GRAD", withDims(*y, dims));
  return success();
}

// With a tensor of repetitions the sum of its numbers is the extent, which only the run knows.
LogicalResult inferRepeatInterleave(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return failure();
  std::optional<int64_t> axis = axisOf(c.op().getInt("dim"), x->rank());
  if (!axis) return noAxis(c, c.op().getInt("dim"), x->dims);
  Dims dims = x->dims;
  dims[*axis] = c.in("RepeatsTensor")
                    ? -1
                    : product({dims[*axis], std::max<int64_t>(c.op().getInt("Repeats"), -1)});
  c.out("Out", withoutLod(withDims(*x, dims)));
  return success();
}

// All results have the extents [elements of X[0], elements of X[1], …].
LogicalResult inferMeshgrid(InferContext& c) {
  Dims dims;
  for (unsigned i = 0, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* x = require(c, "X", i);
    if (!x) return failure();
    dims.push_back(x->elements());
  }
  for (unsigned i = 0, n = c.outCount("Out"); i < n && i < dims.size(); ++i)
    c.out("Out", i, withoutLod(withDims(*c.in("X", i), dims)));
  return success();
}

// Some columns of equal matrices, side by side or added.
LogicalResult inferPartial(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return failure();
  for (unsigned i = 0, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* one = require(c, "X", i);
    if (!one) return failure();
    if (!one->rankKnown || one->rank() != 2 || !agree(one->dims, x->dims))
      return c.fail("needs matrices of equal extents, not X[" + llvm::Twine(i) + "] " +
                    textOf(one->dims));
  }
  const int64_t columns = x->dims[1], given = c.op().getInt("start_index"),
                length = c.op().getInt("length");
  int64_t width = length < 0 ? -1 : length;
  if (known(columns)) {
    const int64_t start = given < 0 ? given + columns : given;
    if (start < 0 || start >= columns || length == 0 || start + length > columns)
      return c.fail("takes " + llvm::Twine(length) + " columns from " + llvm::Twine(given) +
                    " on of X " + textOf(x->dims));
    width = length < 0 ? columns - start : length;
  }
  if (c.op().type() == "partial_concat" && known(width)) width *= c.inCount("X");
  c.out("Out", withoutLod(withDims(*x, {x->dims[0], width})));
  return success();
}

// All results have the extents that all operands broadcast to.
LogicalResult inferBroadcastTensors(InferContext& c) {
  Dims dims;
  bool ranked = true;
  for (unsigned i = 0, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* x = require(c, "X", i);
    if (!x) return failure();
    ranked &= x->rankKnown;
    if (!ranked) continue;
    std::optional<Dims> both = broadcastDims(dims, x->dims, -1);
    if (!both)
      return c.fail("X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " does not broadcast with " +
                    textOf(dims));
    dims = *both;
  }
  for (unsigned i = 0, n = c.outCount("Out"); i < n && i < c.inCount("X"); ++i)
    c.out("Out", i,
          withoutLod(ranked ? withDims(*c.in("X", i), dims) : unknownLike(*c.in("X", i))));
  return success();
}

namespace {

// Frames lie along the first or the last dims; nothing after a report.
std::optional<bool> alongFirst(InferContext& c) {
  const int64_t axis = c.op().getInt("axis");
  if (axis == 0 || axis == -1) return axis == 0;
  (void)c.fail("has axis " + llvm::Twine(axis) + ", expected 0 or -1");
  return std::nullopt;
}

}  // namespace

// [..., n] -> [..., length, frames], or [n, ...] -> [frames, length, ...].
LogicalResult inferFrame(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  const std::optional<bool> first = x ? alongFirst(c) : std::nullopt;
  if (!first) return failure();
  const int64_t length = c.op().getInt("frame_length"), hop = c.op().getInt("hop_length");
  if (length < 1 || hop < 1)
    return c.fail("has frames of " + llvm::Twine(length) + " places, one every " +
                  llvm::Twine(hop));
  if (!x->rankKnown) return c.out("Out", unknownLike(*x)), success();
  if (x->dims.empty()) return c.fail("has no dim of X to cut frames from");
  Dims dims = x->dims;
  int64_t& extent = *first ? dims.front() : dims.back();
  if (known(extent) && extent < length)
    return c.fail("has frames of " + llvm::Twine(length) + " places in X " + textOf(x->dims));
  extent = known(extent) ? (extent - length) / hop + 1 : -1;
  dims.insert(*first ? dims.begin() + 1 : dims.end() - 1, length);
  c.out("Out", withoutLod(withDims(*x, dims)));
  return success();
}

// The other way round.
LogicalResult inferOverlapAdd(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  const std::optional<bool> first = x ? alongFirst(c) : std::nullopt;
  if (!first) return failure();
  if (!x->rankKnown) return c.out("Out", unknownLike(*x)), success();
  const int64_t rank = x->rank(), hop = c.op().getInt("hop_length");
  if (rank < 2) return c.fail("needs frames in X " + textOf(x->dims));
  const int64_t at = *first ? 0 : rank - 2, length = x->dims[*first ? 1 : at],
                frames = x->dims[*first ? 0 : at + 1];
  if (hop < 1 || (known(length) && hop > length))
    return c.fail("has a frame of X " + textOf(x->dims) + " every " + llvm::Twine(hop) + " places");
  Dims dims = x->dims;
  dims.erase(dims.begin() + at);
  dims[at] = known(length) && frames > 0 ? sum(product({frames - 1, hop}), length) : -1;
  c.out("Out", withoutLod(withDims(*x, dims)));
  return success();
}

// What was added is taken off again.
LogicalResult inferPadGrad(InferContext& c) {
  const TensorInfo* gradient = require(c, "Out@GRAD");
  if (!gradient) return failure();
  const std::vector<int64_t> paddings = c.op().getInts("paddings");
  if (paddings.size() != 2 * gradient->dims.size())
    return c.fail("has " + llvm::Twine(paddings.size()) + " paddings for Out@GRAD " +
                  textOf(gradient->dims));
  Dims dims = gradient->dims;
  for (auto [i, extent] : llvm::enumerate(dims))
    extent = sum(sum(extent, -paddings[2 * i]), -paddings[2 * i + 1]);
  c.out("X@GRAD", withDims(*gradient, dims));
  return success();
}

// pad2d and pad3d widen the spatial dims only. Paddings may come from a tensor, of which maybe some
// numbers are known.
LogicalResult inferPadImage(InferContext& c) {
  const bool flat = c.op().type() == "pad2d";
  const int64_t rank = flat ? 4 : 5;
  const TensorInfo* x = requireRank(c, "X", rank);
  if (!x) return failure();
  std::optional<Dims> paddings = listFrom(c, "", "Paddings", "paddings");
  const size_t spatial = static_cast<size_t>(rank) - 2;
  if (!paddings) paddings = Dims(2 * spatial, kUnknownValue);
  if (paddings->size() != 2 * spatial)
    return c.fail("has paddings " + textOf(*paddings) + " for X " + textOf(x->dims));
  Dims dims = x->dims;
  const size_t first = layoutOf(c.op(), rank).row;
  for (size_t k = 0; k < spatial; ++k) {
    // pad2d counts from the outermost dim in, pad3d from the innermost one out.
    int64_t& extent = dims[flat ? first + k : first + spatial - 1 - k];
    const int64_t before = (*paddings)[2 * k], after = (*paddings)[2 * k + 1];
    extent = before == kUnknownValue || after == kUnknownValue ? -1 : sum(extent, before + after);
  }
  c.out("Out", withDims(*x, dims));
  return success();
}

// The extents of Y, else the shape from one of its three places; -1 is the rest of X after the
// offset.
LogicalResult inferCrop(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *like = c.in("Y");
  if (!x) return failure();
  std::optional<Dims> shape = c.op().type() == "crop"
                                  ? listFrom(c, "", "", "shape")
                                  : listFrom(c, "ShapeTensor", "Shape", "shape");
  std::optional<Dims> offsets =
      listFrom(c, c.op().type() == "crop" ? "" : "OffsetsTensor", "Offsets", "offsets");
  if (like) shape = like->dims;
  if (!shape) shape = Dims(x->dims.size(), kUnknownValue);
  if (shape->size() != x->dims.size())
    return c.fail("crops X " + textOf(x->dims) + " to " + textOf(*shape));
  for (auto [i, extent] : llvm::enumerate(*shape)) {
    const bool rest =
        extent == -1 && offsets && i < offsets->size() && (*offsets)[i] != kUnknownValue;
    if (rest) extent = sum(x->dims[i], -(*offsets)[i]);
    else if (!known(extent)) extent = -1;
  }
  c.out("Out", withDims(*x, *shape));
  return success();
}

namespace {

// pixel_shuffle, space_to_depth and the like: a factor r takes r² from the channels and gives r to
// each spatial dim, or the other way round, which is also the gradient.
LogicalResult inferRearranged(InferContext& c, bool toSpace) {
  const bool gradient = c.op().spec()->gradient;
  const TensorInfo* x = requireRank(c, gradient ? "Out@GRAD" : "X", 4);
  if (!x) return failure();
  const int64_t r = factorOf(c.op());
  if (r < 1 || r > 65536) return c.fail("has a factor of " + llvm::Twine(r));
  const Layout layout = layoutOf(c.op(), 4);
  Dims dims = x->dims;
  dims[layout.channel] =
      toSpace ? quotient(dims[layout.channel], r * r) : product({dims[layout.channel], r * r});
  for (size_t k = layout.row; k < layout.row + 2; ++k)
    dims[k] = toSpace ? product({dims[k], r}) : quotient(dims[k], r);
  c.out(gradient ? "X@GRAD" : "Out", withDims(*x, dims));
  return success();
}

}  // namespace

LogicalResult inferChannelsToSpace(InferContext& c) { return inferRearranged(c, true); }
LogicalResult inferSpaceToChannels(InferContext& c) { return inferRearranged(c, false); }

// im2col: [batch, channels · taps, windows].
LogicalResult inferUnfold(InferContext& c) {
  const TensorInfo* x = requireRank(c, "X", 4);
  if (!x) return failure();
  std::optional<WindowCount> w = windowsOf(c, "kernel_sizes", x->dims[2], x->dims[3]);
  if (!w) return failure();
  c.out("Y", withDims(*x, {x->dims[0], product({x->dims[1], w->kernel}),
                           product({w->down, w->across})}));
  return success();
}

// The inverse of unfold: windows are added up into an image of output_sizes.
LogicalResult inferFold(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return failure();
  const std::vector<int64_t> size = c.op().getInts("output_sizes"),
                             kernel = c.op().getInts("kernel_sizes");
  if (x->rank() < 2 || x->rank() > 3 || size.size() != 2 || kernel.size() != 2)
    return c.fail("folds X " + textOf(x->dims) + " to " + textOf(size));
  Dims dims = x->dims;
  dims.pop_back();
  dims.back() = quotient(dims.back(), product({kernel[0], kernel[1]}));
  dims.append(size.begin(), size.end());
  c.out("Y", withDims(*x, dims));
  return success();
}

// Every window is a row, the windows of an image a sequence.
LogicalResult inferIm2Sequence(InferContext& c) {
  const TensorInfo* x = requireRank(c, "X", 4);
  if (!x) return failure();
  std::optional<WindowCount> w = windowsOf(c, "kernels", x->dims[2], x->dims[3]);
  if (!w) return failure();
  TensorInfo out = withDims(*x, {c.in("Y") ? -1 : product({x->dims[0], w->down, w->across}),
                                 product({x->dims[1], w->kernel})});
  out.lodLevel = 1;
  c.out("Out", out);
  return success();
}

// X is as large as the result that it was scattered into.
LogicalResult inferScatterGrad(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *updates = require(c, "Updates");
  if (!gradient || !updates) return failure();
  c.out("X@GRAD", *gradient);
  c.out("Updates@GRAD", *updates);
  return success();
}

// Elements that were set have no gradient to Input, which thus has the extents of the result.
LogicalResult inferSetValueGrad(InferContext& c) {
  const TensorInfo* gradient = require(c, "Out@GRAD");
  if (!gradient) return failure();
  c.out("Input@GRAD", *gradient);
  if (const TensorInfo* value = c.in("ValueTensor")) c.out("ValueTensor@GRAD", *value);
  return success();
}

// One element of Input per element of Index.
LogicalResult inferTakeAlongAxis(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *index = require(c, "Index");
  if (!input || !index) return failure();
  c.out("Result", withDims(*input, index->dims));
  return success();
}

// A vector becomes the diagonal of a matrix, of a matrix (diag_v2) the diagonal is taken; `offset`
// moves it, which makes the matrix larger or the vector shorter.
LogicalResult inferDiag(InferContext& c) {
  const bool second = c.op().type() == "diag_v2";
  const TensorInfo* x = require(c, second ? "X" : "Diagonal");
  if (!x) return failure();
  const int64_t offset = second ? c.op().getInt("offset") : 0,
                distance = offset < 0 ? -offset : offset;
  if (x->rank() == 1) {
    const int64_t side = sum(x->dims[0], distance);
    c.out("Out", withoutLod(withDims(*x, {side, side})));
    return success();
  }
  if (!second || x->rank() != 2)
    return c.fail("takes a vector" + llvm::Twine(second ? " or a matrix" : "") + ", not " +
                  textOf(x->dims));
  const bool both = known(x->dims[0]) && known(x->dims[1]);
  const int64_t rows = x->dims[0] - (offset < 0 ? distance : 0),
                columns = x->dims[1] - (offset > 0 ? distance : 0);
  c.out("Out",
        withoutLod(withDims(*x, {both ? std::max<int64_t>(0, std::min(rows, columns)) : -1})));
  return success();
}

// The last dim becomes the diagonal over two new ones, at dim1 and dim2.
LogicalResult inferDiagEmbed(InferContext& c) {
  const TensorInfo* x = require(c, "Input");
  if (!x) return failure();
  const int64_t rank = x->rank() + 1, offset = c.op().getInt("offset");
  std::optional<int64_t> first = axisOf(c.op().getInt("dim1"), rank),
                         second = axisOf(c.op().getInt("dim2"), rank);
  if (rank < 2 || !first || !second || *first == *second)
    return c.fail("has no two dims " + llvm::Twine(c.op().getInt("dim1")) + " and " +
                  llvm::Twine(c.op().getInt("dim2")));
  const int64_t side = sum(x->dims.back(), offset < 0 ? -offset : offset);
  Dims dims;
  for (int64_t d = 0, from = 0; d < rank; ++d)
    dims.push_back(d == *first || d == *second ? side : x->dims[from++]);
  c.out("Out", withoutLod(withDims(*x, dims)));
  return success();
}

// Element by element; Other has the extents of Input.
LogicalResult inferIsClose(InferContext& c) {
  const TensorInfo* input = require(c, "Input");
  if (!input) return failure();
  c.out("Out", tensorInfo(DType::kBool, input->dims));
  return success();
}

}  // namespace dtranspile::pd
