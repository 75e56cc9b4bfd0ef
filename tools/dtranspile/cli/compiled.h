// What `run` and `compile` share: a job or program from its flags to plans on disk.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "tools/dtranspile/cli/placement.h"
#include "tools/dtranspile/cli/run_flags.h"
#include "tools/dtranspile/cli/runnable.h"

namespace dtranspile::cli {

// Everything between the flags and plans on disk.
struct Compiled {
  Runnable runnable;
  Placement placement;
  std::vector<FeedData> feeds;
  std::vector<std::string> fetches;
  struct Class {
    std::string folder;  // of its plan; "": no rank of it is started here
    double compileMs = 0;
  };
  std::vector<std::vector<Class>> classes;  // per role
};

// What is to be compiled, with nothing compiled yet. `feed`: makes flags.feeds, where they come
// from elsewhere. `placement`: of a run.
mlir::FailureOr<Compiled> prepare(Tool& tool, const RunFlags& flags,
                                  const PlacementFlags* placement,
                                  llvm::function_ref<mlir::LogicalResult(Runnable&)> feed);

// One plan per class of ranks, below `folder`: in it where there is one class, else in a folder
// each, DIR/trainer.0, numbered as in the role.
mlir::LogicalResult compile(Tool& tool, const RunFlags& flags, Compiled& out,
                            const std::string& folder);

}  // namespace dtranspile::cli
