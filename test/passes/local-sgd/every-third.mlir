// Averages in some steps only: a branch that all replicas take in the same ones, and no copies.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp localsgd_k_steps=3 localsgd_begin_step=2" --bucket="axes=dp" --declare-relations="axes=dp" | FileCheck %s
// One rank has nothing to average.
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp localsgd_k_steps=3" | FileCheck %s --check-prefix=ONE

// CHECK: dist.contracts = [{sites = ["velocity", "w"], statement = "every rank updates on its own share; parameters are averaged in every step up to number 2, and in every 3-th one from there on; {{.*}}", tag = "local_sgd"}]
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @w : tensor<2xf32> {dist.rel = #dist.rel<"w", dp: X(local_sgd)>, parameter}
// CHECK-NOT: SNAPSHOT
// CHECK: pd.var @local_sgd_step : tensor<1xi64>
// CHECK: pd.program @main
// CHECK: pd.momentum
// CHECK-NEXT: pd.set @w
// CHECK-NEXT: pd.set @velocity
// CHECK-NEXT: %[[LAST:.*]] = pd.get @local_sgd_step
// CHECK-NEXT: %[[STEP:.*]] = pd.increment X(%[[LAST]]) -> Out("local_sgd_step")
// CHECK-NEXT: pd.set @local_sgd_step, %[[STEP]]
// CHECK-NEXT: %[[BEGIN:.*]] = pd.fill_constant -> Out("local_sgd_begin") {{.*}}value = 2.000000e+00
// CHECK-NEXT: %[[EARLY:.*]] = pd.less_equal X(%[[STEP]]) Y(%[[BEGIN]])
// CHECK-NEXT: %[[SINCE:.*]] = pd.elementwise_sub X(%[[STEP]]) Y(%[[BEGIN]])
// CHECK-NEXT: %[[K:.*]] = pd.fill_constant -> Out("local_sgd_k") {{.*}}value = 3.000000e+00
// CHECK-NEXT: %[[REST:.*]] = pd.elementwise_mod X(%[[SINCE]]) Y(%[[K]])
// CHECK-NEXT: %[[ZERO:.*]] = pd.fill_constant -> Out("local_sgd_zero")
// CHECK-NEXT: %[[DUE:.*]] = pd.equal X(%[[REST]]) Y(%[[ZERO]])
// CHECK-NEXT: %[[COND:.*]] = pd.logical_or X(%[[EARLY]]) Y(%[[DUE]])
// CHECK-NEXT: pd.conditional_block "$capture"() Cond(%[[COND]])
// CHECK: %[[OWN:.*]] = pd.get @w
// CHECK-NEXT: %[[P:.*]] = dist.all_reduce sum(%[[OWN]]) on @grad0
// CHECK-NEXT: %[[R:.*]] = dist.wait %[[P]]
// CHECK-NEXT: %[[M:.*]] = pd.scale X(%[[R]]) -> Out("w") {{.*}}scale = 2.500000e-01 : f32}
// CHECK-NEXT: pd.set @w, %[[M]]
// CHECK-NEXT: pd.yield
// CHECK: pd.program @startup
// CHECK: pd.set @local_sgd_step
// ONE: dist.role @trainer
// ONE-NOT: conditional_block
pd.var @w : tensor<2xf32> {parameter}
pd.var @velocity : tensor<2xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2xf32>
  %v = pd.get @velocity : tensor<2xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32} : (tensor<?x2xf32>) -> tensor<2xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2xf32>, tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  pd.set @w, %u#0 : tensor<2xf32>
  pd.set @velocity, %u#1 : tensor<2xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2>, dtype = 5 : i32} : () -> tensor<2xf32>
  pd.set @w, %0 : tensor<2xf32>
}
