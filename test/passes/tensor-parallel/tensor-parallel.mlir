// Columns of one product, rows of the next, one sum in front of the bias; biases, gradients, norms
// and state follow.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 tensor_parallel=true tensor_parallel_degree=2 fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s
// Two replicas of two parts: gradients of parts are summed over the replicas only.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 tensor_parallel=true tensor_parallel_degree=2 fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s --check-prefix=BOTH
// One rank: nothing to split.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 tensor_parallel=true tensor_parallel_degree=1})" 2>&1 | FileCheck %s --check-prefix=ONE
// Any number of ranks: the same text, but for the numbers.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=800000 tensor_parallel=true tensor_parallel_degree=8 fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s --check-prefix=MANY
// What no columns divide stays whole, with a remark.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=5 tensor_parallel=true tensor_parallel_degree=5})" 2>&1 | FileCheck %s --check-prefix=FIVE

// CHECK: dist.mesh @world [dp = 1, mp = 2]
// CHECK: dist.comm @mp on @world over [mp] group {carries = "layers"}
// CHECK: dist.role @trainer
// CHECK: pd.var @w1 : tensor<8x8xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// CHECK: pd.var @b1 : tensor<8xf32> {dist.rel = #dist.rel<"b1", mp: S(0)>, parameter}
// CHECK: pd.var @w2 : tensor<8x4xf32> {dist.rel = #dist.rel<"w2", mp: S(0)>, parameter}
// CHECK: pd.var @b2 : tensor<4xf32> {dist.rel = #dist.rel<"b2">, parameter}
// CHECK: pd.var @w1_velocity : tensor<8x8xf32> {dist.rel = #dist.rel<"w1_velocity", mp: S(1)>}
// CHECK: pd.var @b2_velocity : tensor<4xf32> {dist.rel = #dist.rel<"b2_velocity">}
// CHECK: pd.program @main
// CHECK: %[[R:.*]] = pd.relu {{.*}} -> tensor<?x8xf32>
// CHECK: %[[Y:.*]] = pd.mul X(%[[R]])
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum(%[[Y]]) on @mp : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NEXT: pd.elementwise_add X(%[[S]])
// CHECK: pd.elementwise_add_grad {{.*}} X(%[[S]])
// CHECK-NOT: dist.all_reduce{{.*}}@mp
// CHECK: %[[N1:.*]] = pd.squared_l2_norm
// CHECK: %[[NB1:.*]] = pd.squared_l2_norm
// CHECK: %[[N2:.*]] = pd.squared_l2_norm
// CHECK: %[[NB2:.*]] = pd.squared_l2_norm
// CHECK: %[[SUMS:.*]]:3 = dist.all_reduce sum(%[[N1]], %[[NB1]], %[[N2]]) on @mp
// CHECK-NEXT: pd.sum X(%[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[NB2]])
// CHECK-NOT: dist.slice
// CHECK: pd.momentum {{.*}} -> (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: pd.program @startup
// CHECK: %[[SAME:.*]]:4 = dist.broadcast({{.*}}) on @mp from <mp = 0>
// CHECK: dist.slice %[[SAME]]#0 dim 1 layout <even(16)> over [mp] : tensor<8x16xf32> -> tensor<8x8xf32>

// BOTH: dist.mesh @world [dp = 2, mp = 2]
// BOTH: pd.program @main
// BOTH: dist.role @trainer
// BOTH: dist.all_reduce sum(%{{.*}}) on @mp : (tensor<?x4xf32>)
// BOTH-DAG: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<8x8xf32>)
// BOTH-DAG: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<4xf32>)
// BOTH: pd.program @startup
// BOTH: dist.broadcast({{.*}}) on @mp from <mp = 0>
// BOTH: dist.broadcast({{.*}}) on @grad0 from <dp = 0> : (tensor<8x8xf32>

// ONE: dist.mesh @world [dp = 2, mp = 1]
// ONE-NOT: on @mp :

// MANY: dist.mesh @world [dp = 100000, mp = 8]
// MANY: pd.var @w1 : tensor<8x2xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}

// FIVE-DAG: remark: tensor-parallel: stays whole on every rank: w1, w2 (has no columns that 5 ranks divide)
// FIVE-DAG: warning: tensor-parallel: there is nothing to split: every rank computes all layers

pd.var @w1 : tensor<8x16xf32> {parameter}
pd.var @b1 : tensor<16xf32> {parameter}
pd.var @w2 : tensor<16x4xf32> {parameter}
pd.var @b2 : tensor<4xf32> {parameter}
pd.var @w1_velocity : tensor<8x16xf32>
pd.var @b1_velocity : tensor<16xf32>
pd.var @w2_velocity : tensor<16x4xf32>
pd.var @b2_velocity : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x8xf32>
  %w1 = pd.get @w1 : tensor<8x16xf32>
  %b1 = pd.get @b1 : tensor<16xf32>
  %w2 = pd.get @w2 : tensor<16x4xf32>
  %b2 = pd.get @b2 : tensor<4xf32>
  %w1v = pd.get @w1_velocity : tensor<8x16xf32>
  %b1v = pd.get @b1_velocity : tensor<16xf32>
  %w2v = pd.get @w2_velocity : tensor<16x4xf32>
  %b2v = pd.get @b2_velocity : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.mul X(%x) Y(%w1) -> Out("h") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %hb = pd.elementwise_add X(%h) Y(%b1) -> Out("hb") {axis = 1 : i32} : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  %r = pd.relu X(%hb) -> Out("r") : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = pd.mul X(%r) Y(%w2) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %z = pd.elementwise_add X(%y) Y(%b2) -> Out("z") {axis = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %loss = pd.mean X(%z) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %dz = pd.mean_grad "Out@GRAD"(%one) X(%z) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %d2:2 = pd.elementwise_add_grad "Out@GRAD"(%dz) X(%y) Y(%b2) -> "X@GRAD"("y@GRAD") "Y@GRAD"("b2@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b2", "b2@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>)
  %m2:2 = pd.mul_grad "Out@GRAD"(%d2#0) X(%r) Y(%w2) -> "X@GRAD"("r@GRAD") "Y@GRAD"("w2@GRAD") {op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x16xf32>, tensor<16x4xf32>) -> (tensor<?x16xf32>, tensor<16x4xf32>)
  %dr = pd.relu_grad Out(%r) "Out@GRAD"(%m2#0) -> "X@GRAD"("hb@GRAD") {op_role = 1 : i32} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %d1:2 = pd.elementwise_add_grad "Out@GRAD"(%dr) X(%h) Y(%b1) -> "X@GRAD"("h@GRAD") "Y@GRAD"("b1@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b1", "b1@GRAD"]} : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<16xf32>) -> (tensor<?x16xf32>, tensor<16xf32>)
  %m1 = pd.mul_grad "Out@GRAD"(%d1#0) X(%x) Y(%w1) -> "X@GRAD"() "Y@GRAD"("w1@GRAD") {op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x16xf32>, tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %nw1 = pd.squared_l2_norm X(%m1) -> Out("nw1") {op_role = 2 : i32} : (tensor<8x16xf32>) -> tensor<1xf32>
  %nb1 = pd.squared_l2_norm X(%d1#1) -> Out("nb1") {op_role = 2 : i32} : (tensor<16xf32>) -> tensor<1xf32>
  %nw2 = pd.squared_l2_norm X(%m2#1) -> Out("nw2") {op_role = 2 : i32} : (tensor<16x4xf32>) -> tensor<1xf32>
  %nb2 = pd.squared_l2_norm X(%d2#1) -> Out("nb2") {op_role = 2 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %n = pd.sum X(%nw1, %nb1, %nw2, %nb2) -> Out("n") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %root = pd.sqrt X(%n) -> Out("root") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %cw1 = pd.elementwise_mul X(%m1) Y(%root) -> Out("cw1") {axis = -1 : i32, op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>) -> tensor<8x16xf32>
  %uw1:2 = pd.momentum Grad(%cw1) LearningRate(%lr) Param(%w1) Velocity(%w1v) -> ParamOut("w1") VelocityOut("w1_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  pd.set @w1, %uw1#0 : tensor<8x16xf32>
  pd.set @w1_velocity, %uw1#1 : tensor<8x16xf32>
  %cb1 = pd.elementwise_mul X(%d1#1) Y(%root) -> Out("cb1") {axis = -1 : i32, op_role = 2 : i32} : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
  %ub1:2 = pd.momentum Grad(%cb1) LearningRate(%lr) Param(%b1) Velocity(%b1v) -> ParamOut("b1") VelocityOut("b1_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<16xf32>, tensor<1xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  pd.set @b1, %ub1#0 : tensor<16xf32>
  pd.set @b1_velocity, %ub1#1 : tensor<16xf32>
  %cw2 = pd.elementwise_mul X(%m2#1) Y(%root) -> Out("cw2") {axis = -1 : i32, op_role = 2 : i32} : (tensor<16x4xf32>, tensor<1xf32>) -> tensor<16x4xf32>
  %uw2:2 = pd.momentum Grad(%cw2) LearningRate(%lr) Param(%w2) Velocity(%w2v) -> ParamOut("w2") VelocityOut("w2_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<16x4xf32>, tensor<1xf32>, tensor<16x4xf32>, tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>)
  pd.set @w2, %uw2#0 : tensor<16x4xf32>
  pd.set @w2_velocity, %uw2#1 : tensor<16x4xf32>
  %cb2 = pd.elementwise_mul X(%d2#1) Y(%root) -> Out("cb2") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %ub2:2 = pd.momentum Grad(%cb2) LearningRate(%lr) Param(%b2) Velocity(%b2v) -> ParamOut("b2") VelocityOut("b2_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @b2, %ub2#0 : tensor<4xf32>
  pd.set @b2_velocity, %ub2#1 : tensor<4xf32>
}
pd.program @startup {
  %w1 = pd.uniform_random -> Out("w1") {dtype = 5 : i32, shape = array<i64: 8, 16>} : () -> tensor<8x16xf32>
  pd.set @w1, %w1 : tensor<8x16xf32>
  %w1v = pd.fill_constant -> Out("w1_velocity") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 0.000000e+00 : f32} : () -> tensor<8x16xf32>
  pd.set @w1_velocity, %w1v : tensor<8x16xf32>
  %b1 = pd.uniform_random -> Out("b1") {dtype = 5 : i32, shape = array<i64: 16>} : () -> tensor<16xf32>
  pd.set @b1, %b1 : tensor<16xf32>
  %b1v = pd.fill_constant -> Out("b1_velocity") {dtype = 5 : i32, shape = array<i64: 16>, value = 0.000000e+00 : f32} : () -> tensor<16xf32>
  pd.set @b1_velocity, %b1v : tensor<16xf32>
  %w2 = pd.uniform_random -> Out("w2") {dtype = 5 : i32, shape = array<i64: 16, 4>} : () -> tensor<16x4xf32>
  pd.set @w2, %w2 : tensor<16x4xf32>
  %w2v = pd.fill_constant -> Out("w2_velocity") {dtype = 5 : i32, shape = array<i64: 16, 4>, value = 0.000000e+00 : f32} : () -> tensor<16x4xf32>
  pd.set @w2_velocity, %w2v : tensor<16x4xf32>
  %b2 = pd.uniform_random -> Out("b2") {dtype = 5 : i32, shape = array<i64: 4>} : () -> tensor<4xf32>
  pd.set @b2, %b2 : tensor<4xf32>
  %b2v = pd.fill_constant -> Out("b2_velocity") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.000000e+00 : f32} : () -> tensor<4xf32>
  pd.set @b2_velocity, %b2v : tensor<4xf32>
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
}
