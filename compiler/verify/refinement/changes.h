// What a job says that semantic passes have made of its source (`dist.changes`, written by
// passes/support/changes.h), and what each of them means: the claim that the proof is about. One
// row per pass.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/verify/refinement/describe.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

struct MergedSteps {
  int64_t steps = 1;
  bool average = true;
};

struct Changes {
  // One per pass: name and what it means, in words.
  std::vector<std::pair<std::string, std::string>> statements;
  // Passes of which nothing is known here.
  std::vector<std::string> unknown;
  // Floats are computed with in other precisions; overflowed steps change nothing (amp).
  bool anyFloat = false;
  bool sharedDraws = false;  // random ops that run twice draw once (recompute)
  std::optional<MergedSteps> merged;
  // Rewrites of single ops, in order.
  std::vector<std::function<void(Description&)>> readAs;
};

// `main`: the program of the source, for its version.
Changes changesOf(mlir::ModuleOp job, int64_t version);

}  // namespace dtranspile::verify
