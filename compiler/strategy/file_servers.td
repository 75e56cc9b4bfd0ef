// Of file.td: parameter servers and their tables.
#ifndef DTRANSPILE_STRATEGY_FILE_SERVERS
#define DTRANSPILE_STRATEGY_FILE_SERVERS

def AsyncConfig : Message {
  let entries = [
    Told<1, "int32", "k_steps", "-1", "with a_sync: geo_sgd_need_push_nums where it is above 0">,
    Is<max_merge_var_num, 2, "int32", "1">,
    Is<send_queue_size, 3, "int32", "16">,
    Is<independent_recv_thread, 4, "bool", "false">,
    Is<min_send_grad_num_before_recv, 5, "int32", "1">,
    Is<thread_pool_size, 6, "int32", "1">,
    Is<send_wait_times, 7, "int32", "1">,
    Is<runtime_split_send_recv, 8, "bool", "false">,
    Hint<9, "bool", "launch_barrier", "true", "trainers wait for their servers when a run starts">,
    Hint<10, "string", "heter_worker_device_guard", "cpu", "there are no workers of other devices">,
    Hint<11, "int32", "lr_decay_steps", "10",
         "servers compute the schedule of the program itself">,
    Asks<12, "int32", "use_ps_gpu", "0", "tables in the memory of GPUs">,
  ];
}

def TableParameter : Message {
  let entries = [
    Part<1, "uint64", "table_id">,
    Part<2, "string", "table_name">,
    Part<3, "string", "table_class">,
    Part<4, "uint64", "shard_num", "1000">,
    Part<5, "TableType", "type", "PS_SPARSE_TABLE">,
    Sub<6, "TableAccessorParameter", "accessor">,
    Part<7, "bool", "compress_in_save">,
    Part<10, "bool", "enable_sparse_table_cache", "true">,
    Part<11, "double", "sparse_table_cache_rate", "0.00055">,
    Part<12, "uint32", "sparse_table_cache_file_num", "16">,
    Part<13, "bool", "enable_revert">,
    Part<14, "float", "shard_merge_rate", "1">,
  ];
}
def TableAccessorParameter : Message {
  let entries = [
    Part<1, "string", "accessor_class">,
    Part<4, "uint32", "fea_dim", "11">,
    Part<5, "uint32", "embedx_dim", "8">,
    Part<6, "uint32", "embedx_threshold", "10">,
    Sub<7, "CtrAccessorParameter", "ctr_accessor_param">,
    Sub<8, "repeated TableAccessorSaveParameter", "table_accessor_save_param">,
    Sub<10, "SGDParameter", "embed_sgd_param">,
    Sub<11, "SGDParameter", "embedx_sgd_param">,
    Sub<12, "GraphSGDParameter", "graph_sgd_param">,
  ];
}
def GraphSGDParameter : Message {
  let entries = [
    Part<1, "uint32", "nodeid_slot", "9008">,
    Part<2, "float", "feature_learning_rate", "0.05">,
  ];
}
def SGDParameter : Message {
  let entries = [
    Part<1, "string", "name">,
    Sub<2, "SparseNaiveSGDRuleParameter", "naive">,
    Sub<3, "SparseAdagradSGDRuleParameter", "adagrad">,
    Sub<4, "SparseAdamSGDParameter", "adam">,
  ];
}
def SparseNaiveSGDRuleParameter : Message {
  let entries = [
    Part<1, "double", "learning_rate", "0.05">,
    Part<2, "double", "initial_range", "0.0001">,
    Part<3, "repeated float", "weight_bounds">,
  ];
}
def SparseAdagradSGDRuleParameter : Message {
  let entries = [
    Part<1, "double", "learning_rate", "0.05">,
    Part<2, "double", "initial_g2sum", "3">,
    Part<3, "double", "initial_range", "0.0001">,
    Part<4, "repeated float", "weight_bounds">,
  ];
}
def SparseAdamSGDParameter : Message {
  let entries = [
    Part<1, "double", "learning_rate", "0.001">,
    Part<2, "double", "initial_range", "0.0001">,
    Part<3, "double", "beta1_decay_rate", "0.9">,
    Part<4, "double", "beta2_decay_rate", "0.999">,
    Part<5, "double", "ada_epsilon", "1e-08">,
    Part<6, "repeated float", "weight_bounds">,
  ];
}
def CtrAccessorParameter : Message {
  let entries = [
    Part<1, "float", "nonclk_coeff", "0.1">,
    Part<2, "float", "click_coeff", "1">,
    Part<3, "float", "base_threshold", "1.5">,
    Part<4, "float", "delta_threshold", "0.25">,
    Part<5, "float", "delta_keep_days", "16">,
    Part<6, "float", "show_click_decay_rate", "0.98">,
    Part<7, "float", "delete_threshold", "0.8">,
    Part<8, "float", "delete_after_unseen_days", "30">,
    Part<9, "int32", "ssd_unseenday_threshold", "1">,
    Part<10, "bool", "show_scale", "true">,
    Part<11, "bool", "zero_init", "true">,
    Part<12, "repeated float", "load_filter_slots">,
    Part<13, "repeated float", "save_filter_slots">,
  ];
}
def TableAccessorSaveParameter : Message {
  let entries = [
    Part<1, "uint32", "param">,
    Part<2, "string", "converter">,
    Part<3, "string", "deconverter">,
  ];
}
def FsClientParameter : Message {
  let entries = [
    Part<1, "string", "uri">,
    Part<2, "string", "user">,
    Part<3, "string", "passwd">,
    Part<4, "string", "hadoop_bin">,
  ];
}
#endif
