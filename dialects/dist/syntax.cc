// Text of operations that the declarative format cannot say: lists of axes, selectors in place.
// Each pair parseX, printX is a directive custom<X> of ops.td. Operations with regions have parsers
// of their own (syntax_regions.cc).
#include "dialects/dist/syntax.h"

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/words.h"

namespace dtranspile::dist {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

//===----------------------------------------------------------------------===//
// [dp = 2, mp = 2] · time [micro = 8] · [dp, mp] · <pp = 0> · flat
//===----------------------------------------------------------------------===//

static ParseResult parseAxes(OpAsmParser& parser, mlir::ArrayAttr& axes,
                             mlir::DenseI64ArrayAttr& sizes) {
  llvm::SmallVector<mlir::Attribute> names;
  llvm::SmallVector<int64_t> extents;
  auto one = [&]() -> ParseResult {
    llvm::StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual() ||
        parser.parseInteger(extents.emplace_back()))
      return mlir::failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one)) return mlir::failure();
  axes = parser.getBuilder().getArrayAttr(names);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(extents);
  return mlir::success();
}

static void printAxes(OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr axes,
                      mlir::DenseI64ArrayAttr sizes) {
  printer << '[';
  for (size_t i = 0; i < axes.size() && i < static_cast<size_t>(sizes.size()); ++i)
    printer << (i ? ", " : "") << llvm::cast<mlir::StringAttr>(axes[i]).getValue() << " = "
            << sizes[i];
  printer << ']';
}

static ParseResult parseTimeAxes(OpAsmParser& parser, mlir::ArrayAttr& axes,
                                 mlir::DenseI64ArrayAttr& sizes) {
  if (mlir::succeeded(parser.parseOptionalKeyword("time"))) return parseAxes(parser, axes, sizes);
  axes = parser.getBuilder().getArrayAttr({});
  sizes = parser.getBuilder().getDenseI64ArrayAttr({});
  return mlir::success();
}

static void printTimeAxes(OpAsmPrinter& printer, mlir::Operation* op, mlir::ArrayAttr axes,
                          mlir::DenseI64ArrayAttr sizes) {
  if (axes.empty()) return;
  printer << "time ";
  printAxes(printer, op, axes, sizes);
}

ParseResult parseNames(OpAsmParser& parser, mlir::ArrayAttr& names) {
  llvm::SmallVector<mlir::Attribute> list;
  auto one = [&]() -> ParseResult {
    llvm::StringRef name;
    if (parser.parseKeyword(&name)) return mlir::failure();
    list.push_back(parser.getBuilder().getStringAttr(name));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one)) return mlir::failure();
  names = parser.getBuilder().getArrayAttr(list);
  return mlir::success();
}

void printNames(OpAsmPrinter& printer, mlir::Operation*, mlir::ArrayAttr names) {
  printer << '[';
  llvm::interleaveComma(names, printer, [&](mlir::Attribute name) {
    printer << llvm::cast<mlir::StringAttr>(name).getValue();
  });
  printer << ']';
}

// An attribute as its own parser reads it, without the dialect's prefix.
template <typename Attr>
static ParseResult parseBare(OpAsmParser& parser, Attr& attribute) {
  attribute = llvm::dyn_cast_or_null<Attr>(Attr::parse(parser, {}));
  return mlir::success(static_cast<bool>(attribute));
}

ParseResult parseSelector(OpAsmParser& parser, SelAttr& selector) {
  return parseBare(parser, selector);
}
static void printSelector(OpAsmPrinter& printer, mlir::Operation*, SelAttr selector) {
  selector.print(printer);
}
static ParseResult parseLayout(OpAsmParser& parser, LayoutAttr& layout) {
  return parseBare(parser, layout);
}
static void printLayout(OpAsmPrinter& printer, mlir::Operation*, LayoutAttr layout) {
  layout.print(printer);
}

// A case of an enumeration. Its attribute would print a space of its own before it.
template <typename Attr>
static ParseResult parseWord(OpAsmParser& parser, Attr& attribute) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return mlir::failure();
  auto value = symbolizeEnum<decltype(attribute.getValue())>(word);
  if (!value)
    return parser.emitError(loc, "'") << word << "' is not known here; known are "
                                      << wordsOf<decltype(attribute.getValue())>();
  attribute = Attr::get(parser.getContext(), *value);
  return mlir::success();
}

template <typename Attr>
static void printWord(OpAsmPrinter& printer, mlir::Operation*, Attr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

// The dimension along which a tensor is cut; `flat` is that of its elements in their order.
static ParseResult parseDim(OpAsmParser& parser, mlir::IntegerAttr& dim) {
  int64_t value = kFlat;
  if (mlir::failed(parser.parseOptionalKeyword("flat")) && parser.parseInteger(value))
    return mlir::failure();
  dim = parser.getBuilder().getI64IntegerAttr(value);
  return mlir::success();
}

static void printDim(OpAsmPrinter& printer, mlir::Operation*, mlir::IntegerAttr dim) {
  if (dim.getInt() == kFlat) printer << "flat";
  else printer << dim.getInt();
}

}  // namespace dtranspile::dist

// The generated parsers call the directives above.
#define GET_OP_CLASSES
#include "dialects/dist/dist_ops.cc.inc"
