// The signature text of library calls that take an op slot by slot (callRule of rules.h) to a call
// node.
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/program_lowering.h"
#include "dialects/pd/op_table.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;
using llvm::StringRef;

struct Signature {
  StringRef function;
  llvm::SmallVector<StringRef> inputs, attributes, outputs;
  llvm::SmallVector<StringRef> shared;  // per output the input whose memory it may have, or ""
};

llvm::SmallVector<StringRef> names(StringRef list) {
  llvm::SmallVector<StringRef> parts, trimmed;
  list.split(parts, ',', -1, false);
  for (StringRef part : parts) {
    if (!part.trim().empty()) trimmed.push_back(part.trim());
  }
  return trimmed;
}

Signature parse(StringRef text) {
  auto [head, outputs] = text.split("->");
  auto [function, rest] = head.split('(');
  auto [inputs, attributes] = rest.rtrim().drop_back().split(';');
  Signature signature{function.trim(), names(inputs), names(attributes), {}, {}};
  for (StringRef output : names(outputs)) {
    auto [slot, input] = output.split('=');
    signature.outputs.push_back(slot.trim());
    signature.shared.push_back(input.trim());
  }
  return signature;
}

// The arguments of output `slot` and of the input that it shares memory with.
void share(Node& node, const Signature& signature, size_t output, int firstOutput) {
  const auto* input = llvm::find(signature.inputs, signature.shared[output]);
  if (input == signature.inputs.end()) return;
  const size_t slot = static_cast<size_t>(input - signature.inputs.begin());
  const int count = static_cast<int>(node.args.size()) - firstOutput;
  if (node.slots[slot + 1] - node.slots[slot] != count) return;
  for (int i = 0; i < count; ++i) node.sharing.emplace_back(firstOutput + i, node.slots[slot] + i);
}

// Appends values of attributes to a node.
class Attributes {
 public:
  explicit Attributes(Node& node) : node_(node) {}

  template <typename Values>
  void ints(const Values& values) {
    node_.attrs.push_back("i" + std::to_string(values.size()));
    for (auto value : values) node_.ints.push_back(static_cast<int64_t>(value));
  }
  template <typename Values>
  void reals(const Values& values) {
    node_.attrs.push_back("r" + std::to_string(values.size()));
    for (auto value : values) node_.reals.push_back(static_cast<double>(value));
  }
  template <typename Values>
  void strings(const Values& values) {
    node_.attrs.push_back("s" + std::to_string(values.size()));
    for (const auto& value : values) node_.strings.push_back(value);
  }

 private:
  Node& node_;
};

bool appendAttribute(const pd::OpView& op, StringRef name, Attributes& attributes) {
  using Type = pd::AttrType;
  const pd::AttrRow* row = op.spec() ? op.spec()->attribute(name) : nullptr;
  if (!row) return false;
  switch (row->types.front()) {
    case Type::Int:
    case Type::Long: attributes.ints(std::vector<int64_t>{op.getInt(name)}); return true;
    case Type::Bool: attributes.ints(std::vector<int64_t>{op.getBool(name)}); return true;
    case Type::Float:
    case Type::Float64:
    case Type::Scalar: attributes.reals(std::vector<double>{op.getFloat(name)}); return true;
    case Type::String:
      attributes.strings(std::vector<std::string>{op.getString(name)});
      return true;
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

}  // namespace

TensorRef OpLowering::nothing() {
  return {program_.plan_.addBuffer({.name = "@EMPTY@", .dims = {0}}), DType::kFloat32, {0}};
}

LogicalResult OpLowering::callOp(StringRef text) {
  const Signature signature = parse(text);
  Node node{.kind = Node::Kind::Call, .op = program_.position_, .callee = signature.function.str()};
  auto append = [&](const TensorRef& tensor, bool write, bool read) {
    int buffer = tensor.buffer;
    const Buffer& b = program_.plan_.buffers[buffer];
    if (b.space != Space::Value && b.dims != tensor.dims)
      buffer = program_.plan_.addView(buffer, b.name, tensor.dims);
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
    const bool list = program_.infos_[old].kind == pd::Kind::TensorArray;
    if (!list && !old.getDefiningOp<pd::UndefOp>()) copy(*in(hidden, index), to);
    return list || !old.getDefiningOp<pd::UndefOp>();
  };
  node.slots.push_back(0);
  for (const std::string& slot : op_.inputSlots()) {
    if (has(slot) && !StringRef(slot).starts_with("$") &&
        !llvm::is_contained(signature.inputs, slot) && !op_.type().ends_with("_grad"))
      return unsupported("input " + slot);
  }
  for (StringRef slot : signature.inputs) {
    for (unsigned i = 0; i < op_.inputCount(slot); ++i) {
      auto tensor = in(slot, i);
      // Positions in a list stay; a lone hole is an absent slot.
      if (!tensor && op_.inputCount(slot) == 1) continue;
      append(tensor ? *tensor : nothing(), false, true);
    }
    node.slots.push_back(static_cast<int>(node.args.size()));
  }
  std::vector<int64_t> needed;
  for (auto [number, slot] : llvm::enumerate(signature.outputs)) {
    const int first = static_cast<int>(node.args.size());
    bool any = false;
    for (unsigned i = 0; i < op_.outputCount(slot); ++i) any |= out(slot, i).has_value();
    needed.push_back(any);
    for (unsigned i = 0; any && i < op_.outputCount(slot); ++i) {
      auto tensor = out(slot, i);
      append(tensor ? *tensor : nothing(), true, tensor && startsAsOld(slot, i, *tensor));
    }
    share(node, signature, number, first);
    node.slots.push_back(static_cast<int>(node.args.size()));
  }
  Attributes attributes(node);
  for (StringRef name : signature.attributes) {
    if (name == "@version") attributes.ints(std::vector<int64_t>{version()});
    else if (name == "@defects") attributes.ints(std::vector<int64_t>{!mendsDefects()});
    else if (name == "@type") attributes.strings(std::vector<std::string>{op_.type().str()});
    else if (name == "@needed") attributes.ints(needed);
    else if (!appendAttribute(op_, name, attributes)) return unsupported("attribute " + name);
  }
  if (op_.spec() && op_.spec()->effects != 0) node.keep = true;
  program_.add(std::move(node));
  return llvm::success();
}

}  // namespace dtranspile::lower
