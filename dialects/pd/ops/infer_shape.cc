// Inference and constraints of reshapes, transposes and their gradients. Joins and splits:
// infer_joins.cc. Rows: shape.cc.
#include "dialects/pd/ops/infer_shape.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {
namespace {

// The second result of the ops that move no element: carries the shape for the gradient, never
// data.
void outXShape(InferContext& c, const TensorInfo& x) {
  Dims dims = {0};
  dims.append(x.dims.begin(), x.dims.end());
  c.out("XShape", withDims(x, dims));
}

// A result with one dim per group of dims, their product.
llvm::LogicalResult outProduct(InferContext& c, llvm::StringRef slot, const TensorInfo& like,
                               std::initializer_list<DimsRef> groups) {
  Dims dims;
  for (DimsRef group : groups) {
    std::optional<int64_t> product = productOf(group);
    if (!product) return c.fail("has too many elements in " + textOf(group));
    dims.push_back(*product);
  }
  c.out(slot, withDims(like, dims));
  return llvm::success();
}

// Positions after a transpose; nothing when `axis` is no permutation of the axes.
std::optional<llvm::SmallVector<int64_t>> permutationOf(llvm::ArrayRef<int64_t> axis,
                                                        int64_t rank) {
  if (static_cast<int64_t>(axis.size()) != rank) return std::nullopt;
  llvm::SmallVector<int64_t> result;
  for (int64_t a : axis) {
    std::optional<int64_t> at = axisOf(a, rank);
    if (!at || llvm::is_contained(result, *at)) return std::nullopt;
    result.push_back(*at);
  }
  return result;
}

// The extents of X after the 0 of an XShape; nothing after a report.
std::optional<Dims> dimsOfXShape(InferContext& c, const TensorInfo& shape) {
  if (!shape.dims.empty()) return Dims(shape.dims.begin() + 1, shape.dims.end());
  (void)c.fail("needs XShape of the forward op, [0, extents of X]");
  return std::nullopt;
}

// A gradient that goes back through a view has as many elements as what was viewed.
llvm::LogicalResult checkCounts(InferContext& c, const TensorInfo& gradient, DimsRef dims,
                                llvm::StringRef slot) {
  std::optional<int64_t> given = productOf(gradient.dims), wanted = productOf(dims);
  if (!gradient.rankKnown || (given && wanted && agree(*given, *wanted))) return llvm::success();
  return c.fail("cannot give Out@GRAD " + textOf(gradient.dims) + " the extents " + textOf(dims) +
                " of X; give it the " + slot + " of its forward op");
}

}  // namespace

// 0 keeps the extent at its place, one -1 takes what is left. Nothing where numbers of elements are
// known and differ.
std::optional<Dims> reshapeDims(DimsRef from, DimsRef to) {
  Dims result;
  std::optional<size_t> open;
  for (auto [i, extent] : llvm::enumerate(to)) {
    if (extent < -1 && extent != kUnknownValue) return std::nullopt;
    if (extent == 0 && i >= from.size()) return std::nullopt;
    if (extent == -1) {
      if (open) return std::nullopt;
      open = i;
    }
    result.push_back(extent == 0 ? from[i] : extent == -1 ? 1 : orUnknown(extent));
  }
  std::optional<int64_t> total = productOf(from), rest = productOf(result);
  if (!total || !rest) return std::nullopt;
  if (!open) return agree(*total, *rest) ? std::optional<Dims>(result) : std::nullopt;
  bool exact = known(*total) && *rest > 0;
  if (exact && *total % *rest != 0) return std::nullopt;
  result[*open] = exact ? *total / *rest : -1;
  return result;
}

llvm::LogicalResult inferReshape(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::optional<Dims> shape = listFrom(c, "ShapeTensor", "Shape", "shape");
  outXShape(c, *x);
  if (!shape || !x->rankKnown) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  std::optional<Dims> dims = reshapeDims(x->dims, *shape);
  if (!dims) return c.fail("cannot reshape X " + textOf(x->dims) + " to " + textOf(*shape));
  c.out("Out", withDims(*x, *dims));
  return llvm::success();
}

// The gradient of a view has the extents of X, which the forward op's XShape carries so that X
// itself need not live until then.
llvm::LogicalResult inferFromXShape(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *shape = c.in("XShape"), *x = c.in("X");
  if (!gradient) return llvm::failure();
  if (!shape) {
    if (failed(inferGradients(c))) return llvm::failure();
    return x ? checkCounts(c, *gradient, x->dims, "X") : llvm::success();
  }
  std::optional<Dims> dims = dimsOfXShape(c, *shape);
  if (!dims || failed(checkCounts(c, *gradient, *dims, "XShape"))) return llvm::failure();
  c.out("X@GRAD", withDims(*gradient, *dims));
  return llvm::success();
}

// Without axes all extents of 1 go. An axis that is listed and has another extent stays, as in the
// framework.
llvm::LogicalResult inferSqueeze(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis : c.op().getInts("axes")) {
    std::optional<int64_t> at = axisOf(axis, std::max<int64_t>(x->rank(), 1));
    if (!at) return noAxis(c, axis, x->dims);
    axes.push_back(*at);
  }
  Dims dims;
  for (auto [i, extent] : llvm::enumerate(x->dims)) {
    bool listed = llvm::is_contained(axes, static_cast<int64_t>(i));
    // An extent that is not known must be 1 where the axis is listed.
    if (extent == 1 ? axes.empty() || listed : !known(extent) && listed) continue;
    dims.push_back(extent);
  }
  c.out("Out", withDims(*x, dims));
  outXShape(c, *x);
  return llvm::success();
}

// Axes are positions in the result, inserted one after the other.
llvm::LogicalResult inferUnsqueeze(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  outXShape(c, *x);
  std::optional<Dims> axes = listFrom(c, "AxesTensorList", "AxesTensor", "axes");
  if (!axes || llvm::is_contained(*axes, kUnknownValue)) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  Dims dims = x->dims;
  for (int64_t axis : *axes) {
    std::optional<int64_t> at = axisOf(axis, dims.size() + 1);
    if (!at) return noAxis(c, axis, dims);
    dims.insert(dims.begin() + *at, 1);
  }
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

// A matrix: the product of the dims before the axis, and of those from it on.
llvm::LogicalResult inferFlatten(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t axis = c.op().getInt("axis");
  if (axis < 0 || axis > x->rank()) return noAxis(c, axis, x->dims);
  outXShape(c, *x);
  return outProduct(c, "Out", *x,
                    {DimsRef(x->dims).take_front(axis), DimsRef(x->dims).drop_front(axis)});
}

llvm::LogicalResult inferFlattenRange(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  outXShape(c, *x);
  if (x->dims.empty()) {
    c.out("Out", withDims(*x, {1}));
    return llvm::success();
  }
  std::optional<int64_t> start = axisOf(c.op().getInt("start_axis"), x->rank()),
                         stop = axisOf(c.op().getInt("stop_axis"), x->rank());
  if (!start || !stop || *start > *stop)
    return c.fail("has no axes " + llvm::Twine(c.op().getInt("start_axis")) + " to " +
                  llvm::Twine(c.op().getInt("stop_axis")) + " in X " + textOf(x->dims));
  std::optional<int64_t> middle = productOf(DimsRef(x->dims).slice(*start, *stop - *start + 1));
  if (!middle) return c.fail("has too many elements in X " + textOf(x->dims));
  Dims dims(x->dims.begin(), x->dims.begin() + *start);
  dims.push_back(*middle);
  dims.append(x->dims.begin() + *stop + 1, x->dims.end());
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferTranspose(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  std::vector<int64_t> axis = c.op().getInts("axis");
  auto permutation = permutationOf(axis, x->rank());
  if (!permutation)
    return c.fail("permutes the axes of X " + textOf(x->dims) + " by " + textOf(axis));
  Dims dims;
  for (int64_t at : *permutation) dims.push_back(x->dims[at]);
  c.out("Out", withDims(*x, dims));
  outXShape(c, *x);
  return llvm::success();
}

// The inverse permutation of the gradient's extents, which has to be those of X where these are
// known.
llvm::LogicalResult inferTransposeGrad(InferContext& c) {
  const TensorInfo *gradient = require(c, "Out@GRAD"), *shape = c.in("XShape"), *x = c.in("X");
  if (!gradient) return llvm::failure();
  if (!gradient->rankKnown) {
    c.out("X@GRAD", unknownLike(*gradient));
    return llvm::success();
  }
  std::vector<int64_t> axis = c.op().getInts("axis");
  auto permutation = permutationOf(axis, gradient->rank());
  if (!permutation)
    return c.fail("permutes the axes of Out@GRAD " + textOf(gradient->dims) + " back by " +
                  textOf(axis));
  Dims dims(gradient->dims.size());
  for (auto [i, at] : llvm::enumerate(*permutation)) dims[at] = gradient->dims[i];
  std::optional<Dims> given = shape ? dimsOfXShape(c, *shape) : x ? x->dims : dims;
  if (!given) return llvm::failure();
  if (!agree(DimsRef(*given), DimsRef(dims)))
    return c.fail("cannot permute Out@GRAD " + textOf(gradient->dims) + " to the extents " +
                  textOf(*given) + " of X by " + textOf(axis) + "; give it the " +
                  (shape ? "XShape" : "X") + " of its forward op");
  c.out("X@GRAD", withDims(*gradient, *given));
  return llvm::success();
}

llvm::LogicalResult inferShapeOp(InferContext& c) {
  const TensorInfo* input = require(c, "Input");
  if (!input) return llvm::failure();
  c.out("Out", tensorInfo(DType::kInt32, {input->rankKnown ? input->rank() : -1}));
  return llvm::success();
}

llvm::LogicalResult inferSizeOp(InferContext& c) {
  c.out("Out", tensorInfo(DType::kInt64, scalarDims(c)));
  return llvm::success();
}

namespace {

llvm::LogicalResult permutes(const OpView& op, llvm::StringRef slot, std::string& found) {
  std::optional<Dims> dims = declaredDims(op, slot);
  std::vector<int64_t> axis = op.getInts("axis");
  if (!dims || permutationOf(axis, dims->size())) return llvm::success();
  found = "axis " + textOf(axis) + " of " + slot.str() + " " + textOf(*dims);
  return llvm::failure();
}

}  // namespace

const Constraint kTransposeConstraints[1] = {
    {"C1", "axis must be a permutation of the axes of X",
     [](const OpView& op, std::string& found) { return permutes(op, "X", found); }},
};

const Constraint kTransposeGradConstraints[1] = {
    {"C1", "axis must be a permutation of the axes of Out@GRAD",
     [](const OpView& op, std::string& found) { return permutes(op, "Out@GRAD", found); }},
};

}  // namespace dtranspile::pd
