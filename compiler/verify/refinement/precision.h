// Where a program may be rounded that a declared change (amp) rounds. Rung 4 computes over the
// reals, in which casts are identities; what they may be put on is looked at here.
#pragma once

#include <set>
#include <string>

#include "compiler/analysis/report.h"
#include "compiler/verify/refinement/changes.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {

// Parameters that updates keep in half precision beside a copy in full: by name.
std::set<std::string> parametersWithCopies(pd::ProgramOp main);

// `reference`: its main program.
void checkPrecision(const Changes& changes, pd::ProgramOp reference, Rung& rung);

}  // namespace dtranspile::verify
