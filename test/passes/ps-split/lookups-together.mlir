// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" | FileCheck %s

// Two tables, each with what becomes of its rows before the next is looked up: both lookups move up
// behind their ids, so that they are asked for together; the one whose ids are made of rows of
// another stays behind these. A cast of ids does not stand between: it moves up to the ids.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.program @main
// CHECK: pd.cast {{.*}} -> Out("c")
// CHECK: dist.lookup {{.*}} in @pserver::@t as "x"
// CHECK-NOT: pd.relu
// CHECK-NOT: pd.cast
// CHECK: dist.lookup {{.*}} in @pserver::@u as "y"
// CHECK: pd.relu {{.*}} -> Out("rx")
// CHECK: pd.relu {{.*}} -> Out("ry")
// CHECK: pd.arg_max
// CHECK: dist.lookup {{.*}} in @pserver::@t as "z"
// CHECK: pd.lookup_table_v2_grad

pd.var @t : tensor<10x4xf32> {parameter}
pd.var @u : tensor<10x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "u" tensor of float32 [10, 4] {persistable = true}
  %a = pd.input "a" : tensor<?xi64>
  %b = pd.input "b" : tensor<?xi32>
  %t = pd.get @t : tensor<10x4xf32>
  %x = pd.lookup_table_v2 W(%t) Ids(%a) -> Out("x") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %rx = pd.relu X(%x) -> Out("rx") : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %u = pd.get @u : tensor<10x4xf32>
  %c = pd.cast X(%b) -> Out("c") {in_dtype = 2 : i32, out_dtype = 3 : i32} : (tensor<?xi32>) -> tensor<?xi64>
  %y = pd.lookup_table_v2 W(%u) Ids(%c) -> Out("y") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %ry = pd.relu X(%y) -> Out("ry") : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %most = pd.arg_max X(%y) -> Out("most") {axis = 1 : i64, keepdims = false, flatten = false, dtype = 3 : i32} : (tensor<?x4xf32>) -> tensor<?xi64>
  %z = pd.lookup_table_v2 W(%t) Ids(%most) -> Out("z") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %n = pd.sum X(%rx, %ry, %z) -> Out("n") : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%n) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gn = pd.mean_grad "Out@GRAD"(%s) X(%n) -> "X@GRAD"("n@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %gx = pd.relu_grad Out(%rx) "Out@GRAD"(%gn) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %gy = pd.relu_grad Out(%ry) "Out@GRAD"(%gn) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %g0 = pd.lookup_table_v2_grad Ids(%a) "Out@GRAD"(%gx) W(%t) -> "W@GRAD"("t@GRAD@0") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %g1 = pd.lookup_table_v2_grad Ids(%most) "Out@GRAD"(%gn) W(%t) -> "W@GRAD"("t@GRAD@1") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %gt = pd.sum X(%g0, %g1) -> Out("t@GRAD") {op_role = 1 : i32, op_role_var = ["t", "t@GRAD"]} : (!pd.rows<tensor<10x4xf32>>, !pd.rows<tensor<10x4xf32>>) -> !pd.rows<tensor<10x4xf32>>
  %gu = pd.lookup_table_v2_grad Ids(%c) "Out@GRAD"(%gy) W(%u) -> "W@GRAD"("u@GRAD") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["u", "u@GRAD"]} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
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
