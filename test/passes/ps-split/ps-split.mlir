// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2" --ps-split="axes=dp servers=2" | sed -E 's/[0-9]+/N/g' > %t.few
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=10000" --ps-split="axes=dp servers=10000" | sed -E 's/[0-9]+/N/g' > %t.many
// RUN: diff %t.few %t.many
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2" --ps-split="axes=dp servers=2" --ps-split="axes=dp servers=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: has a role @pserver already

// CHECK: dist.mesh @world [dp = 2]
// CHECK: dist.mesh @pservers [ps = 2]
// CHECK: dist.comm @rounds on @world over [dp] rpc @pserver {carries = "rounds"}
// CHECK-NOT: group

// Trainers push where a gradient is complete, and read new parameters at the end.
// CHECK-LABEL: dist.role @trainer
// CHECK: [[G:%[0-9]+]]:2 = pd.elementwise_add_grad
// CHECK-NEXT: dist.push [[G]]#1 to @pserver::@b merge mean on @rounds
// CHECK-NEXT: [[GW:%[0-9]+]] = pd.mul_grad
// CHECK-NEXT: dist.push [[GW]] to @pserver::@w merge mean on @rounds
// CHECK-NEXT: dist.phase push on @rounds
// CHECK-NEXT: [[B:%[0-9]+]] = dist.pull @pserver::@b on @rounds : tensor<4xf32>
// CHECK-NEXT: pd.set @b, [[B]]
// CHECK-NEXT: [[W:%[0-9]+]] = dist.pull @pserver::@w on @rounds : tensor<10x4xf32>
// CHECK-NEXT: pd.set @w, [[W]]
// CHECK-NEXT: dist.phase pull on @rounds
// CHECK-NEXT: }

// State is cut like its parameter, the rate is everywhere.
// CHECK-LABEL: dist.role @pserver on @pservers
// CHECK: pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(10, per 5, first 1))>, parameter}
// CHECK: pd.var @b : tensor<?xf32> {dist.rel = #dist.rel<"b", ps: S(0, blocks(4, per 4, first 0))>, parameter}
// CHECK: pd.var @v : tensor<?x4xf32> {dist.rel = #dist.rel<"v", ps: S(0, blocks(10, per 5, first 1))>}
// CHECK: pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
// CHECK: pd.program @main
// CHECK: dist.serve on @rounds mode sync
// CHECK-NEXT: dist.handle round {
// CHECK-NEXT: [[LR:%[0-9]+]] = pd.get @lr
// CHECK-NEXT: dist.foreach_block @b ({{.*}}) {
// CHECK-NEXT: [[M:%[0-9]+]] = dist.merged @b : tensor<?xf32>
// CHECK-NEXT: [[P:%[0-9]+]] = pd.get @b : tensor<?xf32>
// CHECK-NEXT: [[N:%[0-9]+]] = pd.sgd Grad([[M]]) LearningRate([[LR]]) Param([[P]]) -> ParamOut("b") {op_role = 2 : i32} with {dist.src = 7 : i64} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NEXT: pd.set @b, [[N]] : tensor<?xf32>
// CHECK-NEXT: dist.yield
// CHECK: dist.foreach_block @w
// CHECK: pd.momentum {{.*}} -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK-NEXT: pd.set @w
// CHECK-NEXT: pd.set @v

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
