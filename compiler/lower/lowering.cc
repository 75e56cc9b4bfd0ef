#include "compiler/lower/lowering.h"

#include <set>

#include "dialects/dist/lookup.h"

namespace dtranspile::lower {

using llvm::LogicalResult;

const Persistable* Lowering::variable(llvm::StringRef name) const {
  auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &plan_.persistables[found->second];
}

// The ops of a block that somebody needs. Sends are not waited for by an op of the program: those
// that are open at the end of the block are handed to the caller.
LogicalResult Lowering::lowerOps(mlir::Block& block, std::vector<int>& sends) {
  std::vector<int> outer = std::exchange(openSends_, {});
  for (mlir::Operation& op : block) {
    const bool ends = op.hasTrait<mlir::OpTrait::IsTerminator>();
    if (!ends && needed_.isLive(&op) && failed(lower(op))) return llvm::failure();
  }
  sends = std::exchange(openSends_, std::move(outer));
  return llvm::success();
}

LogicalResult Lowering::lowerTask(mlir::Block& block) {
  std::vector<int> sends;
  return lowerOps(block, sends);
}

// No send outlives its block: whoever runs the block again may write over what is being sent.
LogicalResult Lowering::lowerBlock(mlir::Block& block) {
  std::vector<int> sends;
  if (failed(lowerOps(block, sends))) return llvm::failure();
  for (int ticket : sends) add({.op = position_, .what = WaitNode{ticket}});
  return llvm::success();
}

int Lowering::bufferOf(mlir::Value value) {
  if (auto it = buffers_.find(value); it != buffers_.end()) return it->second;
  return buffers_[value] = newBuffer(dist::nameOf(value), infos_[value]);
}

void Lowering::bind(mlir::Value value, int buffer, pd::TensorInfo info) {
  infos_[value] = std::move(info);
  buffers_[value] = buffer;
}

// The value is that other one: same buffer, same extents, same tape.
void Lowering::bind(mlir::Value value, mlir::Value like) {
  if (auto tape = tapes_.find(like); tape != tapes_.end()) {
    Tape same = tape->second;
    tapes_[value] = std::move(same);
  }
  if (llvm::isa<pd::TapeType>(value.getType())) return;
  pd::TensorInfo same = infos_[like];
  bind(value, bufferOf(like), std::move(same));
}

// A tensor of known extents gets memory of the plan (which arena.cc places), anything else is a
// value that makes its own when it runs.
int Lowering::newBuffer(llvm::StringRef name, const pd::TensorInfo& info) {
  Buffer buffer{.name = name.str(),
                .dtype = info.dtype,
                .dims = {info.dims.begin(), info.dims.end()},
                .lodLevel = info.lodLevel};
  if (isRunTimeValue(info)) buffer.space = Space::Value;
  if (info.kind == pd::Kind::SelectedRows) buffer.kind = ValueKind::Rows;
  else if (info.kind == pd::Kind::TensorArray) buffer.kind = ValueKind::List;
  return plan_.addBuffer(std::move(buffer));
}

// What was lowered inside of the op, so that it can be lowered again.
void Lowering::forget(mlir::Operation* op) {
  auto forgetAll = [&](mlir::ValueRange values) {
    for (mlir::Value value : values) {
      buffers_.erase(value);
      infos_.erase(value);
      tapes_.erase(value);
    }
  };
  op->walk([&](mlir::Operation* inner) {
    if (inner != op) forgetAll(inner->getResults());
    for (mlir::Region& region : inner->getRegions())
      for (mlir::Block& nested : region) forgetAll(nested.getArguments());
  });
}

Node& Lowering::add(Node node) {
  body_->push_back(std::move(node));
  return body_->back();
}

void Lowering::copy(int from, int to) {
  if (from == to) return;
  add({.op = position_,
       .args = {from, to},
       .writes = {false, true},
       .reads = {true, false},
       .what = CopyNode{}});
}

// Copies that happen at once: where a target is still to be read as another copy's source, its old
// value is kept aside first (values of a loop that change places).
void Lowering::copyAll(const std::vector<std::pair<int, int>>& moves) {
  std::set<int> targets;
  for (const auto& [from, to] : moves)
    if (from != to) targets.insert(to);
  std::vector<std::pair<int, int>> safe;
  for (auto [from, to] : moves) {
    if (from != to && targets.count(from)) {
      Buffer like = buffer(from);
      like.name += ".old";
      const int old = plan_.addBuffer(std::move(like));
      copy(from, old);
      from = old;
    }
    safe.emplace_back(from, to);
  }
  for (const auto& [from, to] : safe) copy(from, to);
}

// A node with bodies: its arguments are all that they touch, so that passes over nodes need not
// look inside.
void Lowering::addControl(Node node) {
  node.op = position_;
  node.gatherArgs();
  add(std::move(node));
}

bool isRunTimeValue(const pd::TensorInfo& info) {
  return info.kind != pd::Kind::Tensor || !info.rankKnown || info.lodLevel > 0 ||
         llvm::any_of(info.dims, [](int64_t d) { return d < 0; });
}

}  // namespace dtranspile::lower
