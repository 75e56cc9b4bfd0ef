// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp"
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" -o /dev/null

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %ok = pd.reshape X(%x) -> Out("ok") {shape = array<i32: -1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  // expected-error @+1 {{its shape fixes the extent of the batch: 'tensor<?x3xf32>' becomes 'tensor<24xf32>'}}
  %y = pd.reshape X(%x) -> Out("y") {shape = array<i32: 24>} : (tensor<?x3xf32>) -> tensor<24xf32>
}
