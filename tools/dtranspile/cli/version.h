// What this binary is and how it was built: `dtranspile --version`.
#pragma once

#include <string>

namespace dtranspile::cli {

// The version, and below it: compilation mode with optimisation and assertions, compiler, target,
// sanitizers; LLVM, and the processor that programs are compiled for here.
std::string versionText();

}  // namespace dtranspile::cli
