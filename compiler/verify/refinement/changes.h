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

// How the loss scale begins and moves (amp).
struct LossScaling {
  double initial = 0;
  bool dynamic = false;
  int64_t increaseEvery = 0, decreaseEvery = 0;
  double increase = 0, decrease = 0;
};

// Slow weights that move every so many steps (lookahead).
struct SlowWeights {
  int64_t steps = 1;
  double alpha = 1;
};

struct Changes {
  // One per pass: name and what it means, in words.
  std::vector<std::pair<std::string, std::string>> statements;
  // Passes of which nothing is known here.
  std::vector<std::string> unknown;
  // Floats are computed with in other precisions; overflowed steps change nothing (amp).
  bool anyFloat = false;
  std::optional<LossScaling> scaling;  // nothing: the loss is not scaled
  bool copies = false;                 // parameters lie in `half` beside copies in full
  std::string half;                    // the one type that floats are rounded to ("float16")
  std::vector<std::string> kept;       // types of ops that compute as in the source
  std::vector<std::string> white;      // that may compute in `half` beside those of the lists
  std::vector<std::string> keptNames;  // values: what takes or gives one computes as in the source
  bool guarded = false;                // with copies: ops in `half` are those of fp16_guard
  bool sharedDraws = false;            // random ops that run twice draw once (recompute)
  std::optional<MergedSteps> merged;
  std::optional<SlowWeights> slow;
  // Weights of layers are pruned but for those whose name has one of these parts (asp).
  std::optional<std::vector<std::string>> pruned;
  std::string masks;  // which of their elements are kept: an algorithm of pruning.h
  // Results of ops that take a norm, which are written out (compiler/analysis/norms.h).
  std::vector<std::string> writtenOut;
  // Values that belong to the update, whatever roles the source has (settle-roles): no fetch of a
  // step asks for them.
  std::vector<std::string> settled;
  // Rewrites of single ops, in order.
  std::vector<std::function<void(Description&)>> readAs;
};

// `main`: the program of the source, for its version.
Changes changesOf(mlir::ModuleOp job, int64_t version);

}  // namespace dtranspile::verify
