// Inference and constraints of convolutions and pooling. Rows: convolution.cc.
#include "dialects/pd/ops/infer_convolution.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {
namespace {

// Larger numbers in a window are nonsense and would overflow the formulas.
constexpr int64_t kLargest = int64_t{1} << 40;

bool sane(int64_t value) { return value >= -kLargest && value <= kLargest; }

bool hasSpatialAxes(DimsRef dims) { return dims.size() >= 3 && dims.size() <= 5; }

DimsRef spatialOf(const OpView& op, DimsRef dims) {
  return channelsLast(op) ? dims.slice(1, dims.size() - 2) : dims.drop_front(2);
}
int64_t channelsOf(const OpView& op, DimsRef dims) {
  return channelsLast(op) ? dims.back() : dims[1];
}

// [batch, channels, spatial…] or with the channels last, as data_format says.
Dims assemble(const OpView& op, int64_t batch, int64_t channels, DimsRef spatial) {
  Dims dims = {batch};
  if (!channelsLast(op)) dims.push_back(channels);
  dims.append(spatial.begin(), spatial.end());
  if (channelsLast(op)) dims.push_back(channels);
  return dims;
}

// TensorFlow's SAME: as many windows as ceil(input / stride), the odd element of padding after. The
// framework sets dilations to 1 then.
void padSame(Window& window) {
  window.dilation = 1;
  if (!known(window.input) || !sane(window.input) || !sane(window.stride) || !sane(window.kernel))
    return;
  int64_t count = (window.input + window.stride - 1) / window.stride;
  int64_t total = std::max<int64_t>((count - 1) * window.stride + window.kernel - window.input, 0);
  window.before = total / 2;
  window.after = total - window.before;
}

// Attributes of one window list: "strides" and "paddings" have one number per axis, "paddings"
// maybe one per side.
bool readSides(DimsRef paddings, unsigned axis, unsigned axes, Window& window) {
  bool perSide = paddings.size() == 2 * axes;
  if (!perSide && paddings.size() != axes) return false;
  window.before = paddings[perSide ? 2 * axis : axis];
  window.after = paddings[perSide ? 2 * axis + 1 : axis];
  return true;
}

// The number of windows along each axis; nothing after a report.
std::optional<Dims> countAll(InferContext& c, llvm::ArrayRef<Window> windows) {
  Dims counts;
  for (const Window& window : windows) {
    std::optional<int64_t> count = windowCount(window);
    if (!count) {
      (void)c.fail("has no window of " + llvm::Twine(window.kernel) + " with stride " +
                   llvm::Twine(window.stride) + " and padding " + llvm::Twine(window.before) + "+" +
                   llvm::Twine(window.after) + " in an extent of " + llvm::Twine(window.input));
      return std::nullopt;
    }
    counts.push_back(*count);
  }
  return counts;
}

// Extent that a transposed convolution makes: that whose convolution has window.input windows.
std::optional<int64_t> transposedCount(const Window& window, int64_t extra) {
  if (!known(window.input)) return -1;
  int64_t stretched, kernel;
  if (llvm::MulOverflow(window.input - 1, window.stride, stretched) ||
      llvm::MulOverflow(window.dilation, window.kernel - 1, kernel))
    return std::nullopt;
  for (int64_t value : {stretched, kernel, window.before, window.after, extra})
    if (!sane(value)) return std::nullopt;
  int64_t count = stretched - window.before - window.after + kernel + 1 + extra;
  return count > 0 ? std::optional<int64_t>(count) : std::nullopt;
}

std::string ranksText(DimsRef input, DimsRef filter) {
  return "Input " + textOf(input) + ", Filter " + textOf(filter);
}

}  // namespace

bool channelsLast(const OpView& op) {
  const OpSpec* spec = op.spec();
  if (!spec || !spec->attribute("data_format")) return false;
  std::string format = op.getString("data_format");
  return format == "NHWC" || format == "NDHWC";
}

// floor((input + before + after - (dilation (kernel - 1) + 1)) / stride) + 1, or with ceil the next
// whole number; nothing where no window fits, -1 where the input is not known.
std::optional<int64_t> windowCount(const Window& window) {
  if (window.stride <= 0 || window.dilation <= 0 || window.kernel <= 0) return std::nullopt;
  if (!known(window.input)) return -1;
  for (int64_t value : {window.input, window.stride, window.before, window.after})
    if (!sane(value)) return std::nullopt;
  int64_t extent;
  if (llvm::MulOverflow(window.dilation, window.kernel - 1, extent) || !sane(extent))
    return std::nullopt;
  int64_t room = window.input + window.before + window.after - extent - 1;
  if (window.ceil) room += window.stride - 1;
  if (room < 0 && !(window.one && room > -window.stride)) return std::nullopt;
  return room / window.stride + 1;
}

// The windows of an op along its spatial axes. padding_algorithm VALID has no padding, SAME
// computes it, EXPLICIT reads one number per axis or per side.
std::optional<llvm::SmallVector<Window, 3>> windowsOf(const OpView& op,
                                                      const WindowRequest& request,
                                                      std::string& error) {
  unsigned axes = request.input.size();
  std::vector<int64_t> strides = op.getInts("strides"), paddings = op.getInts("paddings");
  std::vector<int64_t> dilations(axes, 1);
  if (!request.isPool) dilations = op.getInts("dilations");
  if (request.kernel.size() != axes || strides.size() != axes || dilations.size() != axes) {
    error = "has " + std::to_string(axes) + " spatial axes, but " +
            std::to_string(request.kernel.size()) + " kernel extents, " +
            std::to_string(strides.size()) + " strides and " + std::to_string(dilations.size()) +
            " dilations";
    return std::nullopt;
  }
  const OpSpec* spec = op.spec();
  std::string algorithm =
      spec && spec->attribute("padding_algorithm") ? op.getString("padding_algorithm") : "EXPLICIT";
  llvm::SmallVector<Window, 3> windows;
  for (unsigned i = 0; i < axes; ++i) {
    Window window{request.input[i], request.kernel[i], strides[i], dilations[i]};
    window.ceil = request.isPool && spec && spec->attribute("ceil_mode") && op.getBool("ceil_mode");
    window.one = request.isPool;
    if (algorithm == "EXPLICIT" && !readSides(paddings, i, axes, window)) {
      error = "has " + std::to_string(paddings.size()) + " paddings for " + std::to_string(axes) +
              " spatial axes";
      return std::nullopt;
    }
    if (algorithm == "SAME" && window.stride > 0) padSame(window);
    windows.push_back(window);
  }
  return windows;
}

// [batch, filters, windows…].
llvm::LogicalResult inferConv(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *filter = require(c, "Filter");
  if (!input || !filter) return llvm::failure();
  if (!hasSpatialAxes(input->dims) || input->rank() != filter->rank())
    return c.fail("has ranks that do not fit: " + ranksText(input->dims, filter->dims));
  std::string error;
  auto windows = windowsOf(
      c.op(), {spatialOf(c.op(), input->dims), DimsRef(filter->dims).drop_front(2)}, error);
  if (!windows) return c.fail(error);
  std::optional<Dims> counts = countAll(c, *windows);
  if (!counts) return llvm::failure();
  c.out("Output", withDims(*input, assemble(c.op(), input->dims[0], filter->dims[0], *counts)));
  return llvm::success();
}

// [batch, Filter[1] · groups, the extents that a convolution would have come from…]: of several
// possible ones output_size or output_padding chooses.
llvm::LogicalResult inferConvTranspose(InferContext& c) {
  const TensorInfo *input = require(c, "Input"), *filter = require(c, "Filter");
  if (!input || !filter) return llvm::failure();
  if (!hasSpatialAxes(input->dims) || input->rank() != filter->rank())
    return c.fail("has ranks that do not fit: " + ranksText(input->dims, filter->dims));
  std::string error;
  auto windows = windowsOf(
      c.op(), {spatialOf(c.op(), input->dims), DimsRef(filter->dims).drop_front(2)}, error);
  if (!windows) return c.fail(error);
  std::vector<int64_t> outputSize = c.op().getInts("output_size"),
                       extra = c.op().getInts("output_padding");
  Dims counts;
  for (auto [i, window] : llvm::enumerate(*windows)) {
    std::optional<int64_t> count = transposedCount(window, i < extra.size() ? extra[i] : 0);
    if (!count) return c.fail("has an output extent that is negative or too large");
    counts.push_back(i < outputSize.size() && outputSize[i] > 0 ? outputSize[i] : *count);
  }
  int64_t groups = c.op().getInt("groups");
  int64_t channels = groups > 0 ? productOf({filter->dims[1], groups}).value_or(-1) : -1;
  c.out("Output", withDims(*input, assemble(c.op(), input->dims[0], channels, counts)));
  return llvm::success();
}

namespace {

// Spatial extents of a pooled input.
std::optional<Dims> pooledDims(InferContext& c, DimsRef spatial) {
  std::vector<int64_t> kernel = c.op().getInts("ksize");
  if (c.op().getBool("adaptive")) return Dims(kernel.begin(), kernel.end());
  if (c.op().getBool("global_pooling")) return Dims(spatial.size(), 1);
  std::string error;
  auto windows = windowsOf(c.op(), {spatial, kernel, /*isPool=*/true}, error);
  if (!windows) {
    (void)c.fail(error);
    return std::nullopt;
  }
  return countAll(c, *windows);
}

}  // namespace

namespace {

// Batch and channels go through, the other dims are those of the windows.
llvm::LogicalResult poolTo(InferContext& c, llvm::StringRef input, llvm::StringRef output) {
  const TensorInfo* x = require(c, input);
  if (!x) return llvm::failure();
  if (!hasSpatialAxes(x->dims))
    return c.fail("pools over " + input + " " + textOf(x->dims) + ", which has no spatial axes");
  std::optional<Dims> spatial = pooledDims(c, spatialOf(c.op(), x->dims));
  if (!spatial) return llvm::failure();
  if (spatial->size() + 2 != x->dims.size())
    return c.fail("pools " + input + " " + textOf(x->dims) + " to " + textOf(*spatial));
  c.out(output, withDims(*x, assemble(c.op(), x->dims[0], channelsOf(c.op(), x->dims), *spatial)));
  return llvm::success();
}

}  // namespace

llvm::LogicalResult inferPool(InferContext& c) { return poolTo(c, "X", "Out"); }

// A mean is linear: the gradient of its gradient is the mean again.
llvm::LogicalResult inferPoolSecondGrad(InferContext& c) {
  return poolTo(c, "grad_x@GRAD", "grad_out@GRAD");
}

llvm::LogicalResult inferPoolWithIndex(InferContext& c) {
  if (failed(inferPool(c))) return llvm::failure();
  const TensorInfo* x = c.in("X");
  std::optional<Dims> spatial = pooledDims(c, spatialOf(c.op(), x->dims));
  if (!spatial) return llvm::failure();
  c.out("Mask", tensorInfo(DType::kInt32,
                           assemble(c.op(), x->dims[0], channelsOf(c.op(), x->dims), *spatial)));
  return llvm::success();
}

// Filters are [filters, channels / groups, kernel…].
const Constraint kConvConstraints[3] = {
    {"C1", "Input must have two or three spatial axes, and Filter the same rank",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> input = declaredDims(op, "Input"), filter = declaredDims(op, "Filter");
       if (!input || !filter || (hasSpatialAxes(*input) && input->size() == filter->size()))
         return llvm::success();
       found = ranksText(*input, *filter);
       return llvm::failure();
     }},
    {"C2", "Input must have as many channels as Filter per group times groups",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> input = declaredDims(op, "Input"), filter = declaredDims(op, "Filter");
       if (!input || !filter) return llvm::success();
       int64_t channels = channelsOf(op, *input), perGroup = (*filter)[1],
               groups = op.getInt("groups");
       if (!known(channels) || !known(perGroup) ||
           (groups > 0 && channels % groups == 0 && channels / groups == perGroup))
         return llvm::success();
       found = ranksText(*input, *filter) + ", groups " + std::to_string(groups);
       return llvm::failure();
     }},
    {"C3", "groups must divide the number of filters",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> filter = declaredDims(op, "Filter");
       int64_t groups = op.getInt("groups");
       if (!filter || filter->empty() || !known((*filter)[0]) ||
           (groups > 0 && (*filter)[0] % groups == 0))
         return llvm::success();
       found = "Filter " + textOf(*filter) + ", groups " + std::to_string(groups);
       return llvm::failure();
     }},
};

const Constraint kPoolConstraints[1] = {
    {"C1", "X must have two or three spatial axes",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X");
       if (!x || hasSpatialAxes(*x)) return llvm::success();
       found = "X " + textOf(*x);
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd
