// Inference and constraints of products of matrices. Rows: linear_algebra.cc.
#include "dialects/pd/ops/infer_linear_algebra.h"

#include "dialects/pd/ops/declared.h"
#include "dialects/pd/ops/infer_elementwise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::pd {
namespace {

// Of the flattened matrices of `mul`: columns of X against rows of Y. Products that overflow do not
// agree.
bool innerAgree(DimsRef x, DimsRef y, int64_t xColumns, int64_t yColumns) {
  std::optional<int64_t> width = productOf(x.drop_front(xColumns)),
                         height = productOf(y.take_front(yColumns));
  return width && height && agree(*width, *height);
}

bool splits(int64_t columns, DimsRef dims) {
  return columns >= 1 && columns < static_cast<int64_t>(dims.size());
}

MatmulShape matmulShape(const OpView& op, DimsRef x, DimsRef y, llvm::StringRef transposeX,
                        llvm::StringRef transposeY) {
  return {x, y, op.getBool(transposeX), op.getBool(transposeY)};
}

// matmul and matmul_v2, which differ in the names of two attributes and in what a product of two
// vectors is: [1] in the older one, [] in the newer one where `emptyIsOne` is not set.
llvm::LogicalResult inferProduct(InferContext& c, llvm::StringRef transposeX,
                                 llvm::StringRef transposeY, bool emptyIsOne) {
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

// The constraint in terms of what is declared: it holds where a shape is not known.
llvm::LogicalResult productHolds(const OpView& op, llvm::StringRef transposeX,
                                 llvm::StringRef transposeY, std::string& found) {
  std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
  if (!x || !y || matmulDims(matmulShape(op, *x, *y, transposeX, transposeY)))
    return llvm::success();
  found = "X " + textOf(*x) + ", Y " + textOf(*y);
  return llvm::failure();
}

}  // namespace

// NumPy's matmul: a vector on the left is a row, on the right a column, and the dim that stands for
// it is left out of the result; batches broadcast. Nothing where inner extents differ.
std::optional<Dims> matmulDims(MatmulShape shape) {
  DimsRef x = shape.x, y = shape.y;
  if (x.empty() || y.empty()) return std::nullopt;
  bool row = x.size() == 1, column = y.size() == 1;
  int64_t height = row ? 1 : x[x.size() - (shape.transposeX ? 1 : 2)];
  int64_t inner = row ? x[0] : x[x.size() - (shape.transposeX ? 2 : 1)];
  int64_t width = column ? 1 : y[y.size() - (shape.transposeY ? 2 : 1)];
  int64_t depth = column ? y[0] : y[y.size() - (shape.transposeY ? 1 : 2)];
  if (!agree(inner, depth)) return std::nullopt;
  std::optional<Dims> result =
      broadcastDims(x.drop_back(row ? 1 : 2), y.drop_back(column ? 1 : 2), -1);
  if (!result) return std::nullopt;
  if (!row) result->push_back(height);
  if (!column) result->push_back(width);
  if (result->empty() && shape.emptyIsOne) result->push_back(1);
  return result;
}

// [x_num_col_dims first extents of X, extents of Y from y_num_col_dims on].
llvm::LogicalResult inferMul(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (!x->rankKnown || !y->rankKnown) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  int64_t xColumns = c.op().getInt("x_num_col_dims"), yColumns = c.op().getInt("y_num_col_dims");
  if (!splits(xColumns, x->dims) || !splits(yColumns, y->dims) ||
      !innerAgree(x->dims, y->dims, xColumns, yColumns))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  Dims dims(x->dims.begin(), x->dims.begin() + xColumns);
  dims.append(y->dims.begin() + yColumns, y->dims.end());
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferMatmul(InferContext& c) {
  return inferProduct(c, "transpose_X", "transpose_Y", true);
}

llvm::LogicalResult inferMatmulV2(InferContext& c) {
  return inferProduct(c, "trans_x", "trans_y", !scalarDims(c).empty());
}

// Each takes after what it is the gradient of: those that flow back through X's gradient after X.
llvm::LogicalResult inferMatmulThirdGradient(InferContext& c) {
  for (auto [output, input] : {std::pair{"X@GRAD", "X"},
                               {"Y@GRAD", "Y"},
                               {"grad_out@GRAD", "grad_out"},
                               {"grad_grad_x@GRAD", "X"},
                               {"grad_grad_y@GRAD", "Y"}})
    if (const TensorInfo* info = c.in(input)) c.out(output, *info);
  return llvm::success();
}

// [b, m, k] · [b, k, n] → [b, m, n]; no broadcasting.
llvm::LogicalResult inferBmm(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->rank() != 3 || y->rank() != 3 || !agree(x->dims[0], y->dims[0]) ||
      !agree(x->dims[2], y->dims[1]))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, {x->dims[0], x->dims[1], y->dims[2]}));
  return llvm::success();
}

// [m, k] · [k] → [m].
llvm::LogicalResult inferMv(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *vector = require(c, "Vec");
  if (!x || !vector) return llvm::failure();
  if (x->rank() != 2 || vector->rank() != 1 || !agree(x->dims[1], vector->dims[0]))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Vec " + textOf(vector->dims));
  c.out("Out", withDims(*x, {x->dims[0]}));
  return llvm::success();
}

// Sums over the last axis; before 2.5 it stayed as an extent of 1.
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

// beta·Input + alpha·X·Y: the product says the extents, Input broadcasts to it.
llvm::LogicalResult inferAddmm(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->rank() != 2 || y->rank() != 2 || !agree(x->dims[1], y->dims[0]))
    return c.fail("cannot multiply X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, {x->dims[0], y->dims[1]}));
  return llvm::success();
}

// [1] in all versions.
llvm::LogicalResult inferOneElement(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", tensorInfo(x->dtype, {1}));
  return llvm::success();
}

// `norm` of 1.x divides along an axis and also gives what it divided by.
llvm::LogicalResult inferNorm(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", *x);
  std::optional<int64_t> axis = axisOf(c.op().getInt("axis"), x->rank());
  if (!axis)
    return c.fail("has no axis " + llvm::Twine(c.op().getInt("axis")) + " in X " + textOf(x->dims));
  Dims dims = x->dims;
  dims[*axis] = 1;
  c.out("Norm", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// x·W_k·y for each k: [batch, rows of Weight].
llvm::LogicalResult inferBilinearProduct(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *weight = require(c, "Weight");
  if (!x || !weight) return llvm::failure();
  if (x->dims.empty() || weight->dims.empty())
    return c.fail("needs a batch in X and rows in Weight");
  c.out("Out", withDims(*x, {x->dims[0], weight->dims[0]}));
  return llvm::success();
}

// Bias has one row, which broadcasts over the batch.
llvm::LogicalResult inferBilinearProductGrad(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y"), *weight = require(c, "Weight");
  if (!x || !y || !weight) return llvm::failure();
  if (weight->dims.empty()) return c.fail("needs rows in Weight");
  c.out("X@GRAD", *x);
  c.out("Y@GRAD", *y);
  c.out("Weight@GRAD", *weight);
  c.out("Bias@GRAD", tensorInfo(x->dtype, {1, weight->dims[0]}));
  return llvm::success();
}

// Extents multiply dim by dim, the shorter rank being filled up with ones in front.
llvm::LogicalResult inferKron(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  const TensorInfo &longer = x->rank() >= y->rank() ? *x : *y,
                   &other = x->rank() >= y->rank() ? *y : *x;
  Dims dims = longer.dims;
  for (int64_t i = 0; i < other.rank(); ++i) {
    int64_t& extent = dims[longer.rank() - other.rank() + i];
    std::optional<int64_t> product = productOf({extent, other.dims[i]});
    if (!product) return c.fail("has extents that overflow");
    extent = *product;
  }
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

// One number per matrix; slogdeterminant has two, sign and logarithm, as a leading dim.
llvm::LogicalResult inferDeterminant(InferContext& c) {
  const TensorInfo* x = require(c, "Input");
  if (!x) return llvm::failure();
  if (x->rank() < 2 || !agree(x->dims[x->rank() - 1], x->dims[x->rank() - 2]))
    return c.fail("needs square matrices in Input " + textOf(x->dims));
  Dims dims(x->dims.begin(), x->dims.end() - 2);
  if (dims.empty()) dims = scalarDims(c);
  if (c.op().type() == "slogdeterminant") dims.insert(dims.begin(), 2);
  c.out("Out", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

llvm::LogicalResult inferEigh(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() < 2 || !agree(x->dims[x->rank() - 1], x->dims[x->rank() - 2]))
    return c.fail("needs square matrices in X " + textOf(x->dims));
  c.out("Eigenvalues", withoutLod(withDims(*x, Dims(x->dims.begin(), x->dims.end() - 1))));
  c.out("Eigenvectors", withoutLod(withDims(*x, x->dims)));
  return llvm::success();
}

// Of [..., m, n] with the less k of m and n: U [..., m, k], S [..., k], VH [..., k, n]; of full
// matrices U [..., m, m] and VH [..., n, n].
llvm::LogicalResult inferSvd(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() < 2) return c.fail("needs matrices in X " + textOf(x->dims));
  const int64_t m = x->dims[x->rank() - 2], n = x->dims[x->rank() - 1];
  const int64_t least = m < 0 || n < 0 ? -1 : std::min(m, n);
  const bool full = c.op().getBool("full_matrices");
  auto with = [&](llvm::ArrayRef<int64_t> last) {
    Dims dims(x->dims.begin(), x->dims.end() - 2);
    dims.insert(dims.end(), last.begin(), last.end());
    return withoutLod(withDims(*x, dims));
  };
  c.out("U", with({m, full ? m : least}));
  c.out("S", with({least}));
  c.out("VH", with({full ? n : least, n}));
  return llvm::success();
}

// Q [..., m, k], R [..., k, n], k the less of both, or m where all of Q is asked for.
llvm::LogicalResult inferQr(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const std::string mode = c.op().getString("mode");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return c.fail("has mode '" + mode + "', expected reduced, complete or r");
  if (!x->rankKnown) {
    c.out("Q", unknownLike(*x));
    c.out("R", unknownLike(*x));
    return llvm::success();
  }
  if (x->rank() < 2) return c.fail("needs matrices in X " + textOf(x->dims));
  const int64_t m = x->dims[x->rank() - 2], n = x->dims[x->rank() - 1];
  const int64_t k = mode == "complete" ? m : m < 0 || n < 0 ? -1 : std::min(m, n);
  auto with = [&](int64_t rows, int64_t columns) {
    Dims dims(x->dims.begin(), x->dims.end() - 2);
    dims.append({rows, columns});
    return withoutLod(withDims(*x, dims));
  };
  c.out("Q", mode == "r" ? withoutLod(withDims(*x, {0})) : with(m, k));
  c.out("R", with(k, n));
  return llvm::success();
}

// A number for each matrix and bound.
llvm::LogicalResult inferMatrixRank(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *bound = c.in("TolTensor");
  if (!x) return llvm::failure();
  if (!x->rankKnown || (bound && !bound->rankKnown)) {
    TensorInfo out = unknownLike(*x);
    out.dtype = DType::kInt32;
    c.out("Out", out);
    return llvm::success();
  }
  if (x->rank() < 2) return c.fail("needs matrices in X " + textOf(x->dims));
  Dims dims(x->dims.begin(), x->dims.end() - 2);
  if (bound) {
    std::optional<Dims> both = broadcastDims(dims, bound->dims, -1);
    if (!both)
      return c.fail("TolTensor " + textOf(bound->dims) + " does not broadcast with X " +
                    textOf(x->dims));
    dims = *both;
  }
  c.out("Out", tensorInfo(DType::kInt32, dims.empty() ? scalarDims(c) : dims));
  return llvm::success();
}

// Right sides X [..., n, k] of factors Y [..., n, n], whose batches broadcast.
llvm::LogicalResult inferCholeskySolve(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (!x->rankKnown || !y->rankKnown) return c.out("Out", unknownLike(*x)), llvm::success();
  std::optional<Dims> dims;
  if (x->rank() >= 2 && y->rank() >= 2 && agree(y->dims[y->rank() - 1], y->dims[y->rank() - 2]) &&
      agree(y->dims[y->rank() - 1], x->dims[x->rank() - 2]))
    dims = broadcastDims(DimsRef(x->dims).drop_back(2), DimsRef(y->dims).drop_back(2), -1);
  if (!dims)
    return c.fail("cannot solve for X " + textOf(x->dims) + " with factors Y " + textOf(y->dims));
  dims->append({x->dims[x->rank() - 2], x->dims[x->rank() - 1]});
  c.out("Out", withoutLod(withDims(*x, *dims)));
  return llvm::success();
}

// A chain of matrices, of which the first may be a row and the last a column.
llvm::LogicalResult inferMultiDot(InferContext& c) {
  const unsigned count = c.inCount("X");
  if (count < 2) return c.fail("multiplies " + llvm::Twine(count) + " factors, expected 2 or more");
  Dims dims;
  int64_t inner = -1;
  for (unsigned i = 0; i < count; ++i) {
    const TensorInfo* x = require(c, "X", i);
    if (!x) return llvm::failure();
    if (!x->rankKnown) return c.out("Out", unknownLike(*x)), llvm::success();
    const bool row = i == 0 && x->rank() == 1, column = i + 1 == count && x->rank() == 1;
    if (x->rank() != 2 && !row && !column)
      return c.fail("X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " is no matrix");
    if (i > 0 && !agree(inner, x->dims[0]))
      return c.fail("X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " has not " +
                    llvm::Twine(inner) + " rows");
    if (i == 0 && !row) dims.push_back(x->dims[0]);
    inner = x->dims.back();
    if (i + 1 == count && !column) dims.push_back(inner);
  }
  c.out("Out", withoutLod(withDims(*c.in("X"), dims.empty() ? scalarDims(c) : dims)));
  return llvm::success();
}

// The two axes of the diagonal go. Their attributes were renamed in 2.0.
llvm::LogicalResult inferTrace(InferContext& c) {
  const TensorInfo* x = require(c, "Input");
  if (!x) return llvm::failure();
  const bool legacy = c.programVersion() > 0 && c.programVersion() < 2000000;
  std::optional<int64_t> first = axisOf(c.op().getInt(legacy ? "dim1" : "axis1"), x->rank()),
                         second = axisOf(c.op().getInt(legacy ? "dim2" : "axis2"), x->rank());
  if (!first || !second || *first == *second)
    return c.fail("needs two axes of Input " + textOf(x->dims));
  Dims dims;
  for (int64_t i = 0; i < x->rank(); ++i) {
    if (i != *first && i != *second) dims.push_back(x->dims[i]);
  }
  c.out("Out", withoutLod(withDims(*x, dims.empty() ? scalarDims(c) : dims)));
  return llvm::success();
}

// The other dims, then one along the diagonals; as long as the axes leave it from `offset` on.
llvm::LogicalResult inferDiagonal(InferContext& c) {
  const TensorInfo* x = require(c, "Input");
  if (!x) return llvm::failure();
  std::optional<int64_t> first = axisOf(c.op().getInt("axis1"), x->rank()),
                         second = axisOf(c.op().getInt("axis2"), x->rank());
  if (!first || !second || *first == *second)
    return c.fail("needs two axes of Input " + textOf(x->dims));
  Dims dims;
  for (int64_t i = 0; i < x->rank(); ++i)
    if (i != *first && i != *second) dims.push_back(x->dims[i]);
  const int64_t offset = c.op().getInt("offset");
  const int64_t rows = x->dims[*first], columns = x->dims[*second];
  const bool known = rows >= 0 && columns >= 0;
  const int64_t length =
      offset < 0 ? std::min(rows + offset, columns) : std::min(rows, columns - offset);
  dims.push_back(known ? std::max<int64_t>(length, 0) : -1);
  c.out("Out", withoutLod(withDims(*x, dims)));
  return llvm::success();
}

// The p-norm of the broadcast difference: one number.
llvm::LogicalResult inferDist(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", tensorInfo(x->dtype, scalarDims(c)));
  return llvm::success();
}

// Squared distances and cosines of rows: one number per row; the norms and the difference are kept
// for the gradient. Y may have one row for all of X.
llvm::LogicalResult inferRowDistance(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->dims.empty() || y->dims.empty()) return c.fail("needs rows in X and Y");
  const TensorInfo column = withDims(*x, {x->dims[0], 1});
  c.out("Out", column);
  c.out("XNorm", column);
  c.out("YNorm", withDims(*y, {y->dims[0], 1}));
  c.out("sub_result", *x);
  return llvm::success();
}

// The flow matrix between two images (Yim et al. 2017): one number per pair of channels.
llvm::LogicalResult inferFsp(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (x->rank() != 4 || y->rank() != 4 || !agree(x->dims[0], y->dims[0]) ||
      !agree(x->dims[2], y->dims[2]) || !agree(x->dims[3], y->dims[3]))
    return c.fail("needs images of one size in X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, {x->dims[0], x->dims[1], y->dims[1]}));
  return llvm::success();
}

namespace {

// Extents by label of one operand; the dims of an ellipsis are '0', '1' … from the right. False
// where the text does not fit the rank.
bool labelExtents(llvm::StringRef text, DimsRef dims, llvm::StringMap<int64_t>& extents,
                  size_t& hidden) {
  auto [before, after] = text.split("...");
  const bool dots = text.contains("...");
  const size_t named = before.size() + after.size();
  if (dots ? named > dims.size() : named != dims.size()) return false;
  const size_t middle = dims.size() - named;
  hidden = std::max(hidden, middle);
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool left = i < before.size(), right = i >= before.size() + middle;
    std::string label = left    ? before.substr(i, 1).str()
                        : right ? after.substr(i - before.size() - middle, 1).str()
                                : std::to_string(before.size() + middle - 1 - i);
    int64_t& extent = extents.try_emplace(label, 1).first->second;
    if (extent == 1) extent = dims[i];
  }
  return true;
}

}  // namespace

// Labels get extents from the operands; without an arrow the result has, in alphabetical order, the
// labels that occur once, after those of an ellipsis.
llvm::LogicalResult inferEinsum(InferContext& c) {
  std::string text = c.op().getString("equation");
  llvm::erase(text, ' ');
  auto [left, right] = llvm::StringRef(text).split("->");
  llvm::SmallVector<llvm::StringRef> parts;
  left.split(parts, ',');
  llvm::StringMap<int64_t> extents;
  size_t hidden = 0;
  const TensorInfo* first = require(c, "Operands");
  if (!first) return llvm::failure();
  for (unsigned i = 0; i < c.inCount("Operands"); ++i) {
    const TensorInfo* operand = require(c, "Operands", i);
    if (!operand) return llvm::failure();
    if (i >= parts.size() || !labelExtents(parts[i], operand->dims, extents, hidden))
      return c.fail("equation '" + text + "' does not fit operand " + llvm::Twine(i) + " " +
                    textOf(operand->dims));
    c.out("InnerCache", i, withoutLod(*operand));
    c.out("XShape", i, tensorInfo(operand->dtype, {0}));
  }
  std::string wanted = right.str();
  if (!llvm::StringRef(text).contains("->")) {
    wanted = hidden ? "..." : "";
    for (char label = 'A'; label <= 'z'; ++label)
      wanted.append(llvm::count(text, label) == 1 ? 1 : 0, label);
  }
  Dims dims;
  auto [before, after] = llvm::StringRef(wanted).split("...");
  auto add = [&](llvm::StringRef label) {
    dims.push_back(extents.count(label) ? extents.lookup(label) : -1);
  };
  for (size_t i = 0; i < before.size(); ++i) add(before.substr(i, 1));
  for (size_t i = hidden; llvm::StringRef(wanted).contains("...") && i-- > 0;)
    add(std::to_string(i));
  for (size_t i = 0; i < after.size(); ++i) add(after.substr(i, 1));
  c.out("Out", withoutLod(withDims(*first, dims.empty() ? scalarDims(c) : dims)));
  return llvm::success();
}

// The gradient op has no operands in its program: x_shape has their shapes, InnerCache copies of
// them. Programs declare the copies without dims, and a run makes no x_shape (which is then [0]).
llvm::LogicalResult inferEinsumGrad(InferContext& c) {
  for (unsigned i = 0, n = c.outCount("Operands@GRAD"); i < n; ++i) {
    const TensorInfo* operand = c.in("x_shape", i);
    if (!operand || operand->dims == Dims{0}) operand = c.in("InnerCache", i);
    if (operand) c.out("Operands@GRAD", i, *operand);
  }
  return llvm::success();
}

// Constraints are tested on what the program declares, before anything is inferred: a declaration
// that is not known is no violation.
const Constraint kMulConstraints[2] = {
    {"C1", "x_num_col_dims and y_num_col_dims must leave at least one axis on both sides",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       if (!x || !y ||
           (splits(op.getInt("x_num_col_dims"), *x) && splits(op.getInt("y_num_col_dims"), *y)))
         return llvm::success();
       found = std::to_string(op.getInt("x_num_col_dims")) + " of X " + textOf(*x) + ", " +
               std::to_string(op.getInt("y_num_col_dims")) + " of Y " + textOf(*y);
       return llvm::failure();
     }},
    {"C2", "the flattened X must have as many columns as the flattened Y has rows",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       if (!x || !y || innerAgree(*x, *y, op.getInt("x_num_col_dims"), op.getInt("y_num_col_dims")))
         return llvm::success();
       found = "X " + textOf(*x) + ", Y " + textOf(*y);
       return llvm::failure();
     }},
};

const Constraint kMatmulConstraints[1] = {
    {"C1", "inner extents must agree and batches must be broadcastable",
     [](const OpView& op, std::string& found) {
       return productHolds(op, "transpose_X", "transpose_Y", found);
     }},
};

const Constraint kMatmulV2Constraints[1] = {
    {"C1", "inner extents must agree and batches must be broadcastable",
     [](const OpView& op, std::string& found) {
       return productHolds(op, "trans_x", "trans_y", found);
     }},
};

// Transforms of reals, and to reals: the other kind of numbers, and along the last axis half of
// them, or all.
llvm::LogicalResult inferFft(InferContext& c) {
  const bool back = c.op().type() == "fft_c2r_grad", toReal = c.op().type() == "fft_c2r";
  const TensorInfo* x = require(c, back ? "Out@GRAD" : "X");
  std::vector<int64_t> axes = c.op().getInts("axes");
  if (!x || axes.empty()) return llvm::failure();
  std::optional<int64_t> last = axisOf(axes.back(), x->rank());
  if (!last) return noAxis(c, axes.back(), x->dims);
  TensorInfo out = withoutLod(*x);
  int64_t& extent = out.dims[*last];
  if (toReal) {
    const int64_t asked = c.op().getInt("last_dim_size");
    extent = asked > 0 ? asked : known(extent) ? 2 * (extent - 1) : -1;
    out.dtype = x->dtype == DType::kComplex128 ? DType::kFloat64 : DType::kFloat32;
  } else {
    if (known(extent) && (back || c.op().getBool("onesided"))) extent = extent / 2 + 1;
    out.dtype = x->dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  }
  c.out(back ? "X@GRAD" : "Out", out);
  return llvm::success();
}

llvm::LogicalResult inferMulSecondGrad(InferContext& c) {
  for (auto [input, output] : {std::pair{"X", "DX"}, {"Y", "DY"}, {"DOut", "DDOut"}})
    if (const TensorInfo* like = c.in(input)) c.out(output, *like);
  return llvm::success();
}

// [batch, n] -> [batch, frequencies, frames].
llvm::LogicalResult inferStft(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *window = require(c, "Window");
  if (!x || !window) return llvm::failure();
  const int64_t length = c.op().getInt("n_fft"), hop = c.op().getInt("hop_length");
  if (length < 1 || hop < 1)
    return c.fail("has frames of " + llvm::Twine(length) + " places, one every " +
                  llvm::Twine(hop));
  TensorInfo out = withoutLod(*x);
  out.dtype = x->dtype == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
  if (!x->rankKnown) return c.out("Out", unknownLike(out)), llvm::success();
  if (x->rank() != 2) return c.fail("needs a batch of signals in X " + textOf(x->dims));
  const int64_t n = x->dims[1];
  if (known(n) && n < length)
    return c.fail("has frames of " + llvm::Twine(length) + " places in X " + textOf(x->dims));
  if (window->rankKnown && (window->rank() != 1 || !agree(window->dims[0], length)))
    return c.fail("has a Window " + textOf(window->dims) + " for frames of " + llvm::Twine(length) +
                  " places");
  out.dims = {x->dims[0], c.op().getBool("onesided") ? length / 2 + 1 : length,
              known(n) ? (n - length) / hop + 1 : -1};
  c.out("Out", out);
  return llvm::success();
}

// Both factors in one matrix, an exchange of rows for each column, and one word of the library.
llvm::LogicalResult inferLu(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  c.out("Out", withoutLod(*x));
  if (!x->rankKnown) {
    TensorInfo numbers = unknownLike(*x);
    numbers.dtype = DType::kInt32;
    c.out("Pivots", numbers);
    c.out("Infos", numbers);
    return llvm::success();
  }
  if (x->rank() < 2) return c.fail("needs matrices in X " + textOf(x->dims));
  Dims dims(x->dims.begin(), x->dims.end() - 2);
  c.out("Infos", tensorInfo(DType::kInt32, dims.empty() ? Dims{1} : dims));
  const int64_t m = x->dims[x->rank() - 2], n = x->dims[x->rank() - 1];
  dims.push_back(known(m) && known(n) ? std::min(m, n) : -1);
  c.out("Pivots", tensorInfo(DType::kInt32, dims));
  return llvm::success();
}

// [..., m, m], [..., m, k] and [..., k, n], k the less of both extents; what is not asked for stays
// empty.
llvm::LogicalResult inferLuUnpack(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (!x->rankKnown) {
    for (const char* slot : {"Pmat", "L", "U"}) c.out(slot, unknownLike(*x));
    return llvm::success();
  }
  if (x->rank() < 2) return c.fail("needs matrices in X " + textOf(x->dims));
  const int64_t m = x->dims[x->rank() - 2], n = x->dims[x->rank() - 1],
                k = known(m) && known(n) ? std::min(m, n) : -1;
  auto give = [&](const char* slot, const char* asked, int64_t rows, int64_t columns) {
    Dims dims(x->dims.begin(), x->dims.end() - 2);
    dims.append({rows, columns});
    c.out(slot, withoutLod(withDims(*x, c.op().getBool(asked) ? dims : Dims{0})));
  };
  give("Pmat", "unpack_pivots", m, m);
  give("L", "unpack_ludata", m, k);
  give("U", "unpack_ludata", k, n);
  return llvm::success();
}

}  // namespace dtranspile::pd
