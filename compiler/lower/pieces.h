// Initial values that are made piece by piece. A server begins with its part of what a single
// device would begin with. Made as a whole and cut, it takes memory for the whole beside its part;
// made in pieces of some rows, each cut as soon as it is there, it takes memory for one piece. The
// bits are those of the whole: pieces follow one another in memory order, and draw on from where
// the one before has stopped.
//
// Rows of a variable that lies by row numbers, of an engine that can begin at any of them, are made
// when they are first touched, instead (runtime/exec/first_touch.h).
//
//   rows of the whole   │ piece 0 │ piece 1 │ … │ rest │      one after the other in one memory
//                          ▼ cut by the layout, at its place
//   part of the server  │ rows of piece 0 │ of 1 │ … │
#pragma once

#include "compiler/lower/lowering.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::lower {

// Whether the op of a start-up program makes a value that is wanted for nothing but parts that
// variables are set to, in layouts whose parts are rows, and is large enough. Follows from the
// program alone: who lowers the sets asks as well.
bool isMadeInPieces(Lowering& lowering, mlir::Operation* op);

// Such an op, and the sets that take its parts.
llvm::LogicalResult lowerInPieces(Lowering& lowering, pd::OpView op);

}  // namespace dtranspile::lower
