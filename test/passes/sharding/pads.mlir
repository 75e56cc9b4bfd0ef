// A sum over all elements of a gradient is one over the parts where the pad stays zero: e to the zero
// is one, so that the first gradient stays whole; the square of zero is zero; where the elements divide
// there is no pad.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding" 2>&1 | FileCheck %s

// CHECK: remark: sharding: stays whole on every rank: w@GRAD (squared_l2_norm adds up a flat part whose pad is not known to be zero)
// CHECK: dist.role @trainer
// CHECK-DAG: dist.reduce_scatter sum(%{{.*}}) on @grad0 dim flat : (tensor<3x3xf32>) -> tensor<5xf32>
// CHECK-DAG: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
// CHECK: pd.exp X(%{{.*}}) -> Out("e") {{.*}} -> tensor<3x3xf32>
// CHECK: pd.square X(%{{.*}}) -> Out("q") {{.*}} -> tensor<5xf32>
// CHECK: pd.exp X(%{{.*}}) -> Out("h") {{.*}} -> tensor<8xf32>

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<3x3xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.var @n : tensor<3x3xf32> {parameter, dist.rel = #dist.rel<"n">}
  pd.var @d : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"d">}
  pd.program @main {
    %z = pd.input "z" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %d = pd.get @d : tensor<4x4xf32>
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x3xf32>
    %w = pd.get @w : tensor<3x3xf32>
    %n = pd.get @n : tensor<3x3xf32>
    %gw = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %gn = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%n) -> "Y@GRAD"("n@GRAD") {op_role = 1 : i32, op_role_var = ["n", "n@GRAD"]} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %gd = pd.mul_grad "Out@GRAD"(%z) X(%z) Y(%d) -> "Y@GRAD"("d@GRAD") {op_role = 1 : i32, op_role_var = ["d", "d@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %e = pd.exp X(%gw) -> Out("e") {op_role = 2 : i32} : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %a = pd.squared_l2_norm X(%e) -> Out("a") {op_role = 2 : i32} : (tensor<3x3xf32>) -> tensor<1xf32>
    %q = pd.square X(%gn) -> Out("q") {op_role = 2 : i32} : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %b = pd.squared_l2_norm X(%q) -> Out("b") {op_role = 2 : i32} : (tensor<3x3xf32>) -> tensor<1xf32>
    %u = pd.sgd Grad(%gw) LearningRate(%a) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<3x3xf32>, tensor<1xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    pd.set @w, %u : tensor<3x3xf32>
    %v = pd.sgd Grad(%gn) LearningRate(%b) Param(%n) -> ParamOut("n") {op_role = 2 : i32} : (tensor<3x3xf32>, tensor<1xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    pd.set @n, %v : tensor<3x3xf32>
    %h = pd.exp X(%gd) -> Out("h") {op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %c = pd.squared_l2_norm X(%h) -> Out("c") {op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<1xf32>
    %y = pd.sgd Grad(%gd) LearningRate(%c) Param(%d) -> ParamOut("d") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @d, %y : tensor<4x4xf32>
  }
}
