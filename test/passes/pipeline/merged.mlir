// RUN: dtranspile-opt %s --gradient-merge="gradient_merge_k_steps=4" --form-job="axes=dp:2,pp:3,micro:2 comm-axes=dp,micro" --cut-batch="axes=dp,micro" --scale-loss="axes=dp,micro" --reduce-gradients="axes=dp,micro" --assign-stages="axes=pp" --pipeline="axes=pp schedule_mode=F-then-B" --broadcast-startup="axes=dp" | FileCheck %s

// Gradients merged over four steps, clipped by the norm of all of them, on three stages. Each step
// adds up its micro-batches; all stages take the branch of the fourth, and each does in it what is
// its own.
// CHECK-LABEL: dist.role @trainer
// What is added up lies with its parameter, a term on every replica, of the micro-batches the sum.
// CHECK: pd.var @"v@GRAD@GradientMerge" : tensor<2x2xf32> {dist.at = #dist.sel<pp = 1>, dist.rel = #dist.rel<"v@GRAD@GradientMerge", dp: P(sum), pp: R at pp = 1>}
// CHECK: pd.var @"w@GRAD@GradientMerge" : tensor<2x2xf32> {dist.at = #dist.sel<pp in {0, 2}>, dist.rel = #dist.rel<"w@GRAD@GradientMerge", dp: P(sum), pp: R at pp in {0, 2}>}
// CHECK: pd.var @gradient_merge_step : tensor<1xi64> {dist.rel = #dist.rel<"gradient_merge_step">}
// CHECK-LABEL: pd.program @main
// CHECK: %[[SUMS:.*]]:4 = dist.micro over [micro] schedule("F-then-B", chunks 1)
// CHECK-NOT: GradientMerge
// CHECK: dist.yield {{.*}} : !dist.at<tensor<2x2xf32>, pp = 1>, !dist.at<tensor<2x2xf32>, pp = 2>, !dist.at<tensor<2x2xf32>, pp = 0>, !dist.at<tensor<1xf32>, pp = 2>
// All stages count the steps.
// CHECK: %[[STEP:.*]] = pd.increment {{.*}} -> Out("gradient_merge_step")
// CHECK-NEXT: pd.set @gradient_merge_step, %[[STEP]]
// CHECK-NEXT: dist.on <pp = 1> with (%[[OWN:.*]] = %[[SUMS]]#0 :
// CHECK-NEXT: %[[OLD:.*]] = pd.get @"v@GRAD@GradientMerge"
// CHECK-NEXT: %[[NEW:.*]] = pd.sum X(%[[OLD]], %[[OWN]]) -> Out("v@GRAD@GradientMerge")
// CHECK-NEXT: pd.set @"v@GRAD@GradientMerge", %[[NEW]]
// CHECK: dist.all_reduce sum({{.*}}) on @stages_0_2
// CHECK: dist.on <pp in {0, 2}> with
// CHECK-NEXT: pd.get @"w@GRAD@GradientMerge"
// CHECK-NEXT: pd.sum
// CHECK-NEXT: pd.set @"w@GRAD@GradientMerge"
// CHECK: %[[DUE:.*]] = pd.equal
// CHECK: pd.conditional_block "$capture"() Cond(%[[DUE]])
// CHECK-NEXT: pd.decl "v@GRAD@MEAN"
// CHECK-NEXT: pd.decl "w@GRAD@MEAN"
// Replicas sum in the branch.
// CHECK-NEXT: dist.on <pp in {0, 2}>
// CHECK-NEXT: %[[W:.*]] = pd.get @"w@GRAD@GradientMerge"
// CHECK-NEXT: %[[ALL:.*]] = dist.all_reduce sum(%[[W]]) on @grad0
// CHECK-NEXT: pd.scale X(%[[ALL]]) -> Out("w@GRAD@MEAN") {{.*}}scale = 2.500000e-01
// CHECK-NEXT: %[[ZERO:.*]] = pd.fill_constant -> Out("w@GRAD@GradientMerge")
// CHECK-NEXT: pd.set @"w@GRAD@GradientMerge", %[[ZERO]]
// CHECK: dist.on <pp = 0> with
// CHECK-NEXT: pd.squared_l2_norm {{.*}} -> Out("nw")
// CHECK: dist.on <pp = 1>
// CHECK-NEXT: pd.get @"v@GRAD@GradientMerge"
// CHECK-NEXT: dist.all_reduce sum({{.*}}) on @grad0
// CHECK: pd.set @"v@GRAD@GradientMerge"
// So do stages, for the norm.
// CHECK: %[[N:.*]] = pd.sum X({{.*}}) -> Out("norm")
// CHECK-NEXT: dist.all_reduce sum(%[[N]]) on @stages :
// CHECK: dist.on <pp in {0, 2}> with
// CHECK: pd.set @w
// CHECK: dist.on <pp = 1> with
// CHECK: pd.set @v
// CHECK: pd.yield
// CHECK-NEXT: } with {dist.src
// CHECK-LABEL: pd.program @startup
// CHECK: pd.set @gradient_merge_step
// CHECK: dist.on <pp in {0, 2}>
// CHECK: pd.set @"w@GRAD@GradientMerge"
// CHECK: dist.on <pp = 1>
// CHECK: pd.set @"v@GRAD@GradientMerge"
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
