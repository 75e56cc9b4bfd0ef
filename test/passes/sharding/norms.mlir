// Updates with norms of whole parameters, on parts: the body sums up the squares of the parts. One operation for both norms of an update. In a branch, and with a decay of zero
// (which old and new programs mean differently), they take the whole.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding" 2>&1 | FileCheck %s

// CHECK: remark: sharding: stays whole on every rank: d@GRAD (lars_momentum
// CHECK: pd.var @a : tensor<4x4xf32> {dist.rel = #dist.rel<"a">, parameter}
// CHECK: pd.var @va : tensor<8xf32> {dist.rel = #dist.rel<"va", sharding: S(flat, even(16))>}
// CHECK: pd.var @m1 : tensor<8xf32> {dist.rel = #dist.rel<"m1", sharding: S(flat, even(16))>}
// CHECK: pd.var @p1 : tensor<1xf32> {dist.rel = #dist.rel<"p1">}
// CHECK: pd.var @vd : tensor<4x4xf32> {dist.rel = #dist.rel<"vd">}

// CHECK: dist.composite "sharded_lars_momentum"
// CHECK-SAME: attrs {lars_coeff
// CHECK: ^bb0(%[[W:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<8xf32>, %[[V:.*]]: tensor<8xf32>, %[[LR:.*]]: tensor<1xf32>):
// CHECK-DAG: %[[P:.*]] = pd.squared_l2_norm X(%[[W]])
// CHECK-DAG: %[[Q:.*]] = pd.squared_l2_norm X(%[[G]])
// CHECK: dist.all_reduce sum(%[[P]], %[[Q]]) on @grad0 : (tensor<1xf32>, tensor<1xf32>)
// CHECK: dist.yield {{.*}} : tensor<8xf32>, tensor<8xf32>
// CHECK: dist.composite "sharded_clip_by_norm"
// CHECK: dist.all_reduce sum({{.*}}) on @grad0 : (tensor<1xf32>) -> tensor<1xf32>
// CHECK: pd.sgd Grad({{.*}}) {{.*}} : (tensor<8xf32>, tensor<1xf32>, tensor<8xf32>)
// CHECK: dist.composite "sharded_lamb"
// CHECK: dist.yield {{.*}} : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>
// CHECK: pd.lars_momentum {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>)

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @a : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"a">}
  pd.var @b : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"b">}
  pd.var @c : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"c">}
  pd.var @d : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"d">}
  pd.var @va : tensor<4x4xf32> {dist.rel = #dist.rel<"va">}
  pd.var @m1 : tensor<4x4xf32> {dist.rel = #dist.rel<"m1">}
  pd.var @m2 : tensor<4x4xf32> {dist.rel = #dist.rel<"m2">}
  pd.var @p1 : tensor<1xf32> {dist.rel = #dist.rel<"p1">}
  pd.var @p2 : tensor<1xf32> {dist.rel = #dist.rel<"p2">}
  pd.var @vd : tensor<4x4xf32> {dist.rel = #dist.rel<"vd">}
  pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %a = pd.get @a : tensor<4x4xf32>
    %b = pd.get @b : tensor<4x4xf32>
    %c = pd.get @c : tensor<4x4xf32>
    %d = pd.get @d : tensor<4x4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %ga = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%a) -> "Y@GRAD"("a@GRAD") {op_role = 1 : i32, op_role_var = ["a", "a@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gb = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%b) -> "Y@GRAD"("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gc = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%c) -> "Y@GRAD"("c@GRAD") {op_role = 1 : i32, op_role_var = ["c", "c@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gd = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%d) -> "Y@GRAD"("d@GRAD") {op_role = 1 : i32, op_role_var = ["d", "d@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %va = pd.get @va : tensor<4x4xf32>
    %ua, %nva = pd.lars_momentum Param(%a) Grad(%ga) Velocity(%va) LearningRate(%lr) -> ParamOut("a") VelocityOut("va") {lars_coeff = 1.000000e-03 : f32, lars_weight_decay = 5.000000e-04 : f32, mu = 9.000000e-01 : f32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    pd.set @va, %nva : tensor<4x4xf32>
    pd.set @a, %ua : tensor<4x4xf32>
    %cb = pd.clip_by_norm X(%gb) -> Out("cb") {max_norm = 1.000000e+00 : f32, op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %ub = pd.sgd Grad(%cb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @b, %ub : tensor<4x4xf32>
    %m1 = pd.get @m1 : tensor<4x4xf32>
    %m2 = pd.get @m2 : tensor<4x4xf32>
    %p1 = pd.get @p1 : tensor<1xf32>
    %p2 = pd.get @p2 : tensor<1xf32>
    %uc, %nm1, %nm2, %np1, %np2 = pd.lamb Param(%c) Grad(%gc) LearningRate(%lr) Moment1(%m1) Moment2(%m2) Beta1Pow(%p1) Beta2Pow(%p2) -> ParamOut("c") Moment1Out("m1") Moment2Out("m2") Beta1PowOut("p1") Beta2PowOut("p2") {op_role = 2 : i32, weight_decay = 1.000000e-02 : f32} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>, tensor<1xf32>)
    pd.set @m1, %nm1 : tensor<4x4xf32>
    pd.set @m2, %nm2 : tensor<4x4xf32>
    pd.set @p1, %np1 : tensor<1xf32>
    pd.set @p2, %np2 : tensor<1xf32>
    pd.set @c, %uc : tensor<4x4xf32>
    %vd = pd.get @vd : tensor<4x4xf32>
    %ud, %nvd = pd.lars_momentum Param(%d) Grad(%gd) Velocity(%vd) LearningRate(%lr) -> ParamOut("d") VelocityOut("vd") {lars_coeff = 1.000000e-03 : f32, lars_weight_decay = 0.000000e+00 : f32, mu = 9.000000e-01 : f32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    pd.set @vd, %nvd : tensor<4x4xf32>
    pd.set @d, %ud : tensor<4x4xf32>
  }
  pd.program @startup {
    %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 4, 4>, value = 1.000000e-01 : f32} : () -> tensor<4x4xf32>
    %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 4, 4>, value = 0.000000e+00 : f32} : () -> tensor<4x4xf32>
    %n = pd.fill_constant -> Out("n") {dtype = 5 : i32, shape = array<i64: 1>, value = 5.000000e-01 : f32} : () -> tensor<1xf32>
    pd.set @a, %w : tensor<4x4xf32>
    pd.set @b, %w : tensor<4x4xf32>
    pd.set @c, %w : tensor<4x4xf32>
    pd.set @d, %w : tensor<4x4xf32>
    pd.set @va, %z : tensor<4x4xf32>
    pd.set @m1, %z : tensor<4x4xf32>
    pd.set @m2, %z : tensor<4x4xf32>
    pd.set @vd, %z : tensor<4x4xf32>
    pd.set @p1, %n : tensor<1xf32>
    pd.set @p2, %n : tensor<1xf32>
    pd.set @lr, %n : tensor<1xf32>
  }
}
