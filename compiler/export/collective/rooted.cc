#include "compiler/export/collective/rooted.h"

#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

bool isPending(mlir::Operation* op) {
  return llvm::isa<dist::PendingType>(op->getResult(0).getType());
}

// Where nobody but the backward part takes what arrives, the op is one of it.
int roleOfUsers(mlir::Operation* op) {
  bool backward = false;
  for (mlir::Operation* user : op->getUsers()) {
    if (!pd::OpView::isFrameworkOp(user) || !(pd::OpView(user).role() & pd::kBackward))
      return pd::kForward;
    backward = true;
  }
  return backward ? pd::kBackward : pd::kForward;
}

}  // namespace

// Rank of the root in the ring: its coordinates on the comm's axes, the last one fastest. Nothing
// after a message.
std::optional<int64_t> Rooted::rootOf(mlir::Operation* op, dist::SelAttr root) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (comm.getSubset()) {
    op->emitError("export: operations with a root in a part of an axis have no translation yet");
    return std::nullopt;
  }
  int64_t rank = 0;
  for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    rank = rank * *emitter_.mesh().sizeOf(axis) + root.lookup(axis).getBounds()[0];
  return rank;
}

// What a rank that does not hold the value gives to a broadcast: memory of the right size.
mlir::Value Rooted::allocated(mlir::Value value) {
  auto nothing = value.getDefiningOp<pd::UndefOp>();
  mlir::RankedTensorType tensor =
      nothing ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor || !tensor.hasStaticShape()) return value;
  return emitter_.filled(value.getLoc(), dist::nameOf(value).str(), value.getType(),
                         tensor.getShape(), *pd::dtypeOf(tensor.getElementType()), 0);
}

// The stream of computing is waited for once, in front of all of them. What works in place leaves a
// variable alone that is to keep what it holds.
void Rooted::start(mlir::Operation* op, llvm::StringRef type, Emitter::Attributes attributes,
                   llvm::SmallVector<mlir::Value> values, Started started, bool keeps) {
  for (mlir::Value& value : values)
    if (keeps && value.getDefiningOp<pd::GetOp>())
      value = emitter_.create(op->getLoc(), "assign", {{"X", {value}}},
                              emitter_.freshName(dist::nameOf(value).str() + ".reduced"),
                              value.getType(), {}, started.role);
  values.back() =
      emitter_.inPlace(op->getLoc(), "c_sync_calc_stream", values.back(), {}, started.role);
  attributes.push_back(emitter_.flag("use_calc_stream", false));
  for (mlir::Value value : values)
    started.results.push_back(
        emitter_.inPlace(op->getLoc(), type, value, attributes, started.role, keeps));
  started_[*op->getResult(0).user_begin()] = std::move(started);
}

mlir::LogicalResult Rooted::finish(dist::WaitOp wait) {
  Started started = started_.lookup(wait);
  started_.erase(wait);
  started.results.back() =
      emitter_.syncRing(wait.getLoc(), started.results.back(), started.ring, started.role);
  wait->replaceAllUsesWith(started.results);
  return drop(wait);
}

// c_reduce_* leaves the result on the root, in place; the framework gives the others what they had.
mlir::LogicalResult Rooted::reduce(dist::ReduceOp op, int ring) {
  if (op.getReduce() == dist::Reduce::Or)
    return op.emitError("export: the framework has no boolean reduction");
  std::optional<int64_t> root = rootOf(op, op.getRoot());
  if (!root) return mlir::failure();
  const std::string type = ("c_reduce_" + dist::stringifyReduce(op.getReduce())).str();
  Emitter::Attributes attributes = {emitter_.named("ring_id", ring),
                                    emitter_.named("root_id", *root)};
  if (isPending(op)) {
    start(op, type, attributes, llvm::to_vector_of<mlir::Value>(op.getInputs()),
          {{}, ring, roleOf(op.getInputs().back())}, /*keeps=*/true);
    return drop(op);
  }
  attributes.push_back(emitter_.flag("use_calc_stream", true));
  for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults()))
    result.replaceAllUsesWith(
        emitter_.inPlace(op.getLoc(), type, value, attributes, roleOf(value), /*keeps=*/true));
  return drop(op);
}

// All values of the op go out on the stream of communication, which is waited for once.
mlir::LogicalResult Rooted::broadcast(dist::BroadcastOp op, int ring) {
  std::optional<int64_t> root = rootOf(op, op.getRoot());
  if (!root) return mlir::failure();
  Emitter::Attributes attributes = {emitter_.named("ring_id", ring), emitter_.named("root", *root)};
  llvm::SmallVector<mlir::Value> values;
  for (mlir::Value value : op.getInputs()) values.push_back(allocated(value));
  if (isPending(op)) {
    start(op, "c_broadcast", attributes, values,
          {{}, ring, roleOfUsers(*op->getResult(0).user_begin())}, /*keeps=*/false);
    return drop(op);
  }
  attributes.push_back(emitter_.flag("use_calc_stream", false));
  mlir::Value last;
  for (auto [value, result] : llvm::zip(values, op.getResults())) {
    last = emitter_.inPlace(op.getLoc(), "c_broadcast", value, attributes, pd::kForward);
    result.replaceAllUsesWith(last);
  }
  emitter_.syncRing(op.getLoc(), last, ring, pd::kForward);
  return drop(op);
}

}  // namespace dtranspile
