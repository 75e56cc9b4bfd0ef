// Relation rules: families `communication` and `parameter_server`. A reference program runs on one
// device: what the framework's own distributed programs say by such ops, dialect `dist` says in a
// job, with groups that can be checked (docs/dialects/dist.md). Notation: rule.h.
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kCommunicates =
    "the ranks that meet in it are known by the number of a ring only; a job says it by dialect "
    "dist";
constexpr const char* kOwnPart =
    "it computes what belongs to a rank of one of the framework's own distributed programs";
constexpr const char* kServer =
    "what a server does with it is not in the program; a job says it by the protocol of dialect "
    "dist";

const RuleRow kRows[] = {
    {"allreduce", kNoRule, kCommunicates},
    {"alltoall", kNoRule, kCommunicates},
    {"barrier", kNoRule, kCommunicates},
    {"broadcast", kNoRule, kCommunicates},
    {"c_allgather", kNoRule, kCommunicates},
    {"c_allreduce_max", kNoRule, kCommunicates},
    {"c_allreduce_min", kNoRule, kCommunicates},
    {"c_allreduce_prod", kNoRule, kCommunicates},
    {"c_allreduce_sum", kNoRule, kCommunicates},
    {"c_broadcast", kNoRule, kCommunicates},
    {"c_comm_init", kNoRule, kCommunicates},
    {"c_comm_init_all", kNoRule, kCommunicates},
    {"c_comm_init_multitrainer", kNoRule, kCommunicates},
    {"c_concat", kNoRule, kCommunicates},
    {"c_embedding", kNoRule, kOwnPart},
    {"c_embedding_grad", kNoRule, kOwnPart},
    {"c_gen_nccl_id", kNoRule, kCommunicates},
    {"c_identity", kNoRule, kOwnPart},
    {"c_reduce_max", kNoRule, kCommunicates},
    {"c_reduce_min", kNoRule, kCommunicates},
    {"c_reduce_prod", kNoRule, kCommunicates},
    {"c_reduce_sum", kNoRule, kCommunicates},
    {"c_reducescatter", kNoRule, kCommunicates},
    {"c_scatter", kNoRule, kCommunicates},
    {"c_softmax_with_cross_entropy", kNoRule, kCommunicates},
    {"c_softmax_with_cross_entropy_grad", kNoRule, kOwnPart},
    {"c_split", kNoRule, kOwnPart},
    {"c_sync_calc_stream", kNoRule, kCommunicates},
    {"c_sync_comm_stream", kNoRule, kCommunicates},
    {"c_wait_comm", kNoRule, kCommunicates},
    {"c_wait_compute", kNoRule, kCommunicates},
    {"checkpoint_notify", kNoRule, kServer},
    {"depend", kNoRule, kCommunicates},
    {"dgc", kNoRule, kOwnPart},
    {"dgc_clip_by_norm", kNoRule, kOwnPart},
    {"dgc_momentum", kNoRule, kOwnPart},
    {"distributed_fused_lamb", kNoRule, kCommunicates},
    {"distributed_fused_lamb_init", kNoRule, kOwnPart},
    {"distributed_lookup_table", kNoRule, kServer},
    {"distributed_push_sparse", kNoRule, kServer},
    {"fake_init", kNoRule, kServer},
    {"fetch_barrier", kNoRule, kServer},
    {"fl_listen_and_serv", kNoRule, kServer},
    {"gen_nccl_id", kNoRule, kCommunicates},
    {"global_gather", kNoRule, kCommunicates},
    {"global_scatter", kNoRule, kCommunicates},
    {"heter_listen_and_serv", kNoRule, kServer},
    {"listen_and_serv", kNoRule, kServer},
    {"lookup_sparse_table", kNoRule, kServer},
    {"merge_ids", kNoRule, kServer},
    {"mp_allreduce_sum", kNoRule, kCommunicates},
    {"nop", kNoRule, kCommunicates},
    {"partial_allgather", kNoRule, kCommunicates},
    {"partial_recv", kNoRule, kCommunicates},
    {"partial_send", kNoRule, kCommunicates},
    {"prefetch", kNoRule, kServer},
    {"pull_sparse", kNoRule, kServer},
    {"pull_sparse_v2", kNoRule, kServer},
    {"push_dense", kNoRule, kServer},
    {"recv", kNoRule, kServer},
    {"recv_save", kNoRule, kServer},
    {"recv_v2", kNoRule, kCommunicates},
    {"ref_by_trainer_id", kNoRule, kServer},
    {"send", kNoRule, kServer},
    {"send_and_recv", kNoRule, kServer},
    {"send_barrier", kNoRule, kServer},
    {"send_v2", kNoRule, kCommunicates},
    {"split_byref", kNoRule, kServer},
    {"split_ids", kNoRule, kServer},
    {"split_selected_rows", kNoRule, kServer},
};

}  // namespace

llvm::ArrayRef<RuleRow> communicationRules() { return kRows; }

}  // namespace dtranspile::verify
