// What `run` and `compile` work on: the roles of a job, each with its classes of ranks, specialised
// (docs/jobs.md); of a saved program one role of one rank.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/artifact/job.h"
#include "compiler/specialize/specialize.h"
#include "runtime/launch/job.h"
#include "tools/dtranspile/cli/run_flags.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

struct RunnableClass {
  RankClass ranks;
  mlir::OwningOpRef<mlir::ModuleOp> module;  // pd.vars and programs; of a job with mesh and comms
  bool here = true;                          // whether ranks of it are started by this command
};

struct RunnableRole {
  std::string name = "trainer";
  std::vector<std::pair<std::string, int64_t>> mesh;  // axis, size; empty: one rank
  std::vector<RunnableClass> classes;
  dist::RoleOp op;  // in the job; null for a program

  int64_t ranks() const;
  // Per rank the index of its class.
  std::vector<size_t> classOfRanks() const;
};

struct Runnable {
  std::vector<RunnableRole> roles;
  mlir::OwningOpRef<mlir::ModuleOp> job;  // what it was made of; null for a program
  std::string digest;
  std::map<std::string, std::string> combine;  // of fetches that the job's manifest knows
  std::vector<std::string> pservers;           // endpoints that the job was transpiled for

  // Starts these ranks only: classes without one of them are neither fed nor compiled.
  void restrictTo(const launch::Part& part);
  // By role of servers who asks it: the role, and its ranks that do.
  std::map<std::string, std::pair<std::string, std::vector<int>>> askers();
  bool hasVariable(llvm::StringRef name);

  // The single-device program and its variables: what the job preserves, or the program itself.
  mlir::ModuleOp saved();
  // Whether a class has a start-up program.
  bool hasStartup();
};

// JOB: its folder, or its module alone (.mlir, .mlirbc), which gets the manifest that transpile
// would write. A message and no value on failure.
mlir::FailureOr<Job> openJob(Tool& tool, const std::string& path);

// JOB specialised, or MAIN as it is. A message and no value on failure.
mlir::FailureOr<Runnable> loadRunnable(Tool& tool, const RunFlags& flags);

// The same of a job in memory, whose module goes with it. What is wrong is a diagnostic.
mlir::FailureOr<Runnable> runnableOf(Job job);

// Whether ranks of a class have the value of that name that a run reports: of several roles each
// may have a version of it, and the last one counts.
bool holds(Runnable& runnable, const RunnableClass& rankClass, llvm::StringRef name);

// What the programs of all classes are fed, each once.
std::vector<pd::InputOp> inputsOf(Runnable& runnable);

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

// Names to report: --fetch, or the loss. Checked against the programs of all classes.
mlir::FailureOr<std::vector<std::string>> findFetches(Tool& tool, Runnable& runnable,
                                                      const RunFlags& flags);

}  // namespace dtranspile::cli
