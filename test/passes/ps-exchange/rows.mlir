// Geo-SGD of tables: rows that have changed travel, in both directions.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8 serve=geo" --ps-exchange="axes=dp servers=2 geo_sgd_need_push_nums=2" | FileCheck %s

// Lookups stay with the trainers, which have the whole table.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.lookup_table W(
// CHECK: pd.conditional_block
// CHECK: [[Y:%[0-9]+]] = pd.get @"t@SNAPSHOT"
// CHECK: [[SHARE:%[0-9]+]] = pd.scale {{.*}}scale = 2.500000e-01
// CHECK-NEXT: [[KNOWN:%[0-9]+]] = pd.elementwise_add X([[Y]]) Y([[SHARE]])
// CHECK-NEXT: dist.push [[SHARE]] to @pserver::@t merge each on @rounds {dist.changed_rows} : tensor<10x4xf32>
// CHECK-NEXT: pd.set @"t@SNAPSHOT", [[KNOWN]]
// CHECK: [[Z:%[0-9]+]] = dist.pull @pserver::@t on @rounds {dist.known = @"t@SNAPSHOT"} : tensor<10x4xf32>
// CHECK-NEXT: [[OTHERS:%[0-9]+]] = pd.elementwise_sub X([[Z]]) Y([[KNOWN]])
// CHECK: pd.set @"t@SNAPSHOT", [[Z]]
// CHECK-LABEL: dist.role @pserver
// CHECK: dist.merged @t : tensor<?x4xf32>

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
