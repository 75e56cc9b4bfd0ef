#include "dialects/pd/ops/infer_quantization.h"

namespace dtranspile::pd {
namespace {

// Numbers of the running range, of the type of the scales.
void giveRange(InferContext& c, DType dtype) {
  for (const char* slot : {"OutState", "OutAccum"}) c.out(slot, tensorInfo(dtype, {1}));
}

// Levels to either side of 0: 2^(bits - 1) - 1.
llvm::LogicalResult bitsAreRight(InferContext& c) {
  const int64_t bits = c.op().getInt("bit_length");
  if (bits >= 1 && bits <= 16) return llvm::success();
  return c.fail("has bit_length " + llvm::Twine(bits) + ", expected 1 to 16");
}

llvm::LogicalResult roundingIsRight(InferContext& c) {
  const int64_t type = c.op().getInt("round_type");
  if (type == 0 || type == 1) return llvm::success();
  return c.fail("has round_type " + llvm::Twine(type) +
                ", expected 0 (halves to even) or 1 (halves away from 0)");
}

}  // namespace

llvm::LogicalResult inferQuantize(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  if (c.op().spec()->attribute("bit_length") &&
      (llvm::failed(bitsAreRight(c)) || llvm::failed(roundingIsRight(c))))
    return llvm::failure();
  c.out("Out", *x);
  c.out("OutScale", tensorInfo(x->dtype, {1}));
  giveRange(c, x->dtype);
  if (c.outCount("OutScales") > 0)
    c.out("OutScales", tensorInfo(x->dtype, {c.op().getInt("window_size")}));
  return llvm::success();
}

llvm::LogicalResult inferQuantizeChannels(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x || llvm::failed(bitsAreRight(c)) || llvm::failed(roundingIsRight(c)))
    return llvm::failure();
  const int64_t axis = c.op().getInt("quant_axis");
  if (axis != 0 && axis != 1)
    return c.fail("has quant_axis " + llvm::Twine(axis) + ", expected 0 or 1");
  if (x->rankKnown && x->rank() <= axis) return noAxis(c, axis, x->dims);
  c.out("Out", *x);
  c.out("OutScale", tensorInfo(x->dtype, {x->rankKnown ? x->dims[axis] : -1}));
  return llvm::success();
}

llvm::LogicalResult inferQuantizeLinear(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *scale = require(c, "Scale");
  if (!x || !scale || llvm::failed(bitsAreRight(c)) || llvm::failed(roundingIsRight(c)))
    return llvm::failure();
  const int64_t axis = c.op().getInt("quant_axis");
  if (axis < -1 || (x->rankKnown && axis >= x->rank())) return noAxis(c, axis, x->dims);
  TensorInfo y = *x;
  if (c.op().type() == "dequantize_linear") y.dtype = scale->dtype;
  c.out("Y", y);
  giveRange(c, scale->dtype);
  c.out("OutScale", tensorInfo(scale->dtype, {axis < 0 ? 1 : x->rankKnown ? x->dims[axis] : -1}));
  return llvm::success();
}

}  // namespace dtranspile::pd
