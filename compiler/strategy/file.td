// The framework's message DistributedStrategy, row by row: what a strategy file may say, and what
// becomes of it. Read by generate.py in the build: the descriptor that files are parsed with, the
// notes and errors of `strategy check`, the table of docs/strategy-file.md.
//
// Numbers and defaults are those of paddlepaddle 2.6.2 where versions differ.
#ifndef DTRANSPILE_STRATEGY_FILE
#define DTRANSPILE_STRATEGY_FILE
include "compiler/strategy/fields.td"

class Entry<int n, string t, string nm, string init> {
  int number = n;
  string type = t;        // bool, int32, uint32, uint64, float, double, string, or a name of below;
                          // `repeated` in front of it
  string name = nm;
  string initial = init;  // default; empty: that of the type
  string fate = ?;
  string is = "";         // the field of a request
  string why = "";
  string on = "";         // of a sub-message: the entry that turns it on; empty: it always counts
}
// It is a field of the request.
class Is<Field f, int n, string t, string init, string nm = f.name> : Entry<n, t, nm, init> {
  let fate = "Field";
  let is = f.name;
}
// It is several fields of the request, or one by a rule: compiler/strategy/request.cc.
class Told<int n, string t, string nm, string init, string how> : Entry<n, t, nm, init> {
  let fate = "Told";
  let why = how;
}
// Refused where it says anything but its default: what it asks for.
class Asks<int n, string t, string nm, string init, string what> : Entry<n, t, nm, init> {
  let fate = "Refused";
  let why = what;
}
// Accepted, and has no effect: why not.
class Hint<int n, string t, string nm, string init, string reason> : Entry<n, t, nm, init> {
  let fate = "Hint";
  let why = reason;
}
// A detail of what turns its message on.
class Part<int n, string t, string nm, string init = ""> : Entry<n, t, nm, init> {
  let fate = "Part";
}
class Sub<int n, string t, string nm, string switch = ""> : Entry<n, t, nm, ""> {
  let fate = "Part";
  let on = switch;
}
// A sub-message that is refused wherever it stands.
class AsksSub<int n, string t, string nm, string what> : Entry<n, t, nm, ""> {
  let fate = "Refused";
  let why = what;
}
// An older spelling of `becomes` in the same message; how: same or inverted.
class Old<string nm, string t, string becomes, string how, string note> {
  string name = nm;
  string type = t;
  string to = becomes;
  string sense = how;
  string why = note;
}

class Message {
  string name = NAME;
  list<Entry> entries = ?;
  list<Old> old = [];
}
class Enum {
  string name = NAME;
  list<string> names = ?;  // of the values from `first` on
  int first = 0;
}

defvar dygraph = "it is read by dynamic graphs only";
defvar executor = "it tuned the framework's graph executor";
defvar flags = "it was handed to the framework's own kernels";

def Mode : Enum {
  let first = 1;
  let names = ["COLLECTIVE", "PS", "PIPELINE", "HETER"];
}
def TableType : Enum { let names = ["PS_SPARSE_TABLE", "PS_DENSE_TABLE"]; }

def DistributedStrategy : Message {
  let entries = [
    Told<1, "Mode", "mode", "COLLECTIVE", "COLLECTIVE: mode=collective; PS: mode=pserver">,
    Is<amp, 2, "bool", "false">,
    Is<recompute, 3, "bool", "false">,
    Told<4, "bool", "localsgd", "false", "collective_mode=local_sgd">,
    Is<dgc, 5, "bool", "false">,
    Is<gradient_merge, 6, "bool", "false">,
    Is<lars, 7, "bool", "false">,
    Is<lamb, 8, "bool", "false">,
    Is<pipeline, 9, "bool", "false">,
    Hint<10, "bool", "elastic", "false", "the framework does not read it either">,
    Asks<11, "bool", "auto", "false", "strategies that the tool chooses by itself">,
    Told<12, "bool", "a_sync", "true",
         "in mode pserver: false is sync_mode; true with a_sync_configs.k_steps 0 is asynchronous, "
         "with more geo_sgd_mode">,
    Hint<13, "bool", "sync_nccl_allreduce", "true",
         "a sum is waited for where it is used, not by the host">,
    Is<nccl_comm_num, 14, "int32", "1">,
    Is<use_hierarchical_allreduce, 15, "bool", "false">,
    Is<hierarchical_allreduce_inter_nranks, 16, "int32", "1">,
    Is<sync_batch_norm, 17, "bool", "false">,
    Is<fuse_all_reduce_ops, 18, "bool", "true">,
    Is<fuse_grad_size_in_MB, 19, "int32", "32">,
    Hint<20, "float", "fuse_grad_size_in_TFLOPS", "50",
         "buckets are cut by bytes, fuse_grad_size_in_MB">,
    Hint<21, "bool", "cudnn_exhaustive_search", "false", flags>,
    Hint<22, "int32", "conv_workspace_size_limit", "512", flags>,
    Hint<23, "bool", "cudnn_batchnorm_spatial_persistent", "false", flags>,
    Is<adaptive_localsgd, 24, "bool", "false">,
    Is<fp16_allreduce, 25, "bool", "false">,
    Is<sharding, 26, "bool", "false">,
    Hint<27, "float", "last_comm_group_size_MB", "1", dygraph>,
    Hint<28, "bool", "find_unused_parameters", "false", dygraph>,
    Is<tensor_parallel, 29, "bool", "false">,
    Hint<30, "bool", "without_graph_optimization", "true",
         "it chooses between two ways of the framework to reduce the same gradients">,
    Hint<31, "int32", "fuse_grad_size_in_num", "8",
         "buckets are cut by bytes, fuse_grad_size_in_MB">,
    Hint<32, "bool", "calc_comm_same_stream", "false",
         "sums run beside what does not need them">,
    Is<asp, 33, "bool", "false">,
    Hint<34, "bool", "fuse_grad_merge", "false",
         "buffers of merged gradients are laid out by the compiler">,
    Asks<35, "bool", "semi_auto", "false", "a plan of annotated tensors">,
    Hint<36, "bool", "adam_d2sum", "false", "it is read by the framework's table servers only">,
    Asks<37, "bool", "auto_search", "false", "a search for plans">,
    Asks<38, "bool", "heter_ccl_mode", "false", "ranks of different devices">,
    Asks<39, "bool", "is_fl_ps_mode", "false", "federated servers">,
    Asks<40, "bool", "with_coordinator", "false", "a coordinator of federated trainers">,
    Asks<41, "bool", "qat", "false", "training with quantised values">,
    Hint<42, "bool", "split_data", "true", "feeds are cut over the ranks in any case">,
    Sub<101, "RecomputeConfig", "recompute_configs", "recompute">,
    Sub<102, "AMPConfig", "amp_configs", "amp">,
    Sub<103, "LocalSGDConfig", "localsgd_configs", "localsgd">,
    Sub<104, "GradientMergeConfig", "gradient_merge_configs", "gradient_merge">,
    Sub<105, "DGCConfig", "dgc_configs", "dgc">,
    Sub<106, "PipelineConfig", "pipeline_configs", "pipeline">,
    Sub<107, "AsyncConfig", "a_sync_configs">,
    Sub<108, "LarsConfig", "lars_configs", "lars">,
    Sub<109, "LambConfig", "lamb_configs", "lamb">,
    Sub<110, "AdaptiveLocalSGDConfig", "adaptive_localsgd_configs", "adaptive_localsgd">,
    Sub<111, "ShardingConfig", "sharding_configs", "sharding">,
    Sub<112, "HybridConfig", "hybrid_configs">,
    Sub<113, "TensorParallelConfig", "tensor_parallel_configs", "tensor_parallel">,
    AsksSub<114, "TrainerDescConfig", "trainer_desc_configs",
            "values dumped in every step (run has --save-fetches), or a trainer of the framework">,
    AsksSub<115, "repeated TableParameter", "downpour_table_param",
            "tables of rows on servers, kept and updated there">,
    AsksSub<116, "FsClientParameter", "fs_client_param",
            "tables that are read from and written to another file system">,
    Sub<117, "QatConfig", "qat_configs", "qat">,
    Sub<201, "BuildStrategy", "build_strategy">,
    Sub<202, "ExecutionStrategy", "execution_strategy">,
    Sub<203, "GradientScaleConfig", "gradient_scale_configs">,
  ];
}

def RecomputeConfig : Message {
  let entries = [
    Is<recompute_checkpoints, 1, "repeated string", "", "checkpoints">,
    Is<recompute_offload, 2, "bool", "", "enable_offload">,
    Hint<3, "repeated int32", "checkpoint_shape", "", "extents are those of the program">,
    Asks<4, "bool", "enable_tuning", "", "a search for checkpoints by trial; checkpoints: \"auto\" solves for them">,
    AsksSub<5, "repeated RefinedOpsPattern", "refined_ops_patterns", "checkpoints by patterns of ops; patterns of names are there">,
  ];
}
def RefinedOpsPattern : Message {
  let entries = [
    Part<1, "repeated string", "main_ops">,
    Part<2, "int32", "num">,
    Part<3, "repeated string", "pre_ops">,
    Part<4, "repeated string", "suf_ops">,
  ];
}
def AMPConfig : Message {
  let entries = [
    Is<init_loss_scaling, 1, "float", "32768">,
    Is<incr_every_n_steps, 2, "int32", "1000">,
    Is<decr_every_n_nan_or_inf, 3, "int32", "2">,
    Is<incr_ratio, 4, "float", "2">,
    Is<decr_ratio, 5, "float", "0.8">,
    Is<use_dynamic_loss_scaling, 6, "bool", "true">,
    Is<custom_white_list, 7, "repeated string", "">,
    Is<custom_black_list, 8, "repeated string", "">,
    Is<custom_black_varnames, 9, "repeated string", "">,
    Is<use_pure_fp16, 10, "bool", "false">,
    Is<use_fp16_guard, 11, "bool", "true">,
    Hint<12, "bool", "use_optimizer_fp16", "", "it is read by the planner of annotated tensors only">,
    Is<use_pure_bf16, 13, "bool", "false">,
  ];
}
def LocalSGDConfig : Message {
  let entries = [
    Is<localsgd_k_steps, 1, "int32", "1", "k_steps">,
    Is<localsgd_begin_step, 2, "int32", "1", "begin_step">,
  ];
}
def AdaptiveLocalSGDConfig : Message {
  let entries = [
    Is<adaptive_localsgd_init_k_steps, 1, "int32", "1", "init_k_steps">,
    Is<adaptive_localsgd_begin_step, 2, "int32", "1", "begin_step">,
  ];
}
def GradientMergeConfig : Message {
  let entries = [
    Is<gradient_merge_k_steps, 1, "int32", "1", "k_steps">,
    Is<gradient_merge_avg, 2, "bool", "true", "avg">,
  ];
}
def DGCConfig : Message {
  let entries = [
    Is<rampup_begin_step, 1, "int32", "">,
    Is<rampup_step, 2, "int32", "1">,
    Is<sparsity, 3, "repeated float", "">,
  ];
}
def LarsConfig : Message {
  let entries = [
    Is<lars_coeff, 1, "float", "0.001">,
    Is<lars_weight_decay, 2, "float", "0.0005">,
    Is<lars_epsilon, 3, "float", "", "epsilon">,
    Is<lars_exclude_from_weight_decay, 4, "repeated string", "", "exclude_from_weight_decay">,
  ];
}
def LambConfig : Message {
  let entries = [
    Is<lamb_weight_decay, 1, "float", "0.01">,
    Is<lamb_exclude_from_weight_decay, 2, "repeated string", "", "exclude_from_weight_decay">,
  ];
}
def PipelineConfig : Message {
  let entries = [
    Hint<1, "int32", "micro_batch_size", "1",
         "a micro-batch is the batch that is fed divided by accumulate_steps and replicas">,
    Is<accumulate_steps, 2, "int32", "1">,
    Is<schedule_mode, 3, "string", "1F1B">,
    Hint<4, "bool", "p2p_cache_shape", "true", dygraph>,
    Hint<5, "bool", "enable_partial_send_recv", "true", dygraph>,
  ];
  let old = [Old<"micro_batch", "int32", "accumulate_steps", "same",
                 "the number of micro-batches of a batch">];
}
def TensorParallelConfig : Message {
  let entries = [
    Is<tensor_parallel_degree, 1, "int32", "1">,
    Hint<2, "int32", "tensor_init_seed", "-1", "it seeds what makes the program">,
  ];
}
def ShardingConfig : Message {
  let entries = [
    Hint<1, "string", "sharding_segment_strategy", "segment_broadcast_MB",
         "segments are cut by bytes, segment_broadcast_MB">,
    Is<segment_broadcast_MB, 2, "float", "32">,
    Hint<3, "repeated string", "segment_anchors", "",
         "segments are cut by bytes, segment_broadcast_MB">,
    Is<sharding_degree, 4, "int32", "8">,
    Told<5, "int32", "mp_degree", "1", "above 1: tensor_parallel, tensor_parallel_degree">,
    Hint<6, "int32", "dp_degree", "1", "ranks that are left beside other degrees hold replicas">,
    Hint<7, "bool", "hybrid_dp", "", "ranks that are left beside other degrees hold replicas">,
    Told<8, "int32", "gradient_merge_acc_step", "1",
         "above 1: gradient_merge, gradient_merge_k_steps">,
    Asks<9, "bool", "optimize_offload", "", "state that lies on the host between updates">,
    Hint<10, "bool", "pp_allreduce_in_optimize", "", "it chooses a place for the same sums">,
    Asks<11, "int32", "pp_degree", "1", "stages of layers on different ranks">,
    Asks<12, "bool", "optimize_cast", "", "parameters that are kept in half precision">,
    Asks<13, "bool", "_dp_as_optimizer_sharding", "",
         "state cut over the replicas of pipelines">,
    Is<sharding_stage, 14, "int32", "1", "stage">,
    Hint<15, "bool", "enable_tuning", "", "nothing is tuned here">,
    Hint<16, "bool", "use_calc_stream", "", "sums run beside what does not need them">,
  ];
  let old = [
    Old<"fuse_broadcast_MB", "float", "segment_broadcast_MB", "same", "the size of a segment">,
    Old<"sharding_group_size", "int32", "sharding_degree", "same",
        "the number of ranks that a parameter is cut over">,
  ];
}
def HybridConfig : Message {
  defvar cuts = "an axis of the mesh; static programs say it in sharding_configs";
  let entries = [
    Hint<1, "int32", "dp_degree", "-1", "ranks that are left beside other degrees hold replicas">,
    Asks<2, "int32", "mp_degree", "1", cuts>,
    Asks<3, "int32", "pp_degree", "1", cuts>,
    Asks<4, "int32", "sharding_degree", "1", cuts>,
    Asks<5, "int32", "sep_degree", "1", "sequences cut over ranks">,
    Sub<6, "MpConfig", "mp_configs">,
    Sub<7, "PpConfig", "pp_configs">,
    Sub<8, "DygraphShardingConfig", "sharding_configs">,
  ];
}
def MpConfig : Message {
  let entries = [
    Hint<1, "bool", "sync_param", "true", dygraph>,
    Hint<2, "bool", "sync_grad", "false", dygraph>,
    Hint<3, "bool", "sync_moment", "false", dygraph>,
    Hint<4, "string", "sync_mode", "broadcast", dygraph>,
    Hint<5, "bool", "mp_async_allreduce", "false", dygraph>,
    Hint<6, "bool", "mp_skip_c_identity", "false", dygraph>,
    Hint<7, "bool", "mp_fused_linear_param_grad_add", "false", dygraph>,
    Hint<8, "bool", "need_broadcast_data", "true", dygraph>,
  ];
}
def PpConfig : Message {
  let entries = [
    Hint<1, "bool", "dp_comm_overlap", "false", dygraph>,
    Hint<2, "bool", "delay_scale_loss", "false", dygraph>,
    Hint<3, "bool", "enable_timer", "false", dygraph>,
    Hint<4, "bool", "sharding_comm_overlap", "false", dygraph>,
    Hint<5, "bool", "profiling", "false", dygraph>,
  ];
}
def DygraphShardingConfig : Message {
  let entries = [
    Hint<1, "bool", "tensor_fusion", "false", dygraph>,
    Hint<2, "int32", "accumulate_steps", "1", dygraph>,
    Hint<3, "bool", "comm_overlap", "false", dygraph>,
    Hint<4, "bool", "split_param", "false", dygraph>,
    Hint<5, "bool", "fuse_optimizer", "true", dygraph>,
  ];
}
def GradientScaleConfig : Message {
  let entries = [
    Is<scale_strategy, 1, "string", "avg">,
    Hint<2, "bool", "scale_gradient", "false",
         "merged gradients are divided once, where they are complete">,
  ];
  let old = [Old<"avg_loss", "bool", "scale_gradient", "inverted",
                 "the loss is divided, or the gradients are">];
}
include "compiler/strategy/file_servers.td"
include "compiler/strategy/file_execution.td"
#endif
