// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp batch_dims=x=9" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp batch_dims=x=a" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp batch_dims=q=0" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp batch_dims=x=none" 2>&1 | FileCheck %s --check-prefix=NOBATCH
// Axes are the mesh's, and named.
// RUN: not dtranspile-opt %s --form-job="axes=pp:2,dp:2 comm-axes=dp" --cut-batch="axes=dp,mp" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not dtranspile-opt %s --form-job="axes=pp:2,dp:2 comm-axes=dp" --cut-batch 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dtranspile-opt %s --cut-batch="axes=dp" 2>&1 | FileCheck %s --check-prefix=NOJOB

// DIM: error: cut-batch: batch_dims: 'x' has 2 dims, no dim 9
// FORM: error: cut-batch: batch_dims: 'x=a' is neither NAME=dim nor NAME=none
// NAME: error: cut-batch: batch_dims names 'q', which is no feed of the program
// NOBATCH: warning: no feed has a batch dim
// AXIS: error: axes: the mesh has no axis 'mp'; it has [pp, dp]
// NONE: error: give the pass the axes that it works on, axes=NAME,…; the mesh has [pp, dp]
// NOJOB: error: is no job: it has no dist.role; run form-job first

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
}
