// Object files to a shared library, with LLD in this process.
#pragma once

#include <string>
#include <vector>

#include "llvm/Support/LogicalResult.h"

namespace dtranspile::lower {

// Writes `output` as a whole or not at all. No code generation may run in the process meanwhile:
// LLD resets LLVM's global options.
llvm::LogicalResult linkShared(const std::vector<std::string>& objects, const std::string& output,
                               std::string& error);

}  // namespace dtranspile::lower
