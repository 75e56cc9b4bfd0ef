// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp" --bucket="axes=dp" --declare-relations="axes=dp" | FileCheck %s

// Parameters are equal again at the end of a step; velocity is not.
// CHECK: dist.contracts = [{sites = ["velocity"], statement = "parameters are averaged at the end of every step{{.*}}", tag = "local_sgd"}]
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @w : tensor<2xf32> {dist.rel = #dist.rel<"w">, parameter}
// CHECK-NEXT: pd.var @"w@SNAPSHOT" : tensor<2xf32> {dist.rel = #dist.rel<"w">}
// CHECK-NEXT: pd.var @velocity : tensor<2xf32> {dist.rel = #dist.rel<"velocity", dp: X(local_sgd)>}
// CHECK: pd.program @main
// CHECK: pd.decl "w@SNAPSHOT" tensor of float32 [2] {persistable = true}
// CHECK: pd.momentum
// CHECK-NEXT: pd.set @w, %[[W:.*]] :
// CHECK-NEXT: %[[OLD:.*]] = pd.get @"w@SNAPSHOT"
// CHECK-NEXT: %[[D:.*]] = pd.elementwise_sub X(%[[OLD]]) Y(%[[W]]) -> Out("w@DELTA") {{.*}}op_role = 2 : i32}
// CHECK-NEXT: %[[P:.*]] = dist.all_reduce sum(%[[D]]) on @grad0
// CHECK-NEXT: pd.set @velocity
// CHECK-NEXT: %[[R:.*]] = dist.wait %[[P]]
// CHECK-NEXT: %[[M:.*]] = pd.scale X(%[[R]]) -> Out("w@DELTA") {{.*}}scale = 2.500000e-01 : f32}
// CHECK-NEXT: %[[N:.*]] = pd.elementwise_sub X(%[[OLD]]) Y(%[[M]]) -> Out("w")
// CHECK-NEXT: pd.set @w, %[[N]]
// CHECK-NEXT: pd.set @"w@SNAPSHOT", %[[N]]
// CHECK: pd.program @startup
// CHECK: %[[I:.*]] = pd.get @w
// CHECK-NEXT: pd.set @"w@SNAPSHOT", %[[I]]
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
