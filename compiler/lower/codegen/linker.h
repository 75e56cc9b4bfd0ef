// Object files to a shared library, with LLD in this process.
#pragma once

#include <string>
#include <vector>

#include "llvm/Support/LogicalResult.h"

namespace dtranspile::lower {

struct NamedObject {
  std::string name;  // for the linker's messages
  const std::string& bytes;
};

// Writes `output`; where that fails, on a full disk too, there is none. No code generation may run
// in the process meanwhile: LLD resets LLVM's global options.
llvm::LogicalResult linkShared(const std::vector<NamedObject>& objects, const std::string& output,
                               std::string& error);

}  // namespace dtranspile::lower
