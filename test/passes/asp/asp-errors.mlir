// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --asp

pd.var @linear_0.w_0 : tensor<4x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
// expected-error @below {{asp: masks are made of what start-up makes: the program needs a pd.program @startup}}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<4x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
}

// -----

pd.var @linear_0.w_0 : tensor<?x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<?x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{asp: weight 'linear_0.w_0' is no tensor of one to four known extents; name it in asp_excluded_layers}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<?x4xf32>, tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
}

// -----

pd.var @fc_0.w_0 : tensor<4x4xf16> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @fc_0.w_0 : tensor<4x4xf16>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{asp: weight 'fc_0.w_0' is neither float32 nor float64; name it in asp_excluded_layers}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} : (tensor<4x4xf16>, tensor<1xf32>, tensor<4x4xf16>) -> tensor<4x4xf16>
}

// -----

pd.var @linear_0.w_0 : tensor<4x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<4x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{asp: weight 'linear_0.w_0' has a master copy, which would have to be pruned too; leave asp out}}
  %u:2 = pd.sgd Grad(%w) LearningRate(%lr) MasterParam(%w) Param(%w) -> MasterParamOut("m") ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
}

// -----

pd.var @linear_0.w_0 : tensor<4x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @linear_0.w_0.asp_mask : tensor<4x4xf32> {parameter}
pd.program @startup {
}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<4x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{asp: weight 'linear_0.w_0' has a mask already; leave asp out}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
}

// -----

pd.var @w : tensor<4x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
// expected-warning @below {{asp: no weight of a layer fc, linear or conv2d is updated and pruned}}
pd.program @main {
  %w = pd.get @w : tensor<4x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  pd.set @w, %u : tensor<4x4xf32>
}
