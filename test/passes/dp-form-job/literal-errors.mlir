// RUN: dtranspile-opt %s --verify-diagnostics --dp-form-job="ranks=2"
// RUN: dtranspile-opt %s --dp-form-job="ranks=1" -o /dev/null

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %ok = pd.reshape X(%x) -> Out("ok") {shape = array<i32: -1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  // expected-error @+1 {{its shape fixes the extent of the batch: 'tensor<?x3xf32>' becomes 'tensor<24xf32>'}}
  %y = pd.reshape X(%x) -> Out("y") {shape = array<i32: 24>} : (tensor<?x3xf32>) -> tensor<24xf32>
}
