// The whole pipeline on a small program, and that it says no more for 100,000 ranks than for 4.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4})" | FileCheck %s
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=8 use_hierarchical_allreduce=true hierarchical_allreduce_inter_nranks=4})" | FileCheck %s --check-prefix=LEVELS
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 collective_mode=local_sgd})" | FileCheck %s --check-prefix=LOCAL
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 fuse_all_reduce_ops=false})" | FileCheck %s --check-prefix=SINGLE
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4})" > %t.4
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=100000})" > %t.many
// RUN: wc -l < %t.4 > %t.4.lines
// RUN: wc -l < %t.many | diff - %t.4.lines
// The same text on every run.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4})" | diff - %t.4
// Not the strategy's to decide:
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 mode=nccl2 collective_mode=local_sgd nccl_comm_num=0})" 2>&1 | FileCheck %s --check-prefix=ERRORS

// CHECK: module @source
// CHECK: dist.role @trainer
// CHECK: pd.scale {{.*}}scale = 2.500000e-01
// CHECK: %[[G:.*]] = pd.elementwise_mul {{.*}} -> Out("w@GRAD")
// CHECK-NEXT: %[[P:.*]] = dist.all_reduce sum(%[[G]]) on @grad0
// CHECK: %[[R:.*]] = dist.wait %[[P]]
// CHECK-NEXT: pd.sgd Grad(%[[R]])
// CHECK: pd.program @startup
// CHECK: dist.broadcast
// One element cannot be cut.
// LEVELS: dist.role
// LEVELS: dist.all_reduce {{.*}} on @grad0
// LOCAL-NOT: scale = 5.000000e-01
// LOCAL: dist.role @trainer
// LOCAL: pd.sgd
// LOCAL: dist.all_reduce
// LOCAL: pd.scale {{.*}}scale = 5.000000e-01
// SINGLE: dist.role @trainer
// SINGLE: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<1xf32>) -> tensor<1xf32>
// ERRORS: error: nccl_comm_num: lies between 1 and 64
// ERRORS: mode nccl2 and collective_mode local_sgd: nccl2 reduces gradients

pd.var @w : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %m = pd.mean X(%x) -> Out("m") : (tensor<?x1xf32>) -> tensor<1xf32>
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
