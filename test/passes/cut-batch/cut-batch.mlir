// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=inter:2,intra:4 comm-axes=intra" --cut-batch="axes=inter,intra" | FileCheck %s --check-prefix=TWO
// RUN: dtranspile-opt %s --form-job="axes=pp:2,dp:2 comm-axes=dp" --cut-batch="axes=dp batch_dims=fixed=1,x=none" | FileCheck %s --check-prefix=DIMS

// CHECK: dist.role
// CHECK: pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<?x3xf32>
// CHECK: pd.input "words" {dist.batch = #dist.batch<0: dp>} : !pd.lod<tensor<?x1xi64>, 1>
// CHECK: pd.input "fixed" : tensor<2x4xf32>

// TWO: dist.role
// TWO: pd.input "x" {dist.batch = #dist.batch<0: inter, intra>}

// DIMS: dist.role
// DIMS: pd.input "x" : tensor<?x3xf32>
// DIMS: pd.input "words" {dist.batch = #dist.batch<0: dp>}
// DIMS: pd.input "fixed" {dist.batch = #dist.batch<1: dp>} : tensor<2x4xf32>

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %l = pd.input "words" : !pd.lod<tensor<?x1xi64>, 1>
  %f = pd.input "fixed" : tensor<2x4xf32>
}
