// ProgramDesc to dialect pd: instructions over named cells become values (docs/dialects/pd.md). The order of work: views of the bytes
// (wire.cc), structure and block interfaces (blocks.cc), then one walk per block that keeps the current value of every name.
// Programs repeat themselves, so what has been built from some bytes once is found again by those bytes: attributes, kinds of
// variables, slot patterns.
#include "compiler/import/import.h"

#include "compiler/import/attributes.h"
#include "compiler/import/blocks.h"
#include "compiler/import/framework.pb.h"
#include "compiler/import/slot_pattern.h"
#include "compiler/import/var_kind.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile {
namespace {

using framework::OpDesc;
using mlir::Attribute;
using mlir::Value;

// Codes of attribute types that refer to variables.
constexpr int kVarAttr = 13, kVarsAttr = 14;

// The current value of every name while one block is walked. Persistables are forwarded within a block; a block op may have
// written any of them.
struct Cells {
  llvm::DenseMap<Name, Value> values;
  llvm::DenseMap<Name, Value> persistables;
};

// What is the same for all ops of a type.
struct OpKind {
  mlir::OperationName name;
  const pd::OpSpec* spec;
  mlir::StringAttr type;  // of pd.opaque
};

// The attributes of an op; `order` is null where the file has them sorted.
struct AttrList {
  mlir::DictionaryAttr dictionary;
  mlir::DenseI32ArrayAttr order;
};

template <typename Made>
using ByBytes = llvm::DenseMap<llvm::CachedHashStringRef, Made>;

// Names of the attributes that every op has.
struct Keys {
  explicit Keys(mlir::Builder& b)
      : attrs(b.getStringAttr("attrs")), extra(b.getStringAttr("extra")), ins(b.getStringAttr("ins")), isTarget(b.getStringAttr("is_target")),
        order(b.getStringAttr("order")), outs(b.getStringAttr("outs")), type(b.getStringAttr("type")) {}
  mlir::StringAttr attrs, extra, ins, isTarget, order, outs, type;
};

class Importer {
 public:
  Importer(mlir::ModuleOp module, const WireProgram& program, const ImportOptions& options)
      : context_(module.getContext()), builder_(context_), module_(module), program_(program), options_(options), analysis_(program, options.budget),
        keys_(builder_), nameAttrs_(program.names.size()), kinds_(program.variables) {
    file_ = builder_.getStringAttr(options.file);
    start_ = mlir::FileLineColLoc::get(file_, 0, 0);
    unknown_ = builder_.getUnknownLoc();
    blank_ = builder_.getStringAttr("");
    empty_ = builder_.getStringAttr(pd::kEmptyArgument);
  }

  mlir::FailureOr<pd::ProgramOp> run();

 private:
  mlir::LogicalResult importBlock(int index, Cells& cells);
  mlir::LogicalResult importOp(int block, int index, Cells& cells);
  mlir::LogicalResult importRegions(int block, int index, mlir::Operation* op, Cells& cells);
  mlir::LogicalResult importOrphan(int index);
  void importDecl(const WireVar& var);
  mlir::LogicalResult importVariables();
  mlir::LogicalResult fillRegion(int index, mlir::Region& region);
  mlir::DictionaryAttr describeBlock(int index, bool orphan);
  void describeProgram(pd::ProgramOp program);

  mlir::FailureOr<AttrList> attributesOf(int block, int index);
  mlir::FailureOr<AttrList> makeAttributes(int block, int index);
  mlir::FailureOr<mlir::NamedAttribute> attributeOf(int block, int index, const WireAttr& attribute);
  mlir::LogicalResult checkSlots(int block, int index, llvm::ArrayRef<WireSlot> slots, const char* direction);
  mlir::ArrayAttr importInputs(int block, int index, const OpKind& kind, Cells& cells, llvm::SmallVectorImpl<Value>& operands);
  mlir::ArrayAttr importOutputs(int block, int index, llvm::SmallVectorImpl<Name>& results);
  mlir::StringAttr slotName(llvm::StringRef name);
  const OpKind& kindOf(llvm::StringRef type);

  Value read(int block, Name name, Cells& cells, bool strong);
  void write(int block, Name name, Value value, Cells& cells, bool inRegion);
  const VarKind& kindOf(const WireVar& var);
  mlir::Type typeOf(int block, Name name);
  mlir::StringAttr nameAttr(Name name);
  mlir::ArrayAttr names(llvm::ArrayRef<Name> list);
  mlir::Location at(int block, int op);
  mlir::InFlightDiagnostic error(int block, int op);

  mlir::MLIRContext* context_;
  mlir::OpBuilder builder_;
  mlir::ModuleOp module_;
  const WireProgram& program_;
  const ImportOptions& options_;
  BlockAnalysis analysis_;
  const Keys keys_;
  std::vector<mlir::StringAttr> nameAttrs_;  // by Name, made when first used
  std::vector<const VarKind*> kinds_;        // by WireVar::number
  mlir::StringAttr file_, blank_, empty_;
  mlir::LocationAttr start_, unknown_;
  ByBytes<std::unique_ptr<VarKind>> varKinds_;
  ByBytes<OpKind> opKinds_;
  ByBytes<AttrList> attrLists_;
  ByBytes<mlir::NamedAttribute> attributes_;
  llvm::StringMap<mlir::ArrayAttr> inputPatterns_;
  llvm::StringMap<mlir::StringAttr> slotNames_;
  mlir::Operation* lastInput_ = nullptr;  // inputs of block 0 stand together behind the declarations
};

mlir::StringAttr Importer::nameAttr(Name name) {
  mlir::StringAttr& attribute = nameAttrs_[name];
  if (!attribute) attribute = builder_.getStringAttr(program_.names[name]);
  return attribute;
}

mlir::StringAttr Importer::slotName(llvm::StringRef name) {
  mlir::StringAttr& attribute = slotNames_[name];
  if (!attribute) attribute = builder_.getStringAttr(name);
  return attribute;
}

mlir::Location Importer::at(int block, int op) {
  if (static_cast<size_t>(block) < options_.positions.size() && static_cast<size_t>(op) < options_.positions[block].size()) op = options_.positions[block][op];
  llvm::SmallString<32> name;
  llvm::raw_svector_ostream(name) << "block " << block << ", op " << op;
  return mlir::NameLoc::get(builder_.getStringAttr(name), mlir::FileLineColLoc::get(file_, block, op));
}

// An error at an op, with the user's own call stack where the program carries it.
mlir::InFlightDiagnostic Importer::error(int block, int index) {
  const WireOp& op = program_.blocks[block].ops[index];
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(at(block, index)) << "op '" << op.type << "' ";
  OpDesc::Attr parsed;
  for (const WireAttr& attribute : op.attrs)
    if (attribute.name == "op_callstack" && parsed.ParsePartialFromArray(attribute.bytes.data(), static_cast<int>(attribute.bytes.size())) && parsed.strings_size())
      diagnostic.attachNote() << "made here: " << llvm::join(parsed.strings().begin(), parsed.strings().end(), " ");
  return diagnostic;
}

mlir::FailureOr<pd::ProgramOp> Importer::run() {
  if (!analysis_.run()) {
    const BlockError& why = analysis_.error;
    if (why.op >= 0) return error(why.block, why.op) << why.message;
    return mlir::emitError(start_) << "not a legal program: " << why.message;
  }
  if (mlir::failed(importVariables())) return mlir::failure();
  builder_.setInsertionPointToEnd(module_.getBody());
  auto program = pd::ProgramOp::create(builder_, start_, builder_.getStringAttr(options_.symbol));
  describeProgram(program);
  mlir::Block* body = &program.getBody().emplaceBlock();
  builder_.setInsertionPointToEnd(body);
  Cells cells;
  mlir::LogicalResult ok = importBlock(0, cells);
  for (int orphan : analysis_.orphans()) {
    if (mlir::failed(ok)) break;
    ok = importOrphan(orphan);
  }
  if (mlir::failed(ok)) {
    program.erase();
    return mlir::failure();
  }
  return program;
}

// Everything of the file that belongs to the program as a whole.
void Importer::describeProgram(pd::ProgramOp op) {
  if (program_.version) {
    framework::Version version;
    version.ParsePartialFromArray(program_.version->data(), static_cast<int>(program_.version->size()));
    if (version.has_version()) op->setAttr("version", builder_.getI64IntegerAttr(version.version()));
    else op->setAttr("version", builder_.getUnitAttr());
  }
  if (program_.opVersions) {
    framework::OpVersionMap map;
    map.ParsePartialFromArray(program_.opVersions->data(), static_cast<int>(program_.opVersions->size()));
    llvm::SmallVector<Attribute> pairs;
    for (const auto& pair : map.pair()) {
      pairs.push_back(builder_.getStringAttr(pair.op_name()));
      pairs.push_back(builder_.getI32IntegerAttr(pair.op_version().version()));
    }
    op->setAttr("op_versions", builder_.getArrayAttr(pairs));
  }
  op->setAttr("block", describeBlock(0, false));
  if (!program_.unknown.empty()) op->setAttr("extra", builder_.getStringAttr(llvm::toHex(program_.unknown)));
}

mlir::ArrayAttr Importer::names(llvm::ArrayRef<Name> list) {
  llvm::SmallVector<Attribute> attributes;
  for (Name name : list) attributes.push_back(nameAttr(name));
  return builder_.getArrayAttr(attributes);
}

mlir::DictionaryAttr Importer::describeBlock(int index, bool orphan) {
  const WireBlock& block = program_.blocks[index];
  mlir::NamedAttrList list;
  list.set("idx", builder_.getI32IntegerAttr(block.idx));
  list.set("parent", builder_.getI32IntegerAttr(block.parent));
  if (block.forward) list.set("forward", builder_.getI32IntegerAttr(*block.forward));
  if (!block.unknown.empty()) list.set("extra", builder_.getStringAttr(llvm::toHex(block.unknown)));
  if (index == 0) return list.getDictionary(context_);
  const BlockInterface& interface = analysis_.interface(index);
  if (!orphan) list.set("captures", names(interface.captures.getArrayRef()));
  list.set("locals", names(interface.locals.getArrayRef()));
  if (!orphan) list.set("written", names(interface.written.getArrayRef()));
  list.set("saved", names(interface.saved.getArrayRef()));
  return list.getDictionary(context_);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

const VarKind& Importer::kindOf(const WireVar& var) {
  const VarKind*& known = kinds_[var.number];
  if (known) return *known;
  std::unique_ptr<VarKind>& made = varKinds_[llvm::CachedHashStringRef(var.type)];
  if (!made) made = std::make_unique<VarKind>(makeVarKind(builder_, var.type));
  return *(known = made.get());
}

// A gradient block also knows the variables of the block that it differentiates, whose parent may be its own.
mlir::Type Importer::typeOf(int block, Name name) {
  const WireVar* var = analysis_.resolve(block, name);
  int forward = program_.blocks[block].forward.value_or(-1);
  if (!var && forward > 0) var = analysis_.resolve(forward, name);
  return var ? kindOf(*var).type : pd::RawType::get(context_, "UNDECLARED");
}

void Importer::importDecl(const WireVar& var) {
  const VarKind& kind = kindOf(var);
  auto flag = [&](std::optional<bool> value) { return value ? builder_.getBoolAttr(*value) : mlir::BoolAttr(); };
  pd::DeclOp::create(builder_, unknown_, nameAttr(var.name), kind.kind, kind.dtype, kind.dims, kind.lod, flag(var.persistable), flag(var.needCheckFeed),
                     flag(var.isParameter), flag(var.stopGradient),
                     kind.more || var.more ? builder_.getStringAttr(llvm::toHex(var.bytes)) : mlir::StringAttr());
}

// One pd.var per persistable name of any block, in order of declaration.
mlir::LogicalResult Importer::importVariables() {
  llvm::DenseSet<Name> trained;
  for (const WireBlock& block : program_.blocks)
    for (const WireOp& op : block.ops)
      for (const WireSlot& slot : op.inputs)
        if (slot.parameter == "Param") trained.insert(slot.arguments.begin(), slot.arguments.end());
  llvm::DenseMap<mlir::StringAttr, mlir::Operation*> symbols;
  builder_.setInsertionPointToStart(module_.getBody());
  for (mlir::Operation& op : *module_.getBody()) {
    if (auto name = op.getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName())) symbols[name] = &op;
    if (llvm::isa<pd::VarOp>(op)) builder_.setInsertionPointAfter(&op);
  }
  if (symbols.contains(builder_.getStringAttr(options_.symbol))) return mlir::emitError(start_) << "there is a '" << options_.symbol << "' in the module already";
  for (const WireBlock& block : program_.blocks) {
    for (const WireVar& var : block.vars) {
      if (!var.persistable.value_or(false)) continue;
      mlir::StringAttr name = nameAttr(var.name);
      if (name.empty() || name == options_.symbol)
        return mlir::emitError(start_) << "block " << block.idx << ": a persistable variable cannot be called '" << name.getValue() << "'";
      mlir::Operation*& symbol = symbols[name];
      if (!symbol) symbol = pd::VarOp::create(builder_, start_, name, kindOf(var).type, false);
      auto op = llvm::dyn_cast<pd::VarOp>(symbol);
      if (!op) return mlir::emitError(start_) << "block " << block.idx << ": the module has variable '" << name.getValue() << "' as something else";
      if (var.isParameter.value_or(trained.contains(var.name))) op.setParameter(true);
    }
  }
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

Value Importer::read(int block, Name name, Cells& cells, bool strong) {
  auto found = cells.values.find(name);
  if (found != cells.values.end()) return found->second;
  const WireVar* var = analysis_.resolve(block, name);
  mlir::Type type = typeOf(block, name);
  if (var && var->persistable.value_or(false)) {
    Value& value = cells.persistables[name];
    if (!value) value = pd::GetOp::create(builder_, unknown_, type, mlir::FlatSymbolRefAttr::get(nameAttr(name)));
    return value;
  }
  Value& value = cells.values[name];
  bool fed = block == 0 && var && pd::tensorOf(type) && !llvm::isa<pd::ArrayType>(type) && (strong || var->needCheckFeed.value_or(false));
  if (!fed) return value = pd::UndefOp::create(builder_, unknown_, type, nameAttr(name));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastInput_) builder_.setInsertionPointAfter(lastInput_);
  auto input = pd::InputOp::create(builder_, unknown_, type, nameAttr(name));
  lastInput_ = input;
  return value = input;
}

// A block op sets persistables inside its region; behind it they are read anew.
void Importer::write(int block, Name name, Value value, Cells& cells, bool inRegion) {
  if (!analysis_.isPersistable(block, name)) {
    cells.values[name] = value;
    return;
  }
  if (inRegion) return;
  pd::SetOp::create(builder_, unknown_, mlir::FlatSymbolRefAttr::get(nameAttr(name)), value);
  cells.persistables[name] = value;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

mlir::FailureOr<mlir::NamedAttribute> Importer::attributeOf(int block, int index, const WireAttr& attribute) {
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

bool before(const mlir::NamedAttribute& a, const mlir::NamedAttribute& b) { return a.getName().getValue() < b.getName().getValue(); }

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
      if (sorted[i].getName() == sorted[i - 1].getName() && sorted[i].getValue() != sorted[i - 1].getValue())
        return error(block, index) << "has attribute '" << sorted[i].getName().getValue() << "' twice, with different values";
    sorted.erase(std::unique(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.getName() == b.getName(); }), sorted.end());
    llvm::SmallVector<int32_t> positions;
    for (const mlir::NamedAttribute& named : inFile) positions.push_back(static_cast<int32_t>(llvm::lower_bound(sorted, named, before) - sorted.begin()));
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
  OpKind kind{mlir::OperationName(spec ? ("pd." + type).str() : "pd.opaque", context_), spec, spec ? mlir::StringAttr() : builder_.getStringAttr(type)};
  return opKinds_.try_emplace(llvm::CachedHashStringRef(type), kind).first->second;
}

// Names of slots are keys: each once, and none that looks like our hidden ones.
mlir::LogicalResult Importer::checkSlots(int block, int index, llvm::ArrayRef<WireSlot> slots, const char* direction) {
  llvm::SmallDenseSet<llvm::StringRef, 16> seen;
  for (const WireSlot& slot : slots) {
    if (slot.parameter.starts_with("$")) return error(block, index) << "has " << direction << " slot '" << slot.parameter << "'; names of slots do not begin with '$'";
    bool fresh = true;
    if (slots.size() > 8) fresh = seen.insert(slot.parameter).second;
    else for (const WireSlot* other = slots.begin(); other != &slot; ++other) fresh &= other->parameter != slot.parameter;
    if (!fresh) return error(block, index) << "has " << direction << " slot '" << slot.parameter << "' twice";
  }
  return mlir::success();
}


// Operands in the order of slots: what the blocks of the op capture, its inputs, variables in attributes, old values of outputs.
mlir::ArrayAttr Importer::importInputs(int block, int index, const OpKind& kind, Cells& cells, llvm::SmallVectorImpl<Value>& operands) {
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

// Names of results in the order of slots: the outputs, then what the blocks of the op write besides.
mlir::ArrayAttr Importer::importOutputs(int block, int index, llvm::SmallVectorImpl<Name>& results) {
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
    if (!arguments.empty()) slots.push_back(pd::SlotAttr::get(context_, slotName("$written"), arguments));
  }
  return builder_.getArrayAttr(slots);
}

mlir::LogicalResult Importer::importOp(int block, int index, Cells& cells) {
  const WireOp& op = program_.blocks[block].ops[index];
  if (mlir::failed(checkSlots(block, index, op.inputs, "input")) || mlir::failed(checkSlots(block, index, op.outputs, "output"))) return mlir::failure();
  OpKind kind = kindOf(op.type);
  mlir::FailureOr<AttrList> attributes = attributesOf(block, index);
  if (mlir::failed(attributes)) return mlir::failure();
  llvm::SmallVector<Value, 16> operands;
  llvm::SmallVector<Name, 16> results;
  llvm::SmallVector<mlir::Type, 16> types;
  mlir::ArrayAttr ins = importInputs(block, index, kind, cells, operands), outs = importOutputs(block, index, results);
  for (Name name : results) types.push_back(typeOf(block, name));
  // In alphabetical order, as a dictionary wants them.
  llvm::SmallVector<mlir::NamedAttribute, 8> all = {{keys_.attrs, attributes->dictionary}};
  if (!op.unknown.empty()) all.emplace_back(keys_.extra, builder_.getStringAttr(llvm::toHex(op.unknown)));
  all.emplace_back(keys_.ins, ins);
  if (op.isTarget) all.emplace_back(keys_.isTarget, builder_.getBoolAttr(*op.isTarget));
  if (attributes->order) all.emplace_back(keys_.order, attributes->order);
  all.emplace_back(keys_.outs, outs);
  if (kind.type) all.emplace_back(keys_.type, kind.type);
  llvm::ArrayRef<int> children = analysis_.owned(block, index);
  mlir::Operation* made = mlir::Operation::create(at(block, index), kind.name, types, operands, mlir::DictionaryAttr::getWithSorted(context_, all),
                                                  mlir::OpaqueProperties(nullptr), mlir::BlockRange(), static_cast<unsigned>(children.size()));
  builder_.insert(made);
  if (!children.empty() && mlir::failed(importRegions(block, index, made, cells))) return mlir::failure();
  for (auto [name, value] : llvm::zip_equal(results, made->getResults())) write(block, name, value, cells, !children.empty());
  return mlir::success();
}

mlir::LogicalResult Importer::importRegions(int block, int index, mlir::Operation* op, Cells& cells) {
  llvm::SmallVector<Attribute> descriptions;
  for (auto [child, region] : llvm::zip_equal(analysis_.owned(block, index), op->getRegions())) {
    descriptions.push_back(describeBlock(child, false));
    if (mlir::failed(fillRegion(child, region))) return mlir::failure();
  }
  op->setAttr("blocks", builder_.getArrayAttr(descriptions));
  cells.persistables.clear();
  return mlir::success();
}

mlir::LogicalResult Importer::importOrphan(int index) {
  mlir::OperationState state(at(index, 0), "pd.orphan_block");
  state.addAttribute("ins", builder_.getArrayAttr({}));
  state.addAttribute("outs", builder_.getArrayAttr({}));
  state.addAttribute("attrs", builder_.getDictionaryAttr({}));
  state.addAttribute("blocks", builder_.getArrayAttr({describeBlock(index, true)}));
  state.addRegion();
  return fillRegion(index, builder_.create(state)->getRegion(0));
}

mlir::LogicalResult Importer::fillRegion(int index, mlir::Region& region) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block* body = builder_.createBlock(&region);
  const BlockInterface& interface = analysis_.interface(index);
  Cells cells;
  for (const auto* list : {&interface.captures, &interface.locals})
    for (Name name : *list) cells.values[name] = body->addArgument(typeOf(index, name), unknown_);
  if (mlir::failed(importBlock(index, cells))) return mlir::failure();
  llvm::SmallVector<Value> yields;
  for (Name name : interface.written) yields.push_back(read(index, name, cells, false));
  for (Name name : interface.saved) yields.push_back(read(index, name, cells, false));
  pd::YieldOp::create(builder_, unknown_, yields);
  return mlir::success();
}

mlir::LogicalResult Importer::importBlock(int index, Cells& cells) {
  const WireBlock& block = program_.blocks[index];
  for (const WireVar& var : block.vars) importDecl(var);
  if (index == 0 && !builder_.getInsertionBlock()->empty()) lastInput_ = &builder_.getInsertionBlock()->back();
  cells.values.reserve(block.vars.size());
  for (int i = 0; i < static_cast<int>(block.ops.size()); ++i)
    if (mlir::failed(importOp(index, i, cells))) return mlir::failure();
  return mlir::success();
}

}  // namespace

mlir::FailureOr<pd::ProgramOp> importProgram(mlir::ModuleOp module, llvm::StringRef bytes, const ImportOptions& options) {
  WireProgram program;
  std::string why = readWire(bytes, options.budget, program);
  if (!why.empty()) return mlir::emitError(mlir::FileLineColLoc::get(module.getContext(), options.file, 0, 0)) << "not a ProgramDesc: " << why;
  return Importer(module, program, options).run();
}

}  // namespace dtranspile
