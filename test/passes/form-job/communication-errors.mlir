// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp"

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  // expected-error @+1 {{communicates already; form-job takes the program of a single device}}
  %y = pd.c_allreduce_sum X(%x) -> Out("y") {ring_id = 0 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
}
