// A decay that the update does by itself is added by each replica to N times its own gradient.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0.75" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[G:.*]] = pd.reduce_mean
// CHECK-NOT: dist.all_reduce
// CHECK: dist.composite "dgc_momentum" (Grad = %[[G]]
// CHECK: %[[OWN:.*]] = pd.scale X(%{{.*}}) {{.*}}scale = 4.000000e+00
// CHECK: %[[DECAY:.*]] = pd.scale X(%{{.*}}) {{.*}}scale = 1.250000e-01
// CHECK: pd.elementwise_add X(%[[OWN]]) Y(%[[DECAY]])
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, regularization_coeff = 0.125 : f32, regularization_method = "l2_decay", op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
}
