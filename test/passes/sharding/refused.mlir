// Ops that do not take parts say why, in a remark.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding" 2>&1 | FileCheck %s

// CHECK-DAG: remark: sharding: stays whole on every rank: a@GRAD (elementwise_mul counts dims from the left, and a flat part has one)
// CHECK-DAG: remark: sharding: stays whole on every rank: b@GRAD (mean moves elements of a flat part)
// CHECK-DAG: remark: sharding: stays whole on every rank: c@GRAD (dropout does not take that)

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @a : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"a">}
  pd.var @b : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"b">}
  pd.var @c : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"c">}
  pd.var @k : tensor<4xf32> {dist.rel = #dist.rel<"k">}
  pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %a = pd.get @a : tensor<4x4xf32>
    %b = pd.get @b : tensor<4x4xf32>
    %c = pd.get @c : tensor<4x4xf32>
    %k = pd.get @k : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %ga = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%a) -> "Y@GRAD"("a@GRAD") {op_role = 1 : i32, op_role_var = ["a", "a@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gb = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%b) -> "Y@GRAD"("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gc = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%c) -> "Y@GRAD"("c@GRAD") {op_role = 1 : i32, op_role_var = ["c", "c@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %ma = pd.elementwise_mul X(%ga) Y(%k) -> Out("ma") {axis = 1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    %ua = pd.sgd Grad(%ma) LearningRate(%lr) Param(%a) -> ParamOut("a") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @a, %ua : tensor<4x4xf32>
    %mean = pd.mean X(%gb) -> Out("mean") {op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<1xf32>
    %mb = pd.elementwise_sub X(%gb) Y(%mean) -> Out("mb") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>) -> tensor<4x4xf32>
    %ub = pd.sgd Grad(%mb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @b, %ub : tensor<4x4xf32>
    %mc, %mask = pd.dropout X(%gc) -> Out("mc") Mask("mask") {fix_seed = true, op_role = 2 : i32, seed = 3 : i32} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xui8>)
    %uc = pd.sgd Grad(%mc) LearningRate(%lr) Param(%c) -> ParamOut("c") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @c, %uc : tensor<4x4xf32>
  }
}
