// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" --ps-startup="axes=dp" | FileCheck %s --check-prefix=ALL

// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=async" | FileCheck %s --check-prefix=ASYNC

// Why a table is pulled is said.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" 2>&1 | FileCheck %s --check-prefix=WHY
// WHY-NOT: remark: 't'
// WHY: remark: 'u' is pulled whole in every step: {{.*}} takes it, and is no lookup of rows at the top of the program
// WHY-NOT: remark

// Without rounds too.
// ASYNC: [[T:%[0-9]+]] = dist.remote @pserver::@t
// ASYNC: dist.lookup {{.*}} in @pserver::@t padding 3
// ASYNC: dist.push {{.*}} to @pserver::@t merge each on @rounds : !pd.rows<tensor<10x4xf32>>
// ASYNC-NOT: dist.pull @pserver::@t
// ASYNC: dist.pull @pserver::@u
// ASYNC: dist.handle push @t

// @t stays on the servers: both lookups ask for rows, and its gradient needs its height only. Of
// @u elements are read otherwise, so it is pulled.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.program @main
// CHECK-DAG: [[T:%[0-9]+]] = dist.remote @pserver::@t : tensor<10x4xf32>
// CHECK-DAG: [[A:%[0-9]+]] = pd.input "a"
// CHECK: [[X:%[0-9]+]] = dist.composite "lookup_table" (W = [[T]] : tensor<10x4xf32>, Ids = [[A]] : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>) attrs {is_sparse = true, padding_idx = 3 : i64} attributes {dist.src = 0 : i64} {
// CHECK-NEXT: ^bb0([[W:%.*]]: tensor<10x4xf32>, [[I:%.*]]: tensor<?x1xi64>):
// CHECK-NEXT: [[R:%[0-9]+]] = dist.lookup [[I]] in @pserver::@t padding 3 as "x" on @rounds : tensor<?x1xi64> -> tensor<?x4xf32>
// CHECK-NEXT: dist.yield [[R]] : tensor<?x4xf32>
// CHECK-NEXT: }
// CHECK: dist.composite "lookup_table_v2"
// CHECK: dist.lookup {{.*}} in @pserver::@t as "y" on @rounds : tensor<?xi64> -> tensor<?x4xf32>
// CHECK: pd.lookup_table_v2 W({{.*}} -> Out("z")
// CHECK: pd.lookup_table_grad {{.*}} W([[T]])
// CHECK: dist.push {{.*}} to @pserver::@t merge mean on @rounds : !pd.rows<tensor<10x4xf32>>
// CHECK: dist.phase push
// CHECK-NOT: dist.pull @pserver::@t
// CHECK: dist.pull @pserver::@u
// CHECK: dist.phase pull

// Servers update the rows that came.
// CHECK-LABEL: dist.role @pserver
// CHECK: dist.foreach_block @t
// CHECK: [[G:%[0-9]+]] = dist.merged @t : !pd.rows<tensor<?x4xf32>>
// CHECK: pd.sgd Grad([[G]])

// Trainers have no variable for it, nor an initial value.
// ALL-LABEL: dist.role @trainer
// ALL-NOT: pd.var @t
// ALL: pd.var @u
// ALL: pd.program @startup
// ALL-NOT: Out("t")
// ALL-LABEL: dist.role @pserver

pd.var @t : tensor<10x4xf32> {parameter}
pd.var @u : tensor<10x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "u" tensor of float32 [10, 4] {persistable = true}
  %a = pd.input "a" : tensor<?x1xi64>
  %b = pd.input "b" : tensor<?xi64>
  %t = pd.get @t : tensor<10x4xf32>
  %u = pd.get @u : tensor<10x4xf32>
  %x = pd.lookup_table W(%t) Ids(%a) -> Out("x") {is_sparse = true, padding_idx = 3 : i64} : (tensor<10x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
  %y = pd.lookup_table_v2 W(%t) Ids(%b) -> Out("y") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %z = pd.lookup_table_v2 W(%u) Ids(%b) -> Out("z") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %k = pd.reduce_sum X(%u) -> Out("k") {dim = array<i32: 0>, keep_dim = false, reduce_all = true} : (tensor<10x4xf32>) -> tensor<1xf32>
  %n = pd.sum X(%x, %y, %z) -> Out("n") : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%n) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gn = pd.mean_grad "Out@GRAD"(%s) X(%n) -> "X@GRAD"("n@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %gu = pd.lookup_table_v2_grad Ids(%b) "Out@GRAD"(%gn) W(%u) -> "W@GRAD"("u@GRAD") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["u", "u@GRAD"]} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %g0 = pd.lookup_table_v2_grad Ids(%b) "Out@GRAD"(%gn) W(%t) -> "W@GRAD"("t@GRAD@0") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %g1 = pd.lookup_table_grad Ids(%a) "Out@GRAD"(%gn) W(%t) -> "W@GRAD"("t@GRAD@1") {is_sparse = true, padding_idx = 3 : i64, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %gt = pd.sum X(%g0, %g1) -> Out("t@GRAD") {op_role = 1 : i32, op_role_var = ["t", "t@GRAD"]} : (!pd.rows<tensor<10x4xf32>>, !pd.rows<tensor<10x4xf32>>) -> !pd.rows<tensor<10x4xf32>>
  %lr = pd.get @lr : tensor<1xf32>
  %t1 = pd.sgd Grad(%gt) LearningRate(%lr) Param(%t) -> ParamOut("t") {op_role = 2 : i32} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  pd.set @t, %t1 : tensor<10x4xf32>
  %u1 = pd.sgd Grad(%gu) LearningRate(%lr) Param(%u) -> ParamOut("u") {op_role = 2 : i32} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  pd.set @u, %u1 : tensor<10x4xf32>
}
pd.program @startup {
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
  %t = pd.fill_constant -> Out("t") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @t, %t : tensor<10x4xf32>
  %u = pd.fill_constant -> Out("u") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @u, %u : tensor<10x4xf32>
}
