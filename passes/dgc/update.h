// The composite that stands in the place of a momentum update whose gradient travels as its largest
// elements. Used by pass dgc.
#pragma once

#include <vector>

#include "compiler/analysis/relations/compression.h"
#include "dialects/pd/declarations.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

// When something else is sent than before, and whether this is so in the step that runs now.
struct Stage {
  verify::SentUpTo sent;
  mlir::Value taken;  // the predicate; null where there is one stage only
};

struct CompressedUpdate {
  pd::OpView update;     // a momentum
  mlir::Value gradient;  // of this rank alone
  std::vector<Stage> stages;
  pd::VarOp residual;
};

// Erases the update.
void replaceByComposite(const CompressedUpdate& what, JobOnAxes& job, mlir::FlatSymbolRefAttr comm,
                        pd::Declarations& declarations);

// A composite in the place of a clip_by_norm of a sum: of the rank's own gradient, to the bound
// over the root of the number of ranks.
void replaceByLocalClip(pd::OpView clip, mlir::Value gradient, JobOnAxes& job,
                        pd::Declarations& declarations);

}  // namespace dtranspile::passes
