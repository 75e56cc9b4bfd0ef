// RUN: dtranspile-opt %s --form-job="axes=dp:1,pp:stages,micro:4 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp" --declare-relations="axes=dp" --declare-sites | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:1,pp:stages,micro:1 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp" --declare-relations="axes=dp" --declare-sites | FileCheck %s --check-prefix=ONE
// RUN: dtranspile-opt %s --form-job="axes=dp:2,pp:stages,micro:2 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp" --declare-relations="axes=dp" --declare-sites | FileCheck %s --check-prefix=TWICE

// Running statistics go from micro-batch to micro-batch: they begin as the variable, each
// micro-batch's batch_norm takes them as the one before has left them, and the variable is set to
// what the last one gives. The gradient looks at their extents only.
// CHECK: sites = ["mean", "variance"]
// CHECK-SAME: statement = "running statistics move once per micro-batch
// CHECK-SAME: tag = "micro_statistics"
// CHECK-SAME: sites = ["#1 batch_norm"]
// CHECK-SAME: tag = "parts"
// CHECK: dist.role @trainer
// CHECK: pd.var @mean : tensor<3xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"mean", pp: R at pp = 0>}
// CHECK: pd.program @main
// CHECK: dist.on <pp = 0>
// CHECK-DAG: %[[MEAN:.*]] = pd.get @mean
// CHECK-DAG: %[[VARIANCE:.*]] = pd.get @variance
// CHECK: dist.yield
// CHECK-SAME: %[[MEAN]], %[[VARIANCE]]
// CHECK: dist.micro over [micro]
// CHECK: dist.on <pp = 0>
// CHECK-SAME: %[[M:[a-z0-9]*]] = %{{[a-z0-9]*}} : !dist.at<tensor<3xf32>, pp = 0>, %[[V:[a-z0-9]*]] = %{{[a-z0-9]*}} : !dist.at<tensor<3xf32>, pp = 0>)
// CHECK-SAME: task F
// CHECK-NOT: pd.get @mean
// CHECK: %[[N:.*]]:5 = pd.batch_norm {{.*}}Mean(%[[M]]){{.*}}Variance(%[[V]])
// CHECK-NOT: pd.sum
// CHECK: dist.yield %[[N]]#0,{{.*}}%[[N]]#1, %[[N]]#2
// CHECK: task F
// CHECK-NOT: pd.batch_norm {{.*}}
// CHECK: pd.batch_norm_grad
// CHECK: dist.on <pp = 0> with
// CHECK: pd.set @mean
// CHECK: pd.set @variance

// With one micro-batch they move once, as in the program.
// ONE-NOT: micro_statistics
// ONE: pd.batch_norm

// Replicas have statistics of their own, of their own micro-batches.
// TWICE-DAG: tag = "micro_statistics"
// TWICE-DAG: tag = "batch_statistics"
// TWICE: pd.var @mean : tensor<3xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"mean", pp: R at pp = 0, dp: X(batch_statistics)>}
pd.var @w0 : tensor<2x3xf32> {parameter}
pd.var @w1 : tensor<3x1xf32> {parameter}
pd.var @scale : tensor<3xf32> {parameter}
pd.var @bias : tensor<3xf32> {parameter}
pd.var @mean : tensor<3xf32>
pd.var @variance : tensor<3xf32>
pd.var @rate : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w0 = pd.get @w0 : tensor<2x3xf32>
  %w1 = pd.get @w1 : tensor<3x1xf32>
  %scale = pd.get @scale : tensor<3xf32>
  %bias = pd.get @bias : tensor<3xf32>
  %mean = pd.get @mean : tensor<3xf32>
  %variance = pd.get @variance : tensor<3xf32>
  %h = pd.mul X(%x) Y(%w0) -> Out("h") {op_device = "gpu:0", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %n:5 = pd.batch_norm Bias(%bias) Mean(%mean) Scale(%scale) Variance(%variance) X(%h) -> Y("n") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {op_device = "gpu:0"} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  pd.set @mean, %n#1 : tensor<3xf32>
  pd.set @variance, %n#2 : tensor<3xf32>
  %y = pd.mul X(%n#0) Y(%w1) -> Out("y") {op_device = "gpu:1", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %seed = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%seed) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %g1:2 = pd.mul_grad "Out@GRAD"(%gy) X(%n#0) Y(%w1) -> "X@GRAD"("n@GRAD") "Y@GRAD"("w1@GRAD") {op_device = "gpu:1", op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x1xf32>, tensor<?x3xf32>, tensor<3x1xf32>) -> (tensor<?x3xf32>, tensor<3x1xf32>)
  %gn:3 = pd.batch_norm_grad Bias(%bias) MeanOut(%n#1) SavedMean(%n#3) SavedVariance(%n#4) Scale(%scale) VarianceOut(%n#2) X(%h) "Y@GRAD"(%g1#0) -> "Bias@GRAD"("bias@GRAD") "Scale@GRAD"("scale@GRAD") "X@GRAD"("h@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["bias", "bias@GRAD", "scale", "scale@GRAD"]} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>)
  %g0 = pd.mul_grad "Out@GRAD"(%gn#2) X(%x) Y(%w0) -> "X@GRAD"() "Y@GRAD"("w0@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w0", "w0@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %rate = pd.get @rate : tensor<1xf32>
  %u0 = pd.sgd Grad(%g0) LearningRate(%rate) Param(%w0) -> ParamOut("w0") {op_role = 2 : i32, op_role_var = ["w0", "w0@GRAD"]} : (tensor<2x3xf32>, tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pd.set @w0, %u0 : tensor<2x3xf32>
  %u1 = pd.sgd Grad(%g1#1) LearningRate(%rate) Param(%w1) -> ParamOut("w1") {op_role = 2 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<3x1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  pd.set @w1, %u1 : tensor<3x1xf32>
}
