// Masks of blocks of four by four, of a matrix whose extents are no multiples of four and of a
// filter in float64: a product with the table of all patterns, and the pattern of the largest one.
// By size elements count 2^rank.
// RUN: dtranspile-opt %s --asp="asp_mask_algo=mask_2d_best" | FileCheck %s
// RUN: dtranspile-opt %s --asp="asp_mask_algo=mask_2d_greedy" | FileCheck %s --check-prefix=SIZE

// CHECK: dist.changes = [{asp_excluded_layers = [], asp_mask_algo = ["mask_2d_best"], pass = "asp"}]
// CHECK: pd.program @startup
// CHECK: %[[W:.*]] = pd.get @linear_0.w_0 : tensor<6x3xf32>
// The first pattern keeps the later elements of the first rows.
// CHECK: %[[TABLE:.*]] = pd.assign_value -> Out("asp_patterns") {dtype = 5 : i32, fp32_values = array<f32: 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, {{.*}}shape = array<i32: 90, 16>
// CHECK: %[[WIDE:.*]] = pd.cast X(%[[TABLE]]) {{.*}} -> tensor<90x16xf64>
// CHECK: %[[T:.*]]:2 = pd.transpose2 X(%[[W]]) {{.*}}axis = array<i32: 1, 0>{{.*}} -> (tensor<3x6xf32>
// CHECK: %[[F:.*]] = pd.pad X(%[[T]]#0) {{.*}}paddings = array<i32: 0, 1, 0, 2>
// CHECK: %[[Q:.*]]:2 = pd.reshape2 X(%[[F]]) {{.*}}shape = array<i32: 1, 4, 2, 4>
// CHECK: %[[B:.*]]:2 = pd.transpose2 X(%[[Q]]#0) {{.*}}axis = array<i32: 0, 2, 1, 3>
// CHECK: %[[E:.*]]:2 = pd.reshape2 X(%[[B]]#0) {{.*}}shape = array<i32: 2, 16>
// CHECK: %[[D:.*]] = pd.cast X(%[[E]]#0) {{.*}} -> tensor<2x16xf64>
// CHECK: %[[S:.*]] = pd.matmul X(%[[D]]) Y(%[[WIDE]]) {{.*}}transpose_X = false, transpose_Y = true{{.*}} -> tensor<2x90xf64>
// CHECK: %[[P:.*]] = pd.arg_max X(%[[S]]) {{.*}} -> tensor<2xi64>
// CHECK: %[[K:.*]] = pd.gather X(%[[WIDE]]) Index(%[[P]])
// CHECK: %[[N:.*]] = pd.cast X(%[[K]]) {{.*}} -> tensor<2x16xf32>
// CHECK: %[[BB:.*]]:2 = pd.reshape2 X(%[[N]]) {{.*}}shape = array<i32: 1, 2, 4, 4>
// CHECK: %[[BQ:.*]]:2 = pd.transpose2 X(%[[BB]]#0) {{.*}}axis = array<i32: 0, 2, 1, 3>
// CHECK: %[[BP:.*]]:2 = pd.reshape2 X(%[[BQ]]#0) {{.*}}shape = array<i32: 4, 8>
// CHECK: %[[C:.*]] = pd.slice Input(%[[BP]]#0) {{.*}}axes = array<i32: 0, 1>{{.*}}ends = array<i32: 3, 6>{{.*}}starts = array<i32: 0, 0>
// CHECK: %[[M:.*]]:2 = pd.transpose2 X(%[[C]]) -> Out("linear_0.w_0.asp_mask") {{.*}}axis = array<i32: 1, 0>
// CHECK: pd.set @linear_0.w_0.asp_mask, %[[M]]#0
// CHECK: %[[V:.*]] = pd.get @conv2d_0.w_0
// CHECK-NOT: pd.assign_value
// CHECK: %[[VT:.*]]:2 = pd.transpose2 X(%[[V]]) {{.*}}axis = array<i32: 3, 2, 0, 1>{{.*}} -> (tensor<2x1x4x8xf64>
// CHECK: pd.reshape2 X(%[[VT]]#0) {{.*}}shape = array<i32: 8, 8>
// CHECK-NOT: pd.pad
// CHECK-NOT: pd.cast
// CHECK: pd.transpose2 {{.*}} -> Out("conv2d_0.w_0.asp_mask") {{.*}}axis = array<i32: 2, 3, 1, 0>
// CHECK: pd.program @main

// SIZE: dist.changes = [{asp_excluded_layers = [], asp_mask_algo = ["mask_2d_greedy"], pass = "asp"}]
// SIZE: %[[TABLE:.*]] = pd.assign_value -> Out("asp_patterns") {{.*}}shape = array<i32: 186, 16>
// SIZE: %[[POWERS:.*]] = pd.assign_value -> Out("asp_powers") {{.*}}fp32_values = array<f32: 1.000000e+00, 2.000000e+00, 4.000000e+00, {{.*}}3.276800e+04>
// SIZE: %[[A:.*]] = pd.abs
// SIZE: %[[O:.*]]:2 = pd.argsort X(%[[A]]) {{.*}}axis = -1 : i32, descending = false
// SIZE: %[[R:.*]]:2 = pd.argsort X(%[[O]]#1)
// SIZE: %[[L:.*]]:2 = pd.reshape2 X(%[[R]]#1) {{.*}}shape = array<i32: 32>
// SIZE: %[[G:.*]] = pd.gather X(%[[POWERS]]) Index(%[[L]]#0)
// SIZE: %[[H:.*]]:2 = pd.reshape2 X(%[[G]]) {{.*}}shape = array<i32: 2, 16>
// SIZE: %[[S:.*]] = pd.matmul X(%[[H]]#0) Y(%[[TABLE]])
// SIZE: %[[P:.*]] = pd.arg_max X(%[[S]])
// SIZE: pd.gather X(%[[TABLE]]) Index(%[[P]])
// SIZE: pd.set @linear_0.w_0.asp_mask

pd.var @linear_0.w_0 : tensor<6x3xf32> {parameter}
pd.var @conv2d_0.w_0 : tensor<4x8x1x2xf64> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<6x3xf32>
  %c = pd.get @conv2d_0.w_0 : tensor<4x8x1x2xf64>
  %lr = pd.get @lr : tensor<1xf32>
  %1 = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<6x3xf32>, tensor<1xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
  pd.set @linear_0.w_0, %1 : tensor<6x3xf32>
  %2 = pd.sgd Grad(%c) LearningRate(%lr) Param(%c) -> ParamOut("conv2d_0.w_0") {op_role = 2 : i32} : (tensor<4x8x1x2xf64>, tensor<1xf32>, tensor<4x8x1x2xf64>) -> tensor<4x8x1x2xf64>
  pd.set @conv2d_0.w_0, %2 : tensor<4x8x1x2xf64>
}
