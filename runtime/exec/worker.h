// One rank of a job from its CONFIG to its last step: what tools/dtranspile/worker_main.cc runs,
// and what tests run in-process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/config.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/server_link.h"

namespace dtranspile::exec {

class Executor;

// What a worker is linked with.
struct WorkerLinks {
  std::function<DtFunction(const std::string&)> find_function;
  std::function<absl::StatusOr<std::unique_ptr<comm::Communicator>>(const comm::Rendezvous&,
                                                                    const std::string&, int, int)>
      join;
  std::function<void(const WorkerConfig&)>
      seed;  // of the random ops, and where the rank stands in the mesh; may be empty
  std::function<void(int64_t)> begin_step = nullptr;  // told the number of every step
  std::function<uint64_t(const std::string&)> element_types = nullptr;  // see RankLinks
  // Told where the rank stands while a micro-batch runs, the time axis among its coordinates; may
  // be empty.
  std::function<void(const Position&)> stand = nullptr;
  // Reach the servers of a role; make a server of this rank (server_link.h). Empty: a plan that
  // wants them is refused.
  std::function<absl::StatusOr<std::unique_ptr<ServerLink>>(const WorkerConfig&, const RpcConfig&)>
      connect = nullptr;
  std::function<absl::StatusOr<std::unique_ptr<Rounds>>(const WorkerConfig&, const RpcConfig&)>
      serve = nullptr;
  // Sees the rank's values after its start-up (step -1) and after every step; an error ends the
  // rank. May be empty.
  std::function<absl::Status(int64_t step, const WorkerConfig&, const Executor&)> watch = nullptr;
};

// How a rank has ended.
struct RankEnd {
  absl::Status status;
  std::string op;        // that failed; empty: none
  int64_t step = -1;     // that it failed in; -1: before the first one, or after the last
  bool waiting = false;  // for other ranks, so that the reason may lie with them
};

// Runs a rank to its end and reports on its control channel, where it has one.
RankEnd RunRank(const WorkerConfig& config, const WorkerLinks& links);

constexpr int kWorkerDone = 0;
constexpr int kWorkerUsage = 2;
constexpr int kWorkerFailed = 4;

// Reads CONFIG at `path`, runs it and reports on its control channel. The exit status of the
// process.
int RunWorker(const std::string& path, const WorkerLinks& links);

}  // namespace dtranspile::exec
