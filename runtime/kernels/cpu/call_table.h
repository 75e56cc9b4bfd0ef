// The library calls that plans may name, for the CPU. The worker hands FindFunction to the executor
// (runtime/exec/executor.h).
#pragma once

#include <cstdint>
#include <string>

#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

// The function with that name; null when there is none.
DtFunction FindFunction(const std::string& name);

// The element types that it takes: bit 1 << code (runtime/base/dtype.h). 0 when there is no such
// function.
uint64_t ElementTypesOf(const std::string& name);

}  // namespace dtranspile::kernels
