// Selectors and layouts: their algebra and their text. Relations and batches: relation_attrs.cc.
#include <algorithm>

#include "dialects/dist/dist.h"
#include "dialects/dist/words.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/dist_attrs.cc.inc"

namespace dtranspile::dist {

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/dist/dist_attrs.cc.inc"
      >();
}

using Interval = std::pair<int64_t, int64_t>;

//===----------------------------------------------------------------------===//
// pp = 1 · pp in {0, 2 to 4}
//===----------------------------------------------------------------------===//

// Half-open intervals, sorted, overlapping and touching ones joined: one set has one form, so that
// equal sets are the same attribute. Null for the empty set.
AxisSetAttr AxisSetAttr::of(mlir::StringAttr axis, llvm::ArrayRef<Interval> intervals) {
  llvm::SmallVector<Interval> sorted(intervals);
  llvm::sort(sorted);
  llvm::SmallVector<int64_t> bounds;
  for (auto [lo, hi] : sorted) {
    if (lo >= hi) continue;
    if (!bounds.empty() && lo <= bounds.back()) {
      bounds.back() = std::max(bounds.back(), hi);
    } else {
      bounds.push_back(lo);
      bounds.push_back(hi);
    }
  }
  return bounds.empty() ? AxisSetAttr() : get(axis.getContext(), axis, bounds);
}

mlir::LogicalResult AxisSetAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()>,
                                        mlir::StringAttr axis, llvm::ArrayRef<int64_t> bounds) {
  // Sets are made by of() and by the parser, which has said what is wrong with the text.
  bool ordered = axis && !axis.getValue().empty() && !bounds.empty() && bounds.size() % 2 == 0;
  for (size_t i = 0; ordered && i < bounds.size(); ++i)
    ordered = bounds[i] >= (i > 0 ? bounds[i - 1] + 1 : 0);
  assert(ordered && "intervals of an axis, ascending and apart");
  return mlir::success(ordered);
}

// Intervals are few; a search would not pay.
bool AxisSetAttr::contains(int64_t coordinate) const {
  llvm::ArrayRef<int64_t> bounds = getBounds();
  for (size_t i = 0; i < bounds.size(); i += 2)
    if (bounds[i] <= coordinate && coordinate < bounds[i + 1]) return true;
  return false;
}

int64_t AxisSetAttr::count() const {
  int64_t total = 0;
  for (size_t i = 0; i < getBounds().size(); i += 2) total += getBounds()[i + 1] - getBounds()[i];
  return total;
}

namespace {

// The pairwise intersections of intervals, empty ones included; of() drops these.
llvm::SmallVector<Interval> common(AxisSetAttr a, AxisSetAttr b) {
  llvm::SmallVector<Interval> out;
  for (size_t i = 0; i < a.getBounds().size(); i += 2)
    for (size_t j = 0; j < b.getBounds().size(); j += 2)
      out.push_back({std::max(a.getBounds()[i], b.getBounds()[j]),
                     std::min(a.getBounds()[i + 1], b.getBounds()[j + 1])});
  return out;
}

// A bare word, as in `pp = 0`.
mlir::ParseResult parseAxis(mlir::AsmParser& parser, mlir::StringAttr& axis) {
  llvm::StringRef word;
  if (parser.parseKeyword(&word)) return mlir::failure();
  axis = mlir::StringAttr::get(parser.getContext(), word);
  return mlir::success();
}

// `{0, 2 to 4}`, ends included.
mlir::ParseResult parseIntervals(mlir::AsmParser& parser, llvm::SmallVectorImpl<Interval>& out) {
  int64_t lo = 0, hi = 0;
  auto one = [&]() -> mlir::ParseResult {
    if (parser.parseInteger(lo)) return mlir::failure();
    hi = lo;
    if (mlir::succeeded(parser.parseOptionalKeyword("to")) && parser.parseInteger(hi))
      return mlir::failure();
    if (hi == INT64_MAX)
      return parser.emitError(parser.getCurrentLocation(), "coordinate is too large");
    out.push_back({lo, hi + 1});
    return mlir::success();
  };
  return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Braces, one);
}

}  // namespace

// By counting: `other` is within this one where as many coordinates are common as it has.
bool AxisSetAttr::contains(AxisSetAttr other) const {
  int64_t shared = 0;
  for (auto [lo, hi] : common(*this, other)) shared += std::max<int64_t>(0, hi - lo);
  return shared == other.count();
}

// Ranges are half-open in the attribute and closed in the text: [2, 5) is written `2 to 4`.
void AxisSetAttr::printInline(llvm::raw_ostream& os) const {
  llvm::ArrayRef<int64_t> bounds = getBounds();
  os << getAxis().getValue();
  if (isPoint()) {
    os << " = " << bounds[0];
  } else {
    os << " in {";
    for (size_t i = 0; i < bounds.size(); i += 2) {
      os << (i ? ", " : "") << bounds[i];
      if (bounds[i + 1] > bounds[i] + 1) os << " to " << bounds[i + 1] - 1;
    }
    os << '}';
  }
}

// `axis = 1` or `axis in {0, 2 to 4}`. The largest int64 has no half-open interval after it, and
// comes out as the empty set, which is refused.
mlir::FailureOr<AxisSetAttr> AxisSetAttr::parseInline(mlir::AsmParser& parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  mlir::StringAttr axis;
  llvm::SmallVector<Interval> intervals;
  if (parseAxis(parser, axis)) return mlir::failure();
  if (mlir::succeeded(parser.parseOptionalEqual())) {
    int64_t at = 0;
    if (parser.parseInteger(at)) return mlir::failure();
    intervals.push_back({at, at == INT64_MAX ? at : at + 1});
  } else if (parser.parseKeyword("in") || parseIntervals(parser, intervals)) {
    return mlir::failure();
  }
  if (llvm::any_of(intervals, [](Interval interval) { return interval.first < 0; }))
    return parser.emitError(loc, "a coordinate is at least 0");
  AxisSetAttr set = of(axis, intervals);
  if (!set)
    return parser.emitError(loc, "no coordinate of axis '") << axis.getValue() << "' is selected";
  return set;
}

mlir::Attribute AxisSetAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  mlir::FailureOr<AxisSetAttr> set = parseInline(parser);
  if (mlir::failed(set) || parser.parseGreater()) return {};
  return *set;
}

void AxisSetAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  printInline(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #dist.sel<pp = 0 and sharding in {0, 3}>
//===----------------------------------------------------------------------===//

// By the name of the axis, so that a selector too has one form only.
static llvm::SmallVector<AxisSetAttr> sorted(llvm::ArrayRef<AxisSetAttr> sets) {
  llvm::SmallVector<AxisSetAttr> out(sets);
  llvm::sort(out, [](AxisSetAttr a, AxisSetAttr b) {
    return a.getAxis().getValue() < b.getAxis().getValue();
  });
  return out;
}

SelAttr SelAttr::of(mlir::MLIRContext* context, llvm::ArrayRef<AxisSetAttr> sets) {
  return get(context, sorted(sets));
}

SelAttr SelAttr::point(mlir::MLIRContext* context, llvm::StringRef axis, int64_t coordinate) {
  return of(context,
            AxisSetAttr::of(mlir::StringAttr::get(context, axis), {{coordinate, coordinate + 1}}));
}

// One set per axis, in the order of names: like sets, selectors have one form.
mlir::LogicalResult SelAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                    llvm::ArrayRef<AxisSetAttr> sets) {
  for (size_t i = 1; i < sets.size(); ++i)
    if (sets[i - 1].getAxis().getValue() >= sets[i].getAxis().getValue())
      return emitError() << "a selector has one set per axis, sorted by axis; '"
                         << sets[i].getAxis().getValue() << "' is out of place";
  return mlir::success();
}

AxisSetAttr SelAttr::lookup(llvm::StringRef axis) const {
  for (AxisSetAttr set : getSets())
    if (set.getAxis().getValue() == axis) return set;
  return {};
}

// A selector is a product of sets; axes that it does not name are not restricted. It contains
// another one where each of its sets contains that one's.
bool SelAttr::contains(SelAttr other) const {
  return llvm::all_of(getSets(), [&](AxisSetAttr mine) {
    AxisSetAttr theirs = other.lookup(mine.getAxis());
    return theirs && mine.contains(theirs);
  });
}

// Axis by axis; null where no coordinate of some axis is common, which no rank satisfies.
SelAttr SelAttr::intersect(SelAttr other) const {
  llvm::SmallVector<AxisSetAttr> sets;
  for (AxisSetAttr mine : getSets()) {
    AxisSetAttr theirs = other.lookup(mine.getAxis());
    AxisSetAttr both = theirs ? AxisSetAttr::of(mine.getAxis(), common(mine, theirs)) : mine;
    if (!both) return {};
    sets.push_back(both);
  }
  for (AxisSetAttr theirs : other.getSets())
    if (!lookup(theirs.getAxis())) sets.push_back(theirs);
  return of(getContext(), sets);
}

void SelAttr::printInline(llvm::raw_ostream& os) const {
  llvm::interleave(getSets(), os, [&](AxisSetAttr set) { set.printInline(os); }, " and ");
}

mlir::FailureOr<SelAttr> SelAttr::parseInline(mlir::AsmParser& parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::SmallVector<AxisSetAttr> sets;
  do {
    mlir::FailureOr<AxisSetAttr> set = AxisSetAttr::parseInline(parser);
    if (mlir::failed(set)) return mlir::failure();
    sets.push_back(*set);
  } while (mlir::succeeded(parser.parseOptionalKeyword("and")));
  sets = sorted(sets);
  if (mlir::failed(verify([&] { return parser.emitError(loc); }, sets))) return mlir::failure();
  return get(parser.getContext(), sets);
}

mlir::Attribute SelAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  if (mlir::succeeded(parser.parseOptionalGreater()))
    return get(parser.getContext(), llvm::ArrayRef<AxisSetAttr>());
  mlir::FailureOr<SelAttr> selector = parseInline(parser);
  if (mlir::failed(selector) || parser.parseGreater()) return {};
  return *selector;
}

void SelAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  printInline(printer.getStream());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #dist.layout<even(832)>
//===----------------------------------------------------------------------===//

std::optional<int64_t> LayoutAttr::localExtent(int64_t size) const {
  if (getKind() != LayoutKind::Even || size < 1) return std::nullopt;
  return getExtent() / size + (getExtent() % size != 0);
}

mlir::LogicalResult LayoutAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                       LayoutKind kind, int64_t extent, int64_t per,
                                       int64_t first) {
  bool blocked = kind == LayoutKind::Blocks || kind == LayoutKind::Hashed;
  if (extent < 0 || first < 0 || (blocked && per < 1))
    return emitError()
           << "a layout needs an extent and a start of at least 0 and blocks of at least 1";
  return mlir::success();
}

void LayoutAttr::printInline(llvm::raw_ostream& os) const {
  os << stringifyLayoutKind(getKind()) << '(' << getExtent();
  if (getKind() == LayoutKind::Blocks || getKind() == LayoutKind::Hashed)
    os << ", per " << getPer();
  if (getKind() == LayoutKind::Blocks) os << ", first " << getFirst();
  os << ')';
}

// even(832) · blocks(832, per 100, first 2) · hashed(832, per 100) · cyclic(832).
mlir::FailureOr<LayoutAttr> LayoutAttr::parseInline(mlir::AsmParser& parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  int64_t extent = 0, per = 0, first = 0;
  if (parser.parseKeyword(&word)) return mlir::failure();
  std::optional<LayoutKind> kind = symbolizeLayoutKind(word);
  if (!kind)
    return parser.emitError(loc, "no layout is called '")
           << word << "'; known are " << wordsOf<LayoutKind>();
  if (parser.parseLParen() || parser.parseInteger(extent)) return mlir::failure();
  bool blocked = *kind == LayoutKind::Blocks || *kind == LayoutKind::Hashed;
  if (blocked && (parser.parseComma() || parser.parseKeyword("per") || parser.parseInteger(per)))
    return mlir::failure();
  if (*kind == LayoutKind::Blocks &&
      (parser.parseComma() || parser.parseKeyword("first") || parser.parseInteger(first)))
    return mlir::failure();
  if (parser.parseRParen()) return mlir::failure();
  if (mlir::failed(verify([&] { return parser.emitError(loc); }, *kind, extent, per, first)))
    return mlir::failure();
  return get(parser.getContext(), *kind, extent, per, first);
}

mlir::Attribute LayoutAttr::parse(mlir::AsmParser& parser, mlir::Type) {
  if (parser.parseLess()) return {};
  mlir::FailureOr<LayoutAttr> layout = parseInline(parser);
  if (mlir::failed(layout) || parser.parseGreater()) return {};
  return *layout;
}

void LayoutAttr::print(mlir::AsmPrinter& printer) const {
  printer << '<';
  printInline(printer.getStream());
  printer << '>';
}

}  // namespace dtranspile::dist
