// Masks of two in four: at the end of start-up for a matrix whose extent is no multiple of four and
// for a filter, and behind every update. Weights of other layers, biases, short extents and
// excluded weights stay as they are.
// RUN: dtranspile-opt %s --asp 2>&1 | FileCheck %s
// RUN: dtranspile-opt %s --asp="asp_excluded_layers=conv2d,nowhere" 2>&1 | FileCheck %s --check-prefix=OPTIONS

// CHECK: warning: asp: weight 'fc_7.w_0' stays whole: its extent 0 is below 4
// CHECK: dist.changes = [{asp_excluded_layers = [], asp_mask_algo = ["mask_1d"], pass = "asp"}]
// CHECK: pd.var @linear_0.w_0.asp_mask : tensor<6x3xf32> {parameter}
// CHECK: pd.var @conv2d_0.w_0.asp_mask : tensor<2x8x1x1xf32> {parameter}
// CHECK-NOT: asp_mask : tensor<3x
// CHECK: pd.program @startup
// CHECK: pd.decl "linear_0.w_0.asp_mask" {{.*}}is_parameter = true, persistable = true, stop_gradient = true
// CHECK: pd.set @linear_0.w_0, %[[START:.*]] :
// CHECK: %[[W:.*]] = pd.get @linear_0.w_0 : tensor<6x3xf32>
// CHECK: %[[T:.*]]:2 = pd.transpose2 X(%[[W]]) {{.*}}axis = array<i32: 1, 0>{{.*}} -> (tensor<3x6xf32>
// CHECK: %[[F:.*]] = pd.pad X(%[[T]]#0) {{.*}}pad_value = 0.000000e+00 : f32, paddings = array<i32: 0, 0, 0, 2>
// CHECK: %[[G:.*]]:2 = pd.reshape2 X(%[[F]]) {{.*}}shape = array<i32: 6, 4>
// CHECK: %[[A:.*]] = pd.abs X(%[[G]]#0)
// CHECK: %[[O:.*]]:2 = pd.argsort X(%[[A]]) {{.*}}axis = -1 : i32, descending = false
// CHECK: %[[R:.*]]:2 = pd.argsort X(%[[O]]#1)
// CHECK: %[[TWO:.*]] = pd.fill_constant {{.*}}value = 2.000000e+00
// CHECK: %[[K:.*]] = pd.greater_equal X(%[[R]]#1) Y(%[[TWO]])
// CHECK: %[[N:.*]] = pd.cast X(%[[K]])
// CHECK: %[[L:.*]]:2 = pd.reshape2 X(%[[N]]) {{.*}}shape = array<i32: 3, 8>
// CHECK: %[[C:.*]] = pd.slice Input(%[[L]]#0) {{.*}}axes = array<i32: 1>{{.*}}ends = array<i32: 6>{{.*}}starts = array<i32: 0>
// CHECK: %[[M:.*]]:2 = pd.transpose2 X(%[[C]]) -> Out("linear_0.w_0.asp_mask") {{.*}}axis = array<i32: 1, 0>
// CHECK: pd.set @linear_0.w_0.asp_mask, %[[M]]#0
// CHECK: %[[P:.*]] = pd.elementwise_mul X(%[[W]]) Y(%[[M]]#0) -> Out("linear_0.w_0")
// CHECK: pd.set @linear_0.w_0, %[[P]]
// CHECK: pd.transpose2 X(%{{.*}}) {{.*}}axis = array<i32: 0, 2, 3, 1>
// CHECK-NOT: pd.pad
// CHECK: pd.transpose2 X(%{{.*}}) -> Out("conv2d_0.w_0.asp_mask") {{.*}}axis = array<i32: 0, 3, 1, 2>
// CHECK: pd.program @main
// CHECK: %[[U:.*]] = pd.sgd {{.*}} -> ParamOut("linear_0.w_0")
// CHECK: %[[BY:.*]] = pd.get @linear_0.w_0.asp_mask
// CHECK: %[[NEW:.*]] = pd.elementwise_mul X(%[[U]]) Y(%[[BY]]) -> Out("linear_0.w_0") {axis = -1 : i32, op_role = 2 : i32}
// CHECK: pd.set @linear_0.w_0, %[[NEW]]
// CHECK: %[[B:.*]] = pd.sgd {{.*}} -> ParamOut("linear_0.b_0")
// CHECK-NEXT: pd.set @linear_0.b_0, %[[B]]

// OPTIONS: warning: asp_excluded_layers: no parameter's name contains 'nowhere'
// OPTIONS: dist.changes = [{asp_excluded_layers = ["conv2d", "nowhere"], asp_mask_algo = ["mask_1d"], pass = "asp"}]
// OPTIONS-NOT: conv2d_0.w_0.asp_mask

pd.var @linear_0.w_0 : tensor<6x3xf32> {parameter}
pd.var @linear_0.b_0 : tensor<3xf32> {parameter}
pd.var @conv2d_0.w_0 : tensor<2x8x1x1xf32> {parameter}
pd.var @fc_7.w_0 : tensor<3x8xf32> {parameter}
pd.var @embedding_0.w_0 : tensor<8x8xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
  %a = pd.fill_constant -> Out("linear_0.w_0") {dtype = 5 : i32, shape = array<i64: 6, 3>, value = 1.0 : f32} : () -> tensor<6x3xf32>
  pd.set @linear_0.w_0, %a : tensor<6x3xf32>
}
pd.program @main {
  %w = pd.get @linear_0.w_0 : tensor<6x3xf32>
  %b = pd.get @linear_0.b_0 : tensor<3xf32>
  %c = pd.get @conv2d_0.w_0 : tensor<2x8x1x1xf32>
  %f = pd.get @fc_7.w_0 : tensor<3x8xf32>
  %e = pd.get @embedding_0.w_0 : tensor<8x8xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %1 = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("linear_0.w_0") {op_role = 2 : i32} : (tensor<6x3xf32>, tensor<1xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
  pd.set @linear_0.w_0, %1 : tensor<6x3xf32>
  %2 = pd.sgd Grad(%b) LearningRate(%lr) Param(%b) -> ParamOut("linear_0.b_0") {op_role = 2 : i32} : (tensor<3xf32>, tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  pd.set @linear_0.b_0, %2 : tensor<3xf32>
  %3 = pd.sgd Grad(%c) LearningRate(%lr) Param(%c) -> ParamOut("conv2d_0.w_0") {op_role = 2 : i32} : (tensor<2x8x1x1xf32>, tensor<1xf32>, tensor<2x8x1x1xf32>) -> tensor<2x8x1x1xf32>
  pd.set @conv2d_0.w_0, %3 : tensor<2x8x1x1xf32>
  %4 = pd.sgd Grad(%f) LearningRate(%lr) Param(%f) -> ParamOut("fc_7.w_0") {op_role = 2 : i32} : (tensor<3x8xf32>, tensor<1xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  pd.set @fc_7.w_0, %4 : tensor<3x8xf32>
  %5 = pd.sgd Grad(%e) LearningRate(%lr) Param(%e) -> ParamOut("embedding_0.w_0") {op_role = 2 : i32} : (tensor<8x8xf32>, tensor<1xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  pd.set @embedding_0.w_0, %5 : tensor<8x8xf32>
}
