// The library calls that plans may name, for the CPU. The worker hands FindFunction to the executor (runtime/exec/executor.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

// The function with that name; null when there is none.
DtFunction FindFunction(const std::string& name);

// All names, sorted.
std::vector<std::string> FunctionNames();

}  // namespace dtranspile::kernels
