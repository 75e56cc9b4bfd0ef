// CONFIG of a trial (trial.h): written by the command that asks for it, read by the worker that
// runs it. Both directions here, so that they cannot drift apart.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"

namespace dtranspile::trial {

// A variable of the ranks of a role, and what it is of the reference's variable `of`: `scale` times
// it, on every rank that has it, or the rank's part of that by the plan's layout; where `axes` are
// given, the sum over the ranks that differ along them only.
struct Variable {
  std::string role, name, of;
  double scale = 1;
  std::vector<std::string> axes;
};

// A fetch: the reference's value from those of the ranks that have it, by `combine`, a word of the
// plan's fetches: "same", "mean", "sum", "concat".
struct Fetch {
  std::string name, combine;
};

struct Limits {
  int64_t bytes = int64_t{4} << 30;  // of address space
  int64_t cpu_seconds = 120;
  double wait_seconds = 20;  // that a rank waits for others
};

struct Config {
  // Single ranks that do the steps of the reference, each from feeds of its own. What a rank of the
  // job holds is right where it agrees with one of them; the first one is what messages show.
  std::vector<exec::WorkerConfig> references;
  // All ranks of the job. Their rendezvous, and the addresses of servers, are made where they run.
  std::vector<exec::WorkerConfig> ranks;
  std::vector<Variable> variables;
  std::vector<Fetch> fetches;
  std::string loss;                     // one of the fetches; empty: none
  std::vector<std::string> parameters;  // of the reference, that the loss should react to
  // Largest difference, as a share of the largest element of the tensor.
  double tolerance = 1e-9;
  // Whether random ops draw alike on all ranks, wherever they stand in the mesh: for ranks that are
  // given equal samples.
  bool equal_draws = false;
  Limits limits;
};

// kInvalidArgument names file and place.
absl::StatusOr<Config> ReadConfig(const std::string& path);
exec::Json ToJson(const Config& config);

}  // namespace dtranspile::trial
