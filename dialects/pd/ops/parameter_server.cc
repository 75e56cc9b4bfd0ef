// Rows of the op table: family `parameter_server`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kPullSparseAttributes =
    "EmbeddingDim:i=11, TableId:i=0, AccessorClass:s='', CtrLabelName:s='', PaddingId:i=0, "
    "ScaleSparseGrad:b=true, InputNames:ss={}, is_distributed:b=true";

const OpRow kRows[] = {
    {"send", "X* -> Out*",
     "trainer_id:i~=0, epmap:ss~={'127.0.0.1:6164'}, sections:ls={}, send_varnames:ss={}, num:i=0, "
     "merge_add:b=false, use_send_handler:b=true, "
     "table_id:i=0, is_sparse:i=0",
     kCommunicates, nullptr},
    {"recv", "X* -> Out*",
     "epmap:ss~={}, trainer_id:i~=0, with_barrier:b=true, varnames:ss={}, recv_varnames:ss={}, "
     "do_not_run:i=0",
     kCommunicates, nullptr},
    {"send_barrier", "X* -> Out*",
     "trainer_id:i~=0, endpoints:ss={'127.0.0.1:6164'}, half_async:b=false", kCommunicates,
     nullptr},
    {"fetch_barrier", "X* -> Out*", "trainer_id:i~=0, endpoints:ss={'127.0.0.1:6164'}",
     kCommunicates, nullptr},
    {"send_and_recv", "X* -> Out*",
     "message_name:s, mode:s=forward, send_var_name:ss, recv_var_name:ss, trainer_id:i~=0, "
     "endpoints:ss={'127.0.0.1:6164'}, "
     "next_endpoints:ss={'127.0.0.1:6164'}, previous_endpoints:ss={'127.0.0.1:6164'}",
     kCommunicates, nullptr},
    {"listen_and_serv", "X* ->",
     "endpoint:s='127.0.0.1:6164', pserver_id:i=-1, grad_to_block_id:ss={}, distributed_mode:i=0, "
     "dc_asgd:b=false, optimize_blocks:blks={}, "
     "prefetch_var_name_to_block_id:ss={}, sparse_grad_to_param:ss={}, Fanin:i=1, "
     "checkpint_block_id:i=-1, lr_decay_block_id:i=-1, rpc_get_thread_num:i=1, "
     "rpc_send_thread_num:i=1, rpc_prefetch_thread_num:i=1",
     kCommunicates, nullptr},
    {"fl_listen_and_serv", "X* ->",
     "endpoint:s='127.0.0.1:6164', sync_mode:b=true, Fanin:i=1, optimize_blocks:blks={}",
     kCommunicates, nullptr},
    {"heter_listen_and_serv", "X* ->",
     "endpoint:s='127.0.0.1:6164', pserver_id:i=-1, message_to_block_id:ss={}, "
     "distributed_mode:i=0, optimize_blocks:blks={}, fanin:i=1, "
     "rpc_exec_thread_num:i=1",
     kCommunicates, nullptr},
    {"prefetch", "X* -> Out*", "trainer_id:i~=0, epmap:ss~={'127.0.0.1:6164'}", kCommunicates,
     nullptr},
    {"distributed_lookup_table", "Ids*, W -> Outputs*",
     "table_names:ss~={''}, height_sections:ls~={}, endpoints:ss={'127.0.0.1:6164'}, "
     "trainer_id:i~=0, lookup_table_version:s=lookup_table, "
     "padding_idx:l=-1, dtype:i=5, table_id:i=0, is_distributed:b=false, is_test:b=false",
     kCommunicates, nullptr},
    {"distributed_push_sparse", "Ids*, Shows*, Clicks* -> Outputs*",
     "table_id:i=0, size:i=8, is_distributed:b=false, push_sparse_version:s=push_sparse, "
     "padding_idx:l=-1, dtype:i=5, is_test:b=false, use_cvm_op:b=false, "
     "slots:ss={}",
     kCommunicates, nullptr},
    {"lookup_sparse_table", "W, Ids -> Out",
     "padding_idx:l=-1, auto_grown_table:b=true, is_test:b=false", kCommunicates, nullptr},
    {"fake_init", "-> Out", "shape:ls", kPure, nullptr},
    {"split_ids", "Ids* -> Out*", "", kPure, nullptr},
    {"merge_ids", "Ids*, Rows*, X* -> Out*", "", kPure, nullptr},
    {"split_byref", "X -> Out*", "sections:is={}, num:i=0", kPure, nullptr},
    {"split_selected_rows", "X -> Out*", "height_sections:ls~={}", kPure, nullptr},
    {"ref_by_trainer_id", "X*, TrainerId -> Out", "", kCommunicates, nullptr},
    {"checkpoint_notify", "->",
     "epmap:ss~={'127.0.0.1:6164'}, dir:s, lookup_table:s, trainer_id:i~=0", kCommunicates,
     nullptr},
    {"recv_save", "->",
     "dtype:i=5, overwrite:b=true, file_path:s, shape:ls={}, slice_varnames:ss={}, "
     "remote_varnames:ss={}, slice_shapes:ss={}, endpoints:ss={}, "
     "trainer_id:i~=0",
     kCommunicates, nullptr},
    {"pull_sparse", "Ids*, W* -> Out*", kPullSparseAttributes, kCommunicates, nullptr},
    {"pull_sparse_v2", "Ids*, W* -> Out*", kPullSparseAttributes, kCommunicates, nullptr},
    {"push_dense", "Ids* ->", "TableId:i=-1, ScaleDataNorm:f=-1, InputNames:ss={}", kCommunicates,
     nullptr},
};

}  // namespace

Family parameterServerFamily() { return {"parameter_server", kRows}; }

}  // namespace dtranspile::pd
