// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp" --declare-relations="axes=dp"

// The op is no update that local-sgd knows: it has no slot Grad.
pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{local_sgd: sets parameter 'w', and nothing averages it after this op: the replicas would drift apart}}
  %w1 = pd.elementwise_sub X(%w) Y(%g) -> Out("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
}
pd.program @startup {}
