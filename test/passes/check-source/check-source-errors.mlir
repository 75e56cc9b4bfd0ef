// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --check-source

// All of them at once.
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  // expected-error @+1 {{c_allreduce_sum: communicates already; give the single-device program}}
  %y = pd.c_allreduce_sum X(%x) -> Out("y") {ring_id = 0 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  // expected-error @+1 {{save: every rank would read or write the same file at every step}}
  pd.save X(%x) {file_path = "x"} : (tensor<?x3xf32>) -> ()
}

// -----

// Files are legal in start-up: it runs once.
pd.program @main {}
pd.program @startup {
  %w = pd.load -> Out("w") {file_path = "w"} : () -> tensor<3xf32>
}
