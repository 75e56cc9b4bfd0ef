// The text of row ops:
//
//   %2 = pd.mul X(%0) Y(%1) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32}
//       : (tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<?x1xf32>
//   pd.while "$capture"(%0, %1) Condition(%2) X(%0) -> Out("i") StepScopes("s") {…}
//       blocks [{…}] (^bb…) with {…} : (…) -> (…)
//
// Input slots hold values, output slots the names of their variables; `empty` is the framework's
// placeholder for an absent argument.
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/row_op.h"

namespace dtranspile::pd {
namespace {

using mlir::Attribute;
using mlir::NamedAttrList;
using mlir::Operation;

void printName(mlir::OpAsmPrinter& p, llvm::StringRef name) { p.printKeywordOrString(name); }

// Arguments are an op's operands in order, but for the framework's empty name, which has none.
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

}  // namespace

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

namespace {

using Operands = llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand>;

// One slot, `Name(…)`: operands of an input slot are resolved at the end, when their types are
// known.
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

}  // namespace

// Sections come in one order, each of them optional, so a word of a later one ends the ones before
// it: `begins` asks for a section whose word may have been read as the end of a list of slots.
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

}  // namespace dtranspile::pd
