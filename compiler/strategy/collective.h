// What a user asks of the collective modes (nccl2; collective with grad_allreduce or local_sgd),
// checked as a whole. Filled by the command line from flags and strategy files, read by
// compiler/pipelines, stored in the manifest as honoured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/Support/LogicalResult.h"
#include "mlir/IR/Location.h"
#include "nlohmann/json.hpp"

namespace dtranspile {

// Field names are the framework's (DistributeTranspilerConfig, DistributedStrategy).
struct CollectiveStrategy {
  std::string mode = "collective";                 // "nccl2" or "collective"
  std::string collective_mode = "grad_allreduce";  // or "local_sgd"; mode "collective" only
  int64_t trainers = 1;                            // world size
  int64_t nccl_comm_num = 1;                       // communicators that gradients take turns on
  bool use_hierarchical_allreduce = false;
  int64_t hierarchical_allreduce_inter_nranks = 0;  // ranks of an inner group
  bool fuse_all_reduce_ops = true;
  int64_t fuse_grad_size_in_MB = 32;  // most MiB of a bucket
  bool sync_batch_norm = false;
  std::string scale_strategy =
      "avg";  // "avg": as one device; "reference": always 1/N, as the framework divides
  std::vector<std::string>
      batch_dims;  // NAME=dim or NAME=none, for feeds whose batch dim is not a leading `?`
};

// Reports every field that is out of range and every pair that does not go together, each with the
// reason; fails if there is one.
llvm::LogicalResult checkStrategy(const CollectiveStrategy& strategy, mlir::Location loc);

// As the manifest stores it.
nlohmann::ordered_json toJson(const CollectiveStrategy& strategy);

}  // namespace dtranspile
