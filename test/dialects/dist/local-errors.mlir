// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

// Local ops and phases: what they may be given.
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D24: operand of type 'tensor<2xf32>' gives a result of that type, not 'tensor<3xf32>'}}
    %y = dist.copy %x to host : tensor<2xf32> -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{'disk' is not known here; known are host, device}}
    %y = dist.copy %x to disk : tensor<2xf32> -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{failed to verify that all of {input, output} have same type}}
    %y = "dist.assume"(%x) {relation = #dist.rel<"x">, because = "it is so"} : (tensor<2xf32>) -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D23}}
    dist.phase push on @c
  }
}
// -----
// Settings of a role.
dist.mesh @w [dp = 2]
// expected-error @+1 {{attribute 'dist.device' expects "cpu" or "cuda" on a dist.role, found "tpu"}}
dist.role @trainer on @w attributes {dist.device = "tpu"} {
}
// -----
dist.mesh @w [dp = 2]
// expected-error @+1 {{attribute 'dist.threads' expects a number of threads (i64, 1 to 1024) on a dist.role, found 0 : i64}}
dist.role @trainer on @w attributes {dist.threads = 0 : i64} {
}
