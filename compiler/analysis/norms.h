// Ops that take the norm of a whole tensor inside of themselves (lamb, lars_momentum,
// clip_by_norm), written out in the framework's ops so that the norm is a value of its own: a sum
// over blocks can then be finished elsewhere. Pass write-out-norms makes programs by it; rung 4
// reads a source by it, so that the proof says that nothing else was changed.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtranspile {

// Why an op that takes a norm cannot be written out; empty where it can. Of other ops: null.
const char* whyNotWrittenOut(pd::OpView op);

// Whether the op takes a norm inside of itself.
bool takesNorm(pd::OpView op);

// The tensor that it takes the norm of, or that belongs to it: a parameter, or a gradient.
mlir::Value normed(pd::OpView op);

// The result that a written-out op is known by: it keeps its name.
llvm::StringRef normedResult(pd::OpView op);

// The op in other ops, in its place, and the ops that make the tensor of the norm once more behind
// the norm, so that what needs the norm needs nothing of before it but variables and gradients.
// Results keep their names. Erases the op.
void writeOut(pd::OpView op, pd::Declarations& declarations);

}  // namespace dtranspile
