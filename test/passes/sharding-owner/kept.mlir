// What stays whole, and why: gradients that an op takes together, SelectedRows, what is read as its update has left it. What several owners have to do with and is one number all ranks have.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding-owner="axes=sharding" 2>&1 | FileCheck %s

// CHECK-DAG: remark: sharding-owner: stays whole on every rank: rows@GRAD (is SelectedRows)
// CHECK-DAG: remark: sharding-owner: stays whole on every rank: a@GRAD, b@GRAD (is taken by elementwise_max together with others)
// CHECK-DAG: remark: sharding-owner: stays whole on every rank: late@GRAD (is read where its update may have been)
// CHECK-DAG: remark: sharding-owner: stays whole on every rank: blind@GRAD (reaches no update of one parameter)
// CHECK-DAG: remark: sharding-owner: 2 of 2 ranks own 448 bytes of parameters and state, the largest of them 384
// CHECK: pd.var @w : tensor<8x4xf32> {dist.at = #dist.sel<sharding = 0>
// CHECK: pd.var @mask : tensor<8x4xf32> {dist.at = #dist.sel<sharding = 0>
// CHECK: pd.var @v : tensor<8x4xf32> {dist.at = #dist.sel<sharding = 0>
// CHECK: pd.var @n : tensor<4x4xf32> {dist.at = #dist.sel<sharding = 1>
// CHECK: pd.var @count : tensor<1xf32> {dist.rel = #dist.rel<"count">}
// The mean of w goes to all, since the gradient of n is scaled by it.
// CHECK: %[[MEAN:.*]]:2 = dist.on <sharding = 0> with
// CHECK: pd.elementwise_mul X({{.*}} -> Out("masked")
// CHECK: pd.reduce_mean
// CHECK: dist.broadcast(%[[MEAN]]#1) on @grad0 from <sharding = 0> : (!dist.at<tensor<1xf32>, sharding = 0>) -> tensor<1xf32>
// CHECK: dist.on <sharding = 1> with
// CHECK: pd.sgd
// CHECK-NEXT: pd.set @n,

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<8x4xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.var @mask : tensor<8x4xf32> {dist.rel = #dist.rel<"mask">}
  pd.var @v : tensor<8x4xf32> {dist.rel = #dist.rel<"v">}
  pd.var @n : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"n">}
  pd.var @a : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"a">}
  pd.var @b : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"b">}
  pd.var @late : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"late">}
  pd.var @blind : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"blind">}
  pd.var @rows : tensor<9x2xf32> {parameter, dist.rel = #dist.rel<"rows">}
  pd.var @count : tensor<1xf32> {dist.rel = #dist.rel<"count">}
  pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %x8 = pd.input "x8" {dist.batch = #dist.batch<0: sharding>} : tensor<?x8xf32>
    %ids = pd.input "ids" {dist.batch = #dist.batch<0: sharding>} : tensor<?x1xi64>
    %d = pd.input "d" {dist.batch = #dist.batch<0: sharding>} : tensor<?x2xf32>
    %w = pd.get @w : tensor<8x4xf32>
    %mask = pd.get @mask : tensor<8x4xf32>
    %v = pd.get @v : tensor<8x4xf32>
    %n = pd.get @n : tensor<4x4xf32>
    %a = pd.get @a : tensor<4x4xf32>
    %b = pd.get @b : tensor<4x4xf32>
    %late = pd.get @late : tensor<4x4xf32>
    %rows = pd.get @rows : tensor<9x2xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %gw = pd.mul_grad "Out@GRAD"(%x) X(%x8) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x4xf32>, tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %gn = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%n) -> "Y@GRAD"("n@GRAD") {op_role = 1 : i32, op_role_var = ["n", "n@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %ga = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%a) -> "Y@GRAD"("a@GRAD") {op_role = 1 : i32, op_role_var = ["a", "a@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gb = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%b) -> "Y@GRAD"("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gl = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%late) -> "Y@GRAD"("late@GRAD") {op_role = 1 : i32, op_role_var = ["late", "late@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gd = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%late) -> "Y@GRAD"("blind@GRAD") {op_role = 1 : i32, op_role_var = ["blind", "blind@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gr = pd.lookup_table_v2_grad Ids(%ids) "Out@GRAD"(%d) W(%rows) -> "W@GRAD"("rows@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["rows", "rows@GRAD"]} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<9x2xf32>) -> !pd.rows<tensor<9x2xf32>>
    %masked = pd.elementwise_mul X(%gw) Y(%mask) -> Out("masked") {axis = -1 : i32, op_role = 2 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %mean = pd.reduce_mean X(%masked) -> Out("mean") {op_role = 2 : i32, reduce_all = true} : (tensor<8x4xf32>) -> tensor<1xf32>
    pd.set @count, %mean : tensor<1xf32>
    %scaled = pd.elementwise_mul X(%gn) Y(%mean) -> Out("scaled") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>) -> tensor<4x4xf32>
    %counted = pd.get @count : tensor<1xf32>
    %again = pd.elementwise_mul X(%scaled) Y(%counted) -> Out("again") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>) -> tensor<4x4xf32>
    %most = pd.elementwise_max X(%ga) Y(%gb) -> Out("most") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %u:2 = pd.momentum Grad(%masked) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<8x4xf32>, tensor<1xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    pd.set @w, %u#0 : tensor<8x4xf32>
    pd.set @v, %u#1 : tensor<8x4xf32>
    %m = pd.sgd Grad(%again) LearningRate(%lr) Param(%n) -> ParamOut("n") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @n, %m : tensor<4x4xf32>
    %ma = pd.sgd Grad(%ga) LearningRate(%lr) Param(%a) -> ParamOut("a") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @a, %ma : tensor<4x4xf32>
    %mb = pd.sgd Grad(%gb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @b, %mb : tensor<4x4xf32>
    %ml = pd.sgd Grad(%gl) LearningRate(%lr) Param(%late) -> ParamOut("late") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @late, %ml : tensor<4x4xf32>
    %now = pd.get @late : tensor<4x4xf32>
    %y = pd.mul X(%x) Y(%now) -> Out("y") {} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %mr = pd.sgd Grad(%gr) LearningRate(%lr) Param(%rows) -> ParamOut("rows") {op_role = 2 : i32} : (!pd.rows<tensor<9x2xf32>>, tensor<1xf32>, tensor<9x2xf32>) -> tensor<9x2xf32>
    pd.set @rows, %mr : tensor<9x2xf32>
  }
  pd.program @startup {
    %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 8, 4>, value = 0.000000e+00 : f32} : () -> tensor<8x4xf32>
    pd.set @w, %w : tensor<8x4xf32>
    pd.set @mask, %w : tensor<8x4xf32>
    pd.set @v, %w : tensor<8x4xf32>
    %n = pd.fill_constant -> Out("n") {dtype = 5 : i32, shape = array<i64: 4, 4>, value = 0.000000e+00 : f32} : () -> tensor<4x4xf32>
    pd.set @n, %n : tensor<4x4xf32>
    pd.set @a, %n : tensor<4x4xf32>
    pd.set @b, %n : tensor<4x4xf32>
    pd.set @late, %n : tensor<4x4xf32>
    pd.set @blind, %n : tensor<4x4xf32>
    %rows = pd.fill_constant -> Out("rows") {dtype = 5 : i32, shape = array<i64: 9, 2>, value = 0.000000e+00 : f32} : () -> tensor<9x2xf32>
    pd.set @rows, %rows : tensor<9x2xf32>
    %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
    pd.set @lr, %lr : tensor<1xf32>
    pd.set @count, %lr : tensor<1xf32>
  }
}
