// Of file.td: what tuned the framework's graph executor and its runs.
#ifndef DTRANSPILE_STRATEGY_FILE_EXECUTION
#define DTRANSPILE_STRATEGY_FILE_EXECUTION

def BuildStrategy : Message {
  defvar fused = "kernels are fused by the compiler where that is possible";
  defvar order = "ops run in the order of the program";
  let entries = [
    Hint<1, "bool", "enable_sequential_execution", "false", order>,
    Hint<2, "bool", "fuse_elewise_add_act_ops", "false", fused>,
    Hint<3, "bool", "fuse_bn_act_ops", "false", fused>,
    Hint<4, "bool", "fuse_relu_depthwise_conv", "false", fused>,
    Hint<5, "bool", "fuse_broadcast_ops", "false", "parameters of replicas are not broadcast">,
    Hint<6, "bool", "fuse_all_optimizer_ops", "false", fused>,
    Hint<7, "bool", "enable_inplace", "false", "memory is planned from what is alive">,
    Hint<8, "bool", "enable_backward_optimizer_op_deps", "true", order>,
    Hint<9, "bool", "cache_runtime_context", "false", executor>,
    Hint<10, "bool", "fuse_bn_add_act_ops", "true", fused>,
    Hint<11, "bool", "enable_auto_fusion", "false", fused>,
    Hint<12, "bool", "enable_addto", "false", "memory is planned from what is alive">,
    Hint<13, "bool", "fix_op_run_order", "false", order>,
    Hint<14, "bool", "allow_cuda_graph_capture", "false", executor>,
    Asks<15, "int32", "reduce_strategy", "0",
         "an owner of each parameter that updates it and broadcasts it">,
    Hint<16, "bool", "fuse_gemm_epilogue", "false", fused>,
    Hint<17, "string", "debug_graphviz_path", "", "dtranspile show draws a job">,
    Hint<18, "bool", "fused_attention", "false", fused>,
    Hint<19, "bool", "fused_feedforward", "false", fused>,
  ];
}
def ExecutionStrategy : Message {
  let entries = [
    Hint<1, "int32", "num_threads", "1", "the threads of a rank are a matter of run">,
    Hint<2, "int32", "num_iteration_per_drop_scope", "10", "a step leaves no scopes after">,
    Hint<3, "int32", "num_iteration_per_run", "1", "the number of steps is a matter of run">,
    Hint<4, "bool", "use_thread_barrier", "false", executor>,
  ];
}
// Dumps of values, and the framework's classes of trainers.
def TrainerDescConfig : Message {
  let entries = [
    Part<1, "string", "dump_fields_path">,
    Part<2, "repeated string", "dump_fields">,
    Part<3, "repeated string", "dump_param">,
    Part<4, "repeated string", "stat_var_names">,
    Part<5, "string", "trainer">,
    Part<6, "string", "device_worker">,
    Part<7, "repeated string", "local_sparse">,
    Part<8, "repeated string", "remote_sparse">,
  ];
}
def QatConfig : Message {
  let entries = [
    Part<1, "bool", "channel_wise_abs_max", "true">,
    Part<2, "int32", "weight_bits", "8">,
    Part<3, "int32", "activation_bits", "8">,
    Part<4, "repeated string", "not_quant_pattern">,
    Part<5, "string", "algo">,
  ];
}
#endif
