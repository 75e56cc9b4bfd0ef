#include "compiler/lower/op_lowering.h"

#include <set>

#include "compiler/lower/complex_rules.h"
#include "compiler/lower/extent_tokens.h"
#include "compiler/lower/kernel/extents.h"
#include "compiler/lower/kernel/formula_parser.h"
#include "compiler/lower/lowering.h"

namespace dtranspile::lower {
int64_t OpLowering::version() const { return program_.program().getVersion(); }

bool OpLowering::mendsDefects() const { return program_.request().mendDefects; }

std::optional<TensorRef> OpLowering::in(llvm::StringRef slot, unsigned index) const {
  mlir::Value value = op_.input(slot, index);
  return value ? std::optional(in(value)) : std::nullopt;
}

TensorRef OpLowering::in(mlir::Value value) const {
  const int buffer = program_.bufferOf(value);
  const Buffer& b = program_.buffer(buffer);
  // Dims and type are the value's: the buffer of a persistable may declare others (scalars of [1]
  // against []).
  const pd::TensorInfo& info = program_.info(value);
  return TensorRef{buffer, b.dtype, {info.dims.begin(), info.dims.end()}};
}

// Nothing for a result that nobody reads: rules then leave it out.
std::optional<TensorRef> OpLowering::out(llvm::StringRef slot, unsigned index) {
  mlir::Value value = op_.output(slot, index);
  if (!value || !program_.needed(value)) return std::nullopt;
  const pd::TensorInfo& info = program_.info(value);
  return TensorRef{program_.bufferOf(value), info.dtype, {info.dims.begin(), info.dims.end()}};
}

TensorRef OpLowering::outOrTemporary(llvm::StringRef slot, DType dtype,
                                     const std::vector<int64_t>& dims) {
  if (auto there = out(slot)) return *there;
  return temporary(slot, dtype, dims);
}

bool OpLowering::hasUnknown() const {
  auto unknown = [&](mlir::Value value) { return isRunTimeValue(program_.info(value)); };
  return llvm::any_of(op_.operation()->getOperands(), unknown) ||
         llvm::any_of(op_.operation()->getResults(),
                      [&](mlir::Value v) { return program_.needed(v) && unknown(v); });
}

bool OpLowering::hasOtherKinds() const {
  auto other = [&](mlir::Value value) { return program_.info(value).kind != pd::Kind::Tensor; };
  return llvm::any_of(op_.operation()->getOperands(), other) ||
         llvm::any_of(op_.operation()->getResults(),
                      [&](mlir::Value v) { return program_.needed(v) && other(v); });
}

llvm::LogicalResult OpLowering::unsupported(const llvm::Twine& what) const {
  return op_.operation()->emitError() << op_.type() << ": " << what << " is not supported natively";
}

// Memory that only this op uses; in the arena, or a value where extents are not known.
TensorRef OpLowering::temporary(llvm::StringRef hint, DType dtype, std::vector<int64_t> dims) {
  Buffer buffer{.name = (op_.type() + "." + hint).str(), .dtype = dtype, .dims = dims};
  if (llvm::any_of(dims, [](int64_t d) { return d < 0; })) buffer.space = Space::Value;
  return {program_.plan().addBuffer(std::move(buffer)), dtype, std::move(dims)};
}

// The same memory under another shape, which costs nothing at run time.
llvm::LogicalResult OpLowering::view(llvm::StringRef input, llvm::StringRef output) {
  auto from = in(input);
  mlir::Value value = op_.output(output);
  if (!value || !program_.needed(value)) return llvm::success();
  if (!from) return unsupported("an absent " + input);
  const pd::TensorInfo& info = program_.info(value);
  std::vector<int64_t> dims(info.dims.begin(), info.dims.end());
  // A view of a persistable would see later writes: the value is copied.
  if (program_.buffer(from->buffer).space != Space::Arena) {
    copy(*from, TensorRef{program_.bufferOf(value), info.dtype, dims});
    return llvm::success();
  }
  program_.setBuffer(
      value, program_.plan().addView(from->buffer, pd::nameOf(value).str(), std::move(dims)));
  return llvm::success();
}

// For ops that move a value between memories: where it lies in this memory already the output is a
// view of the input.
llvm::LogicalResult OpLowering::move(llvm::StringRef input, llvm::StringRef output,
                                     exec::Memory memory) {
  auto from = in(input);
  mlir::Value value = op_.output(output);
  if (!value || !program_.needed(value)) return llvm::success();
  if (!from) return unsupported("an absent " + input);
  Plan& plan = program_.plan();
  if (plan.buffers[plan.storageOf(from->buffer)].memory == memory) return view(input, output);
  const auto to = out(output);
  Buffer& buffer = plan.buffers[to->buffer];
  if (buffer.space == Space::Arena) buffer.memory = memory;
  copy(*from, *to);
  return llvm::success();
}

void OpLowering::refuse(llvm::StringRef function) {
  if (refused_) return;
  refused_ = true;
  op_.operation()->emitError() << op_.type()
                               << ": extents known only at run time are not supported natively by "
                               << function;
}

void OpLowering::copy(const TensorRef& from, const TensorRef& to) {
  program_.copy(from.buffer, to.buffer);
}

bool OpLowering::isRagged(int buffer) const {
  const Buffer& b = program_.buffer(buffer);
  return b.lodLevel > 0 && b.space == Space::Value && b.kind == ValueKind::Tensor;
}

// Whether a kernel of this op writes the buffer that reads nothing ragged; others, and calls, hand
// on the LoD of what they read.
bool OpLowering::needsLod(int buffer, size_t firstNode) const {
  for (const Node& node : llvm::drop_begin(program_.body(), firstNode)) {
    bool reads = !node.as<KernelNode>(), writes = false;
    for (size_t i = 0; i < node.args.size(); ++i) {
      reads |= node.reads[i] && isRagged(node.args[i]);
      writes |= node.writes[i] && node.args[i] == buffer;
    }
    if (writes && !reads) return true;
  }
  return false;
}

// Kernels know of no LoD: after an op whose results are ragged by inference, a call gives them the
// LoD of the operand that they are cut like; a gradient that of its forward value.
void OpLowering::shareLod(size_t firstNode) {
  std::vector<int> all;
  for (const std::string& slot : op_.inputSlots()) {
    for (unsigned i = 0; i < op_.inputCount(slot); ++i) {
      if (auto tensor = in(slot, i); tensor && isRagged(tensor->buffer))
        all.push_back(tensor->buffer);
    }
  }
  if (all.empty()) return;
  std::vector<Node> nodes;
  for (const std::string& slot : op_.outputSlots()) {
    llvm::StringRef forward = slot;
    const bool gradient = forward.consume_back("@GRAD");
    for (unsigned i = 0; i < op_.outputCount(slot); ++i) {
      auto result = out(slot, i);
      if (!result || !isRagged(result->buffer)) continue;
      auto like = gradient ? in(forward, i) : std::nullopt;
      const bool cutLike = like && isRagged(like->buffer);
      if (!cutLike && !needsLod(result->buffer, firstNode)) continue;
      Node node{.op = program_.position(), .args = cutLike ? std::vector<int>{like->buffer} : all};
      const int sources = static_cast<int>(node.args.size());
      node.what = CallNode{.callee = "dt_share_lod", .slots = {0, sources, sources + 1}};
      node.args.push_back(result->buffer);
      node.writes.assign(node.args.size(), false);
      node.writes.back() = true;
      node.reads.assign(node.args.size(), true);
      nodes.push_back(std::move(node));
    }
  }
  for (Node& node : nodes) program_.add(std::move(node));
}

// What the run reads extents off is an argument, whether the kernel looks at its elements or not:
// the X of a mean_grad.
void OpLowering::addExtentSources(BoundKernel& k, const ExtentTokens& tokens) const {
  std::set<int64_t> missing;
  for (bool written : {true, false}) {
    for (size_t i = 0; i < k.buffers.size(); ++i) {
      if (k.kernel.operands[i].writes != written) continue;
      for (int64_t extent : tokens.shapeOf(k.buffers[i])) {
        if (!written) missing.erase(extent);
        else if (isSymbolic(extent)) missing.insert(extent);
      }
    }
  }
  for (const std::string& slot : op_.inputSlots()) {
    const auto tensor = missing.empty() ? std::nullopt : in(slot);
    if (!tensor || program_.buffer(tensor->buffer).space != Space::Value) continue;
    const size_t before = missing.size();
    for (int64_t extent : tokens.shapeOf(tensor->buffer)) missing.erase(extent);
    if (missing.size() == before) continue;
    k.kernel.operands.push_back(
        {.dtype = tensor->dtype,
         .reads = true,
         .strides = std::vector<int64_t>(k.kernel.operands[0].strides.size(), 0)});
    k.buffers.push_back(tensor->buffer);
  }
}

// Lowers an op by the formula of its row: names of the formula are slots, attributes, or what the
// rule binds. One node of the plan per kernel.
llvm::LogicalResult OpLowering::formula(llvm::StringRef text, const Bindings& bindings) {
  auto bound = [&](std::string_view name) -> std::optional<TensorRef> {
    for (const auto& [key, tensor] : bindings.tensors) {
      if (key == name) return tensor;
    }
    return std::nullopt;
  };
  auto align = [&](std::string_view name, std::optional<TensorRef> tensor) {
    for (const auto& [key, axis] : bindings.axes) {
      if (tensor && (key == name || key + "@GRAD" == name)) tensor->axis = axis;
    }
    return tensor;
  };
  FormulaNames names;
  names.input = [&](std::string_view name) {
    auto extra = bound(name);
    return align(name, extra ? extra : in(llvm::StringRef(name)));
  };
  names.output = [&](std::string_view name) {
    auto extra = bound(name);
    return align(name, extra ? extra : out(llvm::StringRef(name)));
  };
  names.attribute = [&](std::string_view name) -> std::optional<double> {
    for (const auto& [key, number] : bindings.numbers) {
      if (key == name) return number;
    }
    return attribute(llvm::StringRef(name));
  };
  // Extents that only the run knows become tokens, one assignment for all tensors of the formula.
  // An XShape, say, is none of them; what a gradient is taken by is, since it has its extents.
  ExtentTokens tokens;
  const auto named = identifiersOf(std::string_view(text.data(), text.size())).names;
  auto used = [&](const std::string& slot) {
    return named.contains(slot) || named.contains(slot + "@GRAD");
  };
  auto ofRows = [&](const std::string& name) { return text.contains(name + "[r]"); };
  for (const std::string& slot : op_.inputSlots()) {
    if (used(slot)) tokens.add(names.input(slot), ofRows(slot));
  }
  for (const std::string& slot : op_.outputSlots()) {
    if (used(slot)) tokens.add(names.output(slot), ofRows(slot));
  }
  for (const auto& [key, tensor] : bindings.tensors) tokens.add(align(key, tensor), ofRows(key));
  std::string error;
  if (!tokens.assign(bindings.inner, error)) return unsupported(error);
  FormulaNames known = names;
  known.input = [&](std::string_view name) { return tokens.resolve(names.input(name)); };
  known.output = [&](std::string_view name) { return tokens.resolve(names.output(name)); };
  auto kernels = buildFormula(op_.type().str(), std::string_view(text), known, bindings.inner,
                              error, tokens.any());
  if (!kernels) return op_.operation()->emitError() << op_.type() << ": " << error;
  for (BoundKernel& k : *kernels) {
    addExtentSources(k, tokens);
    if (llvm::any_of(k.kernel.operands,
                     [](const Operand& operand) { return isComplex(operand.dtype); }))
      return unsupported("arithmetic of complex numbers");
    Node node{.op = program_.position(), .args = k.buffers};
    KernelNode what;
    for (const Operand& operand : k.kernel.operands) {
      node.reads.push_back(operand.reads);
      node.writes.push_back(operand.writes);
    }
    const bool values = llvm::any_of(
        k.buffers, [&](int buffer) { return program_.buffer(buffer).space == Space::Value; });
    for (int buffer : k.buffers) {
      if (values) what.shapes.push_back(tokens.shapeOf(buffer));
    }
    if (k.kernel.storesNothing() && !values) continue;
    what.kernel = std::make_shared<Kernel>(std::move(k.kernel));
    node.what = std::move(what);
    program_.add(std::move(node));
  }
  return llvm::success();
}

// A string counts as 1 where it is not empty. Attributes are float32 in the file; defaults of the
// table are rounded alike.
std::optional<double> OpLowering::attribute(llvm::StringRef name) const {
  const pd::OpSpec* spec = op_.spec();
  const pd::AttrRow* row = spec ? spec->attribute(name) : nullptr;
  if (!op_.hasAttr(name) && (!row || row->required)) return std::nullopt;
  if (row && !row->types.empty() && row->types.front() == pd::AttrType::String)
    return !op_.getString(name).empty();
  const double value = op_.getFloat(name);
  // A factor that rung 5 has widened is a float64.
  const auto given = llvm::dyn_cast_or_null<mlir::FloatAttr>(op_.attr(name));
  const bool single = row && !row->types.empty() && row->types.front() == pd::AttrType::Float &&
                      !(given && given.getType().isF64());
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

}  // namespace dtranspile::lower
