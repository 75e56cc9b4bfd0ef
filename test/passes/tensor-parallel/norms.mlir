// Updates with norms of whole parameters: parameter, gradient and state stay in parts, and the body
// sums up the squares of the parts over the ranks that have them. Numbers are whole.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp" 2>&1 | FileCheck %s
// Without a decay lamb of 1.x takes norms and that of 2.x none: it is left whole.
// RUN: sed 's/weight_decay = 1.000000e-02/weight_decay = 0.000000e+00/' %s | dtranspile-opt --tensor-parallel="axes=mp" 2>&1 | FileCheck %s --check-prefix=PLAIN
// Tasks of a pipeline take no composites.
// RUN: sed 's/mp = 2]/mp = 2, micro = 2]/' %s | dtranspile-opt --tensor-parallel="axes=mp" 2>&1 | FileCheck %s --check-prefix=STAGES
// Exports write the bodies.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp" --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=EXPORT

// CHECK-NOT: is put together for its update
// CHECK: pd.var @w1 : tensor<8x8xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// CHECK: pd.var @b1 : tensor<8xf32> {dist.rel = #dist.rel<"b1", mp: S(0)>, parameter}
// CHECK: pd.var @w2 : tensor<8x4xf32> {dist.rel = #dist.rel<"w2", mp: S(0)>, parameter}
// CHECK: pd.var @m1 : tensor<8x8xf32> {dist.rel = #dist.rel<"m1", mp: S(1)>}
// CHECK: pd.var @m2 : tensor<8x8xf32> {dist.rel = #dist.rel<"m2", mp: S(1)>}
// CHECK: pd.var @v : tensor<8x4xf32> {dist.rel = #dist.rel<"v", mp: S(0)>}
// CHECK: pd.var @p1 : tensor<1xf32>{{$}}

// CHECK: dist.composite "sharded_lamb"
// CHECK: ^bb0(%[[W:.*]]: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<1xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<1xf32>, %{{.*}}: tensor<1xf32>):
// CHECK: %[[P:.*]] = pd.squared_l2_norm X(%[[W]])
// CHECK: %[[Q:.*]] = pd.squared_l2_norm X(
// CHECK: dist.all_reduce sum(%[[P]], %[[Q]]) on @mp : (tensor<1xf32>, tensor<1xf32>)
// CHECK: dist.yield {{.*}} : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1xf32>, tensor<1xf32>
// CHECK: dist.composite "sharded_clip_by_norm"
// CHECK: dist.all_reduce sum({{.*}}) on @mp : (tensor<1xf32>) -> tensor<1xf32>
// CHECK: pd.sgd Grad({{.*}}) {{.*}} : (tensor<8xf32>, tensor<1xf32>, tensor<8xf32>)
// CHECK: dist.composite "sharded_lars_momentum"
// CHECK: dist.yield {{.*}} : tensor<8x4xf32>, tensor<8x4xf32>

// PLAIN: remark: tensor-parallel: is put together for its update, which every rank computes: w1 (its norms are not those that are summed up)
// PLAIN: pd.var @m1 : tensor<8x16xf32>
// PLAIN: pd.var @v : tensor<8x4xf32> {dist.rel = #dist.rel<"v", mp: S(0)>}
// PLAIN: dist.all_gather
// PLAIN: pd.lamb {{.*}} -> (tensor<8x16xf32>,

// STAGES: remark: tensor-parallel: is put together for its update, which every rank computes: w1, cb, w2 (tasks of a pipeline do not sum up norms)
// STAGES-NOT: dist.composite

// EXPORT: pd.program @main
// EXPORT-NOT: sharded_
// EXPORT: %[[P:.*]] = pd.squared_l2_norm
// EXPORT: %[[Q:.*]] = pd.squared_l2_norm
// EXPORT: %[[PS:.*]] = pd.c_allreduce_sum X(%[[P]]) {{.*}}op_role = 2 : i32, {{.*}}use_model_parallel = true
// EXPORT: %[[QS:.*]] = pd.c_allreduce_sum X(%[[Q]])
// EXPORT: pd.sqrt X(%[[PS]])
// EXPORT: pd.program @startup

module {
  dist.mesh @world [mp = 2]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    pd.var @w1 : tensor<8x16xf32> {parameter}
    pd.var @b1 : tensor<16xf32> {parameter}
    pd.var @w2 : tensor<16x4xf32> {parameter}
    pd.var @m1 : tensor<8x16xf32>
    pd.var @m2 : tensor<8x16xf32>
    pd.var @v : tensor<16x4xf32>
    pd.var @p1 : tensor<1xf32>
    pd.var @p2 : tensor<1xf32>
    pd.var @lr : tensor<1xf32>
    pd.program @main {
      %x = pd.input "x" : tensor<?x8xf32>
      %w1 = pd.get @w1 : tensor<8x16xf32>
      %b1 = pd.get @b1 : tensor<16xf32>
      %w2 = pd.get @w2 : tensor<16x4xf32>
      %m1 = pd.get @m1 : tensor<8x16xf32>
      %m2 = pd.get @m2 : tensor<8x16xf32>
      %v = pd.get @v : tensor<16x4xf32>
      %p1 = pd.get @p1 : tensor<1xf32>
      %p2 = pd.get @p2 : tensor<1xf32>
      %lr = pd.get @lr : tensor<1xf32>
      %h = pd.mul X(%x) Y(%w1) -> Out("h") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
      %hb = pd.elementwise_add X(%h) Y(%b1) -> Out("hb") {axis = 1 : i32} : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
      %y = pd.mul X(%hb) Y(%w2) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
      %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
      %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %dy = pd.mean_grad "Out@GRAD"(%one) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
      %g2:2 = pd.mul_grad "Out@GRAD"(%dy) X(%hb) Y(%w2) -> "X@GRAD"("hb@GRAD") "Y@GRAD"("w2@GRAD") {op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x16xf32>, tensor<16x4xf32>) -> (tensor<?x16xf32>, tensor<16x4xf32>)
      %gb:2 = pd.elementwise_add_grad "Out@GRAD"(%g2#0) X(%h) Y(%b1) -> "X@GRAD"("h@GRAD") "Y@GRAD"("b1@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b1", "b1@GRAD"]} : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<16xf32>) -> (tensor<?x16xf32>, tensor<16xf32>)
      %g1 = pd.mul_grad "Out@GRAD"(%gb#0) X(%x) Y(%w1) -> "X@GRAD"() "Y@GRAD"("w1@GRAD") {op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x16xf32>, tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %u1:5 = pd.lamb Param(%w1) Grad(%g1) LearningRate(%lr) Moment1(%m1) Moment2(%m2) Beta1Pow(%p1) Beta2Pow(%p2) -> ParamOut("w1") Moment1Out("m1") Moment2Out("m2") Beta1PowOut("p1") Beta2PowOut("p2") {op_role = 2 : i32, weight_decay = 1.000000e-02 : f32} : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<1xf32>, tensor<1xf32>)
      pd.set @w1, %u1#0 : tensor<8x16xf32>
      pd.set @m1, %u1#1 : tensor<8x16xf32>
      pd.set @m2, %u1#2 : tensor<8x16xf32>
      pd.set @p1, %u1#3 : tensor<1xf32>
      pd.set @p2, %u1#4 : tensor<1xf32>
      %cb = pd.clip_by_norm X(%gb#1) -> Out("cb") {max_norm = 1.000000e+00 : f32, op_role = 2 : i32} : (tensor<16xf32>) -> tensor<16xf32>
      %ub = pd.sgd Grad(%cb) LearningRate(%lr) Param(%b1) -> ParamOut("b1") {op_role = 2 : i32} : (tensor<16xf32>, tensor<1xf32>, tensor<16xf32>) -> tensor<16xf32>
      pd.set @b1, %ub : tensor<16xf32>
      %u2:2 = pd.lars_momentum Param(%w2) Grad(%g2#1) Velocity(%v) LearningRate(%lr) -> ParamOut("w2") VelocityOut("v") {lars_coeff = 1.000000e-03 : f32, lars_weight_decay = 5.000000e-04 : f32, mu = 9.000000e-01 : f32, op_role = 2 : i32} : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>, tensor<1xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>)
      pd.set @w2, %u2#0 : tensor<16x4xf32>
      pd.set @v, %u2#1 : tensor<16x4xf32>
    }
    pd.program @startup {
      %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 1.000000e-01 : f32} : () -> tensor<8x16xf32>
      %b = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 16>, value = 1.000000e-01 : f32} : () -> tensor<16xf32>
      %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 16, 4>, value = 1.000000e-01 : f32} : () -> tensor<16x4xf32>
      %n = pd.fill_constant -> Out("n") {dtype = 5 : i32, shape = array<i64: 1>, value = 5.000000e-01 : f32} : () -> tensor<1xf32>
      pd.set @w1, %w : tensor<8x16xf32>
      pd.set @m1, %w : tensor<8x16xf32>
      pd.set @m2, %w : tensor<8x16xf32>
      pd.set @b1, %b : tensor<16xf32>
      pd.set @w2, %z : tensor<16x4xf32>
      pd.set @v, %z : tensor<16x4xf32>
      pd.set @p1, %n : tensor<1xf32>
      pd.set @p2, %n : tensor<1xf32>
      pd.set @lr, %n : tensor<1xf32>
    }
  }
}
