// What is not compensated for its delay.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2 serve=async enable_dc_asgd=true"

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{enable_dc_asgd: delays are compensated for sgd only; turn it off, or train with sgd}}
  %n:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @w, %n#0 : tensor<4xf32>
  pd.set @v, %n#1 : tensor<4xf32>
}

// -----

pd.var @t : tensor<10x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %b = pd.input "b" : tensor<?xi64>
  %t = pd.get @t : tensor<10x4xf32>
  %z = pd.lookup_table_v2 W(%t) Ids(%b) -> Out("z") {is_sparse = true, padding_idx = -1 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  %gt = pd.lookup_table_v2_grad Ids(%b) "Out@GRAD"(%z) W(%t) -> "W@GRAD"("t@GRAD") {is_sparse = true, padding_idx = -1 : i64, op_role = 1 : i32, op_role_var = ["t", "t@GRAD"]} : (tensor<?xi64>, tensor<?x4xf32>, tensor<10x4xf32>) -> !pd.rows<tensor<10x4xf32>>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @+1 {{enable_dc_asgd: the gradient of 't' is SelectedRows, of which no rows are compensated; turn it off, or look up with is_sparse=False}}
  %t1 = pd.sgd Grad(%gt) LearningRate(%lr) Param(%t) -> ParamOut("t") {op_role = 2 : i32} : (!pd.rows<tensor<10x4xf32>>, tensor<1xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  pd.set @t, %t1 : tensor<10x4xf32>
}
