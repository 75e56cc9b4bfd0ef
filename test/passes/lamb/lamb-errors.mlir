// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --lamb

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{lamb: parameter 'w' is updated by sgd; lamb takes the place of adam}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %u : tensor<4xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @b : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %b = pd.get @b : tensor<1xf32>
  // expected-error @below {{lamb: parameter 'w': Beta1Tensor: lamb takes a number, no tensor}}
  %n:3 = pd.adam Beta1Pow(%b) Beta1Tensor(%b) Beta2Pow(%b) Grad(%w) LearningRate(%b) Moment1(%w) Moment2(%w) Param(%w) -> Moment1Out("m") Moment2Out("u") ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @b : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %b = pd.get @b : tensor<1xf32>
  // expected-error @below {{lamb: parameter 'w': use_global_beta_pow: lamb hands on the powers of its own parameter}}
  %n:3 = pd.adam Beta1Pow(%b) Beta2Pow(%b) Grad(%w) LearningRate(%b) Moment1(%w) Moment2(%w) Param(%w) -> Moment1Out("m") Moment2Out("u") ParamOut("w") {op_role = 2 : i32, use_global_beta_pow = true} : (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}
