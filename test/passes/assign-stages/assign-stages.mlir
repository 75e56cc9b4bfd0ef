// RUN: dtranspile-opt %s --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp by=cost" | FileCheck %s --check-prefix=COST

// The loss follows its operand, the gradient of the activation follows the gradient that it takes. A
// constant, and what is computed from feeds, has no stage.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.scale {{.*}} with {dist.src = 0 : i64}
// CHECK: pd.mul {{.*}} with {dist.src = 1 : i64, dist.stage = 0 : i64}
// CHECK: pd.tanh {{.*}}dist.stage = 0
// CHECK: pd.mul {{.*}}dist.stage = 1
// CHECK: pd.mean {{.*}}dist.stage = 1
// CHECK: pd.fill_constant {{.*}} with {dist.src = 5 : i64}
// CHECK: pd.mean_grad {{.*}}dist.stage = 1
// CHECK: pd.mul_grad {{.*}}dist.stage = 1
// CHECK: pd.mul_grad {{.*}}dist.stage = 0

// By cost the cut is where the least crosses it: one column instead of three.
// COST-LABEL: dist.role @trainer
// COST: pd.mul {{.*}} -> Out("a") {{.*}}dist.stage = 0
// COST: pd.mul {{.*}} -> Out("y") {{.*}}dist.stage = 0
// COST: pd.mean {{.*}}dist.stage = 1
// COST: pd.mean_grad {{.*}}dist.stage = 1
// COST: pd.mul_grad {{.*}}dist.stage = 0
pd.var @w0 : tensor<2x3xf32> {parameter}
pd.var @w1 : tensor<3x1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w0 = pd.get @w0 : tensor<2x3xf32>
  %w1 = pd.get @w1 : tensor<3x1xf32>
  %z = pd.scale X(%x) -> Out("z") {scale = 2.000000e+00 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %a = pd.mul X(%z) Y(%w0) -> Out("a") {op_device = "gpu:0", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %h = pd.tanh X(%a) -> Out("h") : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = pd.mul X(%h) Y(%w1) -> Out("y") {op_device = "gpu:1", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %seed = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%seed) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %g1:2 = pd.mul_grad "Out@GRAD"(%gy) X(%h) Y(%w1) -> "X@GRAD"("h@GRAD") "Y@GRAD"("w1@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x1xf32>, tensor<?x3xf32>, tensor<3x1xf32>) -> (tensor<?x3xf32>, tensor<3x1xf32>)
  %ga = pd.tanh_grad Out(%h) "Out@GRAD"(%g1#0) -> "X@GRAD"("a@GRAD") {op_role = 1 : i32} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %g0 = pd.mul_grad "Out@GRAD"(%ga) X(%z) Y(%w0) -> "X@GRAD"() "Y@GRAD"("w0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}
