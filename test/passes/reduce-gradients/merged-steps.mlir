// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" | FileCheck %s

// A program that merges steps itself, as the framework's GradientMergeOptimizer writes it, lists the sum that a variable keeps as the
// gradient. What is added to it is reduced, step by step, so that the variable is the same on all ranks.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @"w@GRAD@GradientMerge" : tensor<1xf32> {dist.rel = #dist.rel<"w@GRAD@GradientMerge">}
// CHECK: %[[G:.*]] = pd.mean
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum(%[[G]])
// CHECK: %[[S:.*]] = pd.elementwise_add X(%[[R]])
// CHECK-NOT: dist.all_reduce
// CHECK: pd.set @"w@GRAD@GradientMerge", %[[S]]
pd.var @w : tensor<1xf32> {parameter}
pd.var @"w@GRAD@GradientMerge" : tensor<1xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %k = pd.get @"w@GRAD@GradientMerge" : tensor<1xf32>
  %s = pd.elementwise_add X(%g) Y(%k) -> Out("w@GRAD@GradientMerge") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD@GradientMerge"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @"w@GRAD@GradientMerge", %s : tensor<1xf32>
  %w1 = pd.sgd Grad(%s) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
}
