// `dtranspile verify` as a library: does the job compute what its reference program computes, and
// can it not hang? Called by the command and by tests; never exits. What a verdict means and under
// which conditions: docs/verification.md.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"

namespace dtranspile::verify {

struct VerifyOptions {
  std::vector<std::string> require;  // rungs that the verdict covers; empty: defaultRungs()
  mlir::ModuleOp
      given;  // programs that the job must have been made from (verify JOB MAIN); null: not asked
  bool wellFormed = false;  // the module is as parseGuarded gave it, which asks all ops' verifiers
  bool whole = false;  // --require whole: a job that equals the reference on parts of the batch
                       // only is refuted
};

// "structure", "refinement", "relations", "communication".
std::vector<std::string> rungNames();
// Those that a verdict covers where nobody says: "refinement" where the job has changed its source.
// `job` may be null.
std::vector<std::string> defaultRungs(mlir::ModuleOp job);

// `manifest` may be null for a module without its folder. Time and memory are linear in the ops of
// the job and do not depend on the number of ranks.
VerifyReport verifyJob(mlir::ModuleOp job, const nlohmann::ordered_json* manifest,
                       const VerifyOptions& options = {});

}  // namespace dtranspile::verify
