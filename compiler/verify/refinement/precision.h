// Where a program may be rounded that a declared change (amp) rounds. Rung 4 computes over the
// reals, in which casts are identities; what they may be put on is looked at here.
#pragma once

#include "compiler/analysis/report.h"
#include "compiler/verify/refinement/changes.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {

// `reference`: its main program.
void checkPrecision(const Changes& changes, pd::ProgramOp reference, Rung& rung);

}  // namespace dtranspile::verify
