// Which processes of a job `run` starts, and where they meet: flags, and the variables that jobs of
// the framework are started with (docs/parameter-server.md, Roles by hand).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "runtime/launch/job.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

struct PlacementFlags {
  std::string role;                  // of the job, or trainer, pserver
  std::string rank;                  // empty: all ranks of the role
  std::string pservers;              // HOST:PORT,…
  std::string trainers;              // how many, to be checked
  std::string endpoint;              // HOST:PORT of this server
  std::string tokenFile;             // of the job
  std::vector<std::string> threads;  // ROLE=N
  std::vector<std::string> devices;  // ROLE=DEVICE
};

void declarePlacement(CLI::App& app, PlacementFlags& flags);

struct Placement {
  std::optional<launch::Part> part;  // none: every process
  std::map<std::string, std::vector<std::string>> endpoints;
  std::string token;
  std::map<std::string, int> threads;          // by role
  std::map<std::string, std::string> devices;  // by role
};

// A message and no value where flags, variables and the job contradict each other; it names both.
mlir::FailureOr<Placement> findPlacement(Tool& tool, Runnable& runnable,
                                         const PlacementFlags& flags);

}  // namespace dtranspile::cli
