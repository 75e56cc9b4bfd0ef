// The pipeline that `transpile` prints is the one that it runs: dtranspile-opt makes the same bytes of it, and so does the short form that names
// the fields of the request.
// RUN: rm -rf %t && mkdir %t && cp %s %t/program.mlir && cd %t
// RUN: cd %t && dtranspile transpile program.mlir -o plain --trainers 4
// RUN: cd %t && dtranspile-opt program.mlir --pass-pipeline="$(dtranspile transpile --print-pipeline --trainers 4)" --emit-bytecode | cmp - plain/job.mlirbc
// RUN: cd %t && dtranspile-opt program.mlir --pass-pipeline="builtin.module(collective{trainers=4})" --emit-bytecode | cmp - plain/job.mlirbc

// RUN: cd %t && dtranspile transpile program.mlir -o levels --trainers 8 --mode nccl2 --use-hierarchical-allreduce --hierarchical-allreduce-inter-nranks 2 --nccl-comm-num 2 --sync-batch-norm --scale-strategy reference
// RUN: cd %t && dtranspile-opt program.mlir --pass-pipeline="$(dtranspile transpile --print-pipeline --trainers 8 --mode nccl2 --use-hierarchical-allreduce --hierarchical-allreduce-inter-nranks 2 --nccl-comm-num 2 --sync-batch-norm --scale-strategy reference)" --emit-bytecode | cmp - levels/job.mlirbc

// RUN: cd %t && dtranspile transpile program.mlir -o local --trainers 2 --collective-mode local_sgd --fuse-all-reduce-ops false --batch-dim x=none --batch-dim y=0
// RUN: cd %t && dtranspile-opt program.mlir --pass-pipeline="$(dtranspile transpile --print-pipeline --trainers 2 --collective-mode local_sgd --fuse-all-reduce-ops false --batch-dim x=none --batch-dim y=0)" --emit-bytecode | cmp - local/job.mlirbc

// Every field that a pass takes stands in the text, and so do the checks.
// RUN: dtranspile transpile --print-pipeline --trainers 4 --fuse-grad-size-in-MB 7 | FileCheck %s
// CHECK: builtin.module(check-source,form-job{axes=dp:4 comm-axes=dp nccl_comm_num=1 use_hierarchical_allreduce=false sync_batch_norm=false},cut-batch{axes=dp},broadcast-startup{axes=dp},reduce-counts{axes=dp},scale-loss{axes=dp scale_strategy=avg},reduce-gradients{axes=dp},bucket{axes=dp fuse_grad_size_in_MB=7},declare-relations{axes=dp},declare-sites)

// What a request may not say is said of the flag, or of the pair.
// RUN: not dtranspile transpile --print-pipeline --trainers 4 --scale-strategy customized 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not dtranspile transpile --print-pipeline --trainers 4 --nccl-comm-num 65 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not dtranspile transpile --print-pipeline --mode nccl2 --collective-mode local_sgd 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not dtranspile transpile --print-pipeline --batch-dim "a b=0" 2>&1 | FileCheck %s --check-prefix=BLANK
// RUN: not dtranspile transpile --trainers 4 2>&1 | FileCheck %s --check-prefix=MAIN
// WORD: --scale-strategy: customized not in {avg,sum,reference}
// RANGE: --nccl-comm-num: '65' is no whole number from 1 to 64
// PAIR: error: mode nccl2 and collective_mode local_sgd
// BLANK: error: batch_dims: 'a b=0' is empty or holds a blank, comma, quote or bracket
// MAIN: error: transpile: MAIN is required

pd.var @w : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %y = pd.input "y" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %m = pd.mean X(%y) -> Out("m") : (tensor<?x1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_mul X(%m) Y(%w) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.elementwise_mul X(%s) Y(%m) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @w, %0 : tensor<1xf32>
  %1 = pd.fill_constant -> Out("lr") {shape = array<i64: 1>, dtype = 5 : i32, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %1 : tensor<1xf32>
}
