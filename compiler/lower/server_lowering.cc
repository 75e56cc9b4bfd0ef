#include "compiler/lower/server_lowering.h"

#include "compiler/lower/dist_lowering.h"
#include "dialects/dist/lookup.h"
#include "runtime/exec/layout.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

bool isBlocked(const Persistable& variable) {
  return variable.layout && variable.layout->kind != exec::LayoutKind::kEven;
}

// Variables whose blocks are the same ones, on the same ranks.
bool sameBlocks(const exec::Layout& a, const exec::Layout& b) {
  return a.kind == b.kind && a.axes == b.axes && a.dim == b.dim && a.extent == b.extent &&
         a.per == b.per && a.first == b.first && a.name == b.name;
}

// Extents of what a block of a variable is: `whole` with the block's own along the cut dim.
std::vector<int64_t> blockDims(const exec::Layout& layout, int64_t extent) {
  std::vector<int64_t> dims = layout.whole;
  if (layout.dim < 0) return {extent};
  dims[static_cast<size_t>(layout.dim)] = extent;
  return dims;
}

LogicalResult refuseBlocks(mlir::Operation* op, llvm::StringRef name) {
  return op->emitError()
         << "persistable " << name
         << " is cut into blocks, which differ from rank to rank: it can be read and set in the "
            "dist.foreach_block of a variable with the same blocks only";
}

// A body per extent that blocks have: all but the last one have the layout's, the last one what is
// left. A rank runs the one that fits for each of its blocks; the k-th owned block of a variable is
// instance k of a view of it.
class BlocksLowering {
 public:
  BlocksLowering(Lowering& lowering, dist::ForeachBlockOp loop)
      : lowering_(lowering), loop_(loop) {}

  // A loop over the blocks that a server has. Blocks of one extent have the same plan and share a
  // body, whose buffers are instances at a stride in the variable; as the last block may be smaller
  // there are at most two bodies.
  LogicalResult run() {
    const Persistable* variable = lowering_.variable(loop_.getVar());
    if (!variable || !isBlocked(*variable))
      return loop_.emitError() << "dist.foreach_block: @" << loop_.getVar()
                               << " is no dense variable that is cut into blocks";
    const exec::Layout& layout = *variable->layout;
    const exec::Parts parts(layout, coordinatesOf(dist::meshOf(loop_), layout.axes));
    if (parts.blocks() == 0 && !loop_.getBody().front().getArgument(0).use_empty())
      return loop_.emitError(
          "dist.foreach_block: the number of the block is read, and the rows of a cyclic layout "
          "are worked on all at once; keep what differs from row to row in a variable of that "
          "layout");
    if (failed(begin())) return failure();
    BlocksNode node{.layout = layout, .bodies = {}};
    // Twice the same MLIR: what was said of the values of one body is forgotten for the next.
    for (int64_t extent : extentsOf(parts)) {
      const Lowering::Block block{&layout, extent, instancesOf(parts, extent)};
      const Lowering::InBlock inside(lowering_, block);
      lowering_.forget(loop_);
      if (failed(lowerBody(node.bodies.emplace_back(BlocksNode::Body{extent, {}}))))
        return failure();
    }
    Node blocks;
    blocks.what = std::move(node);
    lowering_.addControl(std::move(blocks));
    for (auto [result, buffer, info] : llvm::zip(loop_.getResults(), carried_, infos_))
      lowering_.bind(result, buffer, info);
    return success();
  }

 private:
  // Of a cyclic layout a block is a row; what an op does to each of them it does to all rows of a
  // part at once, of which there are two sizes.
  static std::vector<int64_t> extentsOf(const exec::Parts& parts) {
    if (parts.blocks() == 0) {
      std::vector<int64_t> extents;
      for (int64_t part : {int64_t{0}, parts.count() - 1})
        if (const int64_t rows = parts.extent(part);
            rows > 0 && (extents.empty() || extents.back() != rows))
          extents.push_back(rows);
      return extents;
    }
    const int64_t per = parts.block(0).extent, last = parts.block(parts.blocks() - 1).extent;
    return per == last ? std::vector<int64_t>{per} : std::vector<int64_t>{per, last};
  }

  // How many places, one per owned block, a view of blocks of this extent has at most: no more than
  // lie in the memory of a rank, whose last block may be smaller.
  static int64_t instancesOf(const exec::Parts& parts, int64_t extent) {
    size_t most = 1;
    for (int64_t part = 0; part < parts.count(); ++part) {
      const std::vector<exec::Parts::Block> owned = parts.owned(part);
      for (size_t i = most; i < owned.size(); ++i)
        if (owned[i].extent == extent) most = i + 1;
    }
    return static_cast<int64_t>(most);
  }

  // Iteration values have a place each, from before the first block to after the last one.
  LogicalResult begin() {
    for (auto [init, result] : llvm::zip(loop_.getInits(), loop_.getResults())) {
      pd::TensorInfo info = lowering_.info(init);
      if (isRunTimeValue(info))
        return loop_.emitError() << "dist.foreach_block: its value '" << dist::nameOf(init)
                                 << "' is no dense tensor of known extents";
      carried_.push_back(lowering_.newBuffer(dist::nameOf(init), info));
      lowering_.copy(lowering_.bufferOf(init), carried_.back());
      infos_.push_back(std::move(info));
    }
    return success();
  }

  // Lowers the body for blocks of one extent. What it yields is carried to the next block by copies
  // in parallel, since a result may be carried by another's buffer.
  LogicalResult lowerBody(BlocksNode::Body& into) {
    const Lowering::Into here(lowering_, into.body);
    mlir::Block& body = loop_.getBody().front();
    for (auto [argument, buffer, info] :
         llvm::zip(body.getArguments().drop_front(), carried_, infos_))
      lowering_.bind(argument, buffer, info);
    giveNumber(body.getArgument(0));
    if (failed(lowering_.lowerBlock(body))) return failure();
    std::vector<std::pair<int, int>> moves;
    for (auto [value, buffer] : llvm::zip(body.getTerminator()->getOperands(), carried_))
      moves.emplace_back(lowering_.bufferOf(value), buffer);
    lowering_.copyAll(moves);
    return success();
  }

  // The number of the block, where somebody reads it: data of the rank like a coordinate.
  void giveNumber(mlir::BlockArgument number) {
    if (number.use_empty()) return;
    pd::TensorInfo info = pd::declaredInfo(number.getType());
    const int to = lowering_.newBuffer("block", info);
    lowering_.add({.op = lowering_.position(),
                   .args = {to},
                   .writes = {true},
                   .reads = {false},
                   .what = CoordNode{""}});
    lowering_.bind(number, to, std::move(info));
  }

  Lowering& lowering_;
  dist::ForeachBlockOp loop_;
  std::vector<int> carried_;
  std::vector<pd::TensorInfo> infos_;
};

}  // namespace

LogicalResult lowerForeachBlock(Lowering& lowering, mlir::Operation* op) {
  return BlocksLowering(lowering, llvm::cast<dist::ForeachBlockOp>(op)).run();
}

namespace {

// What trainers have pushed to (this block of) a variable, or pulled of it last.
LogicalResult lowerTraffic(Lowering& lowering, mlir::Operation* op, llvm::StringRef name,
                           llvm::StringRef ending, int pulled) {
  const Persistable* variable = lowering.variable(name);
  if (!variable)
    return op->emitError() << op->getName() << ": @" << name << " is no dense variable";
  mlir::Value result = op->getResult(0);
  pd::TensorInfo info = pd::declaredInfo(result.getType());
  if (isBlocked(*variable)) {
    const Lowering::Block* block = lowering.block();
    if (!block || !sameBlocks(*block->layout, *variable->layout))
      return refuseBlocks(op, variable->name);
    const std::vector<int64_t> dims = blockDims(*variable->layout, block->extent);
    info.dims.assign(dims.begin(), dims.end());
  }
  const int to = lowering.newBuffer((name + ending).str(), info);
  lowering.add({.op = lowering.position(),
                .args = {to},
                .writes = {true},
                .reads = {false},
                .what = MergedNode{name.str(), pulled}});
  return lowering.bind(result, to, std::move(info)), success();
}

}  // namespace

LogicalResult lowerMerged(Lowering& lowering, mlir::Operation* op) {
  return lowerTraffic(lowering, op, llvm::cast<dist::MergedOp>(op).getVar(), "@GRAD", 0);
}

LogicalResult lowerPulled(Lowering& lowering, pd::GetOp op) {
  return lowerTraffic(lowering, op, op.getVar(), "@PULLED", 1);
}

llvm::FailureOr<int> placeInVariable(Lowering& lowering, mlir::Operation* op,
                                     const Persistable& variable) {
  if (!isBlocked(variable)) return variable.buffer;
  const Lowering::Block* block = lowering.block();
  if (!block || !sameBlocks(*block->layout, *variable.layout))
    return refuseBlocks(op, variable.name), failure();
  Plan& plan = lowering.plan();
  const int view = plan.addView(variable.buffer, variable.name + ".block",
                                blockDims(*variable.layout, block->extent));
  // Blocks lie one after the other; the last one of all, which may be smaller, is the last of its
  // rank too.
  Buffer& one = lowering.buffer(view);
  one.instances = block->instances;
  one.stride = one.bytes() / std::max<int64_t>(block->extent, 1) * variable.layout->per;
  return view;
}

// Each handler is a program of the server, run when a request of its kind for its table arrives. In
// mode sync a push only waits for the round of its step, and has no program.
llvm::FailureOr<PlanProgram> programOf(dist::HandleOp handler) {
  static constexpr exec::When kWhen[] = {exec::When::kRound, exec::When::kPush, exec::When::kPull,
                                         exec::When::kLookup};
  const exec::When when = kWhen[static_cast<int>(handler.getKind())];
  if (when == exec::When::kRound) return PlanProgram{.name = "round", .when = when};
  const bool sync =
      llvm::cast<dist::ServeOp>(handler->getParentOp()).getMode() == dist::ServeMode::Sync;
  if (when != exec::When::kPush || !sync) {
    const std::string table = handler.getVar()->str();
    return PlanProgram{.name = dist::stringifyHandler(handler.getKind()).str() + " " + table,
                       .when = when,
                       .table = table};
  }
  handler.emitError() << "dist.handle " << dist::stringifyHandler(handler.getKind()) << " in mode "
                      << dist::stringifyServeMode(
                             llvm::cast<dist::ServeOp>(handler->getParentOp()).getMode())
                      << ": not supported natively; in mode sync the round takes what is pushed";
  return failure();
}

}  // namespace dtranspile::lower
