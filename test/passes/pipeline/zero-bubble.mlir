// RUN: dtranspile-opt %s --form-job="axes=dp:1,pp:stages,micro:4 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp schedule_mode=ZB-H1" | FileCheck %s

// The gradients of a product stand in both tasks: that of the activation, which stage 0 waits for, is
// read of the one in B, that of the weight of the one in W, which also adds it up.
// CHECK: dist.micro over [micro] schedule("ZB-H1", chunks 1)
// CHECK: dist.on <pp = 1>
// CHECK-SAME: task F
// CHECK: %[[B1:.*]]:2 = dist.on <pp = 1>
// CHECK-SAME: task B
// CHECK: %[[GY:.*]] = pd.mean_grad
// CHECK: %[[GH:.*]]:2 = pd.mul_grad "Out@GRAD"(%[[GY]]) {{.*}} -> "X@GRAD"("h@GRAD") "Y@GRAD"("w1@GRAD") {
// CHECK-NOT: pd.sum
// CHECK: dist.transfer %[[B1]]#{{[01]}} on @backward
// What stage 0 is sent only its W reads; it comes in with B all the same, in the order of the channel.
// CHECK: dist.on <pp = 0> with (%{{.*}}) task B {
// CHECK-NEXT: dist.yield
// CHECK: dist.on <pp = 1>
// CHECK-SAME: task W
// CHECK: %[[GW:.*]]:2 = pd.mul_grad {{.*}} -> "X@GRAD"("h@GRAD") "Y@GRAD"("w1@GRAD") {
// CHECK: pd.sum X({{.*}}%[[GW]]#1) -> Out("w1@GRAD")
// CHECK: dist.on <pp = 0>
// CHECK-SAME: task W
// CHECK: pd.mul_grad {{.*}} -> "X@GRAD"() "Y@GRAD"("w0@GRAD") {
// CHECK: pd.sum X({{.*}}) -> Out("w0@GRAD")
pd.var @w0 : tensor<2x3xf32> {parameter}
pd.var @w1 : tensor<3x1xf32> {parameter}
pd.var @rate : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w0 = pd.get @w0 : tensor<2x3xf32>
  %w1 = pd.get @w1 : tensor<3x1xf32>
  %h = pd.mul X(%x) Y(%w0) -> Out("h") {op_device = "gpu:0", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %y = pd.mul X(%h) Y(%w1) -> Out("y") {op_device = "gpu:1", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %seed = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%seed) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %g1:2 = pd.mul_grad "Out@GRAD"(%gy) X(%h) Y(%w1) -> "X@GRAD"("h@GRAD") "Y@GRAD"("w1@GRAD") {op_device = "gpu:1", op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x1xf32>, tensor<?x3xf32>, tensor<3x1xf32>) -> (tensor<?x3xf32>, tensor<3x1xf32>)
  %g0 = pd.mul_grad "Out@GRAD"(%g1#0) X(%x) Y(%w0) -> "X@GRAD"() "Y@GRAD"("w0@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w0", "w0@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %rate = pd.get @rate : tensor<1xf32>
  %u0 = pd.sgd Grad(%g0) LearningRate(%rate) Param(%w0) -> ParamOut("w0") {op_role = 2 : i32, op_role_var = ["w0", "w0@GRAD"]} : (tensor<2x3xf32>, tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pd.set @w0, %u0 : tensor<2x3xf32>
  %u1 = pd.sgd Grad(%g1#1) LearningRate(%rate) Param(%w1) -> ParamOut("w1") {op_role = 2 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<3x1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  pd.set @w1, %u1 : tensor<3x1xf32>
}
pd.program @startup {
  %0 = pd.fill_constant -> Out("w0") {dtype = 5 : i32, shape = array<i64: 2, 3>, value = 1.000000e+00 : f32} : () -> tensor<2x3xf32>
  pd.set @w0, %0 : tensor<2x3xf32>
  %1 = pd.fill_constant -> Out("w1") {dtype = 5 : i32, shape = array<i64: 3, 1>, value = 1.000000e+00 : f32} : () -> tensor<3x1xf32>
  pd.set @w1, %1 : tensor<3x1xf32>
  %2 = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @rate, %2 : tensor<1xf32>
}
