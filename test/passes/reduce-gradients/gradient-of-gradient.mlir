// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" | FileCheck %s

// The gradient of @v is made of that of @w (weight norm reads one parameter through another): it is
// made of the rank's own term, and summed by itself; the update and the clip of @w read the sum.
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[G:.*]] = pd.mean {{.*}} Out("w@GRAD")
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum(%[[G]]) on @grad0
// CHECK-NEXT: %[[A:.*]] = pd.assign X(%[[G]]) -> Out("v@PIECE")
// CHECK-NEXT: %[[H:.*]] = pd.scale X(%[[A]]) -> Out("v@GRAD")
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum(%[[H]]) on @grad0
// CHECK-NEXT: %[[C:.*]] = pd.clip X(%[[R]])
// CHECK: pd.sgd Grad(%[[C]])
// CHECK: pd.sgd Grad(%[[S]])
pd.var @w : tensor<1xf32> {parameter}
pd.var @v : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %v = pd.get @v : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %a = pd.assign X(%g) -> Out("v@PIECE") {op_role = 1 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %h = pd.scale X(%a) -> Out("v@GRAD") {scale = 2.0 : f32, op_role = 1 : i32, op_role_var = ["v", "v@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %c = pd.clip X(%g) -> Out("w@CLIP") {min = -1.0 : f32, max = 1.0 : f32, op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %w1 = pd.sgd Grad(%c) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
  %v1 = pd.sgd Grad(%h) LearningRate(%lr) Param(%v) -> ParamOut("v") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @v, %v1 : tensor<1xf32>
}
