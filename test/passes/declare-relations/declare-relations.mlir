// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --declare-relations="axes=dp" | FileCheck %s

// Running statistics differ between ranks, a counter does not, an accumulator of a metric does. Dropout on data draws on every rank, noise on a
// parameter is the same everywhere.
// CHECK: dist.contracts = [
// CHECK-SAME: sites = ["mean", "variance"], statement = "running statistics are those of a rank's own part of each batch; rank 0's are saved", tag = "batch_statistics"
// CHECK-SAME: sites = ["metric"], {{.*}}, tag = "local_state"
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @mean : tensor<3xf32> {dist.rel = #dist.rel<"mean", dp: X(batch_statistics)>}
// CHECK: pd.var @variance : tensor<3xf32> {dist.rel = #dist.rel<"variance", dp: X(batch_statistics)>}
// CHECK: pd.var @counter : tensor<1xf32> {dist.rel = #dist.rel<"counter">}
// CHECK: pd.var @metric : tensor<1xf32> {dist.rel = #dist.rel<"metric", dp: X(local_state)>}
// CHECK: pd.dropout {{.*}} with {dist.src = {{[0-9]+}} : i64, dist.streams = ["dp"]}
// CHECK: pd.gaussian_random {{.*}} with {dist.src = {{[0-9]+}} : i64, dist.streams = []}
pd.var @scale : tensor<3xf32> {parameter}
pd.var @mean : tensor<3xf32>
pd.var @variance : tensor<3xf32>
pd.var @counter : tensor<1xf32>
pd.var @metric : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %s = pd.get @scale : tensor<3xf32>
  %m = pd.get @mean : tensor<3xf32>
  %v = pd.get @variance : tensor<3xf32>
  %y:5 = pd.batch_norm X(%x) Scale(%s) Bias(%s) Mean(%m) Variance(%v) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  pd.set @mean, %y#1 : tensor<3xf32>
  pd.set @variance, %y#2 : tensor<3xf32>
  %c = pd.get @counter : tensor<1xf32>
  %c1 = pd.increment X(%c) -> Out("counter") : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @counter, %c1 : tensor<1xf32>
  %d:2 = pd.dropout X(%y#0) -> Out("d") Mask("mask") : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xui8>)
  %n = pd.gaussian_random -> Out("noise") {shape = array<i64: 3>, dtype = 5 : i32} : () -> tensor<3xf32>
  %l = pd.mean X(%d#0) -> Out("l") : (tensor<?x3xf32>) -> tensor<1xf32>
  %a = pd.get @metric : tensor<1xf32>
  %a1 = pd.elementwise_add X(%a) Y(%l) -> Out("metric") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @metric, %a1 : tensor<1xf32>
}
