// Text of operations with regions, whose arguments have names of their own: what enters a region is
// written as `%inside = %outside : type`.
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/syntax.h"
#include "dialects/dist/words.h"

namespace dtranspile::dist {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

namespace {

// `(%a = %x : T, …)`. An operand may be of a located type (!dist.at); the argument of the region
// has its type without the place, since the region runs there.
struct Entry {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;

  ParseResult parse(OpAsmParser& parser, mlir::OperationState& result) {
    llvm::SMLoc loc = parser.getCurrentLocation();
    auto one = [&]() -> ParseResult {
      return mlir::failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                           parser.parseOperand(operands.emplace_back()) ||
                           parser.parseColonType(types.emplace_back()));
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one) ||
        parser.resolveOperands(operands, types, loc, result.operands))
      return mlir::failure();
    for (auto [argument, type] : llvm::zip(arguments, types)) argument.type = unlocated(type);
    return mlir::success();
  }
};

void printEntry(OpAsmPrinter& printer, mlir::ValueRange arguments, mlir::ValueRange operands) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(arguments, operands), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair) << " : "
            << std::get<1>(pair).getType();
  });
  printer << ')';
}

void printResults(OpAsmPrinter& printer, mlir::Operation* op) {
  if (op->getNumResults() == 0) return;
  printer << " -> (" << op->getResultTypes() << ')';
}

ParseResult parseResults(OpAsmParser& parser, mlir::OperationState& result) {
  if (mlir::failed(parser.parseOptionalArrow())) return mlir::success();
  auto one = [&] { return parser.parseType(result.types.emplace_back()); };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one);
}

ParseResult parseStringAttr(OpAsmParser& parser, mlir::OperationState& result,
                            llvm::StringRef name) {
  mlir::StringAttr text;
  if (parser.parseAttribute(text)) return mlir::failure();
  result.addAttribute(name, text);
  return mlir::success();
}

ParseResult parseVariable(OpAsmParser& parser, mlir::OperationState& result) {
  mlir::StringAttr name;
  if (parser.parseSymbolName(name)) return mlir::failure();
  result.addAttribute("var", mlir::FlatSymbolRefAttr::get(name));
  return mlir::success();
}

}  // namespace

//===----------------------------------------------------------------------===//
// dist.on <pp = 0> (%a = %x : !dist.at<T, pp = 0>) task F chunk 1 -> (T) { … } else { … }
//===----------------------------------------------------------------------===//

// `dist.on pp = 0 with (%a = %x : T) task F chunk 1 -> (R) { … } else { … }`
ParseResult OnOp::parse(OpAsmParser& parser, mlir::OperationState& result) {
  SelAttr where;
  Entry entry;
  if (parseSelector(parser, where)) return mlir::failure();
  result.addAttribute("where", where);
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (mlir::succeeded(parser.parseOptionalKeyword("with")) && entry.parse(parser, result))
    return mlir::failure();
  llvm::StringRef word;
  if (mlir::succeeded(parser.parseOptionalKeyword("task"))) {
    if (parser.parseKeyword(&word)) return mlir::failure();
    std::optional<Task> task = symbolizeTask(word);
    if (!task)
      return parser.emitError(loc, "no task is called '")
             << word << "'; known are " << wordsOf<Task>();
    result.addAttribute("task", TaskAttr::get(parser.getContext(), *task));
  }
  int64_t chunk = 0;
  if (mlir::succeeded(parser.parseOptionalKeyword("chunk"))) {
    if (parser.parseInteger(chunk)) return mlir::failure();
    result.addAttribute("chunk", parser.getBuilder().getI64IntegerAttr(chunk));
  }
  if (parseResults(parser, result) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return mlir::failure();
  mlir::Region* body = result.addRegion();
  mlir::Region* otherwise = result.addRegion();
  if (parser.parseRegion(*body, entry.arguments)) return mlir::failure();
  if (mlir::succeeded(parser.parseOptionalKeyword("else"))) return parser.parseRegion(*otherwise);
  return mlir::success();
}

void OnOp::print(OpAsmPrinter& printer) {
  printer << ' ';
  getWhere().print(printer);
  if (!getInputs().empty()) {
    printer << " with ";
    printEntry(printer, getBody().getArguments(), getInputs());
  }
  if (getTask()) printer << " task " << stringifyTask(*getTask());
  if (getChunk()) printer << " chunk " << static_cast<int64_t>(*getChunk());
  printResults(printer, *this);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"where", "task", "chunk"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (getOtherwise().empty()) return;
  printer << " else ";
  printer.printRegion(getOtherwise(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// dist.foreach_block @t (%k) iter(%a = %i : T) -> (T) { … }
//===----------------------------------------------------------------------===//

// `dist.foreach_block @var (%number) iter(%a = %x : T) -> (R) { … }`; the number of the block is of
// type tensor<1xi64>.
ParseResult ForeachBlockOp::parse(OpAsmParser& parser, mlir::OperationState& result) {
  OpAsmParser::Argument index;
  Entry entry;
  if (parseVariable(parser, result) || parser.parseLParen() || parser.parseArgument(index) ||
      parser.parseRParen())
    return mlir::failure();
  index.type = mlir::RankedTensorType::get({1}, parser.getBuilder().getI64Type());
  if (mlir::succeeded(parser.parseOptionalKeyword("iter")) && entry.parse(parser, result))
    return mlir::failure();
  if (parseResults(parser, result) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return mlir::failure();
  entry.arguments.insert(entry.arguments.begin(), index);
  return parser.parseRegion(*result.addRegion(), entry.arguments);
}

void ForeachBlockOp::print(OpAsmPrinter& printer) {
  printer << ' ';
  printer.printSymbolName(getVar());
  printer << " (" << getBody().getArgument(0) << ')';
  if (!getInits().empty()) {
    printer << " iter";
    printEntry(printer, getBody().getArguments().drop_front(), getInits());
  }
  printResults(printer, *this);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"var"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %i : T) -> (T) { … }
//===----------------------------------------------------------------------===//

// `dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %x : T) -> (R) { … }`
ParseResult MicroOp::parse(OpAsmParser& parser, mlir::OperationState& result) {
  mlir::ArrayAttr axes;
  int64_t chunks = 1;
  Entry entry;
  if (parser.parseKeyword("over") || parseNames(parser, axes) || parser.parseKeyword("schedule") ||
      parser.parseLParen() || parseStringAttr(parser, result, "schedule") || parser.parseComma() ||
      parser.parseKeyword("chunks") || parser.parseInteger(chunks) || parser.parseRParen())
    return mlir::failure();
  result.addAttribute("axes", axes);
  result.addAttribute("chunks", parser.getBuilder().getI64IntegerAttr(chunks));
  if (mlir::succeeded(parser.parseOptionalKeyword("iter")) && entry.parse(parser, result))
    return mlir::failure();
  for (auto [argument, type] : llvm::zip(entry.arguments, entry.types)) argument.type = type;
  if (parseResults(parser, result) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return mlir::failure();
  return parser.parseRegion(*result.addRegion(), entry.arguments);
}

void MicroOp::print(OpAsmPrinter& printer) {
  printer << " over ";
  printNames(printer, *this, getAxes());
  printer << " schedule(";
  printer.printAttributeWithoutType(getScheduleAttr());
  printer << ", chunks " << static_cast<int64_t>(getChunks()) << ')';
  if (!getInits().empty()) {
    printer << " iter";
    printEntry(printer, getBody().getArguments(), getInits());
  }
  printResults(printer, *this);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"axes", "schedule", "chunks"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// dist.composite "sync_batch_norm" (X = %x : T) -> ("Y" as "bn.out" : T) attrs {…} { ^bb0(…): … }
//===----------------------------------------------------------------------===//

ParseResult CompositeOp::parse(OpAsmParser& parser, mlir::OperationState& result) {
  mlir::Builder& builder = parser.getBuilder();
  llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  auto input = [&]() -> ParseResult {
    std::string slot;
    if (parser.parseKeywordOrString(&slot) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) || parser.parseColonType(types.emplace_back()))
      return mlir::failure();
    inputSlots.push_back(builder.getStringAttr(slot));
    return mlir::success();
  };
  auto output = [&]() -> ParseResult {
    std::string slot, name;
    if (parser.parseKeywordOrString(&slot) || parser.parseKeyword("as") ||
        parser.parseKeywordOrString(&name) || parser.parseColonType(result.types.emplace_back()))
      return mlir::failure();
    outputSlots.push_back(builder.getStringAttr(slot));
    outputNames.push_back(builder.getStringAttr(name));
    return mlir::success();
  };
  if (parseStringAttr(parser, result, "op")) return mlir::failure();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, input) || parser.parseArrow() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, output) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return mlir::failure();
  mlir::NamedAttrList attrs;
  if (parser.parseKeyword("attrs") || parser.parseOptionalAttrDict(attrs)) return mlir::failure();
  result.addAttribute("input_slots", builder.getArrayAttr(inputSlots));
  result.addAttribute("output_slots", builder.getArrayAttr(outputSlots));
  result.addAttribute("output_names", builder.getArrayAttr(outputNames));
  result.addAttribute("attrs", attrs.getDictionary(parser.getContext()));
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes)) return mlir::failure();
  return parser.parseRegion(*result.addRegion());
}

void CompositeOp::print(OpAsmPrinter& printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getOpAttr());
  printer << " (";
  llvm::interleaveComma(llvm::zip(getInputSlots(), getInputs()), printer, [&](auto pair) {
    printer.printKeywordOrString(llvm::cast<mlir::StringAttr>(std::get<0>(pair)).getValue());
    printer << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
  });
  printer << ") -> (";
  llvm::interleaveComma(
      llvm::zip(getOutputSlots(), getOutputNames(), getOutputs()), printer, [&](auto entry) {
        printer.printKeywordOrString(llvm::cast<mlir::StringAttr>(std::get<0>(entry)).getValue());
        printer << " as ";
        printer.printAttributeWithoutType(std::get<1>(entry));
        printer << " : " << std::get<2>(entry).getType();
      });
  printer << ") attrs ";
  printer.printAttributeWithoutType(getAttrs());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"op", "input_slots", "output_slots", "output_names", "attrs"});
  printer << ' ';
  printer.printRegion(getBody());
}

//===----------------------------------------------------------------------===//
// dist.handle push @t (%from : tensor<1xi64>) { … }
//===----------------------------------------------------------------------===//

// `dist.handle push @var (%argument : T) { … }`; a handler of rounds names no variable.
ParseResult HandleOp::parse(OpAsmParser& parser, mlir::OperationState& result) {
  llvm::StringRef word;
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word)) return mlir::failure();
  std::optional<Handler> kind = symbolizeHandler(word);
  if (!kind)
    return parser.emitError(loc, "no handler is called '")
           << word << "'; known are " << wordsOf<Handler>();
  result.addAttribute("kind", HandlerAttr::get(parser.getContext(), *kind));
  if (*kind != Handler::Round && parseVariable(parser, result)) return mlir::failure();
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::OptionalParen,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return mlir::failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void HandleOp::print(OpAsmPrinter& printer) {
  printer << ' ' << stringifyHandler(getKind());
  if (getVar()) {
    printer << ' ';
    printer.printSymbolName(*getVar());
  }
  if (getBody().getNumArguments()) {
    printer << " (";
    llvm::interleaveComma(getBody().getArguments(), printer, [&](mlir::BlockArgument argument) {
      printer.printRegionArgument(argument);
    });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"kind", "var"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

}  // namespace dtranspile::dist
