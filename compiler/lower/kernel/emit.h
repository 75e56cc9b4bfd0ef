// Prints a kernel as the MLIR function that codegen compiles. The text says everything that decides
// about the code, and nothing else: kernels with equal text are one kernel, and its hash is the key
// of the cache.
#pragma once

#include <string>

#include "compiler/lower/kernel/kernel.h"

namespace dtranspile::lower {

// `func.func @kernel(%a0: memref<1xT>, …, %lo: index, %n: index)`; the rows' extent is dynamic, all
// others are constants, or (Kernel::dynamic) come from a table of int64, the argument after the
// operands, in the order of Kernel::unknownNumbers. The kernel must be canonical.
std::string emitKernel(const Kernel& kernel);

}  // namespace dtranspile::lower
