// Attributes of requests and reads in jobs without rounds (docs/dialects/dist.md, Changes).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dtranspile::dist {

// On a dist.push of a dense change with merge each: only its rows that are not zero travel, and
// servers remember for all other trainers that these have changed.
inline constexpr llvm::StringLiteral kChangedRowsAttr = "dist.changed_rows";
// On a dist.pull, a symbol: only the rows travel that other trainers have changed by such pushes
// since this one asked last; the others are those of this variable of the trainer.
inline constexpr llvm::StringLiteral kKnownAttr = "dist.known";
// On a pd.get in the handler of a push: the variable as the trainer that has pushed has pulled it
// last, or as it was at first.
inline constexpr llvm::StringLiteral kAsPulledAttr = "dist.as_pulled";

}  // namespace dtranspile::dist
