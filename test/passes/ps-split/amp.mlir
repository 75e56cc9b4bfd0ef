// Steps that overflow: servers look at the sums of gradients, agree on one flag, and select what a
// round sets. Trainers push gradients of the size that they have on one device, and pull the scale.
// RUN: dtranspile-opt %s --amp="apart=true by_block=true" --select-updates --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[SCALE:.*]] = pd.get @loss_scaling_0
// CHECK: %[[SEED:.*]] = pd.fill_constant -> Out("loss@GRAD")
// CHECK: %[[HALF:.*]] = pd.scale X(%[[SEED]]) {{.*}}scale = 5.000000e-01 : f32
// CHECK: pd.elementwise_mul X(%[[HALF]]) Y(%[[SCALE]])
// CHECK: %[[B:.*]] = pd.cast {{.*}}op_role_var = ["b", "b@GRAD"]
// CHECK: dist.push %[[B]] to @pserver::@b merge sum on @rounds : tensor<4xf32>
// CHECK: dist.phase push on @rounds
// CHECK: dist.pull @pserver::@w
// CHECK: %[[NEXT:.*]] = dist.pull @pserver::@loss_scaling_0 on @rounds : tensor<1xf32>
// CHECK: pd.set @loss_scaling_0, %[[NEXT]]
// CHECK: dist.phase pull on @rounds

// CHECK-LABEL: dist.role @pserver
// CHECK: dist.handle round
// CHECK: %[[S:.*]] = pd.get @loss_scaling_0
// CHECK: %[[NO:.*]] = pd.fill_constant {{.*}}dtype = 0 : i32{{.*}}value = 0.000000e+00
// CHECK: %[[INB:.*]] = dist.foreach_block @b (%{{.*}}) iter(%[[SO_FAR:.*]] = %[[NO]] : tensor<1xi1>) -> (tensor<1xi1>) {
// CHECK-NEXT: %[[G:.*]] = dist.merged @b
// CHECK-NEXT: %[[FOUND:.*]] = pd.check_finite_and_unscale X(%[[G]]) Scale(%[[S]]) -> Out() FoundInfinite(
// CHECK-NEXT: %[[ANY:.*]] = pd.logical_or X(%[[SO_FAR]]) Y(%[[FOUND]])
// CHECK-NEXT: dist.yield %[[ANY]]
// CHECK: %[[INW:.*]] = dist.foreach_block @w
// CHECK: %[[ALL:.*]]:2 = dist.all_reduce or(%[[INB]], %[[INW]]) on @servers_sum
// CHECK: %[[FIRST:.*]] = pd.assign X(%[[ALL]]#0)
// CHECK: %[[BAD:.*]] = pd.logical_or X(%[[FIRST]]) Y(%[[ALL]]#1)
// CHECK: pd.update_loss_scaling {{.*}}FoundInfinite(%[[BAD]])
// CHECK: pd.set @loss_scaling_0
// CHECK: %[[GOOD:.*]] = pd.logical_not X(%[[BAD]])
// CHECK: %[[TAKEN:.*]] = pd.cast X(%[[GOOD]])
// CHECK: dist.foreach_block @b
// CHECK-NEXT: %[[M:.*]] = dist.merged @b
// CHECK-NEXT: %[[D:.*]] = pd.elementwise_div X(%[[M]]) Y(%[[S]])
// CHECK: %[[NEW:.*]] = pd.sgd Grad(%[[D]]) {{.*}} -> ParamOut("b@NEXT")
// CHECK: %[[OLD:.*]] = pd.get @b
// CHECK: %[[SET:.*]] = pd.select_input X(%[[OLD]], %[[NEW]]) Mask(%[[TAKEN]]) -> Out("b")
// CHECK: pd.set @b, %[[SET]]
// CHECK: dist.foreach_block @w
// CHECK: pd.momentum
// CHECK-COUNT-2: pd.select_input

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @v : tensor<10x4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x10xf32>
  %w = pd.get @w : tensor<10x4xf32>
  %b = pd.get @b : tensor<4xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
  %z = pd.elementwise_add X(%y) Y(%b) -> Out("z") {axis = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%z) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gz = pd.mean_grad "Out@GRAD"(%s) X(%z) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %g:2 = pd.elementwise_add_grad "Out@GRAD"(%gz) X(%y) Y(%b) -> "X@GRAD"("y@GRAD") "Y@GRAD"("b@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>)
  %gw = pd.mul_grad "Out@GRAD"(%g#0) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  %v = pd.get @v : tensor<10x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %b1 = pd.sgd Grad(%g#1) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @b, %b1 : tensor<4xf32>
  %w1:2 = pd.momentum Grad(%gw) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @w, %w1#0 : tensor<10x4xf32>
  pd.set @v, %w1#1 : tensor<10x4xf32>
}
pd.program @startup {
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
  %w = pd.uniform_random -> Out("w") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 0 : i32, shape = array<i64: 10, 4>} : () -> tensor<10x4xf32>
  pd.set @w, %w : tensor<10x4xf32>
  %b = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
  pd.set @b, %b : tensor<4xf32>
  %v = pd.fill_constant -> Out("v") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.0 : f32} : () -> tensor<10x4xf32>
  pd.set @v, %v : tensor<10x4xf32>
}
