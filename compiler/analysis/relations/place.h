// Where values are: the ranks that a guard or the type of a value says. A state along an axis
// speaks of the coordinates that are there, so what is known of a value on all ranks is not known
// of it on some: equal values stay equal, of parts and summands only some are left. Used by the
// store, for values that guards capture and for variables that guards set.
#pragma once

#include <optional>
#include <vector>

#include "compiler/analysis/relations/relation.h"

namespace dtranspile::verify {

struct Place {
  dist::SelAttr where;                           // null: all ranks of the role
  llvm::SmallVector<mlir::StringAttr, 0> vague;  // axes along which ranks are missing that no
                                                 // selector names (dist::Guard::partly)

  // The ranks that run a region's ops.
  static Place of(mlir::Region& region);
  // Those of its ranks that a selector names, which is met (D9).
  Place within(dist::SelAttr fewer) const;
  bool isVague(llvm::StringRef axis) const;
  int64_t countAlong(llvm::StringRef axis, int64_t meshSize) const;
  // Every rank of `other` is one of these.
  bool covers(dist::SelAttr other) const { return !where || (other && where.contains(other)); }
  bool meets(dist::SelAttr other) const { return !where || !other || where.intersect(other); }
  // "<sharding = 0>".
  std::string text() const;
};

// The axes as ops there see them.
Axes axesAt(const Axes& axes, const Place& place);

// What a value that is at `from` is on fewer ranks; the axis along which it is lost, if it is.
std::optional<unsigned> restrictTo(Reading& reading, const Axes& axes, const Place& from,
                                   const Place& to);

// Its ranks in pieces, each inside or outside of every selector; nothing where there are too many.
std::optional<std::vector<dist::SelAttr>> piecesOf(const Place& place, const Axes& axes,
                                                   llvm::ArrayRef<dist::SelAttr> selectors);

}  // namespace dtranspile::verify
