// The fields of a request, one row each: everything that names a field comes from here. Read by
// generate.py in the build (the struct, its rows, the table of docs/strategy.md) and by the pass.td
// of passes that take a field as an option.
#ifndef DTRANSPILE_STRATEGY_FIELDS
#define DTRANSPILE_STRATEGY_FIELDS

class Field<string type, string cppType, string init> {
  string kind = type;       // Bool, Int, Float, Word or Words
  string cpp = cppType;     // type of the member
  string initial = init;    // its default, as C++
  string name = NAME;       // the framework's name where it has one
  string versions = "";     // of the framework that know the field by this name
  string flag = !subst("_", "-", NAME);  // of `transpile`, without the dashes
  list<int> range = [];     // least and most
  list<string> words = [];  // legal values
  string remedy = "";       // what to do about an illegal value, beyond what range and words say
  string relevant = "";     // FIELD=VALUE or FIELD!=VALUE: says nothing in a request where that does
                            // not hold
  list<string> passes = []; // passes that have the field as an option
  string meaning = ?;
}
class Bool<bit init> : Field<"Bool", "bool", !if(init, "true", "false")>;
class Int<int init> : Field<"Int", "int64_t", !cast<string>(init)>;
class Float<string init> : Field<"Float", "double", init>;
class Word<string init> : Field<"Word", "std::string", "\"" # init # "\"">;
class Words : Field<"Words", "std::vector<std::string>", "">;

def mode : Word<"collective"> {
  let versions = "1.x";
  let words = ["collective", "nccl2", "pserver"];
  let meaning = "which of the framework's data-parallel modes; pserver: parameters lie on servers";
}
def collective_mode : Word<"grad_allreduce"> {
  let versions = "1.x";
  let words = ["grad_allreduce", "local_sgd"];
  let relevant = "mode=collective";
  let meaning = "gradients are summed, or parameters averaged at the end of every step";
}
def localsgd_k_steps : Int<1> {
  let versions = "2.x";
  let range = [1, 16777216];
  let relevant = "collective_mode=local_sgd";
  let passes = ["local-sgd"];
  let meaning = "steps between two averages of parameters";
}
def localsgd_begin_step : Int<1> {
  let versions = "2.x";
  let range = [0, 16777216];
  let relevant = "collective_mode=local_sgd";
  let passes = ["local-sgd"];
  let meaning = "up to this step parameters are averaged in every one";
}
def adaptive_localsgd : Bool<false> {
  let versions = "2.x";
  let relevant = "mode=collective";
  let passes = ["local-sgd"];
  let meaning = "parameters averaged after numbers of steps that follow the loss and the rate";
}
def adaptive_localsgd_init_k_steps : Int<1> {
  let versions = "2.x";
  let range = [1, 16777216];
  let relevant = "adaptive_localsgd=true";
  let passes = ["local-sgd"];
  let meaning = "steps between the first two averages, the unit of all others";
}
def adaptive_localsgd_begin_step : Int<1> {
  let versions = "2.x";
  let range = [0, 16777216];
  let relevant = "adaptive_localsgd=true";
  let passes = ["local-sgd"];
  let meaning = "up to this step parameters are averaged in every one";
}
def trainers : Int<1> {
  let versions = "1.x";
  let range = [1, 0x7fffffff];
  let meaning = "world size";
}
def nccl_comm_num : Int<1> {
  let versions = "1.x, 2.x";
  let range = [1, 64];
  let passes = ["form-job"];
  let relevant = "mode!=pserver";
  let meaning = "communicators that gradients take turns on";
}
def use_hierarchical_allreduce : Bool<false> {
  let versions = "1.x, 2.x";
  let passes = ["form-job"];
  let relevant = "mode!=pserver";
  let meaning = "reduce inside a group, between groups, and inside again";
}
def hierarchical_allreduce_inter_nranks : Int<0> {
  let versions = "1.x, 2.x";
  let range = [0, 0x7fffffff];
  let relevant = "use_hierarchical_allreduce=true";
  let meaning = "ranks of an inner group";
}
def fuse_all_reduce_ops : Bool<true> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "gradients travel in buckets";
}
def fuse_grad_size_in_MB : Int<32> {
  let versions = "2.x";
  let range = [1, 1048576];
  let remedy = "turn fuse_all_reduce_ops off for no buckets";
  let relevant = "fuse_all_reduce_ops=true";
  let passes = ["bucket"];
  let meaning = "most MiB of a bucket";
}
def fp16_allreduce : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "gradients travel in half precision";
}
// Compressed gradients (docs/passes/dgc.md).
def dgc : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "of gradients only the largest elements travel, what is left is kept for later steps";
}
def rampup_begin_step : Int<0> {
  let versions = "2.x";
  let flag = "dgc-rampup-begin-step";
  let range = [0, 16777215];
  let relevant = "dgc=true";
  let passes = ["dgc"];
  let meaning = "steps with dense gradients before the first that is compressed";
}
def rampup_step : Int<1> {
  let versions = "2.x";
  let flag = "dgc-rampup-step";
  let range = [1, 16777215];
  let relevant = "dgc=true";
  let passes = ["dgc"];
  let meaning = "steps over which the numbers of sparsity are taken in turn";
}
def sparsity : Words {
  let versions = "2.x";
  let flag = "dgc-sparsity";
  let relevant = "dgc=true";
  let passes = ["dgc"];
  let meaning = "shares of the elements that are not sent, in turn, the last for good; none: 0.999; 0: dense";
}
def dgc_min_size : Int<16384> {
  let range = [1, 0x7fffffff];
  let relevant = "dgc=true";
  let passes = ["dgc"];
  let meaning = "parameters of fewer elements travel as they are";
}
def sync_batch_norm : Bool<false> {
  let versions = "2.x";
  let passes = ["form-job"];
  let relevant = "mode!=pserver";
  let meaning = "batch statistics over all ranks";
}
def scale_strategy : Word<"avg"> {
  let versions = "2.x";
  let words = ["avg", "sum", "reference"];
  let remedy = "customized feeds the gradient of the loss, which the saved program computes: put the "
               "factor into the loss";
  let passes = ["scale-loss"];
  let relevant = "mode!=pserver";
  let meaning = "avg: gradients as on one device; sum: those of all ranks added up, and not divided; reference: always 1/N, as the framework divides";
}
// Activations (docs/passes/recompute.md).
def recompute : Bool<false> {
  let versions = "2.x";
  let meaning = "activations are computed again in the backward part";
}
def recompute_checkpoints : Words {
  let versions = "2.x";
  let relevant = "recompute=true";
  let passes = ["recompute"];
  let meaning = "values that are kept, by name or pattern (*); or one word: sqrt, auto";
}
def recompute_extra_work : Int<30> {
  let range = [0, 100];
  let relevant = "recompute=true";
  let passes = ["recompute"];
  let meaning = "of auto: most work that is added, in percent of a step's";
}
def recompute_offload : Bool<false> {
  let versions = "2.x";
  let relevant = "recompute=true";
  let passes = ["recompute"];
  let meaning = "what is kept waits in the host's memory and comes back ahead of use";
}
// Mixed precision (docs/passes/amp.md).
def amp : Bool<false> {
  let versions = "2.x";
  let meaning = "ops that gain by it compute in half precision";
}
def amp_dtype : Word<"float16"> {
  let words = ["float16", "bfloat16"];
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "the half precision; with bfloat16 the loss is not scaled";
}
def init_loss_scaling : Float<"32768"> {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "factor of the loss in the first step, so that small gradients do not vanish";
}
def use_dynamic_loss_scaling : Bool<true> {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "the factor follows from whether gradients are finite; else it stays, and if it is 1 "
                "nothing is looked at";
}
def incr_every_n_steps : Int<1000> {
  let versions = "2.x";
  let range = [1, 0x7fffffff];
  let relevant = "use_dynamic_loss_scaling=true";
  let passes = ["amp"];
  let meaning = "good steps in a row after which the factor grows";
}
def decr_every_n_nan_or_inf : Int<2> {
  let versions = "2.x";
  let range = [1, 0x7fffffff];
  let relevant = "use_dynamic_loss_scaling=true";
  let passes = ["amp"];
  let meaning = "bad steps in a row after which the factor shrinks";
}
def incr_ratio : Float<"2"> {
  let versions = "2.x";
  let range = [1, 1000000];
  let relevant = "use_dynamic_loss_scaling=true";
  let passes = ["amp"];
  let meaning = "by which the factor grows";
}
def decr_ratio : Float<"0.8"> {
  let versions = "2.x";
  let range = [0, 1];
  let relevant = "use_dynamic_loss_scaling=true";
  let passes = ["amp"];
  let meaning = "by which the factor shrinks, though not below 1";
}
def custom_white_list : Words {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "op types that compute in half precision beside those of the framework's list";
}
def custom_black_list : Words {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "op types that compute in float32 whatever list they are on";
}
def custom_black_varnames : Words {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "variables: ops that take or give one of them compute in float32";
}
// Update rules (docs/passes/update-rules.md).
def use_pure_fp16 : Bool<false> {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "all ops that can compute in float16, and parameters lie in it, beside float32 "
                "copies that are updated";
}
def use_pure_bf16 : Bool<false> {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "the same in bfloat16";
}
def use_fp16_guard : Bool<true> {
  let versions = "2.x";
  let relevant = "amp=true";
  let passes = ["amp"];
  let meaning = "with use_pure_fp16 and use_pure_bf16: only ops that the program's author has put "
                "under fp16_guard";
}

def lars : Bool<false> {
  let versions = "2.x";
  let meaning = "momentum with a rate per layer";
}
def lars_coeff : Float<"0.001"> {
  let versions = "2.x";
  let range = [0, 1000000];
  let relevant = "lars=true";
  let passes = ["lars"];
  let meaning = "factor of the rate of a layer";
}
def lars_weight_decay : Float<"0.0005"> {
  let versions = "2.x";
  let range = [0, 1000000];
  let relevant = "lars=true";
  let passes = ["lars"];
  let meaning = "decay of parameters, part of the update";
}
def lars_epsilon : Float<"0"> {
  let versions = "2.x";
  let range = [0, 1000000];
  let relevant = "lars=true";
  let passes = ["lars"];
  let meaning = "added to the divisor of the rate";
}
def lars_exclude_from_weight_decay : Words {
  let versions = "2.x";
  let relevant = "lars=true";
  let passes = ["lars"];
  let meaning = "parameters whose name contains one of these keep plain momentum";
}
def lamb : Bool<false> {
  let versions = "2.x";
  let meaning = "adam with a rate per layer";
}
def lamb_weight_decay : Float<"0.01"> {
  let versions = "2.x";
  let range = [0, 1000000];
  let relevant = "lamb=true";
  let passes = ["lamb"];
  let meaning = "decay of parameters, part of the update";
}
def lamb_exclude_from_weight_decay : Words {
  let versions = "2.x";
  let relevant = "lamb=true";
  let passes = ["lamb"];
  let meaning = "parameters whose name ends with one of these do not decay";
}
def asp : Bool<false> {
  let versions = "2.x";
  let meaning = "two of every four weights of a layer are zero";
}
def asp_mask_algo : Word<"mask_1d"> {
  let words = ["mask_1d", "mask_2d_greedy", "mask_2d_best"];
  let relevant = "asp=true";
  let passes = ["asp"];
  let meaning = "two of every four elements; or two of each row and column of four by four, as they "
                "come by size or where their sum is largest";
}
def asp_excluded_layers : Words {
  let relevant = "asp=true";
  let passes = ["asp"];
  let meaning = "weights whose name contains one of these stay whole";
}

def lookahead : Bool<false> {
  let meaning = "slow weights that go a part of the way to the updated ones every k steps";
}
def lookahead_k : Int<5> {
  let range = [1, 16777216];
  let relevant = "lookahead=true";
  let passes = ["lookahead"];
  let meaning = "steps between two moves of the slow weights";
}
def lookahead_alpha : Float<"0.5"> {
  let range = [0, 1];
  let relevant = "lookahead=true";
  let passes = ["lookahead"];
  let meaning = "the part of the way";
}

def gradient_merge : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "gradients are merged over several steps before parameters are updated";
}
def gradient_merge_k_steps : Int<1> {
  let versions = "2.x";
  let range = [1, 16777216];
  let relevant = "gradient_merge=true";
  let passes = ["gradient-merge"];
  let meaning = "steps of one update; 1: every step updates";
}
def gradient_merge_avg : Bool<true> {
  let versions = "2.x";
  let relevant = "gradient_merge=true";
  let passes = ["gradient-merge"];
  let meaning = "the update takes the mean of the merged gradients, else their sum";
}
// Sharding (docs/passes/sharding.md).
def sharding : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "updates and their state are cut over ranks, flat and in equal parts";
}
def sharding_form : Word<"flat"> {
  let words = ["flat", "owner"];
  let relevant = "sharding=true";
  let meaning = "flat: everything in equal parts; owner: every parameter, with its state, on one rank";
}
def sharding_degree : Int<0> {
  let versions = "2.x";
  let range = [0, 0x7fffffff];
  let relevant = "sharding=true";
  let meaning = "ranks that a parameter is cut over, the others hold replicas; 0: all";
}
def sharding_stage : Int<1> {
  let versions = "2.x";
  let range = [1, 3];
  let relevant = "sharding=true";
  let passes = ["sharding", "sharding-owner"];
  let meaning = "1, 2: gradients, updates and state are cut; 3: parameters too; of form owner, 3: parameters are sent again for the backward part";
}
def segment_broadcast_MB : Float<"32"> {
  let versions = "2.x";
  let range = [0, 1048576];
  let relevant = "sharding=true";
  let passes = ["sharding", "sharding-owner"];
  let meaning = "most MiB of parameters that one operation brings to all ranks";
}
def min_shard : Int<0> {
  let range = [0, 0x7fffffff];
  let relevant = "sharding=true";
  let passes = ["sharding", "sharding-owner"];
  let meaning = "parameters of fewer elements stay whole";
}
// Stages of layers on different ranks (docs/passes/pipeline.md).
def pipeline : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "stages of layers on different ranks, and micro-batches that go through them";
}
def stages : Int<0> {
  let range = [0, 1048576];
  let relevant = "pipeline=true";
  let meaning = "stages, chosen by what ops cost; 0: those that op_device names";
}
def virtual_stages : Int<1> {
  let range = [1, 1024];
  let relevant = "pipeline=true";
  let passes = ["assign-stages", "pipeline"];
  let meaning = "parts of the model per stage: 1F1B is interleaved with more than one";
}
def accumulate_steps : Int<1> {
  let versions = "2.x";
  let range = [1, 1048576];
  let relevant = "pipeline=true";
  let meaning = "micro-batches of a batch";
}
def schedule_mode : Word<"1F1B"> {
  let versions = "2.x";
  let words = ["F-then-B", "1F1B", "ZB-H1"];
  let relevant = "pipeline=true";
  let passes = ["pipeline"];
  let meaning = "the order in which a stage runs its tasks";
}
// Layers in parts on different ranks (docs/passes/tensor-parallel.md).
def tensor_parallel : Bool<false> {
  let versions = "2.x";
  let relevant = "mode!=pserver";
  let meaning = "layers are split over ranks: columns of one product, rows of the next";
}
def tensor_parallel_degree : Int<1> {
  let versions = "2.x";
  let range = [1, 1048576];
  let relevant = "tensor_parallel=true";
  let passes = ["lift-parallel-ops"];
  let meaning = "ranks that a layer is split over; what is more are replicas";
}
def input_parallel : Word<"none"> {
  let words = ["none", "mp"];
  let relevant = "tensor_parallel=true";
  let meaning = "mp: the program is that of one rank of a group, built of the framework's parallel layers";
}
def tensor_parallel_min_vocabulary : Int<4096> {
  let range = [1, 2147483647];
  let relevant = "tensor_parallel=true";
  let passes = ["tensor-parallel"];
  let meaning = "rows of a table, or classes of a loss, from which on they lie in parts";
}
def sequence_parallel : Bool<false> {
  let relevant = "tensor_parallel=true";
  let passes = ["tensor-parallel"];
  let meaning = "between products that are split, activations lie in parts along the sequence: norms, dropouts and residual sums work on parts";
}
def batch_dims : Words {
  let flag = "batch-dim";
  let passes = ["cut-batch"];
  let meaning = "NAME=dim or NAME=none, for feeds whose batch is not a leading unknown extent";
}


// Parameter servers (docs/passes/parameter-server.md).
def pservers : Words {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "HOST:PORT of every server, or only how many there are";
}
def slice_var_up : Bool<true> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let passes = ["ps-place", "write-out-norms"];
  let meaning = "parameters are cut into blocks over the servers; else each is one block";
}
def min_block_size : Int<8192> {
  let versions = "1.x";
  let range = [1, 0x7fffffff];
  let relevant = "mode=pserver";
  let passes = ["ps-place", "write-out-norms"];
  let meaning = "least elements of a block";
}
def allow_small_blocks : Bool<false> {
  let relevant = "mode=pserver";
  let meaning = "min_block_size may be less than 8192: for trying out how small parameters are cut";
}
def split_method : Word<"RoundRobin"> {
  let versions = "1.x";
  let words = ["RoundRobin", "HashName"];
  let relevant = "mode=pserver";
  let passes = ["ps-place"];
  let meaning = "the server of a parameter's first block: in turn, or by a fixed hash of its name; "
                "its other blocks lie on the servers after that one";
}
def preset : Word<"none"> {
  let words = ["none", "sync", "async", "half_async", "geo"];
  let relevant = "mode=pserver";
  let meaning = "what the framework's fleet calls a strategy of servers, in place of sync_mode, "
                "half_async, completely_not_async, geo_sgd_mode";
}
def sync_mode : Bool<true> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "servers update once per step, with the gradients of all trainers";
}
def runtime_split_send_recv : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "the framework's communicator cuts and sends, not the program; says which of its "
                "modes a request is, jobs are cut by the runtime in any case";
}
def half_async : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "with runtime_split_send_recv: the threads of a trainer wait for each other";
}
def completely_not_async : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "with sync_mode=false: synchronous all the same, as the framework's preset sync";
}
def enable_dc_asgd : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "asynchronous updates of sgd are corrected for their delay";
}
def geo_sgd_mode : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "trainers update by themselves and push what has changed every so many steps";
}
def geo_sgd_need_push_nums : Int<100> {
  let versions = "1.x";
  let range = [1, 0x1000000];
  let relevant = "mode=pserver";
  let passes = ["ps-exchange"];
  let meaning = "with geo_sgd_mode or preset=geo: steps between such pushes";
}
// How gradients wait on a trainer; the framework's flags have FLAGS_communicator_ before the names.
def max_merge_var_num : Int<1> {
  let versions = "1.x, 2.x";
  let range = [1, 65536];
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "asynchronous: so many gradients of a variable become one push";
}
def send_queue_size : Int<16> {
  let versions = "1.x, 2.x";
  let range = [1, 65536];
  let relevant = "mode=pserver";
  let passes = ["ps-split", "ps-exchange"];
  let meaning = "gradients of a variable that wait to be sent; a trainer with more waits itself";
}
def send_wait_times : Int<1> {
  let versions = "1.x, 2.x";
  let range = [0, 65536];
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "with max_merge_var_num: so often 10 ms without a new gradient, and those that are "
                "there are sent";
}
def thread_pool_size : Int<1> {
  let versions = "1.x, 2.x";
  let range = [1, 64];
  let relevant = "mode=pserver";
  let passes = ["ps-split", "ps-exchange"];
  let meaning = "threads of a trainer that merge and send what waits";
}
def min_send_grad_num_before_recv : Int<1> {
  let versions = "1.x, 2.x";
  let range = [1, 16777216];
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "asynchronous: parameters are pulled after so many gradients, of all variables";
}
def independent_recv_thread : Bool<false> {
  let versions = "1.x, 2.x";
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "asynchronous: a thread pulls, and steps take what it has pulled last";
}
def is_sgd_optimizer : Bool<true> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "with max_merge_var_num: merged gradients are added up, else averaged";
}
def sum_distributed_tables : Bool<false> {
  let relevant = "mode=pserver";
  let passes = ["ps-split"];
  let meaning = "gradients of is_distributed tables are summed over the trainers, as the framework "
                "does it, and not averaged";
}
def wait_port : Bool<true> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let meaning = "kept for requests that say it: waiting for servers is a matter of run, which always "
                "waits, until its deadline";
}
def print_log : Bool<false> {
  let versions = "1.x";
  let relevant = "mode=pserver";
  let passes = ["ps-place"];
  let meaning = "say where every parameter lies";
}

#endif
