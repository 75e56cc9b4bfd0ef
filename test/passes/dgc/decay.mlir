// A decay of the sum is added by each replica to its own gradient, a part of it.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0.75" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[G:.*]] = pd.reduce_mean
// CHECK-NOT: dist.all_reduce
// CHECK: %[[DECAY:.*]] = pd.scale X(%{{.*}}) -> Out("decay")
// CHECK: %[[PART:.*]] = pd.scale X(%[[DECAY]]) {{.*}}scale = 2.500000e-01
// CHECK: %[[SUM:.*]] = pd.sum X(%[[G]], %[[PART]]) -> Out("w@GRAD_decay")
// CHECK: dist.composite "dgc_momentum" (Grad = %[[SUM]]
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %d = pd.scale X(%w) -> Out("decay") {bias = 0.0 : f32, op_role = 1 : i32, scale = 0.125 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = pd.sum X(%g, %d) -> Out("w@GRAD_decay") {op_role = 1 : i32} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%c) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
}
