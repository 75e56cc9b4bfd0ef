// What an update may not be for servers to take it over (passes/support/update_part.h).
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2"

// An activation in the update.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.tanh X(%x) -> Out("h") : (tensor<4xf32>) -> tensor<4xf32>
  %g = pd.square_grad "Out@GRAD"(%h) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{takes 'h', which tanh of the trainers computes and is no gradient of a parameter (none that an op with role Backward lists in op_role_var): servers are sent gradients only}}
  %s = pd.elementwise_add X(%g) Y(%h) -> Out("s") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%s) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// One velocity for two parameters.
pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32> {parameter}
pd.var @speed : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %k = pd.square_grad "Out@GRAD"(%x) X(%v) -> "X@GRAD"("v@GRAD") {op_role = 1 : i32, op_role_var = ["v", "v@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
  %m = pd.sgd Grad(%k) LearningRate(%lr) Param(%v) -> ParamOut("v") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @v, %m : tensor<4xf32>
  %a = pd.scale X(%g) -> Out("speed") {bias = 0.0 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  pd.set @speed, %a : tensor<4xf32>
  // expected-error @+1 {{sets 'speed', state of 'w', to a value of 'v'}}
  %b = pd.scale X(%k) -> Out("speed") {bias = 0.0 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  pd.set @speed, %b : tensor<4xf32>
}
