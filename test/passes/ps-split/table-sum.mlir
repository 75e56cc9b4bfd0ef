// Gradients of a distributed table are summed over the trainers where that is asked for; those of another table are averaged all the same. The job says so, and is verified; without the word, or with another number, it is refuted.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{mode=pserver trainers=2 pservers=3 sum_distributed_tables=true})" > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: dtranspile verify %t.mlir --execute=off | FileCheck %s --check-prefix=VERIFIED
// RUN: sed 's/@pserver::@t merge sum/@pserver::@t merge mean/' %t.mlir > %t.mean.mlir
// RUN: not dtranspile verify %t.mean.mlir --execute=off | FileCheck %s --check-prefix=MEAN
// RUN: sed 's/@pserver::@u merge mean/@pserver::@u merge sum/' %t.mlir > %t.both.mlir
// RUN: not dtranspile verify %t.both.mlir --execute=off | FileCheck %s --check-prefix=BOTH
// RUN: sed 's/trainers: 2 times/trainers: 4 times/' %t.mlir > %t.four.mlir
// RUN: not dtranspile verify %t.four.mlir --execute=off | FileCheck %s --check-prefix=FOUR
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{mode=pserver trainers=1 pservers=3 sum_distributed_tables=true})" | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/is_distributed = true/is_distributed = false/' %s > %t.none.mlir
// RUN: not dtranspile-opt %t.none.mlir --pass-pipeline="builtin.module(collective{mode=pserver trainers=2 pservers=3 sum_distributed_tables=true})" 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: dist.contracts = [{{.*}}{sites = ["t"], statement = "gradients of the tables that are listed are summed over the trainers: 2 times those of the reference", tag = "table_sum"}
// CHECK-DAG: dist.push {{.*}} to @pserver::@t merge sum
// CHECK-DAG: dist.push {{.*}} to @pserver::@u merge mean

// VERIFIED: relations: verified
// VERIFIED: under contract `table_sum`
// VERIFIED: .mlir: verified

// MEAN: the contract "table_sum" lists "t", and nothing of that name deviates by it
// BOTH: u@GRAD{{.*}} enters the update as 2 times the gradient of the reference
// FOUR: t@GRAD{{.*}} enters the update as 2 times the gradient of the reference
// ALONE-NOT: table_sum
// NONE: ps-split: sum_distributed_tables: no lookup of this program is is_distributed

pd.var @t : tensor<10x4xf32> {parameter}
pd.var @m : tensor<10x4xf32>
pd.var @u : tensor<10x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "m" tensor of float32 [10, 4] {persistable = true}
  pd.decl "u" tensor of float32 [10, 4] {persistable = true}
  pd.decl "lr" tensor of float32 [1] {persistable = true}
  pd.decl "a" tensor of int64 [-1, 1]
  pd.decl "x" tensor of float32 [-1, 4]
  pd.decl "y" tensor of float32 [-1, 4]
  pd.decl "z" tensor of float32 [-1, 4]
  pd.decl "loss" tensor of float32 [1]
  pd.decl "loss@GRAD" tensor of float32 [1]
  pd.decl "z@GRAD" tensor of float32 [-1, 4]
  pd.decl "t@GRAD" rows of float32 [10, 4]
  pd.decl "u@GRAD" rows of float32 [10, 4]
  %a = pd.input "a" : tensor<?x1xi64>
  %t = pd.get @t : tensor<10x4xf32>
  %m = pd.get @m : tensor<10x4xf32>
  %x = pd.lookup_table W(%t) Ids(%a) -> Out("x") {is_distributed = true, is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
  %u = pd.get @u : tensor<10x4xf32>
  %y = pd.lookup_table W(%u) Ids(%a) -> Out("y") {is_distributed = false, is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
  %z = pd.elementwise_add X(%x) Y(%y) -> Out("z") {axis = -1 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%z) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gx = pd.mean_grad "Out@GRAD"(%s) X(%z) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %gt = pd.lookup_table_grad Ids(%a) "Out@GRAD"(%gx) W(%t) -> "W@GRAD"("t@GRAD") {is_distributed = true, is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["t", "t@GRAD"]} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %gu = pd.lookup_table_grad Ids(%a) "Out@GRAD"(%gx) W(%u) -> "W@GRAD"("u@GRAD") {is_distributed = false, is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["u", "u@GRAD"]} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %lr = pd.get @lr : tensor<1xf32>
  %n:2 = pd.adagrad Grad(%gt) LearningRate(%lr) Moment(%m) Param(%t) -> MomentOut("m") ParamOut("t") {epsilon = 1.0e-6 : f32, op_role = 2 : i32, op_role_var = ["t", "t@GRAD"]} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @m, %n#0 : tensor<10x4xf32>
  pd.set @t, %n#1 : tensor<10x4xf32>
  %u1 = pd.sgd Grad(%gu) LearningRate(%lr) Param(%u) -> ParamOut("u") {op_role = 2 : i32, op_role_var = ["u", "u@GRAD"]} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  pd.set @u, %u1 : tensor<10x4xf32>
}
pd.program @startup {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "m" tensor of float32 [10, 4] {persistable = true}
  pd.decl "u" tensor of float32 [10, 4] {persistable = true}
  pd.decl "lr" tensor of float32 [1] {persistable = true}
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
  %t = pd.fill_constant -> Out("t") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @t, %t : tensor<10x4xf32>
  %u = pd.fill_constant -> Out("u") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @u, %u : tensor<10x4xf32>
  %m = pd.fill_constant -> Out("m") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.0 : f32} : () -> tensor<10x4xf32>
  pd.set @m, %m : tensor<10x4xf32>
}
