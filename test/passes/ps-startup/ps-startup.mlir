// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" --ps-startup="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp" --ps-split="axes=dp" --ps-startup="axes=dp" | FileCheck %s --check-prefix=ONE
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp" --ps-split="axes=dp" --ps-startup="axes=dp" --ps-startup="axes=dp" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: has a start-up program already

// Trainers have no state of updates, and pull what servers have drawn.
// CHECK-LABEL: dist.role @trainer
// CHECK-NEXT: pd.var @w : tensor<10x4xf32> {dist.rel = #dist.rel<"w">, parameter}
// CHECK-NEXT: pd.var @b : tensor<4xf32> {dist.rel = #dist.rel<"b">, parameter}
// CHECK-NEXT: pd.var @frozen : tensor<10xf32>
// CHECK-NEXT: pd.program @main
// CHECK: pd.program @startup
// CHECK-NOT: uniform_random
// CHECK: [[W:%[0-9]+]] = dist.pull @pserver::@w on @rounds
// CHECK-NEXT: pd.set @w, [[W]]
// CHECK-NEXT: [[B:%[0-9]+]] = dist.pull @pserver::@b on @rounds
// CHECK-NEXT: pd.set @b, [[B]]
// CHECK-NEXT: dist.pull @pserver::@frozen on @rounds
// CHECK-NEXT: pd.set @frozen
// CHECK-NEXT: dist.phase pull on @rounds

// Constants are cut where they are made, draws after a broadcast.
// CHECK-LABEL: dist.role @pserver
// CHECK: pd.var @frozen : tensor<?xf32> {dist.rel = #dist.rel<"frozen", ps: S(0, blocks(10, per 10, first {{[01]}}))>}
// CHECK: pd.program @startup
// CHECK: [[DRAWN:%[0-9]+]] = pd.uniform_random -> Out("w")
// CHECK: [[FROZEN:%[0-9]+]] = pd.uniform_random -> Out("frozen")
// CHECK: [[ZERO:%[0-9]+]] = pd.fill_constant -> Out("b")
// CHECK-NEXT: [[OWN:%[0-9]+]] = dist.slice [[ZERO]] dim 0 layout <blocks(4, per 4, first 0)> over [ps] : tensor<4xf32> -> tensor<?xf32>
// CHECK-NEXT: pd.set @b, [[OWN]]
// CHECK: [[SAME:%[0-9]+]]:2 = dist.broadcast([[DRAWN]], [[FROZEN]]) on @servers_sum from <ps = 0>
// CHECK: [[OWNW:%[0-9]+]] = dist.slice [[SAME]]#0 dim 0 layout <blocks(10, per 5, first 1)> over [ps]
// CHECK-NEXT: pd.set @w, [[OWNW]]

// ONE-NOT: broadcast

// By a seed of their own all servers draw the same.
// RUN: sed 's/seed = 0 : i32/seed = 7 : i32/' %s | dtranspile-opt --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" --ps-startup="axes=dp" | FileCheck %s --check-prefix=SEED
// SEED-NOT: dist.broadcast
// SEED: pd.program @startup
// SEED-LABEL: dist.role @pserver
// SEED-NOT: dist.broadcast
// SEED: pd.program @startup
// SEED: [[W:%[0-9]+]] = pd.uniform_random -> Out("w")
// SEED-NEXT: dist.slice [[W]] dim 0 layout <blocks(10, per 5, first 1)> over [ps]
// SEED-NOT: dist.broadcast

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @v : tensor<10x4xf32>
pd.var @lr : tensor<1xf32>
pd.var @frozen : tensor<10xf32>
pd.program @main {
  %x0 = pd.input "x" : tensor<?x10xf32>
  %f = pd.get @frozen : tensor<10xf32>
  %x = pd.elementwise_add X(%x0) Y(%f) -> Out("shifted") {axis = -1 : i32} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
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
  %f = pd.uniform_random -> Out("frozen") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 0 : i32, shape = array<i64: 10>} : () -> tensor<10xf32>
  pd.set @frozen, %f : tensor<10xf32>
  %b = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
  pd.set @b, %b : tensor<4xf32>
  %v = pd.fill_constant -> Out("v") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.0 : f32} : () -> tensor<10x4xf32>
  pd.set @v, %v : tensor<10x4xf32>
}
