// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp"

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{updates parameter 'w', but no op with role Backward lists it in op_role_var: its gradient would not be reduced}}
  %w1 = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
}

// -----

pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  // expected-error @+1 {{op_role_var lists 1 names; it holds pairs of parameter and gradient}}
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w"]} : (tensor<?x1xf32>) -> tensor<1xf32>
}

// -----

pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  // expected-error @+1 {{lists gradient 'v@GRAD' in op_role_var and does not write it}}
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["v", "v@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
}
