// Updates that take norms of whole parameters, on parts, flat or of rows and columns: the sums of
// squares of the parts are added up over the ranks. Used by sharding and tensor-parallel.
#pragma once

#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::passes {

// Whether the op can be computed on parts so: `clip_by_norm`, `lars_momentum` of one parameter,
// `lamb`, in float32.
bool takesNorms(pd::OpView op);
// Of these: what lies in parts where the parameter does; numbers are whole.
bool isPartOfNormed(pd::OpView op, mlir::Value value);

// The composite in the place of the op, whose operands and results lie in parts over the axis of
// `comm`. The op is erased. The formulas: compiler/analysis/relations/norm_body.cc.
void replaceByNormed(pd::OpView op, mlir::FlatSymbolRefAttr comm, pd::Declarations& declarations);

}  // namespace dtranspile::passes
