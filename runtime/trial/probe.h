// What the loss of the reference reacts to. Where it does not react, a job that computes something
// else may agree with it all the same. Used by trial.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/worker.h"
#include "runtime/trial/config.h"

namespace dtranspile::trial {

struct Reactions {
  std::vector<std::string> unmoved;     // feeds
  std::vector<std::string> unaffected;  // parameters
};

// Repeats the first step of `rank` (a single one), each time with one feed of another step, or
// one parameter shifted, and looks at the loss. Nothing is said of feeds where there is one step.
absl::StatusOr<Reactions> Probe(const exec::WorkerConfig& rank, const std::string& loss,
                                const std::vector<std::string>& parameters,
                                const exec::WorkerLinks& links);

}  // namespace dtranspile::trial
