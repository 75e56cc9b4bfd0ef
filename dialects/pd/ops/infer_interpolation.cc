// Inference of resized images and grids. Rows: interpolation.cc.
#include "dialects/pd/ops/infer_interpolation.h"

namespace dtranspile::pd {
namespace {

// Larger extents are nonsense; the kernels refuse them too.
constexpr int64_t kLargest = int64_t{1} << 31;

// Extent of an axis by a scale: the framework multiplies in float32 and cuts.
int64_t scaled(int64_t extent, double scale) {
  if (!known(extent)) return -1;
  const float product = static_cast<float>(extent) * static_cast<float>(scale);
  return product >= 0 && product < static_cast<float>(kLargest) ? static_cast<int64_t>(product)
                                                                : -1;
}

// SizeTensor or OutSize as far as they are known, nothing where neither is there.
std::optional<Dims> givenSizes(InferContext& c, size_t axes) {
  if (!c.inCount("SizeTensor") && !c.in("OutSize")) return std::nullopt;
  Dims sizes(axes, -1);
  for (unsigned i = 0; i < c.inCount("SizeTensor") && i < axes; ++i) {
    auto value = c.constant("SizeTensor", i);
    if (value && value->size() == 1) sizes[i] = (*value)[0];
  }
  if (c.inCount("SizeTensor")) return sizes;
  auto values = c.constant("OutSize");
  for (size_t i = 0; values && i < axes && i < values->size(); ++i) sizes[i] = (*values)[i];
  return sizes;
}

std::vector<double> scalesOf(InferContext& c, size_t axes) {
  const AttrRow* row = c.op().spec()->attribute("scale");
  std::vector<double> scales = row->types.front() == AttrType::Floats
                                   ? c.op().getFloats("scale")
                                   : std::vector<double>{c.op().getFloat("scale")};
  if (scales.size() == 1) scales.resize(axes, scales.front());
  for (double scale : scales)
    if (!(scale > 0)) return {};
  return scales.size() < axes ? std::vector<double>() : scales;
}

}  // namespace

llvm::LogicalResult inferResize(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() < 3 || x->rank() > 5)
    return c.fail("resizes X " + textOf(x->dims) + ", which has not one to three spatial axes");
  const size_t axes = x->dims.size() - 2,
               first = llvm::StringRef(c.op().getString("data_layout")).ends_with("C") ? 1 : 2;
  static constexpr const char* kSizes[] = {"out_d", "out_h", "out_w"};
  Dims dims = x->dims;
  auto given = givenSizes(c, axes);
  const std::vector<double> scales = scalesOf(c, axes);
  for (size_t i = 0; i < axes; ++i) {
    int64_t& extent = dims[first + i];
    if (given) extent = (*given)[i];
    else if (c.in("Scale")) extent = -1;
    else extent = scales.empty() ? c.op().getInt(kSizes[3 - axes + i]) : scaled(extent, scales[i]);
    if (extent <= 0) extent = -1;
  }
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferGridSample(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *grid = require(c, "Grid");
  if (!x || !grid) return llvm::failure();
  if (x->rank() < 4 || x->rank() > 5 || grid->rank() != x->rank())
    return c.fail("needs as many dims of X as of Grid, 4 or 5, not X " + textOf(x->dims) +
                  " and Grid " + textOf(grid->dims));
  Dims dims = {x->dims[0], x->dims[1]};
  dims.append(grid->dims.begin() + 1, grid->dims.end() - 1);
  c.out("Output", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferAffineGrid(InferContext& c) {
  const TensorInfo* theta = require(c, "Theta");
  if (!theta) return llvm::failure();
  const int64_t rows = theta->rank() == 3 ? theta->dims[1] : 0;
  if (theta->rank() != 3 || (known(rows) && rows != 2 && rows != 3) ||
      (known(rows) && !agree(theta->dims[2], rows + 1)))
    return c.fail("needs a Theta of [images, 2, 3] or [images, 3, 4], not " + textOf(theta->dims));
  auto shape = listFrom(c, "", "OutputShape", "output_shape");
  const size_t axes = known(rows) ? rows : 2;
  Dims dims(axes + 2, -1);
  dims[0] = theta->dims[0];
  dims.back() = static_cast<int64_t>(axes);
  for (size_t i = 0; shape && i < axes && shape->size() == axes + 2; ++i)
    dims[1 + i] = (*shape)[2 + i] == kUnknownValue ? -1 : (*shape)[2 + i];
  c.out("Output", withDims(*theta, dims));
  return llvm::success();
}

}  // namespace dtranspile::pd
