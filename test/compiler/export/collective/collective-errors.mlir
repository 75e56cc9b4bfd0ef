// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-collective="rank=0 endpoints=h0:1,h1:2"
// RUN: not dtranspile-opt %s --split-input-file --export-collective="rank=5 endpoints=h0:1,h1:2" 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: export: there is no rank 5 of 2

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
  // expected-error @+1 {{export: a started all-reduce of booleans has no translation}}
  %p = dist.all_reduce or (%x) on @c : (tensor<2xi1>) -> !dist.pending<tensor<2xi1>>
  %r = dist.wait %p : (!dist.pending<tensor<2xi1>>) -> tensor<2xi1>
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : tensor<2x3x4xf32>
  // expected-error @+1 {{export: parts along a dim that is neither the first nor the last, flat parts and padded ones have no gather among the operators of the framework}}
  %r = dist.all_gather (%x) on @c dim 1 : (tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  // expected-error @+1 {{export: a gather that is started, or of parts of different extents, has no translation into operators of the framework}}
  %p = dist.all_gather (%x) on @c dim 0 : (tensor<4xf32>) -> !dist.pending<tensor<8xf32>>
  %r = dist.wait %p : (!dist.pending<tensor<8xf32>>) -> tensor<8xf32>
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
  // expected-error @+1 {{export: a reduce_scatter that is no level of a sum over a ring has no translation into operators of the framework}}
  %r = dist.reduce_scatter sum (%x) on @c dim flat : (tensor<4xf32>) -> tensor<2xf32>
}

// -----

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
pd.program @main {
  %x = pd.input "x" : tensor<2xi1>
  // expected-error @+1 {{export: the framework has no boolean reduction}}
  %r = dist.reduce or (%x) on @c to <dp = 0> : (tensor<2xi1>) -> !dist.at<tensor<2xi1>, dp = 0>
}

// -----

dist.mesh @w [dp = 2]
pd.program @main {
  %p = pd.input "p" : !dist.pending<tensor<4xf32>>
  // expected-error @+1 {{export: waits for nothing that was started}}
  %r = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
}
