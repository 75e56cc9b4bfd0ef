// Relations to the reference and batches of feeds: construction, checks, text.
#include <numeric>

#include "dialects/dist/dist.h"
#include "dialects/dist/words.h"

namespace dtranspile::dist {
namespace {

// A word, or a string where it is no identifier.
mlir::ParseResult parseName(mlir::AsmParser& parser, mlir::StringAttr& name) {
  std::string text;
  if (parser.parseKeywordOrString(&text)) return mlir::failure();
  name = mlir::StringAttr::get(parser.getContext(), text);
  return mlir::success();
}

// `flat` or a number of at least 0.
mlir::ParseResult parseDim(mlir::AsmParser& parser, int64_t& dim) {
  dim = kFlat;
  if (mlir::succeeded(parser.parseOptionalKeyword("flat"))) return mlir::success();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(dim)) return mlir::failure();
  return dim < 0 ? mlir::ParseResult(parser.emitError(loc, "a dim is `flat` or at least 0"))
                 : mlir::success();
}

AxisRelAttr make(mlir::StringAttr axis, StateKind state, int64_t dim = 0, LayoutAttr layout = {},
                 Reduce reduce = Reduce::Sum, mlir::StringAttr tag = {}) {
  return AxisRelAttr::get(axis.getContext(), axis, state, dim, layout, reduce, tag, AxisSetAttr());
}

}  // namespace

//===----------------------------------------------------------------------===//
// dp: S(0) · dp: P(sum) · sharding: S(flat, even(832)) · pp: R at pp in {0, 2}
//===----------------------------------------------------------------------===//

AxisRelAttr AxisRelAttr::replicated(mlir::StringAttr axis) {
  return make(axis, StateKind::Replicated);
}
AxisRelAttr AxisRelAttr::split(mlir::StringAttr axis, int64_t dim, LayoutAttr layout) {
  return make(axis, StateKind::Split, dim, layout);
}
AxisRelAttr AxisRelAttr::partial(mlir::StringAttr axis, Reduce reduce) {
  return make(axis, StateKind::Partial, 0, {}, reduce);
}
AxisRelAttr AxisRelAttr::parts(mlir::StringAttr axis) { return make(axis, StateKind::Parts); }
AxisRelAttr AxisRelAttr::unknown(mlir::StringAttr axis) { return make(axis, StateKind::Unknown); }
AxisRelAttr AxisRelAttr::different(mlir::StringAttr axis, llvm::StringRef tag) {
  return make(axis, StateKind::Different, 0, {}, Reduce::Sum,
              mlir::StringAttr::get(axis.getContext(), tag));
}
AxisRelAttr AxisRelAttr::heldBy(AxisSetAttr holders) const {
  return get(getContext(), getAxis(), getState(), getDim(), getLayout(), getReduce(), getTag(),
             holders);
}

// The inverse of parseInline; what has its default is left out.
void AxisRelAttr::printInline(llvm::raw_ostream& os) const {
  os << getAxis().getValue() << ": " << stringifyStateKind(getState());
  if (getState() == StateKind::Split) {
    if (getDim() == kFlat) os << "(flat";
    else os << '(' << getDim();
    if (getLayout()) {
      os << ", ";
      getLayout().printInline(os);
    }
    os << ')';
  }
  if (getState() == StateKind::Partial) os << '(' << stringifyReduce(getReduce()) << ')';
  if (getState() == StateKind::Different) os << '(' << getTag().getValue() << ')';
  if (!getHolders()) return;
  os << " at ";
  getHolders().printInline(os);
}

// axis: state, with what the state needs in parentheses: S(dim, layout), P(reduction), X(tag); `?`
// is the unknown state; `at` restricts it to the coordinates that hold the value.
mlir::FailureOr<AxisRelAttr> AxisRelAttr::parseInline(mlir::AsmParser& parser) {
  mlir::StringAttr axis, tag;
  std::string word = "?";
  if (parseName(parser, axis) || parser.parseColon()) return mlir::failure();
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (mlir::failed(parser.parseOptionalQuestion()) && parser.parseKeywordOrString(&word))
    return mlir::failure();
  std::optional<StateKind> state = symbolizeStateKind(word);
  if (!state)
    return parser.emitError(loc, "no state is called '")
           << word << "'; known are " << wordsOf<StateKind>();
  int64_t dim = 0;
  LayoutAttr layout;
  Reduce reduce = Reduce::Sum;
  if (*state == StateKind::Split) {
    if (parser.parseLParen() || parseDim(parser, dim)) return mlir::failure();
    if (mlir::succeeded(parser.parseOptionalComma())) {
      mlir::FailureOr<LayoutAttr> given = LayoutAttr::parseInline(parser);
      if (mlir::failed(given)) return mlir::failure();
      layout = *given;
    }
    if (parser.parseRParen()) return mlir::failure();
  } else if (*state == StateKind::Partial) {
    if (parser.parseLParen() || parser.parseKeywordOrString(&word) || parser.parseRParen())
      return mlir::failure();
    std::optional<Reduce> named = symbolizeReduce(word);
    if (!named)
      return parser.emitError(loc, "no reduction is called '")
             << word << "'; known are " << wordsOf<Reduce>();
    reduce = *named;
  } else if (*state == StateKind::Different) {
    if (parser.parseLParen() || parseName(parser, tag) || parser.parseRParen())
      return mlir::failure();
  }
  AxisRelAttr relation = make(axis, *state, dim, layout, reduce, tag);
  if (mlir::failed(parser.parseOptionalKeyword("at"))) return relation;
  mlir::FailureOr<AxisSetAttr> holders = AxisSetAttr::parseInline(parser);
  if (mlir::failed(holders)) return mlir::failure();
  if (holders->getAxis() != axis)
    return parser.emitError(loc, "the holders are coordinates of another axis");
  return relation.heldBy(*holders);
}

mlir::Attribute AxisRelAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  mlir::FailureOr<AxisRelAttr> relation = parseInline(parser);
  if (mlir::failed(relation) || parser.parseGreater()) return {};
  return *relation;
}

void AxisRelAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  printInline(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #dist.rel<"w@GRAD" number 2, dp: P(sum), scale 1/4, tags ["fp16_wire"]>
//===----------------------------------------------------------------------===//

RelAttr RelAttr::of(mlir::StringAttr variable, llvm::ArrayRef<AxisRelAttr> axes) {
  return get(variable.getContext(), variable, 0, axes, 1, 1, {});
}

// Null: the axis is not named, which means replicated.
AxisRelAttr RelAttr::lookup(llvm::StringRef axis) const {
  for (AxisRelAttr state : getAxes())
    if (state.getAxis().getValue() == axis) return state;
  return {};
}

// Scales are reduced fractions, so that equal relations are the same attribute.
mlir::LogicalResult RelAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    mlir::StringAttr variable, int64_t number,
                                    llvm::ArrayRef<AxisRelAttr> axes, int64_t numerator,
                                    int64_t denominator, llvm::ArrayRef<mlir::StringAttr>) {
  if (!variable || number < 0)
    return emitError() << "a relation names a variable and a definition of at least 0";
  if (denominator < 1 || std::gcd(numerator, denominator) != 1)
    return emitError() << "scale " << numerator << '/' << denominator
                       << " is not a reduced fraction with a positive denominator";
  for (size_t i = 0; i < axes.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (axes[i].getAxis() == axes[j].getAxis())
        return emitError() << "axis '" << axes[i].getAxis().getValue() << "' is listed twice";
  return mlir::success();
}

void RelAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  printer.printAttributeWithoutType(getVariable());
  if (getNumber()) printer << " number " << getNumber();
  for (AxisRelAttr state : getAxes()) {
    printer << ", ";
    state.printInline(printer.getStream());
  }
  if (getDenominator() != 1) printer << ", scale " << getNumerator() << '/' << getDenominator();
  else if (getNumerator() != 1) printer << ", scale " << getNumerator();
  if (!getTags().empty()) {
    printer << ", tags [";
    llvm::interleaveComma(getTags(), printer,
                          [&](mlir::StringAttr tag) { printer.printAttributeWithoutType(tag); });
    printer << ']';
  }
  printer << '>';
}

// After the variable the parts come in any order; the whole is verified here, since an attribute
// made from text has to fail with its place in the text.
mlir::Attribute RelAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::StringAttr variable;
  int64_t number = 0, numerator = 1, denominator = 1;
  llvm::SmallVector<AxisRelAttr> axes;
  llvm::SmallVector<mlir::StringAttr> tags;
  if (parser.parseLess() || parser.parseAttribute(variable)) return {};
  if (mlir::succeeded(parser.parseOptionalKeyword("number")) && parser.parseInteger(number))
    return {};
  auto tag = [&] { return parser.parseAttribute(tags.emplace_back()); };
  while (mlir::succeeded(parser.parseOptionalComma())) {
    if (mlir::succeeded(parser.parseOptionalKeyword("scale"))) {
      if (parser.parseInteger(numerator)) return {};
      if (mlir::succeeded(parser.parseOptionalSlash()) && parser.parseInteger(denominator))
        return {};
    } else if (mlir::succeeded(parser.parseOptionalKeyword("tags"))) {
      if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, tag)) return {};
    } else {
      mlir::FailureOr<AxisRelAttr> state = AxisRelAttr::parseInline(parser);
      if (mlir::failed(state)) return {};
      axes.push_back(*state);
    }
  }
  if (parser.parseGreater()) return {};
  if (mlir::failed(verify([&] { return parser.emitError(loc); }, variable, number, axes, numerator,
                          denominator, tags)))
    return {};
  return get(parser.getContext(), variable, number, axes, numerator, denominator, tags);
}

//===----------------------------------------------------------------------===//
// #dist.batch<0: dp, sharding>
//===----------------------------------------------------------------------===//

// The order of the axes matters: it says which rank has which share.
mlir::LogicalResult BatchAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                      int64_t dim, llvm::ArrayRef<mlir::StringAttr> axes) {
  if (dim < 0 || axes.empty())
    return emitError() << "a batch names a dim of at least 0 and at least one axis";
  for (size_t i = 0; i < axes.size(); ++i)
    if (llvm::is_contained(axes.take_front(i), axes[i]))
      return emitError() << "axis '" << axes[i].getValue() << "' is listed twice";
  return mlir::success();
}

mlir::Attribute BatchAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  int64_t dim = 0;
  llvm::SmallVector<mlir::StringAttr> axes;
  auto axis = [&] { return parseName(parser, axes.emplace_back()); };
  if (parser.parseLess() || parser.parseInteger(dim) || parser.parseColon() ||
      parser.parseCommaSeparatedList(axis) || parser.parseGreater())
    return {};
  if (mlir::failed(verify([&] { return parser.emitError(loc); }, dim, axes))) return {};
  return get(parser.getContext(), dim, axes);
}

void BatchAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<' << getDim() << ": ";
  llvm::interleaveComma(getAxes(), printer,
                        [&](mlir::StringAttr axis) { printer << axis.getValue(); });
  printer << '>';
}

}  // namespace dtranspile::dist
