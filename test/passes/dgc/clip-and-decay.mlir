// What stands between the sum and the update: a clip becomes the replica's own, what is added is divided by the number of replicas.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0.75" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[G:.*]] = pd.reduce_mean
// CHECK-NOT: dist.all_reduce
// CHECK: %[[CLIPPED:.*]] = dist.composite "dgc_clip_by_norm" (X = %[[G]] : tensor<2x4xf32>) -> (Out as "w@GRAD_clip" : tensor<2x4xf32>)
// CHECK: pd.clip_by_norm {{.*}}max_norm = 5.000000e-01
// CHECK: %[[DECAY:.*]] = pd.scale X(%{{.*}}) -> Out("decay") {{.*}}scale = 0.00999
// CHECK: %[[SHARE:.*]] = pd.scale X(%[[DECAY]]) -> Out("decay@DGC") {{.*}}scale = 2.500000e-01
// CHECK: %[[SUM:.*]] = pd.sum X(%[[CLIPPED]], %[[SHARE]])
// CHECK: dist.composite "dgc_momentum" (Grad = %[[SUM]]
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %c = pd.clip_by_norm X(%g) -> Out("w@GRAD_clip") {max_norm = 1.0 : f32, op_role = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = pd.scale X(%w) -> Out("decay") {scale = 0.01 : f32, op_role = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = pd.sum X(%c, %d) -> Out("w@GRAD_sum") {op_role = 1 : i32} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%s) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
}
