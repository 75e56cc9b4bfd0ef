// Inference and constraints of products of matrices. Rows: linear_algebra.cc.
#include "dialects/pd/ops/infer_linear_algebra.h"

#include "dialects/pd/ops/declared.h"
#include "dialects/pd/ops/infer_elementwise.h"

namespace dtranspile::pd {
namespace {

bool innerAgree(DimsRef x, DimsRef y, int64_t xColumns, int64_t yColumns) {
  std::optional<int64_t> width = productOf(x.drop_front(xColumns)), height = productOf(y.take_front(yColumns));
  return width && height && agree(*width, *height);
}

bool splits(int64_t columns, DimsRef dims) { return columns >= 1 && columns < static_cast<int64_t>(dims.size()); }

MatmulShape matmulShape(const OpView& op, DimsRef x, DimsRef y, llvm::StringRef transposeX, llvm::StringRef transposeY) {
  return {x, y, op.getBool(transposeX), op.getBool(transposeY)};
}

llvm::LogicalResult inferProduct(InferContext& c, llvm::StringRef transposeX, llvm::StringRef transposeY, bool emptyIsOne) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (!x->rankKnown || !y->rankKnown) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  MatmulShape shape = matmulShape(c.op(), x->dims, y->dims, transposeX, transposeY);
  shape.emptyIsOne = emptyIsOne;
  std::optional<Dims> dims = matmulDims(shape);
  if (!dims) return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, *dims));
  return llvm::success();
}

llvm::LogicalResult productHolds(const OpView& op, llvm::StringRef transposeX, llvm::StringRef transposeY, std::string& found) {
  std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
  if (!x || !y || matmulDims(matmulShape(op, *x, *y, transposeX, transposeY))) return llvm::success();
  found = "X " + textOf(*x) + ", Y " + textOf(*y);
  return llvm::failure();
}

}  // namespace

std::optional<Dims> matmulDims(MatmulShape shape) {
  DimsRef x = shape.x, y = shape.y;
  if (x.empty() || y.empty()) return std::nullopt;
  bool row = x.size() == 1, column = y.size() == 1;
  int64_t height = row ? 1 : x[x.size() - (shape.transposeX ? 1 : 2)];
  int64_t inner = row ? x[0] : x[x.size() - (shape.transposeX ? 2 : 1)];
  int64_t width = column ? 1 : y[y.size() - (shape.transposeY ? 2 : 1)];
  int64_t depth = column ? y[0] : y[y.size() - (shape.transposeY ? 1 : 2)];
  if (!agree(inner, depth)) return std::nullopt;
  std::optional<Dims> result = broadcastDims(x.drop_back(row ? 1 : 2), y.drop_back(column ? 1 : 2), -1);
  if (!result) return std::nullopt;
  if (!row) result->push_back(height);
  if (!column) result->push_back(width);
  if (result->empty() && shape.emptyIsOne) result->push_back(1);
  return result;
}

llvm::LogicalResult inferMul(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (!x->rankKnown || !y->rankKnown) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  int64_t xColumns = c.op().getInt("x_num_col_dims"), yColumns = c.op().getInt("y_num_col_dims");
  if (!splits(xColumns, x->dims) || !splits(yColumns, y->dims) || !innerAgree(x->dims, y->dims, xColumns, yColumns))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  Dims dims(x->dims.begin(), x->dims.begin() + xColumns);
  dims.append(y->dims.begin() + yColumns, y->dims.end());
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferMatmul(InferContext& c) { return inferProduct(c, "transpose_X", "transpose_Y", true); }

llvm::LogicalResult inferMatmulV2(InferContext& c) { return inferProduct(c, "trans_x", "trans_y", !scalarDims(c).empty()); }

llvm::LogicalResult inferBmm(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->rank() != 3 || y->rank() != 3 || !agree(x->dims[0], y->dims[0]) || !agree(x->dims[2], y->dims[1]))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, {x->dims[0], x->dims[1], y->dims[2]}));
  return llvm::success();
}

llvm::LogicalResult inferMv(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *vector = require(c, "Vec");
  if (!x || !vector) return llvm::failure();
  if (x->rank() != 2 || vector->rank() != 1 || !agree(x->dims[1], vector->dims[0]))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Vec " + textOf(vector->dims));
  c.out("Out", withDims(*x, {x->dims[0]}));
  return llvm::success();
}

llvm::LogicalResult inferDot(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  Dims dims = x->dims;
  if (dims.empty()) return c.fail("X has no axis to multiply over");
  dims.pop_back();
  if (dims.empty()) dims = scalarDims(c);
  else if (c.programVersion() < 2005000) dims.push_back(1);
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferAddmm(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->rank() != 2 || y->rank() != 2 || !agree(x->dims[1], y->dims[0])) return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, {x->dims[0], y->dims[1]}));
  return llvm::success();
}

llvm::LogicalResult inferOneElement(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", tensorInfo(x->dtype, {1}));
  return llvm::success();
}

llvm::LogicalResult inferNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", *x);
  std::optional<int64_t> axis = axisOf(c.op().getInt("axis"), x->rank());
  if (!axis) return c.fail("has no axis " + llvm::Twine(c.op().getInt("axis")) + " in X " + textOf(x->dims));
  Dims dims = x->dims;
  dims[*axis] = 1;
  c.out("Norm", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

llvm::LogicalResult inferBilinearProduct(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *weight = require(c, "Weight");
  if (!x || !weight) return llvm::failure();
  if (x->dims.empty() || weight->dims.empty()) return c.fail("needs a batch in X and rows in Weight");
  c.out("Out", withDims(*x, {x->dims[0], weight->dims[0]}));
  return llvm::success();
}

const Constraint kMulConstraints[2] = {
    {"C1", "x_num_col_dims and y_num_col_dims must leave at least one axis on both sides",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       if (!x || !y || (splits(op.getInt("x_num_col_dims"), *x) && splits(op.getInt("y_num_col_dims"), *y))) return llvm::success();
       found = std::to_string(op.getInt("x_num_col_dims")) + " of X " + textOf(*x) + ", " + std::to_string(op.getInt("y_num_col_dims")) + " of Y " + textOf(*y);
       return llvm::failure();
     }},
    {"C2", "the flattened X must have as many columns as the flattened Y has rows",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       if (!x || !y || innerAgree(*x, *y, op.getInt("x_num_col_dims"), op.getInt("y_num_col_dims"))) return llvm::success();
       found = "X " + textOf(*x) + ", Y " + textOf(*y);
       return llvm::failure();
     }},
};

const Constraint kMatmulConstraints[1] = {
    {"C1", "inner extents must agree and batches must be broadcastable",
     [](const OpView& op, std::string& found) { return productHolds(op, "transpose_X", "transpose_Y", found); }},
};

const Constraint kMatmulV2Constraints[1] = {
    {"C1", "inner extents must agree and batches must be broadcastable",
     [](const OpView& op, std::string& found) { return productHolds(op, "trans_x", "trans_y", found); }},
};

}  // namespace dtranspile::pd
