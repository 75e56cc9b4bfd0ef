// Many kernels to one shared library: equal text is compiled once, the cache is asked first, the
// rest is compiled on every processor. Called by the lowering when the plan is complete.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/codegen/target.h"
#include "llvm/Support/LogicalResult.h"

namespace dtranspile::lower {

struct KernelSource {
  std::string text;  // one function @kernel
  std::string hint;  // for messages; equal text with different hints is one kernel
};

struct LibraryOptions {
  Target target;
  std::string cache;  // folder; empty: none
};

struct LibraryStatistics {
  int kernels = 0;   // distinct texts
  int compiled = 0;  // not found in the cache
  double compileMs = 0, linkMs = 0;
  std::string cacheRefusal;  // why the cache was not used; empty where it was, or none is given
};

// The name under which the library has that kernel: k_<16 hexadecimal digits>.
std::string symbolOf(const KernelSource& kernel, const Target& target);

// Writes the library of all kernels to `output`. On failure `error` names the kernel.
llvm::LogicalResult buildLibrary(const std::vector<KernelSource>& kernels,
                                 const LibraryOptions& options, const std::string& output,
                                 LibraryStatistics& statistics, std::string& error);

}  // namespace dtranspile::lower
