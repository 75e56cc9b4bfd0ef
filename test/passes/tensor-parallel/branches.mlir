// The update of merged steps stands in a branch, which works on parts like the program around it:
// what is added up lies as its gradient does, and nothing is put together.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 tensor_parallel=true tensor_parallel_degree=2 gradient_merge=true gradient_merge_k_steps=2 fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s
// Mixed precision: a rank looks at its parts, the flags are joined, and the scale moves alike.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 tensor_parallel=true tensor_parallel_degree=2 amp=true fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s --check-prefix=AMP

// CHECK: dist.role @trainer
// CHECK: pd.var @w1 : tensor<8x8xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// CHECK: pd.var @"w2@GRAD@GradientMerge" : tensor<8x4xf32> {dist.rel = #dist.rel<"w2@GRAD@GradientMerge", dp: P(sum), mp: S(0)>}
// CHECK: pd.var @"w1@GRAD@GradientMerge" : tensor<8x8xf32> {dist.rel = #dist.rel<"w1@GRAD@GradientMerge", dp: P(sum), mp: S(1)>}
// CHECK: pd.program @main
// CHECK: pd.sum X({{.*}}) -> Out("w1@GRAD@GradientMerge") {{.*}} -> tensor<8x8xf32>
// CHECK: pd.conditional_block
// CHECK-NOT: dist.all_gather
// CHECK: %[[M:.*]] = pd.get @"w1@GRAD@GradientMerge" : tensor<8x8xf32>
// CHECK-NEXT: dist.all_reduce sum(%[[M]]) on @grad0 : (tensor<8x8xf32>)
// CHECK: pd.sgd {{.*}} -> tensor<8x8xf32>
// CHECK: %[[Z:.*]] = pd.fill_constant -> Out("w2@GRAD@GradientMerge") {{.*}} -> tensor<16x4xf32>
// CHECK-NEXT: %[[ZP:.*]] = dist.slice %[[Z]] dim 0 layout <even(16)> over [mp]
// CHECK-NEXT: pd.set @"w2@GRAD@GradientMerge", %[[ZP]] : tensor<8x4xf32>

// AMP: pd.var @w1 : tensor<8x8xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// AMP: pd.cast X({{.*}}) -> Out("w1.cast_fp16") {{.*}} (tensor<8x8xf32>) -> tensor<8x8xf16>
// AMP: %[[C:.*]]:3 = pd.check_finite_and_unscale X({{.*}}) {{.*}} -> (tensor<8x4xf32>, tensor<8x8xf32>, tensor<1xi1>)
// AMP: %[[ANY:.*]] = dist.all_reduce or(%[[C]]#2) on @mp : (tensor<1xi1>) -> tensor<1xi1>
// AMP: pd.update_loss_scaling X(%[[C]]#0, %[[C]]#1) FoundInfinite(%[[ANY]])
// AMP: %[[ALL:.*]] = pd.logical_not X(%[[ANY]])
// AMP: pd.conditional_block {{.*}}Cond(%[[ALL]])
// AMP: ^bb0(%{{.*}}: tensor<8x8xf32>, %{{.*}}: tensor<8x4xf32>):

pd.var @w1 : tensor<8x16xf32> {parameter}
pd.var @w2 : tensor<16x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x8xf32>
  %w1 = pd.get @w1 : tensor<8x16xf32>
  %w2 = pd.get @w2 : tensor<16x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.matmul_v2 X(%x) Y(%w1) -> Out("h") : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %r = pd.relu X(%h) -> Out("r") : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = pd.matmul_v2 X(%r) Y(%w2) -> Out("y") : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %dy = pd.mean_grad "Out@GRAD"(%one) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %m2:2 = pd.matmul_v2_grad "Out@GRAD"(%dy) X(%r) Y(%w2) -> "X@GRAD"("r@GRAD") "Y@GRAD"("w2@GRAD") {op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"]} : (tensor<?x4xf32>, tensor<?x16xf32>, tensor<16x4xf32>) -> (tensor<?x16xf32>, tensor<16x4xf32>)
  %dr = pd.relu_grad Out(%r) "Out@GRAD"(%m2#0) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %m1 = pd.matmul_v2_grad "Out@GRAD"(%dr) X(%x) Y(%w1) -> "X@GRAD"() "Y@GRAD"("w1@GRAD") {op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<?x16xf32>, tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %u1 = pd.sgd Grad(%m1) LearningRate(%lr) Param(%w1) -> ParamOut("w1") {op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  pd.set @w1, %u1 : tensor<8x16xf32>
  %u2 = pd.sgd Grad(%m2#1) LearningRate(%lr) Param(%w2) -> ParamOut("w2") {op_role = 2 : i32} : (tensor<16x4xf32>, tensor<1xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  pd.set @w2, %u2 : tensor<16x4xf32>
}
pd.program @startup {
  %w1 = pd.uniform_random -> Out("w1") {dtype = 5 : i32, shape = array<i64: 8, 16>} : () -> tensor<8x16xf32>
  pd.set @w1, %w1 : tensor<8x16xf32>
  %w2 = pd.uniform_random -> Out("w2") {dtype = 5 : i32, shape = array<i64: 16, 4>} : () -> tensor<16x4xf32>
  pd.set @w2, %w2 : tensor<16x4xf32>
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
}
