// Holds a library call against its signature before the kernel runs: element types, dims and counts
// of a plan that was written by hand, or for another version, are refused by name. Kernels rely on
// it where they take memory for elements of one type.
#pragma once

#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

// Leaves a message that names the argument if not. A call without a signature has nothing to be
// held against.
bool CheckArguments(DtContext* context, const DtCall* call);

}  // namespace dtranspile::kernels
