// What the lowerings of block ops share, and branches.
#include "compiler/lower/block_lowering.h"

#include <set>
#include <utility>

#include "compiler/lower/rules.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;

namespace {

mlir::DictionaryAttr regionAttributes(mlir::Operation* op) {
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  return blocks && !blocks.empty() ? llvm::dyn_cast<mlir::DictionaryAttr>(blocks[0])
                                   : mlir::DictionaryAttr();
}

}  // namespace

bool isBlockOp(StringRef type) {
  static const llvm::StringSet<> kTypes = {
      "while",     "while_grad",    "conditional_block", "conditional_block_grad",
      "recurrent", "recurrent_grad"};
  return kTypes.contains(type);
}

bool isNative(StringRef type) { return isBlockOp(type) || findRule(type); }

BlockLowering::BlockLowering(Lowering& program, pd::OpView op) : program_(program), op_(op) {
  mlir::DictionaryAttr attributes = regionAttributes(op.operation());
  for (const char* list : {"captures", "locals", "written", "saved"}) {
    auto array = attributes ? attributes.getAs<mlir::ArrayAttr>(list) : mlir::ArrayAttr();
    if (!array) continue;
    for (auto name : array.getAsRange<mlir::StringAttr>()) names_[list].push_back(name.str());
  }
  for (const std::string& name : names("written")) written_.insert(name);
  if (op.operation()->getNumRegions() != 1) return;
  unsigned index = 0;
  for (const char* list : {"captures", "locals"})
    for (const std::string& name : names(list))
      if (index < block().getNumArguments())
        arguments_.try_emplace(name, block().getArgument(index++));
  for (mlir::Operation& inner : block())
    for (mlir::Value result : inner.getResults()) inside_[dist::nameOf(result)] = result;
}

LogicalResult BlockLowering::run() {
  using Lower = LogicalResult (BlockLowering::*)();
  static const std::pair<StringRef, Lower> kRows[] = {
      {"while", &BlockLowering::lowerWhile},
      {"while_grad", &BlockLowering::lowerWhileGrad},
      {"conditional_block", &BlockLowering::lowerBranch},
      {"conditional_block_grad", &BlockLowering::lowerBranchGrad},
      {"recurrent", &BlockLowering::lowerRecurrent},
      {"recurrent_grad", &BlockLowering::lowerRecurrentGrad},
  };
  if (op_.operation()->getNumRegions() != 1 || !regionAttributes(op_.operation()))
    return unsupported("a number of blocks other than one");
  const std::vector<mlir::Value> captured = op_.inputs("$capture");
  if (captured.size() != names("captures").size() || llvm::is_contained(captured, mlir::Value())) {
    return op_.operation()->emitError()
           << op_.type() << ": the block captures " << names("captures").size()
           << " variables, slot '$capture' has "
           << llvm::count_if(captured, [](mlir::Value value) { return static_cast<bool>(value); });
  }
  for (mlir::Value operand : op_.operation()->getOperands()) {
    if (llvm::isa<pd::TapeType>(operand.getType()) && !program_.tapes().count(operand))
      return unsupported("a gradient whose forward block ran in an earlier turn of a loop");
  }
  for (const auto& [type, lower] : kRows) {
    if (op_.type() == type) return (this->*lower)();
  }
  return unsupported("this kind of block");
}

LogicalResult BlockLowering::unsupported(const llvm::Twine& what) const {
  return op_.operation()->emitError() << op_.type() << ": " << what << " is not supported natively";
}

mlir::Block& BlockLowering::block() const { return op_.operation()->getRegion(0).front(); }

const std::vector<std::string>& BlockLowering::names(StringRef list) const {
  static const std::vector<std::string> kNone;
  auto found = names_.find(list);
  return found == names_.end() ? kNone : found->second;
}

mlir::Value BlockLowering::argument(StringRef name) const { return arguments_.lookup(name); }

mlir::Value BlockLowering::inside(StringRef name) const {
  mlir::Value last = inside_.lookup(name);
  return last ? last : argument(name);
}

// The gradient of a forward argument as the block calls it: by the forward name, else as the op's
// result is called.
mlir::Value BlockLowering::gradientInside(mlir::Value forward, StringRef result) const {
  mlir::Value value = forward ? inside((pd::nameOf(forward) + "@GRAD").str()) : mlir::Value();
  return value ? value : inside(result);
}

pd::TensorInfo& BlockLowering::info(mlir::Value value) const { return program_.info(value); }
int BlockLowering::bufferOf(mlir::Value value) const { return program_.bufferOf(value); }
int BlockLowering::fresh(StringRef name, const pd::TensorInfo& info) const {
  return program_.newBuffer(name, info);
}

int BlockLowering::flag() const {
  pd::TensorInfo info;
  info.dtype = DType::kBool;
  info.dims = {1};
  return fresh("more", info);
}

int BlockLowering::counter() const {
  pd::TensorInfo info;
  info.dtype = DType::kInt64;
  info.dims = {1};
  return fresh("turn", info);
}

int BlockLowering::list(StringRef name) const {
  pd::TensorInfo info;
  info.kind = pd::Kind::TensorArray;
  return fresh(name, info);
}

void BlockLowering::bind(mlir::Value value, int buffer, pd::TensorInfo info) {
  program_.bind(value, buffer, std::move(info));
}

// Where nothing else is said, the region reads outer values where they are.
void BlockLowering::bindCaptures() {
  for (size_t i = 0; i < names("captures").size(); ++i) {
    mlir::Value operand = op_.input("$capture", static_cast<unsigned>(i));
    bind(block().getArgument(static_cast<unsigned>(i)), bufferOf(operand), info(operand));
  }
}

// What both may be: extents that differ become unknown. A scalar may be [] here and [1] there; it
// is [1] from then on.
LogicalResult BlockLowering::merge(pd::TensorInfo& into, const pd::TensorInfo& other,
                                   StringRef name, bool& changed) const {
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
    return unsupported("variable " + name + " that changes its kind, type or rank in the block");
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

void BlockLowering::call(StringRef function, const std::vector<int>& inputs,
                         const std::vector<int>& outputs, const std::vector<int64_t>& ints) {
  CallNode call{.callee = function.str(), .ints = ints, .slots = {0}};
  Node node{.op = program_.position()};
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
  program_.add(std::move(node));
}

// `inputs` are one slot of the call.
void BlockLowering::callOnList(StringRef function, const std::vector<int>& inputs, int output) {
  Node node{.op = program_.position(), .args = inputs};
  const int count = static_cast<int>(inputs.size());
  node.args.push_back(output);
  node.reads.assign(node.args.size(), true);
  node.writes.assign(node.args.size(), false);
  node.writes.back() = true;
  node.what = CallNode{.callee = function.str(), .slots = {0, count, count + 1}};
  program_.add(std::move(node));
}

void BlockLowering::addBranch(int condition, std::vector<Node> then, std::vector<Node> otherwise) {
  Node node;
  node.what = IfNode{condition, std::move(then), std::move(otherwise)};
  program_.addControl(std::move(node));
}

void BlockLowering::addLoop(int condition, std::vector<Node> body) {
  Node node;
  node.what = WhileNode{condition, std::move(body)};
  program_.addControl(std::move(node));
}

LogicalResult BlockLowering::lowerBody(std::vector<Node>& body, Part before, Part after) {
  const Lowering::Into into(program_, body);
  if (failed(before()) || failed(program_.lowerBlock(block()))) return failure();
  return after();
}

// The condition of a branch: one bool, or (is_scalar_condition = false) whether all of Cond have
// elements.
int BlockLowering::branchCondition() {
  mlir::Value first = op_.input("Cond");
  if (!first || llvm::is_contained(op_.inputs("Cond"), mlir::Value())) return -1;
  const int condition = flag();
  if (op_.getBool("is_scalar_condition")) {
    program_.copy(bufferOf(first), condition);
    return condition;
  }
  std::vector<int> inputs;
  for (mlir::Value value : op_.inputs("Cond")) inputs.push_back(bufferOf(value));
  callOnList("dt_all_have_elements", inputs, condition);
  return condition;
}

LogicalResult BlockLowering::lowerBranch() {
  const int condition = branchCondition();
  if (condition < 0) return unsupported("an absent Cond");
  llvm::StringMap<mlir::Value> captured;
  for (auto [i, name] : llvm::enumerate(names("captures")))
    captured[name] = op_.input("$capture", static_cast<unsigned>(i));
  std::vector<Node> then, otherwise;
  auto before = [&] { return bindCaptures(), success(); };
  std::vector<std::pair<int, int>> taken, passed;
  auto after = [&]() -> LogicalResult {
    for (mlir::OpResult result : op_.operation()->getResults()) {
      if (llvm::isa<pd::TapeType>(result.getType()) || !program_.needed(result)) continue;
      const std::string name = pd::nameOf(result).str();
      mlir::Value value = inside(name);
      if (!value) return unsupported("output " + name + ", which the block does not write,");
      pd::TensorInfo merged = info(value);
      mlir::Value old = captured.lookup(name);
      const bool written = old && !old.getDefiningOp<pd::UndefOp>();
      bool changed = false;
      if (written && failed(merge(merged, info(old), name, changed))) return failure();
      const int buffer = isList(value) ? bufferOf(value) : fresh(name, merged);
      bind(result, buffer, merged);
      taken.emplace_back(bufferOf(value), buffer);
      if (written) passed.emplace_back(bufferOf(old), buffer);
    }
    program_.copyAll(taken);
    return success();
  };
  if (failed(lowerBody(then, before, after))) return failure();
  if (isTapeRead("Scope")) program_.tapes()[op_.output("Scope")] = savedNow();
  {
    const Lowering::Into into(program_, otherwise);
    program_.copyAll(passed);
  }
  addBranch(condition, std::move(then), std::move(otherwise));
  return success();
}

// The framework hands on gradients that stand in the branch's own scope. One that the block writes
// around itself, since a block around it has a variable of that name already, counts as not written
// (docs/operators/defects.md).
bool BlockLowering::losesGradient(mlir::Value forward) const {
  const std::string name = (pd::nameOf(forward) + "@GRAD").str();
  if (!isWritten(name) || program_.request().mendDefects) return false;
  op_.operation()->emitWarning()
      << op_.type() << ": the framework takes zeros for " << name
      << ", which a block around the branch declares, too; they are reproduced "
      << "(--mend-defects: the gradient)";
  return true;
}

// The values of the forward block are where it left them; without it all gradients are zero.
LogicalResult BlockLowering::lowerBranchGrad() {
  std::optional<Tape> tape = tapeOf("Scope");
  if (!tape) return unsupported("a gradient without its forward block");
  const int condition = branchCondition();
  if (condition < 0) return unsupported("an absent Cond");
  std::vector<Node> then, otherwise;
  auto before = [&] {
    bindCaptures();
    bindLocals(*tape);
    return success();
  };
  std::vector<std::pair<int, int>> taken, zeros;
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op_.outputCount("Input@GRAD"); ++i) {
      mlir::Value result = op_.output("Input@GRAD", i), forward = op_.input("Input", i);
      if (!result || !program_.needed(result) || !forward) continue;
      mlir::Value value = gradientInside(forward, pd::nameOf(result));
      if (!value)
        return unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
      pd::TensorInfo merged = info(value);
      bool changed = false;
      if (failed(merge(merged, info(forward), pd::nameOf(result), changed))) return failure();
      const int buffer = fresh(pd::nameOf(result), merged);
      bind(result, buffer, merged);
      zeros.emplace_back(bufferOf(forward), buffer);
      if (losesGradient(forward)) call("dt_zeros_like", {bufferOf(forward)}, {buffer});
      else taken.emplace_back(bufferOf(value), buffer);
    }
    program_.copyAll(taken);
    return success();
  };
  if (failed(lowerBody(then, before, after))) return failure();
  {
    const Lowering::Into into(program_, otherwise);
    for (const auto& [forward, buffer] : zeros) call("dt_zeros_like", {forward}, {buffer});
  }
  // What the block writes outside of its results.
  for (mlir::Value result : op_.outputs("$written")) {
    mlir::Value value = result ? inside(pd::nameOf(result)) : mlir::Value();
    if (value) bind(result, bufferOf(value), info(value));
  }
  addBranch(condition, std::move(then), std::move(otherwise));
  return success();
}

}  // namespace dtranspile::lower
