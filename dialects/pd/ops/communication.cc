// Rows of the op table: family `communication`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_communication.h"
#include "dialects/pd/ops/infer_creation.h"
#include "dialects/pd/ops/infer_loss.h"
#include "dialects/pd/ops/infer_optimizer.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kCAllreduceSumAttributes =
    "ring_id:i=0, use_calc_stream:b=false, use_model_parallel:b=false";

constexpr const char* kCReduceSumAttributes = "ring_id:i=0, root_id:i=0, use_calc_stream:b=false";

constexpr const char* kCSoftmaxWithCrossEntropyAttributes =
    "ignore_index:l=-100, ring_id:i=0, rank:i=0, nranks:i=0";

const OpRow kRows[] = {
    {"c_allreduce_sum", "X, Cond? -> Out", kCAllreduceSumAttributes, kCommunicates,
     inferSame<"X", "Out">},
    {"c_allreduce_max", "X -> Out", kCAllreduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_allreduce_min", "X -> Out", kCAllreduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_allreduce_prod", "X -> Out", kCAllreduceSumAttributes, kCommunicates,
     inferSame<"X", "Out">},
    {"mp_allreduce_sum", "X -> Out", "ring_id:i=0, use_calc_stream:b=false", kCommunicates,
     inferSame<"X", "Out">},
    {"c_reduce_sum", "X -> Out", kCReduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_reduce_max", "X -> Out", kCReduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_reduce_min", "X -> Out", kCReduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_reduce_prod", "X -> Out", kCReduceSumAttributes, kCommunicates, inferSame<"X", "Out">},
    {"c_broadcast", "X -> Out", "ring_id:i=0, root:i=0, use_calc_stream:b=false", kCommunicates,
     inferSame<"X", "Out">},
    {"c_allgather", "X -> Out",
     "ring_id:i=0, use_calc_stream:b=false, nranks:i, rank:i=0, use_model_parallel:b=false",
     kCommunicates, inferGather0},
    {"c_reducescatter", "X -> Out", "ring_id:i=0, nranks:i=1, use_calc_stream:b=false",
     kCommunicates, inferScatter0},
    {"c_scatter", "X -> Out", "ring_id:i=0, root:i=0, nranks:i=0, use_calc_stream:b=false",
     kCommunicates, inferScatter0},
    {"alltoall", "X -> Out", "ring_id:i=0, use_calc_stream:b=false", kCommunicates,
     inferSame<"X", "Out">},
    {"barrier", "X -> Out", "ring_id:i=0", kCommunicates, inferSame<"X", "Out">},
    {"send_v2", "X ->", "ring_id:i=0, peer:i=0, use_calc_stream:b=false, dynamic_shape:b=false",
     kCommunicates, nullptr},
    {"recv_v2", "-> Out",
     "ring_id:i=0, peer:i=0, dtype:i=5, out_shape:is={}, use_calc_stream:b=false, "
     "dynamic_shape:b=false",
     kCommunicates, inferCreate},
    {"partial_send", "X ->", "ring_id:i=0, peer:i=0, use_calc_stream:b=false, num:i=1, id:i=0",
     kCommunicates, nullptr},
    {"partial_recv", "-> Out!",
     "ring_id:i=0, peer:i=0, dtype:i=5, out_shape:is={}, use_calc_stream:b=false, num:i=1, id:i=0",
     kCommunicates, inferCreate},
    {"partial_allgather", "X -> Out", "ring_id:i=0, use_calc_stream:b=false, nranks:i, rank:i",
     kCommunicates, inferSame<"X", "Out">},
    {"global_scatter", "X, local_count, global_count -> Out",
     "ring_id:i=0, use_calc_stream:b=false", kCommunicates, nullptr},
    {"global_gather", "X, local_count, global_count -> Out", "ring_id:i=0, use_calc_stream:b=false",
     kCommunicates, nullptr},
    {"c_identity", "X -> Out", "ring_id:i=0, use_calc_stream:b=true, use_model_parallel:b=true",
     kPure, inferSame<"X", "Out">},
    {"c_concat", "X -> Out",
     "rank:i=0, nranks:i=1, ring_id:i=0, use_calc_stream:b=true, use_model_parallel:b=true",
     kCommunicates, inferConcatLast},
    {"c_split", "X -> Out",
     "rank:i=0, nranks:i=1, ring_id:i=0, use_calc_stream:b=false, use_model_parallel:b=true", kPure,
     inferSplitLast},
    {"c_embedding", "W, Ids -> Out", "start_index:l=0, vocab_size:l=-1", kPure, inferEmbedding,
     kEmbeddingConstraints},
    {"c_embedding_grad", "Ids, Out@GRAD, W -> W@GRAD?", "start_index:l=0, vocab_size:l=-1", kPure,
     inferEmbeddingGrad},
    {"c_softmax_with_cross_entropy", "Logits, Label -> Softmax, Loss",
     kCSoftmaxWithCrossEntropyAttributes, kCommunicates, inferSoftmaxCrossEntropy},
    {"c_softmax_with_cross_entropy_grad", "Softmax, Label, Loss@GRAD -> Logits@GRAD?",
     kCSoftmaxWithCrossEntropyAttributes, kPure, inferSame<"Softmax", "Logits@GRAD">},
    {"c_gen_nccl_id", "-> Out", "rank:i, endpoint:s, other_endpoints:ss={}, ring_id:i=0",
     kCommunicates, nullptr},
    {"c_comm_init", "X ->", "nranks:i, rank:i, ring_id:i=0, device_id:i=-1, endpoints:s=''",
     kCommunicates, nullptr},
    {"c_comm_init_all", "->", "devices:is={}, ring_id:i=0", kCommunicates, nullptr},
    {"c_comm_init_multitrainer", "X ->", "ntrainers:i, trainer_id:i~, devices:is={}, ring_id:i=0",
     kCommunicates, nullptr},
    {"gen_nccl_id", "-> NCCLID",
     "trainers:ss={}, trainer_id:i, nccl_comm_num:i=1, use_hierarchical_allreduce:b=false, "
     "hierarchical_allreduce_inter_nranks:i=-1",
     kCommunicates, nullptr},
    {"c_sync_calc_stream", "X -> Out", "", kCommunicates, inferSame<"X", "Out">},
    {"c_sync_comm_stream", "X* -> Out*", "ring_id:i=0", kCommunicates, inferSame<"X", "Out">},
    {"c_wait_compute", "X* -> Out*", "ring_id:i=0", kCommunicates, inferSame<"X", "Out">},
    {"c_wait_comm", "X* -> Out*", "ring_id:i=0", kCommunicates, inferSame<"X", "Out">},
    {"depend", "X, Dep* -> Out", "", kCommunicates, inferSame<"X", "Out">},
    {"nop", "X* -> Out*", "", kCommunicates, inferSame<"X", "Out">},
    {"allreduce", "X -> Out", "reduce_type:i=0, sync_mode:b=false", kCommunicates,
     inferSame<"X", "Out">},
    {"broadcast", "X?, x? -> Out?, out?", "sync_mode:b=false, root:i=0, ring_id:i=0", kCommunicates,
     nullptr},
    {"dgc",
     "U, V, Grad, Param?, current_step, nranks -> U_out, V_out, EncodeGrad, Grad_out, k, "
     "GatherBuff",
     "m:f=0.9, use_nesterov:b=true, sparsity:fs={}, rampup_begin_step:f=0, rampup_step:f=0, "
     "regular_coeff:f=0, regular_type:i=0",
     kPure, nullptr},
    {"dgc_momentum",
     "current_step, nranks, Param, Grad, Velocity, LearningRate, MasterParam? -> Grad_out, "
     "ParamOut, VelocityOut, MasterParamOut?",
     "rampup_begin_step:f=-1, mu:f, use_nesterov:b=false, regularization_method:s='', "
     "regularization_coeff:f=0, multi_precision:b=false, rescale_grad:f=1",
     kPure, inferStateUpdate},
    {"dgc_clip_by_norm", "current_step, X -> Out", "rampup_begin_step:f=-1, max_norm:f", kPure,
     inferSame<"X", "Out">},
    {"distributed_fused_lamb_init",
     "Param*, Grad* -> FP32FusedParam?, FP32FusedGrad?, FP16FusedParam?, FP16FusedGrad?, Moment1, "
     "Moment2, Beta1Pow, Beta2Pow, FusedParamOffsets, "
     "FP32ShardFusedParamOffsets, FP16ShardFusedParamOffsets, ParamInfo, ParamOrder, ParamOut*, "
     "MasterParamOut*, GradOut*, GlobalScale, Step",
     "beta1:f, beta2:f, apply_weight_decay:is, alignment:i, rank:i, nranks:i", kPure, nullptr},
    {"distributed_fused_lamb",
     "Param*, Grad*, FP32FusedParam?, FP32FusedGrad?, FP16FusedParam?, FP16FusedGrad?, Moment1, "
     "Moment2, Beta1Pow, Beta2Pow, FusedParamOffsets, "
     "FP32ShardFusedParamOffsets, FP16ShardFusedParamOffsets, ParamInfo, ParamOrder, LearningRate, "
     "GlobalScale -> FP32FusedParamOut?, FP16FusedParamOut?, "
     "FP32AccFusedGrad?, FP16AccFusedGrad?, Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut, "
     "ParamOut*, FoundInf, AccStep?, StopUpdate?, Step",
     "acc_steps:i=1, beta1:f, beta2:f, epsilon:f, max_global_grad_norm:f, weight_decay:f, "
     "clip_after_allreduce:b, use_master_param_norm:b=true, "
     "use_master_acc_grad:b=true, is_grad_scaled_by_nranks:b=true, nranks:l=1, ring_ids:is={0}, "
     "use_hierarchical_allreduce:b=false",
     kCommunicates, nullptr},
};

}  // namespace

Family communicationFamily() { return {"communication", kRows}; }

}  // namespace dtranspile::pd
