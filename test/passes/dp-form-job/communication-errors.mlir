// RUN: dtranspile-opt %s --verify-diagnostics --dp-form-job="ranks=2"

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  // expected-error @+1 {{communicates already; data-parallel passes take the program of a single device}}
  %y = pd.c_allreduce_sum X(%x) -> Out("y") {ring_id = 0 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
}
