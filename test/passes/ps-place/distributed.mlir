// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3" | FileCheck %s --check-prefix=PLACE
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3" --ps-split="axes=dp servers=3" --ps-startup="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3" --ps-split="axes=dp servers=3" --ps-startup="axes=dp" --export-servers="role=server rank=1 endpoints=h0:1,h1:2,h2:3" 2>/dev/null | FileCheck %s --check-prefix=EXPORT

// A distributed table: row i on server i mod 3, its state alike, whatever min_block_size says.
// PLACE: pd.var @t : tensor<10x4xf32> {dist.rel = #dist.rel<"t">, parameter, server_layout = #dist.layout<cyclic(10)>}

// CHECK-LABEL: dist.role @pserver
// CHECK: pd.var @t : tensor<?x4xf32> {dist.rel = #dist.rel<"t", ps: S(0, cyclic(10))>, parameter}
// CHECK: pd.var @m : tensor<?x4xf32> {dist.rel = #dist.rel<"m", ps: S(0, cyclic(10))>}
// CHECK: dist.foreach_block @t
// CHECK: dist.merged @t : !pd.rows<tensor<?x4xf32>>
// CHECK: pd.adagrad
// CHECK: dist.slice {{.*}} dim 0 layout <cyclic(10)> over [ps]

// The framework's own kind of such tables knows sgd only: its servers get blocks.
// EXPORT: pd.var @t.block1 : tensor<4x4xf32>

pd.var @t : tensor<10x4xf32> {parameter}
pd.var @m : tensor<10x4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "m" tensor of float32 [10, 4] {persistable = true}
  pd.decl "lr" tensor of float32 [1] {persistable = true}
  %a = pd.input "a" : tensor<?x1xi64>
  %t = pd.get @t : tensor<10x4xf32>
  %m = pd.get @m : tensor<10x4xf32>
  %x = pd.lookup_table W(%t) Ids(%a) -> Out("x") {is_distributed = true, is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?x1xi64>) -> tensor<?x4xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gx = pd.mean_grad "Out@GRAD"(%s) X(%x) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %gt = pd.lookup_table_grad Ids(%a) "Out@GRAD"(%gx) W(%t) -> "W@GRAD"("t@GRAD") {is_distributed = true, is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["t", "t@GRAD"]} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %lr = pd.get @lr : tensor<1xf32>
  %n:2 = pd.adagrad Grad(%gt) LearningRate(%lr) Moment(%m) Param(%t) -> MomentOut("m") ParamOut("t") {epsilon = 1.0e-6 : f32, op_role = 2 : i32} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @m, %n#0 : tensor<10x4xf32>
  pd.set @t, %n#1 : tensor<10x4xf32>
}
pd.program @startup {
  pd.decl "t" tensor of float32 [10, 4] {persistable = true}
  pd.decl "m" tensor of float32 [10, 4] {persistable = true}
  pd.decl "lr" tensor of float32 [1] {persistable = true}
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
  %t = pd.fill_constant -> Out("t") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @t, %t : tensor<10x4xf32>
  %m = pd.fill_constant -> Out("m") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.0 : f32} : () -> tensor<10x4xf32>
  pd.set @m, %m : tensor<10x4xf32>
}
