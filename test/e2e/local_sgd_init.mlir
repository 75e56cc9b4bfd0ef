// loss = mean(w·x), so the gradient is mean(x) whatever w is, and the step of every rank can be written down. Start-up begins so far away that a
// step which began there would lose the parameter in rounding.
pd.var @w : tensor<1xf32> {parameter}
pd.var @rate : tensor<1xf32>
pd.program @main {
  pd.decl "w" tensor of float32 [1] {persistable = true}
  pd.decl "rate" tensor of float32 [1] {persistable = true}
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %rate = pd.get @rate : tensor<1xf32>
  %y = pd.elementwise_mul X(%x) Y(%w) -> Out("y") {axis = -1 : i32} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %l = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %dy = pd.mean_grad "Out@GRAD"(%s) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %dx, %dw = pd.elementwise_mul_grad "Out@GRAD"(%dy) X(%x) Y(%w) -> "X@GRAD"("x@GRAD") "Y@GRAD"("w@GRAD") {axis = -1 : i32, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
  %w1 = pd.sgd Grad(%dw) LearningRate(%rate) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
}
pd.program @startup {
  pd.decl "w" tensor of float32 [1] {persistable = true}
  pd.decl "rate" tensor of float32 [1] {persistable = true}
  %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0e8 : f32} : () -> tensor<1xf32>
  pd.set @w, %w : tensor<1xf32>
  %rate = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.5 : f32} : () -> tensor<1xf32>
  pd.set @rate, %rate : tensor<1xf32>
}
