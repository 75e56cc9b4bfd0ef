// Inference and constraints of constants, ranges and random numbers. Rows: creation.cc, random.cc.
#include "dialects/pd/ops/infer_creation.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

bool has(const OpView& op, llvm::StringRef attribute) {
  return op.spec() && op.spec()->attribute(attribute);
}

// Elements of a shape that is computed at run time are extents that are not known.
Dims orUnknown(Dims dims) {
  for (int64_t& extent : dims)
    if (extent == kUnknownValue) extent = -1;
  return dims;
}

// The attribute is a number of the file; only some are codes.
llvm::LogicalResult dtypeHolds(const OpView& op, std::string& found) {
  int64_t code = op.getInt("dtype");
  if (code >= 0 && code <= INT32_MAX && DTypeFromCode(static_cast<int32_t>(code)))
    return llvm::success();
  found = "dtype " + std::to_string(code);
  return llvm::failure();
}

// Extents of -1 count as unknown; the product of the known ones must not overflow.
llvm::LogicalResult shapeHolds(const OpView& op, std::string& found) {
  std::vector<int64_t> shape = op.getInts("shape");
  if (productOf(shape)) return llvm::success();
  found = "shape " + textOf(shape);
  return llvm::failure();
}

// Numbers in the list that is not empty; the framework allows one.
size_t valueCount(const OpView& op) {
  size_t count = 0;
  for (llvm::StringRef list :
       {"bool_values", "fp32_values", "fp64_values", "int32_values", "int64_values", "values"})
    count = std::max(count, op.getFloats(list).size());
  return count;
}

}  // namespace

// fill_constant, uniform_random and the like: the shape may be an attribute, one tensor, or a
// tensor per extent.
llvm::LogicalResult inferCreate(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  std::optional<Dims> shape =
      listFrom(c, "ShapeTensorList", "ShapeTensor", has(c.op(), "shape") ? "shape" : "out_shape");
  if (!shape) {
    c.out("Out", unknownLike(tensorInfo(*dtype, {})));
    return llvm::success();
  }
  Dims dims = orUnknown(*shape);
  if (!productOf(dims)) return c.fail("cannot make a tensor of shape " + textOf(dims));
  c.out("Out", tensorInfo(*dtype, dims));
  return llvm::success();
}

// …_batch_size_like: the attribute's shape with one extent taken from Input.
llvm::LogicalResult inferCreateLike(InferContext& c) {
  const TensorInfo* input = require(c, "Input");
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!input || !dtype) return llvm::failure();
  std::vector<int64_t> shape = c.op().getInts("shape");
  int64_t from = c.op().getInt("input_dim_idx"), to = c.op().getInt("output_dim_idx");
  if (from < 0 || from >= input->rank() || to < 0 || to >= static_cast<int64_t>(shape.size()))
    return c.fail("cannot copy extent " + llvm::Twine(from) + " of Input " + textOf(input->dims) +
                  " to " + llvm::Twine(to) + " of shape " + textOf(shape));
  // The batch of a tensor with LoD is its number of sequences.
  shape[to] = from == 0 && input->lodLevel > 0 ? -1 : input->dims[from];
  c.out("Out", tensorInfo(*dtype, Dims(shape.begin(), shape.end())));
  return llvm::success();
}

// Of the element type of X where the attribute is -1 or the version has none.
llvm::LogicalResult inferFillLike(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  TensorInfo out = *x;
  if (has(c.op(), "dtype") && c.op().getInt("dtype") >= 0) {
    std::optional<DType> dtype = dtypeAttr(c, "dtype");
    if (!dtype) return llvm::failure();
    out.dtype = *dtype;
  }
  c.out("Out", out);
  return llvm::success();
}

// ceil((end - start) / step) elements where the three are constants of the program.
llvm::LogicalResult inferRange(InferContext& c) {
  const TensorInfo* start = require(c, "Start");
  if (!start) return llvm::failure();
  int64_t extent = -1;
  auto first = c.constant("Start"), last = c.constant("End"), step = c.constant("Step");
  if (first && last && step && first->size() == 1 && last->size() == 1 && step->size() == 1 &&
      (*step)[0] != 0) {
    double count = std::ceil((static_cast<double>((*last)[0]) - static_cast<double>((*first)[0])) /
                             static_cast<double>((*step)[0]));
    extent = static_cast<int64_t>(std::clamp(count, 0.0, 9e15));
  }
  c.out("Out", tensorInfo(start->dtype, {extent}));
  return llvm::success();
}

// The number of elements is a tensor, which mostly is a constant of the program.
llvm::LogicalResult inferLinspace(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  auto num = c.constant("Num");
  c.out("Out", tensorInfo(*dtype, {num && num->size() == 1 ? (*num)[0] : -1}));
  return llvm::success();
}

// -1 columns: as many as rows.
llvm::LogicalResult inferEye(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  int64_t rows = c.op().getInt("num_rows"), columns = c.op().getInt("num_columns");
  if (columns == -1) columns = rows;
  if (rows < 0 || columns < 0)
    return c.fail("cannot make a matrix of " + llvm::Twine(rows) + " rows and " +
                  llvm::Twine(columns) + " columns");
  c.out("Out", tensorInfo(*dtype, {rows, columns}));
  return llvm::success();
}

// The number of places follows from the attributes alone; the loop over rows is bounded.
llvm::LogicalResult inferTriangle(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  const bool lower = c.op().type() == "tril_indices";
  const int64_t rows = c.op().getInt(lower ? "rows" : "row"),
                columns = c.op().getInt(lower ? "cols" : "col"), offset = c.op().getInt("offset");
  if (rows < 0 || columns < 0 || rows > (1 << 16))
    return c.fail("cannot list the places of a triangle of " + llvm::Twine(rows) + " rows and " +
                  llvm::Twine(columns) + " columns");
  int64_t places = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t diagonal = std::clamp<int64_t>(i + offset + (lower ? 1 : 0), 0, columns);
    places += lower ? diagonal : columns - diagonal;
  }
  c.out("out", tensorInfo(*dtype, {2, places}));
  return llvm::success();
}

llvm::LogicalResult inferRandperm(InferContext& c) {
  std::optional<DType> dtype = dtypeAttr(c, "dtype");
  if (!dtype) return llvm::failure();
  if (c.op().getInt("n") < 0)
    return c.fail("cannot permute " + llvm::Twine(c.op().getInt("n")) + " numbers");
  c.out("Out", tensorInfo(*dtype, {c.op().getInt("n")}));
  return llvm::success();
}

// Classes become samples, each the number of a class.
llvm::LogicalResult inferMultinomial(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const int64_t samples = c.op().getInt("num_samples");
  if (x->dims.empty() || samples < 0)
    return c.fail("cannot draw " + llvm::Twine(samples) + " samples from X " + textOf(x->dims));
  Dims dims = x->dims;
  dims.back() = samples;
  c.out("Out", tensorInfo(DType::kInt64, dims));
  return llvm::success();
}

// int64 whatever the file declares.
// [batch, places, heads, width]. The framework rounds the places of what it keeps for the gradient
// up to a multiple of 128.
llvm::LogicalResult inferAttention(InferContext& c) {
  const TensorInfo *q = require(c, "q"), *k = require(c, "k"), *v = require(c, "v");
  if (!q || !k || !v) return llvm::failure();
  for (const TensorInfo* one : {q, k, v})
    if (!one->rankKnown || one->rank() != 4)
      return c.fail("needs [batch, places, heads, width], not " + textOf(one->dims));
  if (!agree(q->dims[0], k->dims[0]) || !agree(q->dims[3], k->dims[3]) ||
      !agree(k->dims[1], v->dims[1]) || !agree(k->dims[2], v->dims[2]) ||
      !agree(q->dims[0], v->dims[0]))
    return c.fail("has q " + textOf(q->dims) + ", k " + textOf(k->dims) + " and v " +
                  textOf(v->dims) + ", which do not fit each other");
  if (known(q->dims[2]) && known(k->dims[2]) && (k->dims[2] < 1 || q->dims[2] % k->dims[2] != 0))
    return c.fail("has " + llvm::Twine(q->dims[2]) + " heads of q for " + llvm::Twine(k->dims[2]) +
                  " of k");
  TensorInfo out = withoutLod(*q);
  out.dims[3] = v->dims[3];
  c.out("out", out);
  auto rounded = [](int64_t n) { return known(n) ? (n + 127) / 128 * 128 : -1; };
  const int64_t rows = rounded(q->dims[1]), columns = rounded(k->dims[1]);
  c.out("softmax", tensorInfo(q->dtype, {q->dims[0], q->dims[2], rows, columns}));
  c.out("softmax_lse", tensorInfo(DType::kFloat32, {q->dims[0], q->dims[2], rows}));
  c.out("seed_offset", tensorInfo(DType::kInt64, {2}));
  return llvm::success();
}

// Rows are all dims but the last.
llvm::LogicalResult inferShuffleBatch(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", *x);
  const std::optional<int64_t> rows =
      x->rankKnown && x->rank() > 0 ? productOf(DimsRef(x->dims).drop_back()) : std::nullopt;
  c.out("ShuffleIdx", tensorInfo(DType::kInt64, {rows.value_or(-1)}));
  c.out("SeedOut", tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

llvm::LogicalResult inferSamplingId(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->dims.size() != 2) return c.fail("needs a matrix in X, not " + textOf(x->dims));
  c.out("Out", tensorInfo(DType::kInt64, {x->dims[0]}));
  return llvm::success();
}

// The shape replaces the last dims of X.
llvm::LogicalResult inferRandomCrop(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const std::vector<int64_t> shape = c.op().getInts("shape");
  if (shape.size() > x->dims.size() || llvm::any_of(shape, [](int64_t d) { return d < 0; }))
    return c.fail("cannot crop X " + textOf(x->dims) + " to " + textOf(shape));
  Dims dims(x->dims.begin(), x->dims.end() - static_cast<int64_t>(shape.size()));
  dims.append(shape.begin(), shape.end());
  c.out("Out", withDims(*x, dims));
  c.out("SeedOut", tensorInfo(DType::kInt64, {1}));
  return llvm::success();
}

llvm::LogicalResult inferSeed(InferContext& c) {
  c.out("Out", tensorInfo(DType::kInt32, {1}));
  return llvm::success();
}

const Constraint kCreateConstraints[2] = {
    {"C1", "dtype must be the code of an element type", dtypeHolds},
    {"C2", "shape must hold extents, or -1 for unknown ones, whose product fits 63 bits",
     shapeHolds},
};

const Constraint kAssignValueConstraints[3] = {
    {"C1", "dtype must be the code of an element type", dtypeHolds},
    {"C2", "shape must hold extents, or -1 for unknown ones, whose product fits 63 bits",
     shapeHolds},
    {"C3", "there must be as many values as shape has elements",
     [](const OpView& op, std::string& found) {
       std::vector<int64_t> shape = op.getInts("shape");
       size_t count = valueCount(op);
       if (agree(productOf(shape).value_or(-1), static_cast<int64_t>(count)))
         return llvm::success();
       found = std::to_string(count) + " values for shape " + textOf(shape);
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd
