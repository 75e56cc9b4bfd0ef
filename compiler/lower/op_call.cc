// Call nodes: that of a row (call_row.h), and those that rules' functions ask for.
#include "compiler/lower/call_row.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/op_lowering.h"
#include "compiler/lower/rules.h"
#include "dialects/pd/op_table.h"
#include "runtime/kernels/signatures.h"

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

// What the op lacks has no values.
void appendAbsent(AttributeKind kind, CallNode& call) {
  switch (kind) {
    case AttributeKind::kBool:
    case AttributeKind::kInt:
    case AttributeKind::kInts: return call.addInts({});
    case AttributeKind::kReal:
    case AttributeKind::kReals: return call.addReals({});
    case AttributeKind::kText:
    case AttributeKind::kTexts: return call.addStrings({});
  }
}

// Of its type in the table, the program's value or the default. False for types that no call takes:
// blocks, variables.
bool appendAttribute(const pd::OpView& op, StringRef name, CallNode& call) {
  using Type = pd::AttrType;
  const pd::AttrRow* row = op.spec() ? op.spec()->attribute(name) : nullptr;
  if (!row) return false;
  switch (row->types.front()) {
    case Type::Int:
    case Type::Long: call.addInts({op.getInt(name)}); return true;
    case Type::Bool: call.addInts({op.getBool(name)}); return true;
    case Type::Float:
    case Type::Float64:
    case Type::Scalar: call.addReals({op.getFloat(name)}); return true;
    case Type::String: call.addStrings({op.getString(name)}); return true;
    case Type::Ints:
    case Type::Longs:
    case Type::Bools: call.addInts(op.getInts(name)); return true;
    case Type::Floats:
    case Type::Float64s:
    case Type::Scalars: call.addReals(op.getFloats(name)); return true;
    case Type::Strings: call.addStrings(op.getStrings(name)); return true;
    default: return false;
  }
}

void append(const OpLowering::CallValue& value, CallNode& call) {
  if (const auto* number = std::get_if<int64_t>(&value)) call.addInts({*number});
  else if (const auto* real = std::get_if<double>(&value)) call.addReals({*real});
  else if (const auto* text = std::get_if<std::string>(&value)) call.addStrings({*text});
  else call.addInts(std::get<std::vector<int64_t>>(value));
}

bool isGradient(const pd::OpView& op) { return op.spec() && op.spec()->gradient; }

}  // namespace

// Library calls look at dims: they are given those that the op sees.
int OpLowering::asSeen(const TensorRef& tensor) {
  const Buffer& b = program_.buffer(tensor.buffer);
  return b.space == Space::Value || b.dims == tensor.dims
             ? tensor.buffer
             : program_.plan().addView(tensor.buffer, b.name, tensor.dims);
}

// A call that the function of a rule puts together itself, with tensors and attributes by their
// names in the signature, in any order. Slots that are not given are empty, attributes zero or
// empty.
void OpLowering::call(StringRef function, const CallArguments& given) {
  const kernels::Signature* signature = kernels::FindSignature(function.str());
  assert(signature && "a library call without a signature");
  Node node{.op = program_.position(), .keep = given.keep};
  CallNode call{.callee = signature->name, .slots = {0}};
  size_t taken = 0;
  auto slots = [&](const std::vector<kernels::SlotSpec>& specs, bool write) {
    for (const kernels::SlotSpec& spec : specs) {
      for (const auto& [slot, tensor] : given.tensors) {
        if (slot != spec.name) continue;
        ++taken;
        if (program_.buffer(tensor.buffer).space == Space::Value && !given.anyExtents)
          refuse(function);
        node.args.push_back(asSeen(tensor));
        node.writes.push_back(write);
        node.reads.push_back(!write);
      }
      call.slots.push_back(static_cast<int>(node.args.size()));
    }
  };
  slots(signature->inputs, false);
  slots(signature->outputs, true);
  for (const kernels::AttributeSpec& spec : signature->attributes) {
    const auto found = llvm::find_if(
        given.attributes, [&](const auto& attribute) { return attribute.first == spec.name; });
    if (found == given.attributes.end()) {
      appendAbsent(spec.kind, call);
      continue;
    }
    ++taken;
    append(found->second, call);
  }
  assert(taken == given.tensors.size() + given.attributes.size() &&
         "a slot or attribute that the signature lacks");
  node.what = std::move(call);
  program_.add(std::move(node));
}

TensorRef OpLowering::nothing() {
  return {program_.plan().addBuffer({.name = "@EMPTY@", .dims = {0}}), DType::kFloat32, {0}};
}

// The call of the rule's row: the op's own slots and attributes, under the names that the row says.
// Inputs that the call does not take are refused where the program has them, but for gradient ops,
// which are given more than they need.
LogicalResult OpLowering::callRow() {
  std::string error;
  const std::optional<CallRow> row = CallRow::parse(rule_.call, error);
  if (!row) return op_.operation()->emitError() << op_.type() << ": " << error;
  const kernels::Signature& signature = row->signature();
  Node node{.op = program_.position()};
  CallNode call{.callee = signature.name};
  auto append = [&](const TensorRef& tensor, bool write, bool read) {
    node.args.push_back(asSeen(tensor));
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
  for (const kernels::AttributeSpec& attribute : signature.attributes) {
    const StringRef name = row->nameInOp(attribute.name);
    if (name.empty()) appendAbsent(attribute.kind, call);
    else if (name == "@version") call.addInts({version()});
    else if (name == "@defects") call.addInts({!mendsDefects()});
    else if (name == "@type") call.addStrings({op_.type().str()});
    else if (name == "@needed") call.addInts(needed);
    else if (!appendAttribute(op_, name, call)) return unsupported("attribute " + name);
  }
  node.keep = op_.spec() && op_.spec()->effects != 0;
  node.what = std::move(call);
  program_.add(std::move(node));
  return llvm::success();
}

}  // namespace dtranspile::lower
