// RUN: dtranspile-opt %s --form-job="axes=dp:2,pp:3,micro:2 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp schedule_mode=F-then-B" --broadcast-startup="axes=dp" | FileCheck %s

// A matrix that the first and the last of three stages read, and a clip by the norm of all gradients,
// on two replicas. Both stages hold the matrix; the terms of its gradient are added up where they
// arise, summed once over the two, then over the replicas; its square counts on the first one.
// CHECK: dist.comm @stages_0_2 on @world over [pp] subset <pp in {0, 2}> group
// CHECK-NEXT: dist.comm @stages on @world over [pp] group
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @w : tensor<2x2xf32> {dist.at = #dist.sel<pp in {0, 2}>, dist.rel = #dist.rel<"w", pp: R at pp in {0, 2}>, parameter}
// CHECK: pd.var @v : tensor<2x2xf32> {dist.at = #dist.sel<pp = 1>
// CHECK-LABEL: pd.program @main
// CHECK: dist.micro over [micro] schedule("F-then-B", chunks 1)
// CHECK: dist.on <pp = 0> task F
// CHECK: dist.transfer
// CHECK: dist.on <pp = 1>
// CHECK: dist.transfer
// CHECK: dist.on <pp = 2>
// CHECK-SAME: task F
// CHECK: dist.on <pp = 2>
// CHECK-SAME: task B
// CHECK: pd.sum X({{.*}}) -> Out("w@GRAD@A")
// CHECK: dist.on <pp = 0>
// CHECK-SAME: task B
// CHECK: pd.sum X({{.*}}) -> Out("w@GRAD@B")
// The fan-in stands behind the loop.
// CHECK: dist.on <pp in {0, 2}> -> (!dist.at<tensor<2x2xf32>, pp in {0, 2}>)
// CHECK: %[[A:.*]] = dist.on <pp = 0> with
// CHECK: else
// CHECK: pd.fill_constant
// CHECK: %[[B:.*]] = dist.on <pp = 2> with
// CHECK: %[[S:.*]] = pd.sum X({{.*}}) -> Out("w@GRAD") {{.*}}dist.src
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum(%[[S]]) on @stages_0_2
// CHECK-NEXT: dist.yield %[[T]]
// CHECK: dist.all_reduce sum({{.*}}) on @grad0
// CHECK: pd.squared_l2_norm
// CHECK: dist.on <pp = 0> with
// CHECK: dist.on <pp = 1> with
// CHECK: %[[N:.*]] = pd.sum X({{.*}}) -> Out("norm")
// CHECK-NEXT: dist.all_reduce sum(%[[N]]) on @stages :
// CHECK: pd.sqrt
// Both make the same update.
// CHECK: dist.on <pp in {0, 2}>
// CHECK: pd.set @w
// CHECK: dist.on <pp = 1>
// CHECK: pd.set @v
// CHECK-LABEL: pd.program @startup
// What is drawn is one stage's draw, and one replica's.
// CHECK: dist.on <pp in {0, 2}>
// CHECK: dist.broadcast({{.*}}) on @stages_0_2 from <pp = 0>
// CHECK: dist.on <pp in {0, 2}>
// CHECK: dist.broadcast({{.*}}) on @grad0 from <dp = 0>
pd.var @w : tensor<2x2xf32> {parameter}
pd.var @v : tensor<2x2xf32> {parameter}
pd.var @rate : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2x2xf32>
  %v = pd.get @v : tensor<2x2xf32>
  %h = pd.mul X(%x) Y(%w) -> Out("h") {op_device = "gpu:0", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %k = pd.mul X(%h) Y(%v) -> Out("k") {op_device = "gpu:1", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %y = pd.mul X(%k) Y(%w) -> Out("y") {op_device = "gpu:2", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_device = "gpu:2", op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<1xf32>
  %seed = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%seed) X(%y) -> "X@GRAD"("y@GRAD") {op_device = "gpu:2", op_role = 1 : i32} : (tensor<1xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %g2:2 = pd.mul_grad "Out@GRAD"(%gy) X(%k) Y(%w) -> "X@GRAD"("k@GRAD") "Y@GRAD"("w@GRAD@A") {op_device = "gpu:2", op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2x2xf32>) -> (tensor<?x2xf32>, tensor<2x2xf32>)
  %g1:2 = pd.mul_grad "Out@GRAD"(%g2#0) X(%h) Y(%v) -> "X@GRAD"("h@GRAD") "Y@GRAD"("v@GRAD") {op_device = "gpu:1", op_role = 1 : i32, op_role_var = ["v", "v@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2x2xf32>) -> (tensor<?x2xf32>, tensor<2x2xf32>)
  %g0 = pd.mul_grad "Out@GRAD"(%g1#0) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD@B") {op_device = "gpu:0", op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %gw = pd.sum X(%g2#1, %g0) -> Out("w@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %nw = pd.squared_l2_norm X(%gw) -> Out("nw") {op_role = 2 : i32} : (tensor<2x2xf32>) -> tensor<1xf32>
  %nv = pd.squared_l2_norm X(%g1#1) -> Out("nv") {op_role = 2 : i32} : (tensor<2x2xf32>) -> tensor<1xf32>
  %n = pd.sum X(%nw, %nv) -> Out("norm") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %r = pd.sqrt X(%n) -> Out("root") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %cw = pd.elementwise_div X(%gw) Y(%r) -> Out("w@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<2x2xf32>, tensor<1xf32>) -> tensor<2x2xf32>
  %cv = pd.elementwise_div X(%g1#1) Y(%r) -> Out("v@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<2x2xf32>, tensor<1xf32>) -> tensor<2x2xf32>
  %rate = pd.get @rate : tensor<1xf32>
  %u0 = pd.sgd Grad(%cw) LearningRate(%rate) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<2x2xf32>, tensor<1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  pd.set @w, %u0 : tensor<2x2xf32>
  %u1 = pd.sgd Grad(%cv) LearningRate(%rate) Param(%v) -> ParamOut("v") {op_role = 2 : i32} : (tensor<2x2xf32>, tensor<1xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  pd.set @v, %u1 : tensor<2x2xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 2>, dtype = 5 : i32} : () -> tensor<2x2xf32>
  pd.set @w, %0 : tensor<2x2xf32>
  %1 = pd.uniform_random -> Out("v") {shape = array<i64: 2, 2>, dtype = 5 : i32} : () -> tensor<2x2xf32>
  pd.set @v, %1 : tensor<2x2xf32>
  %2 = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @rate, %2 : tensor<1xf32>
}
