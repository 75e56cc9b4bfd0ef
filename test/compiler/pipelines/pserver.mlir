// Mode pserver: the passes of a request, and requests that do not go together.
// RUN: dtranspile transpile --print-pipeline --mode pserver --trainers 4 --pservers 10.0.0.7:6174,10.0.0.8:6174 | FileCheck %s
// CHECK: builtin.module(check-source,settle-roles{by_block=true},write-out-norms{servers=2 slice_var_up=true min_block_size=8192},form-job{axes=dp:4 comm-axes=none {{.*}}},cut-batch{axes=dp},ps-place{axes=dp servers=2 slice_var_up=true min_block_size=8192 split_method=RoundRobin print_log=false},ps-split{axes=dp servers=2 serve=sync enable_dc_asgd=false max_merge_var_num=1 send_queue_size=16 send_wait_times=1 thread_pool_size=1 min_send_grad_num_before_recv=1 independent_recv_thread=false is_sgd_optimizer=true sum_distributed_tables=false},ps-startup{axes=dp},declare-relations{axes=dp},declare-sites)

// Only their number, synchronous as the framework's preset says it, and hints that change nothing.
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 10000 --sync-mode false --runtime-split-send-recv --half-async --completely-not-async --wait-port false | FileCheck %s --check-prefix=MANY
// MANY: ps-split{axes=dp servers=10000 serve=sync enable_dc_asgd=false {{.*}}}

// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --slice-var-up false --split-method HashName --print-log | FileCheck %s --check-prefix=PLACE
// PLACE-NOT: write-out-norms
// PLACE: ps-place{axes=dp servers=2 slice_var_up=false min_block_size=8192 split_method=HashName print_log=true}

// RUN: not dtranspile transpile --print-pipeline --mode pserver 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: mode pserver and pservers: say where the servers are
// RUN: not dtranspile transpile --print-pipeline --pservers 2 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: pservers and mode: servers exist in mode pserver only; add --mode pserver
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 10.0.0.7 2>&1 | FileCheck %s --check-prefix=ADDRESS
// ADDRESS: pservers: '10.0.0.7' is neither HOST:PORT nor a number of servers
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers a:1,b:70000 2>&1 | FileCheck %s --check-prefix=PORT
// PORT: pservers: 'b:70000' is no HOST:PORT
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers a:1,a:1 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: pservers: 'a:1' stands there twice
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --min-block-size 100 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: min_block_size: blocks of less than 8192 elements
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-batch-norm 2>&1 | FileCheck %s --check-prefix=NORM
// NORM: mode pserver and sync_batch_norm
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --scale-strategy reference 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: mode pserver and scale_strategy
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --runtime-split-send-recv 2>&1 | FileCheck %s --check-prefix=RUNTIME
// RUNTIME: sync_mode and runtime_split_send_recv
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --half-async 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: half_async and runtime_split_send_recv
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --enable-dc-asgd 2>&1 | FileCheck %s --check-prefix=DELAY
// DELAY: enable_dc_asgd and sync_mode
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --geo-sgd-mode 2>&1 | FileCheck %s --check-prefix=GEO
// GEO: geo_sgd_mode and sync_mode
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --amp | FileCheck %s --check-prefix=AMP
// AMP: keep-source,settle-roles{by_block=true},amp{apart=true by_block=true {{.*}}},select-updates,write-out-norms{
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --amp --sync-mode false 2>&1 | FileCheck %s --check-prefix=AMP-ASYNC
// AMP-ASYNC: amp and sync_mode: without rounds no two servers would leave the same step out
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --amp --amp-dtype bfloat16 --sync-mode false | FileCheck %s --check-prefix=AMP-BF16
// AMP-BF16: amp{apart=true by_block=true {{.*}}},form-job
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --amp --use-pure-fp16 2>&1 | FileCheck %s --check-prefix=AMP-PURE
// AMP-PURE: mode pserver and use_pure_fp16, use_pure_bf16: servers would have to keep parameters in half precision
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --lookahead | FileCheck %s --check-prefix=SLOW
// SLOW: lookahead{apart=true {{.*}}},select-updates,write-out-norms{
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --lookahead --preset half_async 2>&1 | FileCheck %s --check-prefix=SLOW-ASYNC
// SLOW-ASYNC: lookahead and sync_mode: slow weights move after so many rounds
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false | FileCheck %s --check-prefix=ASYNC
// ASYNC-NOT: write-out-norms
// ASYNC: ps-split{axes=dp servers=2 serve=async enable_dc_asgd=false {{.*}}}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false --runtime-split-send-recv --half-async | FileCheck %s --check-prefix=OWN
// OWN: ps-split{axes=dp servers=2 serve=half_async enable_dc_asgd=false {{.*}}}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false --geo-sgd-mode --geo-sgd-need-push-nums 10 | FileCheck %s --check-prefix=CHANGES
// CHANGES: ps-place{axes=dp servers=2 serve=geo {{.*}}},ps-exchange{axes=dp servers=2 geo_sgd_need_push_nums=10 {{.*}}},ps-startup{axes=dp},declare-relations{axes=dp})
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false --enable-dc-asgd | FileCheck %s --check-prefix=BACKUP
// BACKUP: ps-split{axes=dp servers=2 serve=async enable_dc_asgd=true {{.*}}}
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset geo --enable-dc-asgd 2>&1 | FileCheck %s --check-prefix=GEO-DC
// GEO-DC: enable_dc_asgd and geo_sgd_mode
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false --geo-sgd-mode --half-async --runtime-split-send-recv 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: geo_sgd_mode and half_async

// What the framework's fleet has names for.
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset sync | FileCheck %s --check-prefix=P-SYNC
// P-SYNC: ps-split{axes=dp servers=2 serve=sync enable_dc_asgd=false {{.*}}}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async | FileCheck %s --check-prefix=P-ASYNC
// P-ASYNC: ps-split{axes=dp servers=2 serve=async enable_dc_asgd=false {{.*}}}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset half_async | FileCheck %s --check-prefix=P-HALF
// P-HALF: ps-split{axes=dp servers=2 serve=half_async enable_dc_asgd=false {{.*}}}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset geo | FileCheck %s --check-prefix=P-GEO
// P-GEO: ps-exchange{axes=dp servers=2 geo_sgd_need_push_nums=100 {{.*}}}
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --half-async --runtime-split-send-recv 2>&1 | FileCheck %s --check-prefix=P-TWICE
// P-TWICE: preset and sync_mode, runtime_split_send_recv, half_async
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset late 2>&1 | FileCheck %s --check-prefix=P-NONE
// P-NONE: --preset: late not in {none,sync,async,half_async,geo}

// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sum-distributed-tables | FileCheck %s --check-prefix=TABLES
// TABLES: ps-split{axes=dp servers=2 serve=sync {{.*}}sum_distributed_tables=true}
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --sum-distributed-tables 2>&1 | FileCheck %s --check-prefix=TABLES-ASYNC
// TABLES-ASYNC: sum_distributed_tables and sync_mode: only in rounds

// How gradients wait on a trainer.
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --max-merge-var-num 4 --min-send-grad-num-before-recv 8 --send-wait-times 5 --is-sgd-optimizer false | FileCheck %s --check-prefix=QUEUES
// QUEUES: ps-split{axes=dp servers=2 serve=async enable_dc_asgd=false max_merge_var_num=4 send_queue_size=16 send_wait_times=5 thread_pool_size=1 min_send_grad_num_before_recv=8 independent_recv_thread=false is_sgd_optimizer=false sum_distributed_tables=false}
// RUN: dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset geo --thread-pool-size 3 | FileCheck %s --check-prefix=Q-GEO
// Q-GEO: ps-exchange{axes=dp servers=2 geo_sgd_need_push_nums=100 send_queue_size=16 thread_pool_size=3}
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset half_async --max-merge-var-num 4 2>&1 | FileCheck %s --check-prefix=Q-MODE
// Q-MODE: max_merge_var_num, min_send_grad_num_before_recv and independent_recv_thread: only asynchronous trainers go on
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --send-queue-size 4 2>&1 | FileCheck %s --check-prefix=Q-SYNC
// Q-SYNC: send_queue_size and thread_pool_size: gradients wait for the round of all trainers
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --max-merge-var-num 4 --independent-recv-thread --send-queue-size 2 2>&1 | FileCheck %s --check-prefix=Q-LONG
// Q-LONG: max_merge_var_num and send_queue_size: a queue never holds
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --max-merge-var-num 4 2>&1 | FileCheck %s --check-prefix=Q-PULL
// Q-PULL: max_merge_var_num and min_send_grad_num_before_recv: a trainer that pulls waits for its gradients
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --preset async --is-sgd-optimizer false 2>&1 | FileCheck %s --check-prefix=Q-ONE
// Q-ONE: send_wait_times and is_sgd_optimizer say how gradients are merged
// RUN: not dtranspile transpile --print-pipeline --mode pserver --pservers 2 --sync-mode false --enable-dc-asgd --independent-recv-thread 2>&1 | FileCheck %s --check-prefix=Q-DC
// Q-DC: enable_dc_asgd and max_merge_var_num, independent_recv_thread
