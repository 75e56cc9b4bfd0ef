// Each parameter with its state is a variable of its owner; it is broadcast before it is used, its gradient is summed where it
// lies, and clipped, decayed and applied there; the norm of all gradients is a sum of numbers of several owners.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner})" 2>&1 | FileCheck %s
// Two replicas of two ranks each: owners sum up over the replicas.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner sharding_degree=2})" 2>/dev/null | FileCheck %s --check-prefix=HYBRID
// Without buckets.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner fuse_all_reduce_ops=false})" 2>/dev/null | FileCheck %s --check-prefix=SINGLE
// Broadcast for the forward part, and again for the backward part.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner sharding_stage=3})" 2>/dev/null | FileCheck %s --check-prefix=THREE
// Segments of one parameter: each is under way while the one before it is computed with.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner segment_broadcast_MB=0})" 2>/dev/null | FileCheck %s --check-prefix=SEGMENTS
// Too small: the norm of what all ranks have counts once.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_form=owner min_shard=5})" 2>&1 | FileCheck %s --check-prefix=SMALL
// One rank: it owns everything.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=1 sharding=true sharding_form=owner})" 2>&1 | FileCheck %s --check-prefix=ONE
// Any number of ranks: the same text, but for the numbers.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=100000 sharding=true sharding_form=owner})" 2>&1 | FileCheck %s --check-prefix=MANY

// CHECK: remark: sharding-owner: 2 of 4 ranks own 448 bytes of parameters and state, the largest of them 416
// CHECK: dist.mesh @world [sharding = 4]
// CHECK: dist.role @trainer
// CHECK: pd.var @w : tensor<13x4xf32> {dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"w", sharding: R at sharding = 0>, parameter}
// CHECK: pd.var @b : tensor<4xf32> {dist.at = #dist.sel<sharding = 1>
// CHECK: pd.var @w_velocity : tensor<13x4xf32> {dist.at = #dist.sel<sharding = 0>
// CHECK: pd.var @b_velocity : tensor<4xf32> {dist.at = #dist.sel<sharding = 1>
// CHECK: pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
// CHECK: pd.program @main
// CHECK: %[[OW:.*]] = dist.on <sharding = 0> -> (!dist.at<tensor<13x4xf32>, sharding = 0>)
// CHECK-NEXT: pd.get @w : tensor<13x4xf32>
// CHECK: %[[PW:.*]] = dist.broadcast(%[[OW]]) on @grad0 from <sharding = 0>
// CHECK: %[[OB:.*]] = dist.on <sharding = 1>
// CHECK: %[[PB:.*]] = dist.broadcast(%[[OB]]) on @grad0 from <sharding = 1>
// CHECK: %[[W:.*]] = dist.wait %[[PW]]
// CHECK-NEXT: %[[B:.*]] = dist.wait %[[PB]]
// CHECK-NEXT: pd.mul X(%{{.*}}) Y(%[[W]])
// CHECK-NEXT: pd.elementwise_add X(%{{.*}}) Y(%[[B]])
// CHECK: %[[D:.*]]:2 = pd.elementwise_add_grad
// CHECK: %[[GW:.*]] = pd.mul_grad
// CHECK-NEXT: %[[RB:.*]] = dist.reduce sum(%[[D]]#1) on @grad0 to <sharding = 1>
// CHECK-NEXT: %[[RW:.*]] = dist.reduce sum(%[[GW]]) on @grad0 to <sharding = 0>
// CHECK-NEXT: %[[SB:.*]] = dist.wait %[[RB]]
// CHECK-NEXT: %[[SW:.*]] = dist.wait %[[RW]]
// CHECK-NEXT: %[[NW:.*]] = dist.on <sharding = 0> with (%[[A:.*]] = %[[SW]]
// CHECK-NEXT: pd.squared_l2_norm X(%[[A]])
// CHECK: %[[NB:.*]] = dist.on <sharding = 1> with (%{{.*}} = %[[SB]]
// CHECK: %[[TW:.*]] = dist.on <sharding = 0> with (%{{.*}} = %[[NW]] : !dist.at<tensor<1xf32>, sharding = 0>) -> (tensor<1xf32>)
// CHECK: } else {
// CHECK: pd.fill_constant -> Out("n.others")
// CHECK: %[[TB:.*]] = dist.on <sharding = 1> with (%{{.*}} = %[[NB]]
// CHECK: %[[N:.*]] = pd.sum X(%[[TW]], %[[TB]])
// CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce sum(%[[N]]) on @grad0
// CHECK-NEXT: %[[ROOT:.*]] = pd.sqrt X(%[[ALL]])
// CHECK-NEXT: dist.on <sharding = 0> with (%[[A:.*]] = %[[SW]]
// CHECK-NEXT: %[[C:.*]] = pd.elementwise_mul X(%[[A]]) Y(%[[ROOT]])
// CHECK-NEXT: %[[MINE:.*]] = pd.get @w : tensor<13x4xf32>
// CHECK-NEXT: %[[DECAY:.*]] = pd.scale X(%[[MINE]])
// CHECK-NEXT: %[[SUM:.*]] = pd.sum X(%[[C]], %[[DECAY]])
// CHECK-NEXT: %[[V:.*]] = pd.get @w_velocity
// CHECK-NEXT: %[[U:.*]]:2 = pd.momentum Grad(%[[SUM]]) {{.*}} Param(%[[MINE]]) Velocity(%[[V]])
// CHECK-NEXT: pd.set @w, %[[U]]#0
// CHECK-NEXT: pd.set @w_velocity, %[[U]]#1
// CHECK: dist.on <sharding = 1> with (%{{.*}} = %[[SB]]
// CHECK: pd.set @b,
// CHECK: pd.program @startup
// CHECK: dist.on <sharding = 0> {
// CHECK-NEXT: pd.fill_constant -> Out("w_velocity")
// CHECK-NEXT: pd.set @w_velocity
// CHECK: %[[SAME:.*]]:2 = dist.broadcast
// CHECK-NEXT: dist.on <sharding = 0> {
// CHECK-NEXT: pd.set @w, %[[SAME]]#0

// HYBRID: dist.mesh @world [dp = 2, sharding = 2]
// HYBRID: dist.comm @shards0 on @world over [sharding] group {carries = "shards"}
// HYBRID-NEXT: dist.comm @replicas0 on @world over [dp] group {carries = "gradients between"}
// HYBRID: pd.var @w : tensor<13x4xf32> {dist.at = #dist.sel<sharding = 0>
// HYBRID: dist.broadcast({{.*}}) on @shards0 from <sharding = 0>
// HYBRID: %[[R:.*]] = dist.reduce sum(%{{.*}}) on @shards0 to <sharding = 1>
// HYBRID: %[[W:.*]] = dist.wait %[[R]]
// HYBRID-NEXT: dist.on <sharding = 1> with (%[[A:.*]] = %[[W]]
// HYBRID-NEXT: dist.all_reduce sum(%[[A]]) on @replicas0

// SINGLE: dist.role @trainer
// SINGLE: dist.reduce sum(%{{.*}}) on @grad0 to <sharding = 1> : (tensor<4xf32>) -> !dist.at<tensor<4xf32>, sharding = 1>
// SINGLE: dist.reduce sum(%{{.*}}) on @grad0 to <sharding = 0> : (tensor<13x4xf32>) -> !dist.at<tensor<13x4xf32>, sharding = 0>

// THREE: dist.role @trainer
// THREE: %[[P:.*]] = dist.broadcast({{.*}} from <sharding = 0>
// THREE: dist.wait %[[P]]
// THREE: dist.on <sharding = 0>
// THREE: dist.broadcast({{.*}} from <sharding = {{[01]}}>
// THREE: pd.mul X(
// THREE: pd.mean_grad
// THREE: dist.wait
// THREE: pd.elementwise_add_grad
// THREE: dist.reduce

// SEGMENTS: dist.role @trainer
// SEGMENTS: %[[PW:.*]] = dist.broadcast({{.*}} from <sharding = 0>
// SEGMENTS-NEXT: %[[W:.*]] = dist.wait %[[PW]]
// SEGMENTS: %[[PB:.*]] = dist.broadcast({{.*}} from <sharding = 1>
// SEGMENTS-NEXT: pd.mul X({{.*}} Y(%[[W]])
// SEGMENTS-NEXT: dist.wait %[[PB]]
// SEGMENTS-NEXT: pd.elementwise_add

// SMALL: remark: sharding-owner: stays whole on every rank: b@GRAD (has less than min_shard = 5 elements)
// SMALL: pd.var @b : tensor<4xf32> {dist.rel = #dist.rel<"b">, parameter}
// SMALL: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<4xf32>)
// SMALL: dist.reduce sum(%{{.*}}) on @grad0 to <sharding = 0>
// SMALL: pd.set @b,

// ONE-NOT: remark
// ONE-NOT: dist.on

// MANY: remark: sharding-owner: 2 of 100000 ranks own 448 bytes
// MANY: dist.mesh @world [sharding = 100000]
// MANY: pd.var @b : tensor<4xf32> {dist.at = #dist.sel<sharding = 1>
// MANY: dist.reduce sum({{.*}} to <sharding = 1>

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
