// Stage 3 keeps parts of parameters and puts them together in front of what reads them. One that is read after it is
// set (`w`) stays whole, and so does one without a start-up program that would keep a part of it (`v`); remarks say so.
// Their updates work on parts all the same.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding sharding_stage=3" 2>&1 | FileCheck %s

// CHECK-DAG: remark: sharding: stays whole on every rank: w (is read where its parts cannot be put together)
// CHECK-DAG: remark: sharding: stays whole on every rank: v (start-up is not known to make it)
// CHECK: dist.role @trainer
// CHECK-NEXT: pd.var @w : tensor<4x4xf32>
// CHECK-NEXT: pd.var @v : tensor<4x4xf32>
// CHECK: %[[WHOLE:.*]] = dist.all_gather({{.*}}) on @grad0 dim flat : (tensor<8xf32>, tensor<8xf32>)

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.var @v : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"v">}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %w = pd.get @w : tensor<4x4xf32>
    %v = pd.get @v : tensor<4x4xf32>
    %gw = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gv = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%v) -> "Y@GRAD"("v@GRAD") {op_role = 1 : i32, op_role_var = ["v", "v@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %nw = pd.sgd Grad(%gw) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @w, %nw : tensor<4x4xf32>
    %nv = pd.sgd Grad(%gv) LearningRate(%lr) Param(%v) -> ParamOut("v") {op_role = 2 : i32, op_role_var = ["v", "v@GRAD"]} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @v, %nv : tensor<4x4xf32>
    %late = pd.tanh X(%w) -> Out("late") {op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  }
}
