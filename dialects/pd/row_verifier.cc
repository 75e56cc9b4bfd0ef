// What holds of an op that is a row of the operator table. The labels in brackets are those of
// docs/dialects/pd.md.
#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/row_op.h"

namespace dtranspile::pd {
namespace {

using mlir::Attribute;
using mlir::Operation;

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

// A region against its description in `blocks`: its arguments are what it captures and what is
// local to it, its terminator yields what it writes and what it saves for the gradient.
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

}  // namespace

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

namespace {

// Slots of the op are slots of its row, each of them once. Slots that begin with `$` are none of a
// row: they say what the file says by names alone, as the values that a block captures (`$capture`)
// and sets (`$written`).
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

// The other direction: a slot of the row that no op may do without has an argument. A duplicable
// slot is a list, which may be empty where the row does not say otherwise.
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

// The framework's type of an attribute, by how dialect pd holds it (pd.td); none for attributes
// that no program file can hold. An ArrayAttr is a list of strings.
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

}  // namespace

mlir::LogicalResult verifyAttributeTypes(Operation* op) {
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  if (!attributes) return complain(op) << "[P1] lacks its attributes (attribute 'attrs')";
  for (mlir::NamedAttribute named : attributes)
    if (!frameworkType(named.getValue()))
      return complain(op) << "[P7] has attribute '" << named.getName().getValue()
                          << "' of no framework type: " << named.getValue();
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

}  // namespace dtranspile::pd
