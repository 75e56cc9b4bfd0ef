// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --declare-relations="axes=dp"

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{updates 'w' with a value that differs between the ranks of [dp]: a gradient reaches the optimizer without being reduced over these axes}}
  %w1 = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
}
