// From a JobSpec to one CONFIG per rank: the plan of its class, coordinates, groups, what it is
// given and what it gives. Used by RunJob.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/plan.h"
#include "runtime/launch/job.h"
#include "runtime/launch/report.h"

namespace dtranspile::launch {

// One process to be started.
struct Rank {
  size_t role_index = 0;  // in JobSpec::roles
  std::string role, class_name;
  int rank = 0;
  bool one_of_classes = false;  // whether its role has several
  double compile_ms = 0;
  const exec::Plan* plan = nullptr;
  exec::WorkerConfig config;  // rendezvous, store and control_fd are the caller's

  // "trainer 1", "trainer 1 (trainer[pp=1])".
  std::string name() const {
    return role + " " + std::to_string(rank) + (one_of_classes ? " (" + class_name + ")" : "");
  }
};

struct Ranks {
  std::vector<Rank> ranks;
  std::map<std::string, HeldFetch> fetches;  // those that are asked for
  std::vector<std::unique_ptr<const exec::Plan>> plans;
};

// kInvalidArgument: a mesh, a number of plans, a plan of another role, class or job, an axis of a
// communicator, a role that is to serve and does not, a device, a fetch, a name of an initial or
// per-step value that does not fit; errors of ReadPlan and CheckInputs.
absl::StatusOr<Ranks> MakeRanks(const JobSpec& spec);

}  // namespace dtranspile::launch
