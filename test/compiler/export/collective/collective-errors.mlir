// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-collective="rank=0 endpoints=h0:1,h1:2"

// expected-error @+1 {{export: the module has no mesh; specialise a job first}}
module {}

// -----

// expected-error @+1 {{export: 3 ranks need as many endpoints, not 2}}
module {
  dist.mesh @w [dp = 3]
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : !pd.rows<tensor<2x1xf32>>
  // expected-error @+1 {{export: the SelectedRows gradient 'x' is no sum of gradients of lookup_table alone}}
  %r = dist.all_reduce sum (%x) on @c : (!pd.rows<tensor<2x1xf32>>) -> !pd.rows<tensor<2x1xf32>>
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : tensor<2xi1>
  // expected-error @+1 {{export: the framework has no boolean all-reduce}}
  %r = dist.all_reduce or (%x) on @c : (tensor<2xi1>) -> tensor<2xi1>
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  // expected-error @+1 {{export: dist.barrier has no translation into operators of the framework}}
  dist.barrier on @c
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  // expected-error @+1 {{export: a reduce_scatter that is no level of a sum over a ring has no translation}}
  %r = dist.reduce_scatter sum (%x) on @c dim flat : (tensor<4xf32>) -> tensor<2xf32>
}
