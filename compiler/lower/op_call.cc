// A row's call (call_row.h) of one op to a call node.
#include "compiler/lower/call_row.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/rules.h"
#include "dialects/pd/op_table.h"

namespace dtranspile::lower {
namespace {

using kernels::AttributeKind;
using llvm::LogicalResult;
using llvm::StringRef;

// The arguments of an output and of the input that it may share memory with.
void share(const Node& node, CallNode& call, const kernels::Signature& signature, size_t output,
           int firstOutput) {
  const auto input = llvm::find_if(signature.inputs, [&](const kernels::SlotSpec& slot) {
    return slot.name == signature.outputs[output].shares;
  });
  if (input == signature.inputs.end()) return;
  const auto slot = static_cast<size_t>(input - signature.inputs.begin());
  const int count = static_cast<int>(node.args.size()) - firstOutput;
  if (call.slots[slot + 1] - call.slots[slot] != count) return;
  for (int i = 0; i < count; ++i) call.sharing.emplace_back(firstOutput + i, call.slots[slot] + i);
}

// Appends values of attributes to a node.
class Attributes {
 public:
  explicit Attributes(CallNode& node) : node_(node) {}

  void ints(const std::vector<int64_t>& values) { append('i', node_.ints, values); }
  void reals(const std::vector<double>& values) { append('r', node_.reals, values); }
  void strings(const std::vector<std::string>& values) { append('s', node_.strings, values); }

 private:
  template <typename T>
  void append(char kind, std::vector<T>& all, const std::vector<T>& values) {
    node_.attrs.push_back(kind + std::to_string(values.size()));
    all.insert(all.end(), values.begin(), values.end());
  }

  CallNode& node_;
};

// What the op lacks has no values.
void appendAbsent(AttributeKind kind, Attributes& attributes) {
  switch (kind) {
    case AttributeKind::kBool:
    case AttributeKind::kInt:
    case AttributeKind::kInts: return attributes.ints({});
    case AttributeKind::kReal:
    case AttributeKind::kReals: return attributes.reals({});
    case AttributeKind::kText:
    case AttributeKind::kTexts: return attributes.strings({});
  }
}

bool appendAttribute(const pd::OpView& op, StringRef name, Attributes& attributes) {
  using Type = pd::AttrType;
  const pd::AttrRow* row = op.spec() ? op.spec()->attribute(name) : nullptr;
  if (!row) return false;
  switch (row->types.front()) {
    case Type::Int:
    case Type::Long: attributes.ints({op.getInt(name)}); return true;
    case Type::Bool: attributes.ints({op.getBool(name)}); return true;
    case Type::Float:
    case Type::Float64:
    case Type::Scalar: attributes.reals({op.getFloat(name)}); return true;
    case Type::String: attributes.strings({op.getString(name)}); return true;
    case Type::Ints:
    case Type::Longs:
    case Type::Bools: attributes.ints(op.getInts(name)); return true;
    case Type::Floats:
    case Type::Float64s:
    case Type::Scalars: attributes.reals(op.getFloats(name)); return true;
    case Type::Strings: attributes.strings(op.getStrings(name)); return true;
    default: return false;
  }
}

bool isGradient(const pd::OpView& op) { return op.spec() && op.spec()->gradient; }

}  // namespace

TensorRef OpLowering::nothing() {
  return {program_.plan().addBuffer({.name = "@EMPTY@", .dims = {0}}), DType::kFloat32, {0}};
}

LogicalResult OpLowering::callRow() {
  std::string error;
  const std::optional<CallRow> row = CallRow::parse(rule_.call, error);
  if (!row) return op_.operation()->emitError() << op_.type() << ": " << error;
  const kernels::Signature& signature = row->signature();
  Node node{.op = program_.position()};
  CallNode call{.callee = signature.name};
  auto append = [&](const TensorRef& tensor, bool write, bool read) {
    int buffer = tensor.buffer;
    const Buffer& b = program_.buffer(buffer);
    if (b.space != Space::Value && b.dims != tensor.dims)
      buffer = program_.plan().addView(buffer, b.name, tensor.dims);
    node.args.push_back(buffer);
    node.writes.push_back(write);
    node.reads.push_back(read);
  };
  // An output whose old value the op may leave as it is (`$Out` among the inputs) starts as a copy
  // of it; lists are where it was already.
  auto startsAsOld = [&](StringRef slot, unsigned index, const TensorRef& to) {
    const std::string hidden = ("$" + slot).str();
    mlir::Value old = op_.input(hidden, index);
    if (!old) return false;
    const bool list = program_.info(old).kind == pd::Kind::TensorArray;
    if (!list && !old.getDefiningOp<pd::UndefOp>()) copy(*in(hidden, index), to);
    return list || !old.getDefiningOp<pd::UndefOp>();
  };
  call.slots.push_back(0);
  for (const std::string& slot : op_.inputSlots()) {
    const bool taken = llvm::any_of(signature.inputs, [&](const kernels::SlotSpec& input) {
      return row->nameInOp(input.name) == slot;
    });
    if (has(slot) && !StringRef(slot).starts_with("$") && !taken && !isGradient(op_))
      return unsupported("input " + slot);
  }
  for (const kernels::SlotSpec& input : signature.inputs) {
    const StringRef slot = row->nameInOp(input.name);
    const unsigned count = slot.empty() ? 0 : op_.inputCount(slot);
    for (unsigned i = 0; i < count; ++i) {
      auto tensor = in(slot, i);
      // Positions in a list stay; a lone hole is an absent slot.
      if (!tensor && count == 1) continue;
      append(tensor ? *tensor : nothing(), false, true);
    }
    call.slots.push_back(static_cast<int>(node.args.size()));
  }
  std::vector<int64_t> needed;
  for (auto [number, output] : llvm::enumerate(signature.outputs)) {
    const int first = static_cast<int>(node.args.size());
    const StringRef slot = row->nameInOp(output.name);
    const unsigned count = slot.empty() ? 0 : op_.outputCount(slot);
    bool any = false;
    for (unsigned i = 0; i < count; ++i) any |= out(slot, i).has_value();
    needed.push_back(any);
    for (unsigned i = 0; any && i < count; ++i) {
      auto tensor = out(slot, i);
      append(tensor ? *tensor : nothing(), true, tensor && startsAsOld(slot, i, *tensor));
    }
    share(node, call, signature, number, first);
    call.slots.push_back(static_cast<int>(node.args.size()));
  }
  Attributes attributes(call);
  for (const kernels::AttributeSpec& attribute : signature.attributes) {
    const StringRef name = row->nameInOp(attribute.name);
    if (name.empty()) appendAbsent(attribute.kind, attributes);
    else if (name == "@version") attributes.ints({version()});
    else if (name == "@defects") attributes.ints({!mendsDefects()});
    else if (name == "@type") attributes.strings({op_.type().str()});
    else if (name == "@needed") attributes.ints(needed);
    else if (!appendAttribute(op_, name, attributes)) return unsupported("attribute " + name);
  }
  node.keep = op_.spec() && op_.spec()->effects != 0;
  node.what = std::move(call);
  program_.add(std::move(node));
  return llvm::success();
}

}  // namespace dtranspile::lower
