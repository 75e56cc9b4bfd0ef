// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --lars

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{lars: parameter 'w' is updated by sgd; lars takes the place of momentum}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %u : tensor<4xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{lars: parameter 'w': use_nesterov: lars_momentum has no such step}}
  %u:2 = pd.momentum Grad(%w) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32, use_nesterov = true} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{lars: parameter 'w': regularization_method: lars decays by lars_weight_decay}}
  %u:2 = pd.momentum Grad(%w) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32, regularization_coeff = 0.1 : f32, regularization_method = "l2_decay"} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

pd.var @w : tensor<4x2xf32> {parameter}
pd.var @v : tensor<4x2xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4x2xf32>
  %v = pd.get @v : tensor<4x2xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %ids = pd.input "ids" : tensor<?x1xi64>
  %d = pd.input "d" : tensor<?x2xf32>
  %g = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%d) W(%w) -> "W@GRAD"("w@GRAD") {is_sparse = true, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<4x2xf32>) -> !pd.rows<tensor<4x2xf32>>
  // expected-error @below {{lars: the gradient of parameter 'w' is no dense tensor; its norm is that of all rows}}
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (!pd.rows<tensor<4x2xf32>>, tensor<1xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
}

// -----

// expected-error @below {{lars: no parameter is updated; is this a training program?}}
pd.program @main {
}

// -----

// expected-error @below {{there is no pd.program @main; this pass goes before form-job}}
module {
}
