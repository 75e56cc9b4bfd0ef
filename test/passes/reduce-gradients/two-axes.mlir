// What one axis made equal differs along another: a gradient that an earlier pass summed over `a` is summed over `b`, and over nothing twice.
// RUN: dtranspile-opt %s --reduce-gradients="axes=a" --reduce-gradients="axes=b" | FileCheck %s
// RUN: dtranspile-opt %s --reduce-gradients="axes=a" --reduce-gradients="axes=a,b" | FileCheck %s
// RUN: dtranspile-opt %s --reduce-gradients="axes=a" --bucket="axes=a" --reduce-gradients="axes=a,b" | FileCheck %s --check-prefix=BUCKET
// Nothing is left to be summed.
// RUN: dtranspile-opt %s --reduce-gradients="axes=a,b" --reduce-gradients="axes=a" --reduce-gradients="axes=b" | FileCheck %s --check-prefix=ONCE

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[G:.*]] = pd.mul_grad
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum(%[[G]]) on @grad_a
// CHECK-NEXT: %[[B:.*]] = dist.all_reduce sum(%[[A]]) on @grad_b
// CHECK-NOT: dist.all_reduce
// CHECK: pd.sgd Grad(%[[B]])

// BUCKET-LABEL: dist.role @trainer
// BUCKET: %[[G:.*]] = pd.mul_grad
// BUCKET-NEXT: %[[STARTED:.*]] = dist.all_reduce sum(%[[G]]) on @grad_a
// BUCKET-NEXT: %[[A:.*]] = dist.wait %[[STARTED]]
// BUCKET-NEXT: %[[B:.*]] = dist.all_reduce sum(%[[A]]) on @grad_b
// BUCKET-NEXT: pd.sgd Grad(%[[B]])

// ONCE-LABEL: dist.role @trainer
// ONCE: %[[G:.*]] = pd.mul_grad
// ONCE-NEXT: %[[S:.*]] = dist.all_reduce sum(%[[G]]) on @grad_both
// ONCE-NEXT: pd.sgd Grad(%[[S]])
dist.mesh @world [a = 2, b = 3]
dist.comm @grad_a on @world over [a] group {carries = "gradients"}
dist.comm @grad_b on @world over [b] group {carries = "gradients"}
dist.comm @grad_both on @world over [a, b] group {carries = "gradients"}
module @source {
  pd.var @w : tensor<4x1xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<?x4xf32>
    %d = pd.input "d" : tensor<?x1xf32>
    %w = pd.get @w : tensor<4x1xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %g = pd.mul_grad "Out@GRAD"(%d) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>, tensor<?x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %w1 = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4x1xf32>, tensor<1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    pd.set @w, %w1 : tensor<4x1xf32>
  }
}
dist.role @trainer on @world {
  pd.var @w : tensor<4x1xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: a, b>} : tensor<?x4xf32>
    %d = pd.input "d" {dist.batch = #dist.batch<0: a, b>} : tensor<?x1xf32>
    %w = pd.get @w : tensor<4x1xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %g = pd.mul_grad "Out@GRAD"(%d) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} with {dist.src = 0 : i64} : (tensor<?x1xf32>, tensor<?x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %w1 = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} with {dist.src = 1 : i64} : (tensor<4x1xf32>, tensor<1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    pd.set @w, %w1 : tensor<4x1xf32>
  }
}
