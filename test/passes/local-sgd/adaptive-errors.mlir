// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp adaptive_localsgd=true"

pd.var @w : tensor<1xf32> {parameter}
// expected-error @below {{adaptive_localsgd: the program has no loss of one float32 element to follow}}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.var @b : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %rate = pd.input "rate" : tensor<1xf32>
  %w = pd.get @w : tensor<1xf32>
  %b = pd.get @b : tensor<1xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{adaptive_localsgd: follows one learning rate of one float32 element; this update has none, or another one}}
  %v = pd.sgd Grad(%g) LearningRate(%rate) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
  pd.set @b, %v : tensor<1xf32>
}
pd.program @startup {
}

// -----

// expected-error @below {{adaptive_localsgd: no parameter is updated}}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
}
pd.program @startup {
}
