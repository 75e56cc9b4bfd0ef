// RUN: dtranspile-opt %s --verify-diagnostics --export-collective="rank=0 endpoints=h0:1,h1:2,h2:3,h3:4"

module attributes {dist.class = "trainer[dp=0..1]", dist.role = "trainer", dist.ranks = #dist.sel<dp in {0 to 1}>} {
  dist.mesh @w [dp = 4]
  dist.comm @c on @w over [dp] subset <dp in {0 to 1}> group
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    // expected-error @+1 {{export: operations with a root in a part of an axis have no translation yet}}
    %r = dist.broadcast (%x) on @c from <dp = 0> : (tensor<4xf32>) -> tensor<4xf32>
  }
}
