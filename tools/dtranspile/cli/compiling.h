// From a class of ranks to its plan on disk: what the compiler is told of feeds and fetches, and
// the call. Used by `run`, `compile` and `verify --execute`.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/compile.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

// Feeds and fetches of one class for the compiler: local extents, splits, the fetches that its
// ranks hold.
mlir::FailureOr<lower::LoweringRequest> makeRequest(Tool& tool, Runnable& runnable,
                                                    const RunnableRole& role,
                                                    const RunnableClass& rankClass,
                                                    const std::vector<FeedData>& feeds,
                                                    const std::vector<std::string>& fetches);

struct Compiling {
  std::string cache;  // folder of compiled kernels; empty: the user's
  bool float64 = false, mendDefects = false;
};

// Compiles a class into `folder`; the milliseconds that it took. With float64 the module of the
// class is widened.
mlir::FailureOr<double> compileClass(Tool& tool, Runnable& runnable, const RunnableRole& role,
                                     RunnableClass& rankClass, const std::vector<FeedData>& feeds,
                                     const std::vector<std::string>& fetches,
                                     const Compiling& options, const std::string& folder);

}  // namespace dtranspile::cli
