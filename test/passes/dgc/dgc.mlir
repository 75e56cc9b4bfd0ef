// One replica's gradient, and what all replicas send of it, in the place of a sum.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0.75" --bucket="axes=dp" --declare-relations="axes=dp" | FileCheck %s
// One rank has nothing to send; a sparsity of 0 is dense in every step; parameters are smaller than the limit.
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8" | FileCheck %s --check-prefix=NONE
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0" | FileCheck %s --check-prefix=NONE
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp" | FileCheck %s --check-prefix=NONE

// CHECK: dist.contracts = [{sites = ["w: 2 of 8"], statement = "each rank sends {{.*}}", tag = "dgc"}]
// CHECK-LABEL: dist.role @trainer
// CHECK-DAG: pd.var @w : tensor<2x4xf32> {dist.rel = #dist.rel<"w">, parameter}
// CHECK-DAG: pd.var @velocity : tensor<2x4xf32> {dist.rel = #dist.rel<"velocity", dp: X(dgc)>}
// CHECK-DAG: pd.var @w__dgc_v__ : tensor<2x4xf32> {dist.rel = #dist.rel<"w__dgc_v__", dp: X(dgc)>}
// CHECK: pd.program @main
// CHECK-NOT: all_reduce
// CHECK: dist.composite "dgc_momentum" ({{.*}}) -> (ParamOut as "w" : tensor<2x4xf32>, VelocityOut as "velocity" : tensor<2x4xf32>)
// CHECK: ^bb0(%[[G:.*]]: tensor<2x4xf32>, %[[LR:.*]]: tensor<1xf32>, %[[W:.*]]: tensor<2x4xf32>, %[[U:.*]]: tensor<2x4xf32>):
// CHECK: %[[OWN:.*]] = pd.scale X(%[[G]]) {{.*}}scale = 4.000000e+00
// CHECK: %[[V:.*]] = pd.get @w__dgc_v__
// CHECK: %[[MU:.*]] = pd.scale X(%[[U]]) {{.*}}scale = 0.899
// CHECK: %[[U1:.*]] = pd.elementwise_add X(%[[MU]]) Y(%[[OWN]])
// CHECK: %[[V1:.*]] = pd.elementwise_add X(%[[V]]) Y(%[[U1]])
// CHECK: %[[UF:.*]] = pd.reshape2 X(%[[U1]])
// CHECK: %[[VF:.*]] = pd.reshape2 X(%[[V1]])
// CHECK: %[[ABS:.*]] = pd.abs X(%[[VF]])
// CHECK: %[[TOP:.*]]:2 = pd.top_k_v2 X(%[[ABS]]) {{.*}}k = 2 : i32
// CHECK: %[[AT:.*]] = pd.cast X(%[[TOP]]#1)
// CHECK: %[[VALUES:.*]] = pd.gather X(%[[VF]]) Index(%[[AT]])
// CHECK: %[[ALL:.*]] = dist.all_gather(%[[AT]]) on @grad0 dim 0 : (tensor<2xi32>) -> tensor<8xi32>
// CHECK: %[[SENT:.*]] = dist.all_gather(%[[VALUES]]) on @grad0 dim 0 : (tensor<2xf32>) -> tensor<8xf32>
// CHECK: pd.scatter X({{.*}}) Ids(%[[ALL]]) Updates(%[[SENT]]) {{.*}}overwrite = false
// CHECK: pd.scatter X(%[[VF]]) Ids(%[[AT]]) {{.*}}overwrite = true
// CHECK: pd.set @w__dgc_v__
// CHECK: pd.scale {{.*}}scale = 2.500000e-01
// CHECK: %[[NEW:.*]] = pd.sgd
// CHECK: pd.scatter X(%[[UF]]) Ids(%[[AT]]) {{.*}}overwrite = true
// CHECK: dist.yield %[[NEW]]
// CHECK: pd.program @startup
// CHECK: pd.set @w__dgc_v__
// NONE: dist.role @trainer
// NONE-NOT: dgc
// NONE: pd.momentum
// NONE-NOT: dgc
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
  %1 = pd.fill_constant -> Out("velocity") {dtype = 5 : i32, shape = array<i64: 2, 4>, value = 0.0 : f32} : () -> tensor<2x4xf32>
  pd.set @velocity, %1 : tensor<2x4xf32>
}
