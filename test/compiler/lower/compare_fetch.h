// A fetched value against the one that the framework computed.
#pragma once

#include <string>

#include "test/compiler/lower/program_case.h"

namespace dtranspile::lower {

// Empty if the fetch is the golden value of that step (golden/NAME.npy, NAME.lod.json) within the
// case's rtol and atol. With `exact` every bit counts.
std::string compareFetch(ProgramCase& c, exec::Executor& executor, const exec::FetchSlot& fetch,
                         int64_t step, bool exact = false);

}  // namespace dtranspile::lower
