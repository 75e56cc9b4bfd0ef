// From a JobSpec to one CONFIG per rank: coordinates, communicator groups, threads. Used by RunJob.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/plan.h"
#include "runtime/launch/job.h"

namespace dtranspile::launch {

// One process to be started.
struct Rank {
  std::string role;
  int rank = 0;
  double compile_ms = 0;
  exec::WorkerConfig config;  // rendezvous and control_fd are the caller's
  std::string name() const { return role + " " + std::to_string(rank); }
};

struct Ranks {
  std::vector<Rank> ranks;
  std::map<std::string, std::string> combine;  // of the fetches that are asked for
};

// kInvalidArgument: a mesh, a number of plans, an axis of a communicator or a fetch that does not
// fit; errors of ReadPlan and CheckInputs.
absl::StatusOr<Ranks> MakeRanks(const JobSpec& spec);

// Coordinates of `rank` in the mesh, the first axis major.
std::map<std::string, int64_t> CoordinatesOf(
    const std::vector<std::pair<std::string, int64_t>>& mesh, int64_t rank);

// The group of a communicator that the rank with these coordinates is in: ranks whose other
// coordinates are equal, numbered along the communicator's axes, the first one major.
// kInvalidArgument for an axis that the mesh lacks.
absl::StatusOr<exec::CommConfig> GroupOf(const exec::PlanComm& comm, const std::string& role,
                                         const std::vector<std::pair<std::string, int64_t>>& mesh,
                                         const std::map<std::string, int64_t>& coordinates);

}  // namespace dtranspile::launch
