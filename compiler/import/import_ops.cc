// Ops with their attributes and slots. Part of the importer (importer.h).
#include "compiler/import/importer.h"
#include "compiler/program_desc/attributes.h"
#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile {

using framework::OpDesc;
using mlir::Attribute;
using mlir::Value;

namespace {

// Codes of attribute types that refer to variables.
constexpr int kVarAttr = 13, kVarsAttr = 14;

bool before(const mlir::NamedAttribute& a, const mlir::NamedAttribute& b) {
  return a.getName().getValue() < b.getName().getValue();
}

}  // namespace

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// Cached by the bytes in the file: programs repeat the same attributes in every op.
mlir::FailureOr<mlir::NamedAttribute> Importer::attributeOf(int block, int index,
                                                            const WireAttr& attribute) {
  auto known = attributes_.find(llvm::CachedHashStringRef(attribute.bytes));
  if (known != attributes_.end()) return known->second;
  OpDesc::Attr parsed;
  parsed.ParsePartialFromArray(attribute.bytes.data(), static_cast<int>(attribute.bytes.size()));
  std::string why;
  Attribute value = importAttribute(builder_, parsed, why);
  if (!value) return error(block, index) << "has attribute '" << attribute.name << "' that " << why;
  mlir::NamedAttribute named(builder_.getStringAttr(attribute.name), value);
  attributes_.try_emplace(llvm::CachedHashStringRef(attribute.bytes), named);
  return named;
}

// A dictionary of MLIR is sorted; where the file has another order (or repeats an attribute) the
// positions are kept, so that export gives the same bytes.
mlir::FailureOr<AttrList> Importer::makeAttributes(int block, int index) {
  llvm::SmallVector<mlir::NamedAttribute, 32> inFile;
  for (const WireAttr& attribute : program_.blocks[block].ops[index].attrs) {
    mlir::FailureOr<mlir::NamedAttribute> named = attributeOf(block, index, attribute);
    if (mlir::failed(named)) return mlir::failure();
    inFile.push_back(*named);
  }
  AttrList made;
  llvm::SmallVector<mlir::NamedAttribute, 32> sorted = inFile;
  bool ascending = true;
  for (size_t i = 1; i < inFile.size(); ++i) ascending &= before(inFile[i - 1], inFile[i]);
  if (!ascending) {
    std::sort(sorted.begin(), sorted.end(), before);
    for (size_t i = 1; i < sorted.size(); ++i)
      if (sorted[i].getName() == sorted[i - 1].getName() &&
          sorted[i].getValue() != sorted[i - 1].getValue())
        return error(block, index) << "has attribute '" << sorted[i].getName().getValue()
                                   << "' twice, with different values";
    sorted.erase(std::unique(sorted.begin(), sorted.end(),
                             [](auto& a, auto& b) { return a.getName() == b.getName(); }),
                 sorted.end());
    llvm::SmallVector<int32_t> positions;
    for (const mlir::NamedAttribute& named : inFile)
      positions.push_back(
          static_cast<int32_t>(llvm::lower_bound(sorted, named, before) - sorted.begin()));
    made.order = builder_.getDenseI32ArrayAttr(positions);
  }
  made.dictionary = mlir::DictionaryAttr::getWithSorted(context_, sorted);
  return made;
}

mlir::FailureOr<AttrList> Importer::attributesOf(int block, int index) {
  llvm::CachedHashStringRef bytes(program_.blocks[block].ops[index].attrBytes);
  auto known = bytes.size() ? attrLists_.find(bytes) : attrLists_.end();
  if (known != attrLists_.end()) return known->second;
  mlir::FailureOr<AttrList> made = makeAttributes(block, index);
  if (mlir::succeeded(made) && bytes.size()) attrLists_.try_emplace(bytes, *made);
  return made;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

const OpKind& Importer::kindOf(llvm::StringRef type) {
  auto found = opKinds_.find(llvm::CachedHashStringRef(type));
  if (found != opKinds_.end()) return found->second;
  const pd::OpSpec* spec = pd::findOp(type);
  OpKind kind{mlir::OperationName(spec ? ("pd." + type).str() : "pd.opaque", context_), spec,
              spec ? mlir::StringAttr() : builder_.getStringAttr(type)};
  return opKinds_.try_emplace(llvm::CachedHashStringRef(type), kind).first->second;
}

// Names of slots are keys: each once, and none that looks like our hidden ones.
mlir::LogicalResult Importer::checkSlots(int block, int index, llvm::ArrayRef<WireSlot> slots,
                                         const char* direction) {
  llvm::SmallDenseSet<llvm::StringRef, 16> seen;
  for (const WireSlot& slot : slots) {
    if (slot.parameter.starts_with("$"))
      return error(block, index) << "has " << direction << " slot '" << slot.parameter
                                 << "'; names of slots do not begin with '$'";
    bool fresh = true;
    if (slots.size() > 8) fresh = seen.insert(slot.parameter).second;
    else
      for (const WireSlot* other = slots.begin(); other != &slot; ++other)
        fresh &= other->parameter != slot.parameter;
    if (!fresh)
      return error(block, index) << "has " << direction << " slot '" << slot.parameter << "' twice";
  }
  return mlir::success();
}

// Operands in the order of slots: what the blocks of the op capture, its inputs, variables in
// attributes, old values of outputs.
mlir::ArrayAttr Importer::importInputs(int block, int index, const OpKind& kind, Cells& cells,
                                       llvm::SmallVectorImpl<Value>& operands) {
  const WireOp& op = program_.blocks[block].ops[index];
  SlotPattern pattern;
  auto operand = [&](Name name, bool strong) {
    pattern.argument(name != kEmptyName);
    if (name != kEmptyName) operands.push_back(read(block, name, cells, strong));
  };
  for (int child : analysis_.owned(block, index)) {
    const BlockInterface& inner = analysis_.interface(child);
    pattern.slot("", "$capture", inner.captures.size());
    for (Name name : inner.captures) operand(name, inner.readFirst.lookup(name));
  }
  for (const WireSlot& slot : op.inputs) {
    pattern.slot("", slot.parameter, slot.arguments.size());
    for (Name name : slot.arguments) operand(name, true);
  }
  for (const WireAttr& attribute : op.attrs) {
    if (attribute.type != kVarAttr && attribute.type != kVarsAttr) continue;
    pattern.slot("$", attribute.name, attribute.references.size());
    for (Name name : attribute.references) operand(name, true);
  }
  for (const WireSlot& slot : op.outputs) {
    const pd::Slot* row = kind.spec ? kind.spec->output(slot.parameter) : nullptr;
    if (!row || !row->updates || slot.arguments.empty()) continue;
    pattern.slot("$", slot.parameter, slot.arguments.size());
    for (Name name : slot.arguments) operand(name, false);
  }
  mlir::ArrayAttr& made = inputPatterns_[pattern.key()];
  if (!made) made = pattern.make(builder_, blank_, empty_);
  return made;
}

// Names of results in the order of slots: the outputs, then what the blocks of the op write
// besides.
mlir::ArrayAttr Importer::importOutputs(int block, int index,
                                        llvm::SmallVectorImpl<Name>& results) {
  const WireOp& op = program_.blocks[block].ops[index];
  llvm::SmallVector<Attribute> slots;
  llvm::SmallVector<mlir::StringAttr> arguments;
  for (const WireSlot& slot : op.outputs) {
    arguments.clear();
    for (Name name : slot.arguments) {
      arguments.push_back(nameAttr(name));
      if (name != kEmptyName) results.push_back(name);
    }
    slots.push_back(pd::SlotAttr::get(context_, slotName(slot.parameter), arguments));
  }
  llvm::ArrayRef<int> children = analysis_.owned(block, index);
  if (children.empty()) return builder_.getArrayAttr(slots);
  llvm::DenseSet<Name> listed(results.begin(), results.end());
  for (int child : children) {
    arguments.clear();
    for (Name name : analysis_.interface(child).written) {
      if (!listed.insert(name).second) continue;
      arguments.push_back(nameAttr(name));
      results.push_back(name);
    }
    if (!arguments.empty())
      slots.push_back(pd::SlotAttr::get(context_, slotName("$written"), arguments));
  }
  return builder_.getArrayAttr(slots);
}

// Reads operands from the cells that their names hold now, makes the op with its regions, and
// writes its results to theirs.
mlir::LogicalResult Importer::importOp(int block, int index, Cells& cells) {
  const WireOp& op = program_.blocks[block].ops[index];
  if (mlir::failed(checkSlots(block, index, op.inputs, "input")) ||
      mlir::failed(checkSlots(block, index, op.outputs, "output")))
    return mlir::failure();
  OpKind kind = kindOf(op.type);
  mlir::FailureOr<AttrList> attributes = attributesOf(block, index);
  if (mlir::failed(attributes)) return mlir::failure();
  llvm::SmallVector<Value, 16> operands;
  llvm::SmallVector<Name, 16> results;
  llvm::SmallVector<mlir::Type, 16> types;
  mlir::ArrayAttr ins = importInputs(block, index, kind, cells, operands),
                  outs = importOutputs(block, index, results);
  for (Name name : results) types.push_back(typeOf(block, name));
  // In alphabetical order, as a dictionary wants them.
  llvm::SmallVector<mlir::NamedAttribute, 8> all = {{keys_.attrs, attributes->dictionary}};
  if (!op.unknown.empty())
    all.emplace_back(keys_.extra, builder_.getStringAttr(llvm::toHex(op.unknown)));
  all.emplace_back(keys_.ins, ins);
  if (op.isTarget) all.emplace_back(keys_.isTarget, builder_.getBoolAttr(*op.isTarget));
  if (attributes->order) all.emplace_back(keys_.order, attributes->order);
  all.emplace_back(keys_.outs, outs);
  if (kind.type) all.emplace_back(keys_.type, kind.type);
  llvm::ArrayRef<int> children = analysis_.owned(block, index);
  mlir::Operation* made = mlir::Operation::create(
      at(block, index), kind.name, types, operands,
      mlir::DictionaryAttr::getWithSorted(context_, all), mlir::OpaqueProperties(nullptr),
      mlir::BlockRange(), static_cast<unsigned>(children.size()));
  builder_.insert(made);
  if (!children.empty() && mlir::failed(importRegions(block, index, made, cells)))
    return mlir::failure();
  correctTypes(block, kind, results, made);
  for (auto [name, value] : llvm::zip_equal(results, made->getResults()))
    write(block, name, value, cells, !children.empty());
  return mlir::success();
}

}  // namespace dtranspile
