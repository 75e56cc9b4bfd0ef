// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3 min_block_size=8" | FileCheck %s --check-prefix=CUT
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3" | FileCheck %s --check-prefix=WHOLE
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3 min_block_size=8 slice_var_up=false" | FileCheck %s --check-prefix=UNCUT
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=1000003 split_method=HashName" | FileCheck %s --check-prefix=HASH
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=3 min_block_size=8 print_log=true" 2>&1 | FileCheck %s --check-prefix=LOG

// Whole rows, at least 8 elements, no more blocks than servers; b is updated first. The next
// parameter begins where the last one has ended.
// CUT-LABEL: dist.role @trainer
// CUT: pd.var @w : tensor<10x4xf32> {{.*}}server_layout = #dist.layout<blocks(10, per 4, first 1)>
// CUT: pd.var @b : tensor<4xf32> {{.*}}server_layout = #dist.layout<blocks(4, per 4, first 0)>
// CUT: pd.var @v : tensor<10x4xf32> {dist.rel = #dist.rel<"v">}

// WHOLE-LABEL: dist.role @trainer
// WHOLE: pd.var @w {{.*}}blocks(10, per 10, first 1)
// WHOLE: pd.var @b {{.*}}blocks(4, per 4, first 0)

// In the order of a hash of the names.
// UNCUT-LABEL: dist.role @trainer
// UNCUT: pd.var @w {{.*}}blocks(10, per 10, first [[#W:]])
// UNCUT: pd.var @b {{.*}}blocks(4, per 4, first [[#1-W]])

// The same in every process, forever.
// HASH-LABEL: dist.role @trainer
// HASH: pd.var @w {{.*}}blocks(10, per 10, first 633968)
// HASH: pd.var @b {{.*}}blocks(4, per 4, first 432910)

// LOG: remark: 'b': in one piece on server 0
// LOG: remark: 'w': 3 blocks of at most 4 rows, from server 1 on

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
