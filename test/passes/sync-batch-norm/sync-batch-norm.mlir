// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp sync_batch_norm=true" --cut-batch="axes=dp" --sync-batch-norm="axes=dp" | FileCheck %s

// Statistics cross the ranks, in one all_reduce per direction; the gradients of scale and bias stay sums over the own part. In inference nothing changes.
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[F:.*]]:5 = dist.composite "sync_batch_norm" (X = %{{.*}} : tensor<?x3x2x2xf32>, Scale = {{.*}}, Bias = {{.*}}, Mean = {{.*}}, Variance = {{.*}}) -> (Y as "y" : tensor<?x3x2x2xf32>, MeanOut as "mean" : {{.*}}, VarianceOut as "variance" : {{.*}}, SavedMean as "sm" : {{.*}}, SavedVariance as "sv" : {{.*}}) attrs {epsilon = {{.*}}, momentum = {{.*}}} attributes {dist.src = 0 : i64}
// CHECK: ^bb0(%[[X:.*]]: tensor<?x3x2x2xf32>, %[[S:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>, %[[M:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<3xf32>):
// CHECK: %[[A:.*]] = pd.reduce_mean X(%[[X]]) {{.*}}dim = array<i32: 0, 2, 3>
// CHECK: %[[Q:.*]] = pd.square X(%[[X]])
// CHECK: %[[AQ:.*]] = pd.reduce_mean X(%[[Q]])
// CHECK: %[[R:.*]]:2 = dist.all_reduce sum(%{{.*}}, %{{.*}}) on @statistics : (tensor<3xf32>, tensor<3xf32>)
// CHECK: %[[MEAN:.*]] = pd.scale X(%[[R]]#0) {{.*}}scale = 2.500000e-01
// CHECK: %[[SQ:.*]] = pd.scale X(%[[R]]#1) {{.*}}scale = 2.500000e-01
// CHECK: %[[MM:.*]] = pd.square X(%[[MEAN]])
// CHECK: %[[VAR:.*]] = pd.elementwise_sub X(%[[SQ]]) Y(%[[MM]])
// CHECK: %[[EPS:.*]] = pd.scale X(%[[VAR]]) {{.*}}bias = 9.99999974E-6
// CHECK: %[[INV:.*]] = pd.rsqrt X(%[[EPS]])
// CHECK: %[[C:.*]] = pd.elementwise_sub X(%[[X]]) Y(%[[MEAN]]) {{.*}}axis = 1
// CHECK: %[[N:.*]] = pd.elementwise_mul X(%[[C]]) Y(%[[INV]]) {{.*}}axis = 1
// CHECK: %[[NS:.*]] = pd.elementwise_mul X(%[[N]]) Y(%[[S]]) {{.*}}axis = 1
// CHECK: %[[Y:.*]] = pd.elementwise_add X(%[[NS]]) Y(%[[B]]) {{.*}}axis = 1
// CHECK: pd.scale X(%[[M]]) {{.*}}scale = 0.899999976
// CHECK: pd.scale X(%[[MEAN]]) {{.*}}scale = 0.100000024
// CHECK: dist.yield %[[Y]], %{{.*}}, %{{.*}}, %[[MEAN]], %[[INV]]
// CHECK: dist.composite "sync_batch_norm_grad"
// CHECK: dist.all_reduce sum(%{{.*}}, %{{.*}}) on @statistics
// CHECK: pd.reduce_sum
// CHECK: pd.reduce_sum
// CHECK-NOT: dist.all_reduce
// CHECK: pd.batch_norm {{.*}}is_test = true
pd.var @p : tensor<3xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3x2x2xf32>
  %p = pd.get @p : tensor<3xf32>
  %y:5 = pd.batch_norm X(%x) Scale(%p) Bias(%p) Mean(%p) Variance(%p) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {epsilon = 1.0e-5 : f32, momentum = 0.9 : f32} : (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %g:3 = pd.batch_norm_grad X(%x) Scale(%p) Bias(%p) SavedMean(%y#3) SavedVariance(%y#4) "Y@GRAD"(%y#0) -> "X@GRAD"("x@GRAD") "Scale@GRAD"("s@GRAD") "Bias@GRAD"("b@GRAD") {epsilon = 1.0e-5 : f32, op_role = 1 : i32} : (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?x3x2x2xf32>) -> (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>)
  %t:5 = pd.batch_norm X(%x) Scale(%p) Bias(%p) Mean(%p) Variance(%p) -> Y("yt") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {is_test = true} : (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
}
