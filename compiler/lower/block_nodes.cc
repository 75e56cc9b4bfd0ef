#include "compiler/lower/block_nodes.h"

#include <utility>

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;

namespace {

// A tensor of one element, [1]: what conditions and counters of the framework are.
int newOne(Lowering& lowering, StringRef name, DType dtype) {
  pd::TensorInfo info;
  info.dtype = dtype;
  info.dims = {1};
  return lowering.newBuffer(name, info);
}

}  // namespace

int newFlag(Lowering& lowering) { return newOne(lowering, "more", DType::kBool); }
int newCounter(Lowering& lowering) { return newOne(lowering, "turn", DType::kInt64); }

int newList(Lowering& lowering, StringRef name) {
  pd::TensorInfo info;
  info.kind = pd::Kind::TensorArray;
  return lowering.newBuffer(name, info);
}

// A call whose every argument is a slot of its own.
void addCall(Lowering& lowering, StringRef function, const std::vector<int>& inputs,
             const std::vector<int>& outputs, const std::vector<int64_t>& ints) {
  CallNode call{.callee = function.str(), .ints = ints, .slots = {0}};
  Node node{.op = lowering.position()};
  auto append = [&](int buffer, bool write) {
    node.args.push_back(buffer);
    node.reads.push_back(true);  // outputs of these calls are updated
    node.writes.push_back(write);
    call.slots.push_back(static_cast<int>(node.args.size()));
  };
  for (int buffer : inputs) append(buffer, false);
  for (int buffer : outputs) append(buffer, true);
  for (size_t i = 0; i < ints.size(); ++i) call.attrs.push_back("i1");
  node.what = std::move(call);
  lowering.add(std::move(node));
}

// A call with two slots, all inputs in the first one.
void addCallOnList(Lowering& lowering, StringRef function, const std::vector<int>& inputs,
                   int output) {
  Node node{.op = lowering.position(), .args = inputs};
  const int count = static_cast<int>(inputs.size());
  node.args.push_back(output);
  node.reads.assign(node.args.size(), true);
  node.writes.assign(node.args.size(), false);
  node.writes.back() = true;
  node.what = CallNode{.callee = function.str(), .slots = {0, count, count + 1}};
  lowering.add(std::move(node));
}

void addBranch(Lowering& lowering, int condition, std::vector<Node> then,
               std::vector<Node> otherwise) {
  Node node;
  node.what = IfNode{condition, std::move(then), std::move(otherwise)};
  lowering.addControl(std::move(node));
}

void addLoop(Lowering& lowering, int condition, std::vector<Node> body) {
  Node node;
  node.what = WhileNode{condition, std::move(body)};
  lowering.addControl(std::move(node));
}

// Arguments of the region come first as captures, which are the operands themselves: no copy is
// made, since a block writes a captured variable only by way of what it hands out.
void bindCaptures(Lowering& lowering, const BlockOp& op) {
  for (size_t i = 0; i < op.names("captures").size(); ++i) {
    mlir::Value operand = op.captured(i);
    lowering.bind(op.block().getArgument(static_cast<unsigned>(i)), lowering.bufferOf(operand),
                  lowering.info(operand));
  }
}

// Nodes of all three parts go to `body`, in this order.
LogicalResult lowerBody(Lowering& lowering, const BlockOp& op, std::vector<Node>& body, Part before,
                        Part after) {
  const Lowering::Into into(lowering, body);
  if (failed(before()) || failed(lowering.lowerBlock(op.block()))) return failure();
  return after();
}

// The least upper bound of two descriptions of a variable, one from before the block and one from
// its end: an extent that differs becomes unknown, the LoD level the larger one. Extents only ever
// lose information, so that asking again until nothing changes ends after at most rank + levels
// rounds. Tensors of one element may differ in rank: [1] and [] hold the same.
LogicalResult merge(const BlockOp& op, pd::TensorInfo& into, const pd::TensorInfo& other,
                    StringRef name, bool& changed) {
  const bool oneElement =
      into.isStatic() && other.isStatic() && into.elements() == 1 && other.elements() == 1;
  if (oneElement && into.dims.size() < other.dims.size()) {
    into.dims = other.dims;
    changed = true;
  }
  if (oneElement && into.kind == other.kind && into.dtype == other.dtype &&
      into.lodLevel >= other.lodLevel)
    return success();
  if (into.kind != other.kind || into.dtype != other.dtype ||
      into.dims.size() != other.dims.size()) {
    return op.unsupported("variable " + name + " that changes its kind, type or rank in the block");
  }
  for (size_t d = 0; d < into.dims.size(); ++d) {
    if (into.dims[d] == other.dims[d] || into.dims[d] < 0) continue;
    into.dims[d] = -1;
    changed = true;
  }
  if (other.lodLevel > into.lodLevel) {
    into.lodLevel = other.lodLevel;
    changed = true;
  }
  return success();
}

}  // namespace dtranspile::lower
