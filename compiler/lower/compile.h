// Programs of one class of ranks to a folder that the runtime loads: plan.json and kernels.so. The
// one entry of this phase; called by the commands `compile` and `run` after specialisation, its
// first half by dtranspile-lower too. A plan has the start-up program and that of every step; where
// the main program is a server's (dist.serve), in the place of the latter one for each handler.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/codegen/kernel_library.h"
#include "compiler/lower/program_lowering.h"
#include "dialects/pd/pd.h"

namespace dtranspile::lower {

struct CompileOptions {
  LoweringRequest main;  // feeds and fetches of the main program
  std::string role = "trainer", className = "trainer";
  std::string digest;  // of the job, recorded in the plan
  std::string cache;   // folder of compiled kernels; empty: none (see defaultCacheFolder)
};

struct CompileStatistics {
  LibraryStatistics library;
  int nodes = 0, kernelCalls = 0, copies = 0;  // of all but the start-up program
  double totalMs = 0;
};

// The first half of compilePrograms: the plan, complete but for the code of its kernels.
llvm::FailureOr<Plan> lowerPrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                    const CompileOptions& options);

// Compiles the programs (`startup` may be null) into `folder`, which appears as a whole or not at
// all; a plan that stood there is replaced, anything else is an error. Variables are the pd.var of
// the symbol table that `main` stands in.
llvm::FailureOr<CompileStatistics> compilePrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                                   const CompileOptions& options,
                                                   const std::string& folder);

}  // namespace dtranspile::lower
