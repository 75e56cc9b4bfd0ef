// One op model for all framework operators: a row of the operator table becomes a registered op of
// dialect pd. Holds their assembly format, verifier and effects; op_view.h is how everybody else
// reads them.
//
//   %2 = pd.mul X(%0) Y(%1) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32} : (tensor<?x10xf32>,
//   tensor<10x1xf32>) -> tensor<?x1xf32> pd.while "$capture"(%0, %1) Condition(%2) X(%0) ->
//   Out("i") StepScopes("s") {…} blocks [{…}] (^bb…) with {…} : (…) -> (…)
#include <mutex>

#include "dialects/pd/form_only.h"
#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/OpImplementation.h"

namespace dtranspile::pd {
namespace {

using mlir::Attribute;
using mlir::NamedAttrList;
using mlir::Operation;
using mlir::OperationName;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

void printName(mlir::OpAsmPrinter& p, llvm::StringRef name) { p.printKeywordOrString(name); }

void printInputs(Operation* op, mlir::OpAsmPrinter& p) {
  unsigned at = 0;
  for (Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("ins")) {
    auto slot = llvm::cast<SlotAttr>(attribute);
    p << ' ';
    printName(p, slot.getName().getValue());
    p << '(';
    llvm::interleaveComma(slot.getArgs(), p, [&](mlir::StringAttr argument) {
      if (argument.getValue() == kEmptyArgument) p << "empty";
      else p << op->getOperand(at++);
    });
    p << ')';
  }
}

void printOutputs(Operation* op, mlir::OpAsmPrinter& p) {
  mlir::ArrayAttr slots = op->getAttrOfType<mlir::ArrayAttr>("outs");
  if (slots.empty()) return;
  p << " ->";
  for (Attribute attribute : slots) {
    auto slot = llvm::cast<SlotAttr>(attribute);
    p << ' ';
    printName(p, slot.getName().getValue());
    p << '(';
    llvm::interleaveComma(slot.getArgs(), p, [&](mlir::StringAttr argument) {
      if (argument.getValue() == kEmptyArgument) p << "empty";
      else p.printAttributeWithoutType(argument);
    });
    p << ')';
  }
}

void printRowOp(Operation* op, mlir::OpAsmPrinter& p) {
  if (!op->getAttrOfType<mlir::ArrayAttr>("ins") || !op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    p.printGenericOp(op, /*printOpName=*/false);
    return;
  }
  llvm::StringRef name = op->getName().stripDialect();
  if (name == "opaque") {
    p << ' ';
    p.printAttributeWithoutType(op->getAttr("type"));
  }
  printInputs(op, p);
  printOutputs(op, p);
  if (auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs"))
    if (!attributes.empty()) p << ' ' << attributes;
  if (op->getNumRegions()) {
    p << " blocks ";
    p.printAttribute(op->getAttr("blocks"));
    for (mlir::Region& region : op->getRegions()) {
      p << ' ';
      p.printRegion(region, /*printEntryBlockArgs=*/true, /*printBlockTerminators=*/true,
                    /*printEmptyBlock=*/true);
    }
  }
  llvm::SmallVector<mlir::NamedAttribute> others;
  for (mlir::NamedAttribute attribute : op->getAttrs())
    if (!llvm::is_contained({"ins", "outs", "attrs", "blocks", "type"},
                            attribute.getName().getValue()))
      others.push_back(attribute);
  if (!others.empty()) p << " with " << mlir::DictionaryAttr::get(op->getContext(), others);
  p << " : ";
  p.printFunctionalType(op);
}

using Operands = llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand>;

mlir::ParseResult parseSlot(mlir::OpAsmParser& parser, llvm::StringRef name, bool input,
                            Operands& operands, llvm::SmallVectorImpl<Attribute>& slots) {
  mlir::Builder& b = parser.getBuilder();
  llvm::SmallVector<mlir::StringAttr> arguments;
  auto argument = [&]() -> mlir::ParseResult {
    if (mlir::succeeded(parser.parseOptionalKeyword("empty"))) {
      arguments.push_back(b.getStringAttr(kEmptyArgument));
      return mlir::success();
    }
    if (input) {
      arguments.push_back(b.getStringAttr(""));
      return parser.parseOperand(operands.emplace_back());
    }
    std::string text;
    if (parser.parseString(&text)) return mlir::failure();
    arguments.push_back(b.getStringAttr(text));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren, argument))
    return mlir::failure();
  slots.push_back(SlotAttr::get(b.getContext(), b.getStringAttr(name), arguments));
  return mlir::success();
}

// Word of the section that ended a list of slots; no operator has a slot of that name.
enum class Section { None, Blocks, With };

mlir::ParseResult parseSlots(mlir::OpAsmParser& parser, bool input, Operands& operands,
                             llvm::SmallVectorImpl<Attribute>& slots, Section& next) {
  while (true) {
    std::string name;
    if (mlir::succeeded(parser.parseOptionalKeyword("blocks")))
      return next = Section::Blocks, mlir::success();
    if (mlir::succeeded(parser.parseOptionalKeyword("with")))
      return next = Section::With, mlir::success();
    if (mlir::failed(parser.parseOptionalKeywordOrString(&name))) return mlir::success();
    if (parseSlot(parser, name, input, operands, slots)) return mlir::failure();
  }
}

mlir::ParseResult parseRowOp(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::Builder& b = parser.getBuilder();
  Operands operands;
  llvm::SmallVector<Attribute> ins, outs;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (state.name.stripDialect() == "opaque") {
    std::string type;  // not as an attribute: that would take the `: type` of an op without slots
    if (parser.parseString(&type)) return mlir::failure();
    state.addAttribute("type", b.getStringAttr(type));
  }
  Section section = Section::None;
  if (parseSlots(parser, true, operands, ins, section)) return mlir::failure();
  if (section == Section::None && mlir::succeeded(parser.parseOptionalArrow()))
    if (parseSlots(parser, false, operands, outs, section)) return mlir::failure();
  NamedAttrList attributes;
  if (section == Section::None && parser.parseOptionalAttrDict(attributes)) return mlir::failure();
  auto begins = [&](Section which, llvm::StringRef word) {
    return section == which ||
           (section != Section::With && mlir::succeeded(parser.parseOptionalKeyword(word)));
  };
  state.addAttribute("attrs", attributes.getDictionary(b.getContext()));
  state.addAttribute("ins", b.getArrayAttr(ins));
  state.addAttribute("outs", b.getArrayAttr(outs));
  if (begins(Section::Blocks, "blocks")) {
    mlir::ArrayAttr blocks;
    if (parser.parseAttribute(blocks)) return mlir::failure();
    state.addAttribute("blocks", blocks);
    for (unsigned i = 0; i < blocks.size(); ++i)
      if (parser.parseRegion(*state.addRegion())) return mlir::failure();
  }
  if (begins(Section::With, "with")) {
    NamedAttrList others;
    if (parser.parseOptionalAttrDict(others)) return mlir::failure();
    state.addAttributes(others);
  }
  mlir::FunctionType type;
  if (parser.parseColonType(type)) return mlir::failure();
  if (type.getNumInputs() != operands.size())
    return parser.emitError(location, "has ")
           << operands.size() << " operands but " << type.getNumInputs() << " operand types";
  state.addTypes(type.getResults());
  return parser.resolveOperands(operands, type.getInputs(), location, state.operands);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

// An error at an op, with the user's own call stack where the program carries it.
mlir::InFlightDiagnostic complain(Operation* op) {
  mlir::InFlightDiagnostic diagnostic = op->emitOpError();
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  auto stack = attributes ? attributes.getAs<mlir::ArrayAttr>("op_callstack") : mlir::ArrayAttr();
  if (!stack || stack.empty()) return diagnostic;
  mlir::Diagnostic& note = diagnostic.attachNote() << "made here:";
  for (Attribute line : stack)
    if (auto text = llvm::dyn_cast<mlir::StringAttr>(line)) note << " " << text.getValue();
  return diagnostic;
}

// The number of operands or results that a slot list speaks of; -1 when it is malformed.
int countValues(mlir::ArrayAttr slots) {
  int count = 0;
  for (Attribute attribute : slots) {
    auto slot = llvm::dyn_cast<SlotAttr>(attribute);
    if (!slot) return -1;
    count += static_cast<int>(slot.values());
  }
  return count;
}

// The number of names in some lists of a block's description; -1 when they are no lists of names.
int countNames(mlir::DictionaryAttr description, llvm::ArrayRef<llvm::StringRef> lists) {
  int count = 0;
  for (llvm::StringRef list : lists) {
    Attribute value = description.get(list);
    if (!value) continue;
    auto names = llvm::dyn_cast<mlir::ArrayAttr>(value);
    if (!names ||
        !llvm::all_of(names, [](Attribute name) { return llvm::isa<mlir::StringAttr>(name); }))
      return -1;
    count += static_cast<int>(names.size());
  }
  return count;
}

mlir::LogicalResult verifyBlock(Operation* op, mlir::Region& region, Attribute description) {
  auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(description);
  int arguments = fields ? countNames(fields, {"captures", "locals"}) : -1,
      yielded = fields ? countNames(fields, {"written", "saved"}) : -1;
  if (arguments < 0 || yielded < 0)
    return complain(op) << "[P3] wants lists of names in 'blocks', found " << description;
  if (!region.hasOneBlock()) return complain(op) << "[P3] wants one block in a region";
  mlir::Block& block = region.front();
  if (arguments != static_cast<int>(block.getNumArguments()))
    return complain(op) << "[P3] describes " << arguments << " captures and locals of a block with "
                        << block.getNumArguments() << " arguments";
  if (block.empty() || !llvm::isa<YieldOp>(block.back()))
    return complain(op) << "[P3] wants pd.yield at the end of a block";
  if (yielded != static_cast<int>(block.back().getNumOperands()))
    return complain(op) << "[P3] describes " << yielded
                        << " written and saved names of a block that yields "
                        << block.back().getNumOperands();
  return mlir::success();
}

mlir::LogicalResult verifyStructure(Operation* op) {
  auto ins = op->getAttrOfType<mlir::ArrayAttr>("ins");
  auto outs = op->getAttrOfType<mlir::ArrayAttr>("outs");
  if (!ins || !outs)
    return complain(op) << "[P1] lacks its slot lists (attributes 'ins' and 'outs')";
  int operands = countValues(ins), results = countValues(outs);
  if (operands < 0 || results < 0)
    return complain(op) << "[P1] has a slot list that holds something else than #pd.slot";
  if (operands != static_cast<int>(op->getNumOperands()))
    return complain(op) << "[P2] has " << op->getNumOperands()
                        << " operands, its input slots speak of " << operands;
  if (results != static_cast<int>(op->getNumResults()))
    return complain(op) << "[P2] has " << op->getNumResults()
                        << " results, its output slots speak of " << results;
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  if (op->getNumRegions() != (blocks ? blocks.size() : 0))
    return complain(op) << "[P3] has " << op->getNumRegions() << " regions and describes "
                        << (blocks ? blocks.size() : 0) << " blocks";
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    if (mlir::failed(verifyBlock(op, op->getRegion(i), blocks[i]))) return mlir::failure();
  if (op->getName().stripDialect() == "opaque" && !op->getAttrOfType<mlir::StringAttr>("type"))
    return complain(op) << "[P1] lacks its type (attribute 'type')";
  return mlir::success();
}

mlir::LogicalResult verifySlots(Operation* op, mlir::ArrayAttr present,
                                const std::vector<Slot>& known, const char* direction) {
  for (Attribute attribute : present) {
    auto slot = llvm::cast<SlotAttr>(attribute);
    llvm::StringRef name = slot.getName().getValue();
    if (name.starts_with("$")) continue;
    if (llvm::count_if(present, [&](Attribute other) {
          return llvm::cast<SlotAttr>(other).getName() == slot.getName();
        }) > 1)
      return complain(op) << "[P5] has " << direction << " slot '" << name << "' twice";
    const Slot* row = nullptr;
    for (const Slot& candidate : known)
      if (candidate.name == name) row = &candidate;
    if (!row) return complain(op) << "[P4] has no " << direction << " slot '" << name << "'";
    if (slot.getArgs().size() > 1 && !row->duplicable)
      return complain(op) << "[P5] takes one argument in " << direction << " slot '" << name
                          << "', found " << slot.getArgs().size();
  }
  return mlir::success();
}

mlir::LogicalResult verifyRequired(Operation* op, mlir::ArrayAttr present,
                                   const std::vector<Slot>& known, const char* direction) {
  for (const Slot& slot : known) {
    if (slot.dispensable || (slot.duplicable && !slot.nonEmpty)) continue;
    bool found = false;
    for (Attribute attribute : present) {
      auto given = llvm::cast<SlotAttr>(attribute);
      found |= given.getName().getValue() == slot.name && !given.getArgs().empty();
    }
    if (!found)
      return complain(op) << "[P6] needs an argument in " << direction << " slot '" << slot.name
                          << "'";
  }
  return mlir::success();
}

std::optional<AttrType> frameworkType(Attribute value) {
  if (llvm::isa<mlir::BoolAttr>(value)) return AttrType::Bool;
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value))
    return integer.getType().isInteger(32) ? AttrType::Int : AttrType::Long;
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(value))
    return real.getType().isF32() ? AttrType::Float : AttrType::Float64;
  if (llvm::isa<mlir::StringAttr>(value)) return AttrType::String;
  if (llvm::isa<mlir::DenseI32ArrayAttr>(value)) return AttrType::Ints;
  if (llvm::isa<mlir::DenseI64ArrayAttr>(value)) return AttrType::Longs;
  if (llvm::isa<mlir::DenseF32ArrayAttr>(value)) return AttrType::Floats;
  if (llvm::isa<mlir::DenseF64ArrayAttr>(value)) return AttrType::Float64s;
  if (llvm::isa<mlir::DenseBoolArrayAttr>(value)) return AttrType::Bools;
  if (llvm::isa<mlir::ArrayAttr>(value)) return AttrType::Strings;
  if (llvm::isa<BlockAttr>(value)) return AttrType::Block;
  if (llvm::isa<BlocksAttr>(value)) return AttrType::Blocks;
  if (llvm::isa<RefAttr>(value)) return AttrType::Var;
  if (llvm::isa<RefsAttr>(value)) return AttrType::Vars;
  if (llvm::isa<ScalarAttr>(value)) return AttrType::Scalar;
  if (llvm::isa<ScalarsAttr>(value)) return AttrType::Scalars;
  return std::nullopt;
}

// An attribute may be given as a variable wherever it may be given at all.
bool accepts(const AttrRow& row, AttrType type) {
  return llvm::is_contained(row.types, type) || type == AttrType::Var || type == AttrType::Vars;
}

mlir::LogicalResult verifyAttributeTypes(Operation* op) {
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  if (!attributes) return complain(op) << "[P1] lacks its attributes (attribute 'attrs')";
  for (mlir::NamedAttribute named : attributes)
    if (!frameworkType(named.getValue()))
      return complain(op) << "[P7] has attribute '" << named.getName().getValue()
                          << "' of no framework type: " << named.getValue();
  return mlir::success();
}

mlir::LogicalResult verifyAttributes(Operation* op, const OpSpec& spec) {
  if (mlir::failed(verifyAttributeTypes(op))) return mlir::failure();
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  for (mlir::NamedAttribute named : attributes) {
    llvm::StringRef name = named.getName().getValue();
    std::optional<AttrType> type = frameworkType(named.getValue());
    if (isCommonAttribute(name)) continue;
    const AttrRow* row = spec.attribute(name);
    if (!row) return complain(op) << "[P7] has no attribute '" << name << "'";
    if (!accepts(*row, *type))
      return complain(op) << "[P8] takes another type in attribute '" << name << "', found "
                          << named.getValue();
  }
  for (const AttrRow& row : spec.attributes)
    if (row.required && !attributes.get(row.name))
      return complain(op) << "[P9] needs attribute '" << row.name << "'";
  return mlir::success();
}

mlir::LogicalResult verifyRow(Operation* op, const OpSpec& spec) {
  auto ins = op->getAttrOfType<mlir::ArrayAttr>("ins"),
       outs = op->getAttrOfType<mlir::ArrayAttr>("outs");
  if (mlir::failed(verifySlots(op, ins, spec.inputs, "input")) ||
      mlir::failed(verifySlots(op, outs, spec.outputs, "output")) ||
      mlir::failed(verifyRequired(op, ins, spec.inputs, "input")) ||
      mlir::failed(verifyRequired(op, outs, spec.outputs, "output")) ||
      mlir::failed(verifyAttributes(op, spec)))
    return mlir::failure();
  for (const Constraint& constraint : spec.constraints) {
    std::string found;
    if (mlir::failed(constraint.holds(OpView(op), found)))
      return complain(op) << "[" << constraint.label << "] " << constraint.statement
                          << (found.empty() ? "" : "; found " + found);
  }
  std::string why;
  if (mlir::failed(inferDeclared(OpView(op), why))) return complain(op) << "[P10] " << why;
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

// Row ops answer MemoryEffectsOpInterface from their row. Ops with regions keep the conservative
// answer: what their blocks do.
struct RowEffects : mlir::MemoryEffectOpInterface::FallbackModel<RowEffects> {
  void getEffects(Operation* op,
                  llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance>& effects) const {
    const OpSpec* spec = OpView(op).spec();
    unsigned what = spec ? spec->effects : kHost;
    auto touch = [&](mlir::SideEffects::Resource* resource) {
      effects.emplace_back(mlir::MemoryEffects::Read::get(), resource);
      effects.emplace_back(mlir::MemoryEffects::Write::get(), resource);
    };
    if (what & kRandom) touch(RandomResource::get());
    if ((what & (kHost | kCommunicates)) || op->getNumRegions()) touch(HostResource::get());
  }
};

class RowOpModel : public OperationName::Impl {
 public:
  RowOpModel(llvm::StringRef name, mlir::Dialect* dialect, mlir::TypeID id,
             mlir::detail::InterfaceMap interfaces, const OpSpec* spec)
      : Impl(name, dialect, id, std::move(interfaces)), spec_(spec) {}

  llvm::LogicalResult foldHook(Operation*, llvm::ArrayRef<Attribute>,
                               llvm::SmallVectorImpl<mlir::OpFoldResult>&) final {
    return mlir::failure();
  }
  void getCanonicalizationPatterns(mlir::RewritePatternSet&, mlir::MLIRContext*) final {}
  bool hasTrait(mlir::TypeID) final { return false; }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final { return &parseRowOp; }
  void populateDefaultAttrs(const OperationName&, NamedAttrList&) final {}
  void printAssembly(Operation* op, mlir::OpAsmPrinter& printer, llvm::StringRef) final {
    printer << op->getName();
    printRowOp(op, printer);
  }
  llvm::LogicalResult verifyInvariants(Operation* op) final {
    if (mlir::failed(verifyStructure(op))) return mlir::failure();
    if (!spec_) return mlir::success();
    return op->getDialect()->getRegisteredInterface<FormOnly>() ? verifyAttributeTypes(op)
                                                                : verifyRow(op, *spec_);
  }
  llvm::LogicalResult verifyRegionInvariants(Operation*) final { return mlir::success(); }

  // No properties: all attributes are in the op's dictionary.
  std::optional<Attribute> getInherentAttr(Operation*, llvm::StringRef) final {
    return std::nullopt;
  }
  void setInherentAttr(Operation*, mlir::StringAttr, Attribute) final {}
  void populateInherentAttrs(Operation*, NamedAttrList&) final {}
  llvm::LogicalResult verifyInherentAttrs(OperationName, NamedAttrList&,
                                          llvm::function_ref<mlir::InFlightDiagnostic()>) final {
    return mlir::success();
  }
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(OperationName, mlir::OpaqueProperties, mlir::OpaqueProperties) final {}
  void deleteProperties(mlir::OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, mlir::OpaqueProperties) final {}
  llvm::LogicalResult setPropertiesFromAttr(OperationName, mlir::OpaqueProperties, Attribute,
                                            llvm::function_ref<mlir::InFlightDiagnostic()>) final {
    return mlir::success();
  }
  Attribute getPropertiesAsAttr(Operation*) final { return {}; }
  void copyProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final {}
  bool compareProperties(mlir::OpaqueProperties, mlir::OpaqueProperties) final { return true; }
  llvm::hash_code hashProperties(mlir::OpaqueProperties) final { return {}; }

 private:
  const OpSpec* spec_;  // null: pd.opaque, pd.orphan_block
};

void registerRowOp(PdDialect* dialect, llvm::StringRef type, const OpSpec* spec) {
  // A type id per row, the same in every context; contexts may be made from several threads.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  static mlir::SelfOwningTypeID* ids = new mlir::SelfOwningTypeID[1024];
  static llvm::StringMap<mlir::TypeID>* known = new llvm::StringMap<mlir::TypeID>();
  auto found = known->find(type);
  if (found == known->end()) {
    assert(known->size() < 1024 && "more rows than type ids");
    found = known->insert({type, ids[known->size()]}).first;
  }
  mlir::detail::InterfaceMap interfaces;
  interfaces.insertModels<RowEffects>();
  std::string name = ("pd." + type).str();
  mlir::RegisteredOperationName::insert(
      std::make_unique<RowOpModel>(name, dialect, found->second, std::move(interfaces), spec), {});
}

}  // namespace

void PdDialect::registerRowOps() {
  registerRowOp(this, "opaque", nullptr);
  registerRowOp(this, "orphan_block", nullptr);
  for (const OpSpec& spec : builtinOps()) registerRowOp(this, spec.type, &spec);
}

}  // namespace dtranspile::pd
