// Gradients are scattered, clipped, decayed and applied in parts; the parameter is put together. What has
// no two elements per rank stays whole.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true})" 2>&1 | FileCheck %s
// Two replicas of two parts each: parts are summed over the replicas.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_degree=2})" 2>/dev/null | FileCheck %s --check-prefix=HYBRID
// Without buckets.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true fuse_all_reduce_ops=false})" 2>/dev/null | FileCheck %s --check-prefix=SINGLE
// Parameters in parts: put together for the forward part, and again for the backward part.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_stage=3})" 2>/dev/null | FileCheck %s --check-prefix=THREE
// Too small.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true min_shard=60})" 2>&1 | FileCheck %s --check-prefix=SMALL
// One rank: nothing to cut.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=1 sharding=true})" 2>&1 | FileCheck %s --check-prefix=ONE
// Any number of ranks: the same text, but for the numbers.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 sharding=true})" 2>/dev/null | FileCheck %s --check-prefix=TWO

// CHECK: remark: sharding: stays whole on every rank: b@GRAD (has no two elements for each of the 4 ranks)
// CHECK: dist.mesh @world [sharding = 4]
// CHECK: dist.role @trainer
// CHECK: pd.var @w : tensor<13x4xf32> {dist.rel = #dist.rel<"w">, parameter}
// CHECK: pd.var @w_velocity : tensor<13xf32> {dist.rel = #dist.rel<"w_velocity", sharding: S(flat, even(52))>}
// CHECK: pd.var @b_velocity : tensor<4xf32> {dist.rel = #dist.rel<"b_velocity">}
// CHECK: pd.program @main
// CHECK: %[[WV:.*]] = pd.get @w_velocity : tensor<13xf32>
// CHECK: %[[GW:.*]] = pd.mul_grad
// CHECK: %[[PB:.*]] = dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>
// CHECK-NEXT: %[[PW:.*]] = dist.reduce_scatter sum(%[[GW]]) on @grad0 dim flat : (tensor<13x4xf32>) -> !dist.pending<tensor<13xf32>>
// CHECK-NEXT: %[[RB:.*]] = dist.wait %[[PB]]
// CHECK-NEXT: %[[RW:.*]] = dist.wait %[[PW]]
// CHECK: %[[NW:.*]] = pd.squared_l2_norm X(%[[RW]])
// CHECK: pd.squared_l2_norm X(%[[RB]])
// CHECK: %[[SW:.*]] = dist.all_reduce sum(%[[NW]]) on @grad0
// CHECK-NEXT: pd.sum X(%[[SW]],
// CHECK: %[[W:.*]] = dist.slice %{{.*}} dim flat layout <even(52)> over [sharding] : tensor<13x4xf32> -> tensor<13xf32>
// CHECK-NEXT: %[[DECAY:.*]] = pd.scale X(%[[W]])
// CHECK: %[[SUM:.*]] = pd.sum X(%{{.*}}, %[[DECAY]]) {{.*}} -> tensor<13xf32>
// CHECK: %[[U:.*]]:2 = pd.momentum Grad(%[[SUM]]) {{.*}} Param(%[[W]]) Velocity(%[[WV]])
// CHECK-NEXT: %[[PG:.*]] = dist.all_gather(%[[U]]#0) on @grad0 dim flat : (tensor<13xf32>) -> !dist.pending<tensor<13x4xf32>>
// CHECK: pd.set @w_velocity, %[[U]]#1 : tensor<13xf32>
// CHECK: pd.set @b,
// CHECK: %[[NEW:.*]] = dist.wait %[[PG]]
// CHECK-NEXT: pd.set @w, %[[NEW]] : tensor<13x4xf32>
// CHECK: pd.program @startup
// CHECK: %[[ZERO:.*]] = pd.fill_constant -> Out("w_velocity")
// CHECK-NEXT: %[[PART:.*]] = dist.slice %[[ZERO]] dim flat layout <even(52)> over [sharding]
// CHECK-NEXT: pd.set @w_velocity, %[[PART]] : tensor<13xf32>

// HYBRID: dist.mesh @world [dp = 2, sharding = 2]
// HYBRID: dist.comm @grad0 on @world over [dp, sharding] group
// HYBRID-NEXT: dist.comm @shards0 on @world over [sharding] group {carries = "shards"}
// HYBRID-NEXT: dist.comm @replicas0 on @world over [dp] group {carries = "gradients between"}
// HYBRID: dist.role @trainer
// HYBRID: pd.var @w_velocity : tensor<26xf32> {dist.rel = #dist.rel<"w_velocity", sharding: S(flat, even(52))>}
// HYBRID: %[[P:.*]] = dist.reduce_scatter sum({{.*}}) on @shards0 dim flat
// HYBRID: %[[R:.*]]:2 = dist.wait %[[P]]
// HYBRID-NEXT: dist.all_reduce sum(%[[R]]#{{[01]}}, %[[R]]#{{[01]}}) on @replicas0
// HYBRID: dist.all_gather({{.*}}) on @shards0 dim flat

// SINGLE: dist.role @trainer
// SINGLE: dist.reduce_scatter sum(%{{.*}}) on @grad0 dim flat : (tensor<13x4xf32>) -> tensor<13xf32>

// THREE: dist.role @trainer
// THREE: pd.var @w : tensor<13xf32> {dist.rel = #dist.rel<"w", sharding: S(flat, even(52))>, parameter}
// THREE: pd.program @main
// THREE: pd.get @lr
// THREE-NEXT: %[[FIRST:.*]] = pd.get @w : tensor<13xf32>
// THREE-NEXT: %[[P1:.*]] = dist.all_gather(%[[FIRST]]) on @grad0 dim flat
// THREE-NEXT: %[[W1:.*]] = dist.wait %[[P1]]
// THREE: %[[SECOND:.*]] = pd.get @w : tensor<13xf32>
// THREE-NEXT: %[[P2:.*]] = dist.all_gather(%[[SECOND]]) on @grad0 dim flat
// THREE-NEXT: pd.mul X({{.*}}) Y(%[[W1]])
// THREE: %[[W2:.*]] = dist.wait %[[P2]]
// THREE-NEXT: pd.mul_grad {{.*}} Y(%[[W2]])
// THREE: %[[U:.*]]:2 = pd.momentum
// THREE-NOT: dist.all_gather
// THREE: pd.set @w, %[[U]]#0 : tensor<13xf32>
// THREE: pd.program @startup
// THREE: %[[DRAWN:.*]] = pd.uniform_random -> Out("w")
// THREE: %[[SAME:.*]]:2 = dist.broadcast
// THREE: dist.slice %[[SAME]]#0 dim flat layout <even(52)> over [sharding]

// SMALL-DAG: remark: sharding: stays whole on every rank: w@GRAD (has less than min_shard = 60 elements)
// SMALL-DAG: warning: sharding: there is nothing to cut: every rank keeps and updates all parameters
// SMALL: dist.all_reduce
// SMALL-NOT: dist.reduce_scatter

// ONE-NOT: remark
// ONE-NOT: dist.slice

// TWO: pd.var @w_velocity : tensor<26xf32>
// TWO: pd.var @b_velocity : tensor<2xf32>

pd.var @w : tensor<13x4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @w_velocity : tensor<13x4xf32>
pd.var @b_velocity : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x13xf32>
  %w = pd.get @w : tensor<13x4xf32>
  %b = pd.get @b : tensor<4xf32>
  %wv = pd.get @w_velocity : tensor<13x4xf32>
  %bv = pd.get @b_velocity : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x13xf32>, tensor<13x4xf32>) -> tensor<?x4xf32>
  %z = pd.elementwise_add X(%y) Y(%b) -> Out("z") {axis = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %loss = pd.mean X(%z) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %dz = pd.mean_grad "Out@GRAD"(%one) X(%z) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %d:2 = pd.elementwise_add_grad "Out@GRAD"(%dz) X(%y) Y(%b) -> "X@GRAD"("y@GRAD") "Y@GRAD"("b@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>)
  %gw = pd.mul_grad "Out@GRAD"(%d#0) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x13xf32>, tensor<13x4xf32>) -> tensor<13x4xf32>
  %nw = pd.squared_l2_norm X(%gw) -> Out("nw") {op_role = 2 : i32} : (tensor<13x4xf32>) -> tensor<1xf32>
  %nb = pd.squared_l2_norm X(%d#1) -> Out("nb") {op_role = 2 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %n = pd.sum X(%nw, %nb) -> Out("n") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %root = pd.sqrt X(%n) -> Out("root") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %cw = pd.elementwise_mul X(%gw) Y(%root) -> Out("cw") {axis = -1 : i32, op_role = 2 : i32} : (tensor<13x4xf32>, tensor<1xf32>) -> tensor<13x4xf32>
  %cb = pd.elementwise_mul X(%d#1) Y(%root) -> Out("cb") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %decay = pd.scale X(%w) -> Out("decay") {op_role = 2 : i32, scale = 1.000000e-01 : f32} : (tensor<13x4xf32>) -> tensor<13x4xf32>
  %rw = pd.sum X(%cw, %decay) -> Out("rw") {op_role = 2 : i32} : (tensor<13x4xf32>, tensor<13x4xf32>) -> tensor<13x4xf32>
  %uw:2 = pd.momentum Grad(%rw) LearningRate(%lr) Param(%w) Velocity(%wv) -> ParamOut("w") VelocityOut("w_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<13x4xf32>, tensor<1xf32>, tensor<13x4xf32>, tensor<13x4xf32>) -> (tensor<13x4xf32>, tensor<13x4xf32>)
  pd.set @w, %uw#0 : tensor<13x4xf32>
  pd.set @w_velocity, %uw#1 : tensor<13x4xf32>
  %ub:2 = pd.momentum Grad(%cb) LearningRate(%lr) Param(%b) Velocity(%bv) -> ParamOut("b") VelocityOut("b_velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @b, %ub#0 : tensor<4xf32>
  pd.set @b_velocity, %ub#1 : tensor<4xf32>
}
pd.program @startup {
  %w = pd.uniform_random -> Out("w") {dtype = 5 : i32, shape = array<i64: 13, 4>} : () -> tensor<13x4xf32>
  pd.set @w, %w : tensor<13x4xf32>
  %b = pd.uniform_random -> Out("b") {dtype = 5 : i32, shape = array<i64: 4>} : () -> tensor<4xf32>
  pd.set @b, %b : tensor<4xf32>
  %wv = pd.fill_constant -> Out("w_velocity") {dtype = 5 : i32, shape = array<i64: 13, 4>, value = 0.000000e+00 : f32} : () -> tensor<13x4xf32>
  pd.set @w_velocity, %wv : tensor<13x4xf32>
  %bv = pd.fill_constant -> Out("b_velocity") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.000000e+00 : f32} : () -> tensor<4xf32>
  pd.set @b_velocity, %bv : tensor<4xf32>
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
}
