// Gradients are added up where they are complete; schedule, clip and update move into the branch of
// every k-th step.
// RUN: dtranspile-opt %s --gradient-merge="gradient_merge_k_steps=4" | FileCheck %s
// RUN: dtranspile-opt %s --gradient-merge="gradient_merge_k_steps=2 gradient_merge_avg=false" | FileCheck %s --check-prefix=SUM
// In a job what has been added up is reduced, once per update; between updates every rank has a term.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 gradient_merge=true gradient_merge_k_steps=4})" | FileCheck %s --check-prefix=JOB

// CHECK: pd.var @"w@GRAD@GradientMerge" : tensor<1xf32>
// CHECK: pd.var @gradient_merge_step : tensor<1xi64>
// CHECK: pd.program @main
// CHECK: %[[G:.*]] = pd.elementwise_mul {{.*}} -> Out("w@GRAD") {op_role = 1 : i32}
// CHECK-NEXT: %[[OLD:.*]] = pd.get @"w@GRAD@GradientMerge"
// CHECK-NEXT: %[[NEW:.*]] = pd.sum X(%[[OLD]], %[[G]]) -> Out("w@GRAD@GradientMerge") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD@GradientMerge"]}
// CHECK-NEXT: pd.set @"w@GRAD@GradientMerge", %[[NEW]]
// CHECK: pd.increment
// CHECK: pd.fill_constant -> Out("gradient_merge_k") {{.*}}value = 4.000000e+00
// CHECK: %[[DUE:.*]] = pd.equal
// CHECK: pd.conditional_block "$capture"() Cond(%[[DUE]])
// CHECK: pd.decl "w@GRAD@MEAN"
// CHECK: %[[ALL:.*]] = pd.get @"w@GRAD@GradientMerge"
// CHECK-NEXT: %[[MEAN:.*]] = pd.scale X(%[[ALL]]) -> Out("w@GRAD@MEAN") {{.*}}scale = 2.500000e-01
// CHECK: pd.increment {{.*}} -> Out("count")
// CHECK: pd.set @count
// CHECK: %[[SCALED:.*]] = pd.scale X(%[[MEAN]]) -> Out("w@GRAD_scaled")
// CHECK: %[[U:.*]] = pd.sgd Grad(%[[SCALED]])
// CHECK: pd.set @w, %[[U]]
// CHECK: %[[ZERO:.*]] = pd.fill_constant -> Out("w@GRAD@GradientMerge")
// CHECK-NEXT: pd.set @"w@GRAD@GradientMerge", %[[ZERO]]
// CHECK-NEXT: pd.yield
// CHECK: pd.program @startup
// CHECK: pd.set @"w@GRAD@GradientMerge"
// CHECK: pd.set @gradient_merge_step
// SUM: pd.conditional_block
// SUM: %[[ALL:.*]] = pd.get @"w@GRAD@GradientMerge"
// SUM-NOT: w@GRAD@MEAN
// JOB: module @source
// JOB-NOT: GradientMerge
// JOB: module @reference
// JOB: dist.role @trainer
// JOB: pd.var @"w@GRAD@GradientMerge" : tensor<1xf32> {dist.rel = #dist.rel<"w@GRAD@GradientMerge", dp: P(sum)>}
// JOB: pd.elementwise_mul {{.*}} -> Out("w@GRAD")
// JOB-NOT: dist.all_reduce
// JOB: pd.conditional_block
// JOB: %[[OWN:.*]] = pd.get @"w@GRAD@GradientMerge"
// JOB-NEXT: %[[P:.*]] = dist.all_reduce sum(%[[OWN]]) on @grad0
// JOB-NEXT: %[[R:.*]] = dist.wait %[[P]]
// JOB-NEXT: pd.scale X(%[[R]])

pd.var @w : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @count : tensor<1xi64>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %count = pd.get @count : tensor<1xi64>
  %next = pd.increment X(%count) -> Out("count") {step = 1.0 : f32, op_role = 16 : i32} : (tensor<1xi64>) -> tensor<1xi64>
  pd.set @count, %next : tensor<1xi64>
  %w = pd.get @w : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %m = pd.mean X(%x) -> Out("m") : (tensor<?x1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_mul X(%m) Y(%w) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.elementwise_mul X(%s) Y(%m) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %c = pd.scale X(%g) -> Out("w@GRAD_scaled") {scale = 0.5 : f32, op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%c) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @w, %0 : tensor<1xf32>
  %1 = pd.fill_constant -> Out("lr") {shape = array<i64: 1>, dtype = 5 : i32, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %1 : tensor<1xf32>
  %2 = pd.fill_constant -> Out("count") {shape = array<i64: 1>, dtype = 3 : i32, value = 0.0 : f32} : () -> tensor<1xi64>
  pd.set @count, %2 : tensor<1xi64>
}
