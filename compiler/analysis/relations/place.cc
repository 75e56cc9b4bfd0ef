#include "compiler/analysis/relations/place.h"

#include <set>
#include <vector>

#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

constexpr size_t kMostPieces = 4096;

}  // namespace

Place Place::of(mlir::Region& region) {
  dist::Guard guard = dist::guardOf(&region.front().back());
  Place place;
  if (!guard.where.getSets().empty()) place.where = guard.where;
  place.vague.assign(guard.partly.begin(), guard.partly.end());
  return place;
}

Place Place::within(dist::SelAttr fewer) const {
  if (!fewer) return *this;
  dist::SelAttr both = where ? where.intersect(fewer) : fewer;
  return {both ? both : where, vague};
}

bool Place::isVague(llvm::StringRef axis) const {
  return llvm::any_of(vague, [&](mlir::StringAttr name) { return name.getValue() == axis; });
}

int64_t Place::countAlong(llvm::StringRef axis, int64_t meshSize) const {
  dist::AxisSetAttr set = where ? where.lookup(axis) : dist::AxisSetAttr();
  return set ? set.count() : meshSize;
}

std::string Place::text() const {
  std::string text = "<";
  llvm::raw_string_ostream stream(text);
  if (where) where.printInline(stream);
  stream << ">";
  return text;
}

Axes axesAt(const Axes& axes, const Place& place) {
  Axes here = axes;
  for (unsigned a = 0; a < axes.count(); ++a)
    here.sizes[a] = place.countAlong(axes.names[a], axes.meshSizes[a]);
  return here;
}

// Cuts a place into boxes (products of intervals, one per axis) in each of which every selector
// holds on all coordinates or on none. Along each axis the bounds of all selectors are cuts, so
// that there may be as many boxes as the product over axes; more than kMostPieces are refused
// rather than enumerated.
std::optional<std::vector<dist::SelAttr>> piecesOf(const Place& place, const Axes& axes,
                                                   llvm::ArrayRef<dist::SelAttr> selectors) {
  if (selectors.empty()) return std::vector{place.where};
  mlir::MLIRContext* context = selectors.front().getContext();
  std::vector<dist::SelAttr> pieces = {place.where ? place.where : dist::SelAttr::of(context, {})};
  for (unsigned a = 0; a < axes.count(); ++a) {
    std::set<int64_t> cuts = {0, axes.meshSizes[a]};
    for (dist::SelAttr selector : selectors)
      if (dist::AxisSetAttr set = selector.lookup(axes.names[a]))
        cuts.insert(set.getBounds().begin(), set.getBounds().end());
    if (cuts.size() == 2) continue;
    std::vector<dist::SelAttr> finer;
    for (dist::SelAttr piece : pieces)
      for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
        auto interval = dist::AxisSetAttr::of(mlir::StringAttr::get(context, axes.names[a]),
                                              {{*cut, *std::next(cut)}});
        if (dist::SelAttr both = piece.intersect(dist::SelAttr::of(context, interval)))
          finer.push_back(both);
        if (finer.size() > kMostPieces) return std::nullopt;
      }
    pieces = std::move(finer);
  }
  return pieces;
}

// A reading on fewer ranks: what is replicated or different stays so on any ranks, but of parts,
// split values and terms of a sum some are missing as soon as an axis has fewer coordinates.
// Returns the axis along which the reading was lost.
std::optional<unsigned> restrictTo(Reading& reading, const Axes& axes, const Place& from,
                                   const Place& to) {
  if (!reading.known) return std::nullopt;
  for (unsigned a = 0; a < axes.count(); ++a) {
    const std::string& name = axes.names[a];
    const int64_t before = from.countAlong(name, axes.meshSizes[a]);
    const bool fewer = before != to.countAlong(name, axes.meshSizes[a]) ||
                       (to.isVague(name) && !from.isVague(name));
    const State& state = reading.states[a];
    if (!fewer || before == 1 || state.isReplicated() || state.isDifferent()) continue;
    reading = {};
    return a;
  }
  return std::nullopt;
}

}  // namespace dtranspile::verify
