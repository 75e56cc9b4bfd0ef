// dist.on that holds on some ranks of a class: a node `at`. Each result has a buffer, which the
// side that a rank takes copies what it yields to; where there is no else-body it is nothing on the
// other ranks, which have no op that reads it.
#include "compiler/lower/dist_lowering.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::lower {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

LogicalResult refuse(mlir::Operation* guard, mlir::Value result, const llvm::Twine& why) {
  return guard->emitError()
         << "dist.on: its result '" << dist::nameOf(result) << "' " << why
         << ": not supported natively; keep it inside, or compute it on all ranks";
}

// What both sides yield has to be alike, but for extents that only the step knows.
LogicalResult join(mlir::Operation* guard, mlir::Value result, pd::TensorInfo& into,
                   const pd::TensorInfo& other) {
  if (into.kind != other.kind || into.dtype != other.dtype || into.dims.size() != other.dims.size())
    return refuse(guard, result, "has another kind, type or rank on the other ranks");
  for (size_t d = 0; d < into.dims.size(); ++d)
    if (into.dims[d] != other.dims[d]) into.dims[d] = -1;
  into.lodLevel = std::max(into.lodLevel, other.lodLevel);
  return success();
}

// Lowers both sides of a guard into the bodies of one node, binds each result to a buffer, and lets
// either side end by copying what it yields there.
class GuardLowering {
 public:
  GuardLowering(Lowering& lowering, dist::OnOp guard) : lowering_(lowering), guard_(guard) {}

  LogicalResult run() {
    AtNode node{.at = selectorOf(guard_.getWhere()), .body = {}, .otherwise = {}};
    mlir::Block& body = guard_.getBody().front();
    for (auto [argument, operand] : llvm::zip(body.getArguments(), guard_.getInputs()))
      if (lowering_.needed(argument)) lowering_.bind(argument, operand);
    if (failed(lower(guard_.getBody(), node.body))) return failure();
    if (!guard_.getOtherwise().empty() && failed(lower(guard_.getOtherwise(), node.otherwise)))
      return failure();
    for (mlir::OpResult result : guard_.getResults())
      if (lowering_.needed(result) && failed(bind(result))) return failure();
    yield(guard_.getBody(), node.body);
    if (!guard_.getOtherwise().empty()) yield(guard_.getOtherwise(), node.otherwise);
    Node at;
    at.what = std::move(node);
    lowering_.addControl(std::move(at));
    return success();
  }

 private:
  LogicalResult lower(mlir::Region& region, std::vector<Node>& nodes) {
    const Lowering::Into into(lowering_, nodes);
    return lowering_.lowerBlock(region.front());
  }

  static mlir::Value yielded(mlir::Region& region, mlir::OpResult result) {
    return region.front().getTerminator()->getOperand(result.getResultNumber());
  }

  LogicalResult bind(mlir::OpResult result) {
    mlir::Value value = yielded(guard_.getBody(), result);
    if (llvm::isa<pd::TapeType>(value.getType()))
      return refuse(guard_, result, "is what a block keeps for its gradient");
    pd::TensorInfo info = lowering_.info(value);
    if (info.kind == pd::Kind::TensorArray) return refuse(guard_, result, "is a list");
    if (!guard_.getOtherwise().empty()) {
      pd::TensorInfo other = lowering_.info(yielded(guard_.getOtherwise(), result));
      if (failed(join(guard_, result, info, other))) return failure();
    }
    const int buffer = lowering_.newBuffer(dist::nameOf(result), info);
    lowering_.bind(result, buffer, std::move(info));
    return success();
  }

  // All copies at once (copyAll), since a result may be yielded by what another result overwrites.
  void yield(mlir::Region& region, std::vector<Node>& nodes) {
    const Lowering::Into into(lowering_, nodes);
    std::vector<std::pair<int, int>> moves;
    for (mlir::OpResult result : guard_.getResults())
      if (lowering_.needed(result))
        moves.emplace_back(lowering_.bufferOf(yielded(region, result)), lowering_.bufferOf(result));
    lowering_.copyAll(moves);
  }

  Lowering& lowering_;
  dist::OnOp guard_;
};

}  // namespace

LogicalResult lowerGuard(Lowering& lowering, mlir::Operation* op) {
  return GuardLowering(lowering, llvm::cast<dist::OnOp>(op)).run();
}

}  // namespace dtranspile::lower
