// What a worker is linked with to reach servers, or to be one (exec::WorkerLinks): from its CONFIG
// to a client or a server. Used by tools/dtranspile/worker_main.cc.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/server_link.h"

namespace dtranspile::ps {

absl::StatusOr<std::unique_ptr<exec::ServerLink>> Connect(const exec::WorkerConfig& worker,
                                                          const exec::RpcConfig& servers);
absl::StatusOr<std::unique_ptr<exec::Rounds>> Serve(const exec::WorkerConfig& worker,
                                                    const exec::RpcConfig& trainers);

}  // namespace dtranspile::ps
