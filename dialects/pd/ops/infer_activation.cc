// Inference of activations whose results differ from X in extents or type. Rows: activation.cc.
#include "dialects/pd/ops/infer_activation.h"

#include "dialects/pd/ops/infer_elementwise.h"

namespace dtranspile::pd {
namespace {

DType complexOf(DType real) {
  return real == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}
DType floatOf(DType type) { return isWhole(type) ? DType::kFloat32 : type; }
DType realOf(DType type) {
  return type == DType::kComplex128  ? DType::kFloat64
         : type == DType::kComplex64 ? DType::kFloat32
                                     : type;
}

llvm::LogicalResult withType(InferContext& c, llvm::StringRef input, llvm::StringRef output,
                             DType (*type)(DType)) {
  const TensorInfo* x = require(c, input);
  if (!x) return llvm::failure();
  TensorInfo out = *x;
  out.dtype = type(x->dtype);
  c.out(output, out);
  return llvm::success();
}

}  // namespace

llvm::LogicalResult inferMaxout(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  const std::optional<int64_t> axis = axisOf(c.op().getInt("axis"), x->rank());
  const int64_t groups = c.op().getInt("groups");
  if (!axis || groups < 1 || (known(x->dims[*axis]) && x->dims[*axis] % groups != 0))
    return c.fail("cannot make groups of " + llvm::Twine(groups) + " along axis " +
                  llvm::Twine(c.op().getInt("axis")) + " of X " + textOf(x->dims));
  Dims dims = x->dims;
  if (known(dims[*axis])) dims[*axis] /= groups;
  c.out("Out", withDims(*x, dims));
  return llvm::success();
}

llvm::LogicalResult inferComplex(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  const std::optional<Dims> dims = broadcastDims(x->dims, y->dims, -1);
  if (!dims) return c.fail("cannot broadcast X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  TensorInfo out = withDims(*x, *dims);
  out.dtype = complexOf(x->dtype);
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferAsComplex(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (x->rank() == 0 || !agree(x->dims.back(), 2))
    return c.fail("needs two parts in the last dim of X " + textOf(x->dims));
  TensorInfo out = withDims(*x, Dims(x->dims.begin(), x->dims.end() - 1));
  out.dtype = complexOf(x->dtype);
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferAsReal(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  Dims dims(x->dims.begin(), x->dims.end());
  dims.push_back(2);
  TensorInfo out = withDims(*x, dims);
  out.dtype = realOf(x->dtype);
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferFloat(InferContext& c) { return withType(c, "X", "Out", floatOf); }

llvm::LogicalResult inferRealPart(InferContext& c) { return withType(c, "X", "Out", realOf); }

llvm::LogicalResult inferRealPartGradient(InferContext& c) {
  return withType(c, "Out@GRAD", "X@GRAD", complexOf);
}

}  // namespace dtranspile::pd
