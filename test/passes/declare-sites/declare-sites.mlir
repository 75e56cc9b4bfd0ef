// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --declare-relations="axes=dp" --declare-sites | FileCheck %s
// One rank holds the whole batch, and so does every rank where nothing is cut.
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" --declare-sites | FileCheck %s --check-prefix=NONE
// RUN: dtranspile-opt %s --form-job="axes=pp:2,dp:1 comm-axes=dp" --cut-batch="axes=dp" --declare-sites | FileCheck %s --check-prefix=NONE

// CHECK: {sites = ["#0 batch_norm"], statement = "these ops are evaluated on each rank's share of the batch{{.*}}tag = "parts"}
// NONE-NOT: "parts"
// NONE: dist.role
pd.var @scale : tensor<3xf32> {parameter}
pd.var @mean : tensor<3xf32>
pd.var @variance : tensor<3xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %s = pd.get @scale : tensor<3xf32>
  %m = pd.get @mean : tensor<3xf32>
  %v = pd.get @variance : tensor<3xf32>
  %y:5 = pd.batch_norm X(%x) Scale(%s) Bias(%s) Mean(%m) Variance(%v) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  pd.set @mean, %y#1 : tensor<3xf32>
  pd.set @variance, %y#2 : tensor<3xf32>
}
