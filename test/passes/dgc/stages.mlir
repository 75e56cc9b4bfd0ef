// A number of elements per stage of the ramp: branches that a counter of steps chooses, dense ones first; Nesterov and a decay inside of the update.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 rampup_begin_step=2 rampup_step=4 sparsity=0.5,0.75" | FileCheck %s

// CHECK: dist.contracts = [{sites = ["w: all of 8 up to step 2, 4 up to step 4, then 2"]
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @__g_dgc_counter__ : tensor<1xi64>
// CHECK: pd.program @main
// CHECK: %[[LAST:.*]] = pd.get @__g_dgc_counter__
// CHECK-NEXT: %[[STEP:.*]] = pd.increment X(%[[LAST]])
// CHECK-NEXT: pd.set @__g_dgc_counter__, %[[STEP]]
// CHECK-NEXT: %[[TWO:.*]] = pd.fill_constant {{.*}}value = 2.000000e+00
// CHECK-NEXT: %[[DENSE:.*]] = pd.less_equal X(%[[STEP]]) Y(%[[TWO]])
// CHECK-NEXT: %[[AFTER:.*]] = pd.fill_constant {{.*}}value = 2.000000e+00
// CHECK-NEXT: %[[FROM:.*]] = pd.greater_than X(%[[STEP]]) Y(%[[AFTER]])
// CHECK-NEXT: %[[FOUR:.*]] = pd.fill_constant {{.*}}value = 4.000000e+00
// CHECK-NEXT: %[[TO:.*]] = pd.less_equal X(%[[STEP]]) Y(%[[FOUR]])
// CHECK-NEXT: %[[HALF:.*]] = pd.logical_and X(%[[FROM]]) Y(%[[TO]])
// CHECK-NEXT: pd.fill_constant {{.*}}value = 4.000000e+00
// CHECK-NEXT: %[[REST:.*]] = pd.greater_than X(%[[STEP]])
// CHECK-NEXT: dist.composite "dgc_momentum"
// CHECK: pd.conditional_block "$capture"({{.*}}) Cond(%[[DENSE]])
// CHECK: dist.all_reduce sum
// CHECK: pd.momentum
// CHECK-SAME: use_nesterov = true
// CHECK: pd.set @w
// CHECK: pd.set @velocity
// CHECK: pd.conditional_block "$capture"({{.*}}) Cond(%[[HALF]])
// CHECK: k = 4 : i32
// CHECK: pd.conditional_block "$capture"({{.*}}) Cond(%[[REST]])
// CHECK: k = 2 : i32
// CHECK: %[[W:.*]] = pd.get @w
// CHECK-NEXT: %[[U:.*]] = pd.get @velocity
// CHECK-NEXT: dist.yield %[[W]], %[[U]]
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, use_nesterov = true, regularization_method = "l2_decay", regularization_coeff = 0.5 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
}
