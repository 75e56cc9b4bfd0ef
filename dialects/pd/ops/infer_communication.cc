// Inference of collectives that change extents. Rows: communication.cc.
#include "dialects/pd/ops/infer_communication.h"

namespace dtranspile::pd {
namespace {

enum class Edge { First, Last };

// X with its first or last extent times (or divided by) the number of ranks.
llvm::LogicalResult inferScaled(InferContext& c, Edge edge, bool divide) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  int64_t ranks = c.op().getInt("nranks");
  if (ranks < 1) return c.fail("has nranks " + llvm::Twine(ranks));
  if (x->dims.empty()) return c.fail("has no axis to cut in X");
  Dims dims = x->dims;
  int64_t& extent = edge == Edge::First ? dims.front() : dims.back();
  if (divide && known(extent) && extent % ranks != 0)
    return c.fail("cuts X " + textOf(x->dims) + " into " + llvm::Twine(ranks) + " parts");
  if (divide) extent = known(extent) ? extent / ranks : -1;
  else extent = productOf({extent, ranks}).value_or(-1);
  c.out("Out", edge == Edge::First ? withoutLod(withDims(*x, dims)) : withDims(*x, dims));
  return llvm::success();
}

}  // namespace

llvm::LogicalResult inferGather0(InferContext& c) {
  return inferScaled(c, Edge::First, /*divide=*/false);
}
llvm::LogicalResult inferScatter0(InferContext& c) {
  return inferScaled(c, Edge::First, /*divide=*/true);
}
llvm::LogicalResult inferConcatLast(InferContext& c) {
  return inferScaled(c, Edge::Last, /*divide=*/false);
}
llvm::LogicalResult inferSplitLast(InferContext& c) {
  return inferScaled(c, Edge::Last, /*divide=*/true);
}

}  // namespace dtranspile::pd
