// What a run is given: shared by the commands `run` and `compile`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/artifact/job.h"
#include "compiler/lower/compile.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

struct RunFlags {
  std::string input;                 // JOB or MAIN
  std::string startup;               // of MAIN
  std::string feeds;                 // folder
  std::vector<std::string> feed;     // NAME=FILE.npy
  std::string init;                  // folder, combined file or pickle
  std::vector<std::string> perStep;  // VAR=v0,v1,…
  std::vector<std::string> fetch;
  int64_t steps = -1;        // -1: as many as the feeds have
  std::string cache;         // empty: the user's cache folder
  int threads = 0;           // of a rank; 0: cores / ranks, at least 1
  bool mendDefects = false;  // docs/operators/defects.md
  bool float64 = false;      // pass widen-float64
};

// Declares the flags that both commands have.
void declareRunFlags(CLI::App& app, RunFlags& flags);

// One program as compiled: the module that runs on every rank of a class, and how it divides.
struct Runnable {
  mlir::OwningOpRef<mlir::ModuleOp>
      module;  // pd.var, pd.program @main (and @startup); with dist.mesh and dist.comm for a job
  mlir::OwningOpRef<mlir::ModuleOp> job;  // what it was made of; null for a program
  std::string digest;
  std::map<std::string, std::string> combine;         // of fetches that the job's manifest knows
  std::vector<std::pair<std::string, int64_t>> mesh;  // axis, size; empty: one rank
  std::vector<std::pair<std::string, std::vector<std::string>>> comms;  // name, axes
  int64_t ranks() const;
};

// JOB specialised, or MAIN as it is. A message and no value on failure.
mlir::FailureOr<Runnable> loadRunnable(Tool& tool, const RunFlags& flags);

// Global data of every feed: file (of ragged ones the stem), steps and dims of one step (of ragged
// ones of the first).
struct FeedData {
  std::string name, file;
  std::vector<int64_t> dims;
  int64_t steps = 0;
  bool ragged = false;
};
mlir::FailureOr<std::vector<FeedData>> findFeeds(Tool& tool, Runnable& runnable,
                                                 const RunFlags& flags);

// Names to report: --fetch, or the loss. Checked against the program.
mlir::FailureOr<std::vector<std::string>> findFetches(Tool& tool, Runnable& runnable,
                                                      const RunFlags& flags);

// Feeds and fetches for the compiler: local extents, splits.
mlir::FailureOr<lower::LoweringRequest> makeRequest(Tool& tool, Runnable& runnable,
                                                    const std::vector<FeedData>& feeds,
                                                    const std::vector<std::string>& fetches);

}  // namespace dtranspile::cli
