#include "compiler/strategy/collective.h"

#include "mlir/IR/Diagnostics.h"

namespace dtranspile {
namespace {

using Strategy = CollectiveStrategy;

struct Rule {
  bool (*broken)(const Strategy&);
  const char* message;  // the fields, what is wrong, what to do
};

bool isLocalSgd(const Strategy& s) {
  return s.mode == "collective" && s.collective_mode == "local_sgd";
}

const Rule kRules[] = {
    {[](const Strategy& s) { return s.mode != "nccl2" && s.mode != "collective"; },
     "mode: nccl2 and collective are the collective modes"},
    {[](const Strategy& s) {
       return s.collective_mode != "grad_allreduce" && s.collective_mode != "local_sgd";
     },
     "collective_mode: grad_allreduce and local_sgd are known"},
    {[](const Strategy& s) { return s.mode == "nccl2" && s.collective_mode != "grad_allreduce"; },
     "mode nccl2 and collective_mode local_sgd: nccl2 reduces gradients; use mode collective for "
     "local_sgd"},
    {[](const Strategy& s) { return s.trainers < 1 || s.trainers > INT32_MAX; },
     "trainers: lies between 1 and 2147483647"},
    {[](const Strategy& s) { return s.nccl_comm_num < 1 || s.nccl_comm_num > 64; },
     "nccl_comm_num: lies between 1 and 64"},
    {[](const Strategy& s) {
       return s.fuse_grad_size_in_MB < 1 || s.fuse_grad_size_in_MB > (1 << 20);
     },
     "fuse_grad_size_in_MB: lies between 1 and 1048576; turn fuse_all_reduce_ops off for no "
     "buckets"},
    {[](const Strategy& s) { return s.scale_strategy != "avg" && s.scale_strategy != "reference"; },
     "scale_strategy: avg and reference are implemented; sum and customized change what the "
     "program computes and are not"},
    {[](const Strategy& s) {
       return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks < 2;
     },
     "use_hierarchical_allreduce and hierarchical_allreduce_inter_nranks: an inner group has at "
     "least 2 ranks"},
    {[](const Strategy& s) {
       return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks >= 2 &&
              (s.trainers <= s.hierarchical_allreduce_inter_nranks ||
               s.trainers % s.hierarchical_allreduce_inter_nranks != 0);
     },
     "trainers and hierarchical_allreduce_inter_nranks: inner groups of equal size, more than one "
     "of them, make up all trainers"},
    {[](const Strategy& s) { return s.use_hierarchical_allreduce && !s.fuse_all_reduce_ops; },
     "use_hierarchical_allreduce and fuse_all_reduce_ops=false: three operations per gradient "
     "instead of one would be slower than none of both; keep buckets "
     "on"},
    {[](const Strategy& s) { return isLocalSgd(s) && s.scale_strategy != "avg"; },
     "collective_mode local_sgd and scale_strategy: gradients are not reduced, nothing is scaled"},
};

}  // namespace

llvm::LogicalResult checkStrategy(const Strategy& strategy, mlir::Location loc) {
  bool ok = true;
  for (const Rule& rule : kRules) {
    if (!rule.broken(strategy)) continue;
    mlir::emitError(loc) << rule.message;
    ok = false;
  }
  return llvm::success(ok);
}

nlohmann::ordered_json toJson(const Strategy& s) {
  nlohmann::ordered_json json = {{"mode", s.mode}};
  if (s.mode == "collective") json["collective_mode"] = s.collective_mode;
  json["trainers"] = s.trainers;
  json["nccl_comm_num"] = s.nccl_comm_num;
  json["use_hierarchical_allreduce"] = s.use_hierarchical_allreduce;
  if (s.use_hierarchical_allreduce)
    json["hierarchical_allreduce_inter_nranks"] = s.hierarchical_allreduce_inter_nranks;
  json["fuse_all_reduce_ops"] = s.fuse_all_reduce_ops;
  if (s.fuse_all_reduce_ops) json["fuse_grad_size_in_MB"] = s.fuse_grad_size_in_MB;
  json["sync_batch_norm"] = s.sync_batch_norm;
  json["scale_strategy"] = s.scale_strategy;
  json["batch_dims"] = s.batch_dims;
  return json;
}

}  // namespace dtranspile
