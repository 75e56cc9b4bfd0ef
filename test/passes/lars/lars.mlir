// momentum becomes lars_momentum: in the form of the version that the program is of; exclusions by a
// part of the name.
// RUN: dtranspile-opt %s --split-input-file --lars | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --lars="lars_coeff=0.01 lars_weight_decay=0.25 lars_epsilon=1e-9 lars_exclude_from_weight_decay=fc_0" | FileCheck %s --check-prefix=OPTIONS
// RUN: dtranspile-opt %s --split-input-file --lars="lars_exclude_from_weight_decay=nowhere" 2>&1 | FileCheck %s --check-prefix=UNUSED

// CHECK: pd.program @main
// CHECK: %[[NEW:.*]]:2 = pd.lars_momentum Param(%[[W:.*]]) Grad(%[[G:.*]]) Velocity(%[[V:.*]]) LearningRate(%[[R:.*]]) -> ParamOut("fc_0.w") VelocityOut("v")
// CHECK-SAME: lars_coeff = 1.000000e-03 : f32, lars_weight_decay = 5.000000e-04 : f32, mu = 0.899999976 : f32
// CHECK-SAME: op_namescope = "/optimizer/", op_role = 2 : i32, op_role_var = ["fc_0.w", "fc_0.w@GRAD"]
// CHECK-NEXT: pd.set @fc_0.w, %[[NEW]]#0
// CHECK-NEXT: pd.set @v, %[[NEW]]#1
// CHECK-NOT: pd.momentum
// OPTIONS: pd.program @main
// OPTIONS: pd.momentum Grad
// OPTIONS: pd.program @main
// OPTIONS: pd.lars_momentum
// OPTIONS-SAME: epsilon = 9.99999971E-10 : f32, lars_coeff = 0.00999999977 : f32, lars_weight_decay = array<f32: 2.500000e-01>, mu = 0.899999976 : f32, multi_precision = false
// OPTIONS-SAME: rescale_grad = 5.000000e-01 : f32
// UNUSED: warning: lars_exclude_from_weight_decay: no parameter's name contains 'nowhere'

pd.var @fc_0.w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 1008005 : i64} {
  %w = pd.get @fc_0.w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("fc_0.w@GRAD") {op_role = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("fc_0.w") VelocityOut("v") {mu = 0.9 : f32, op_namescope = "/optimizer/", op_role = 2 : i32, op_role_var = ["fc_0.w", "fc_0.w@GRAD"], use_nesterov = false} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @fc_0.w, %u#0 : tensor<4xf32>
  pd.set @v, %u#1 : tensor<4xf32>
}

// -----

pd.var @fc_1.w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %w = pd.get @fc_1.w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("fc_1.w@GRAD") {op_role = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) MasterParam() Param(%w) Velocity(%v) -> ParamOut("fc_1.w") VelocityOut("v") {mu = 0.9 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.0 : f32, regularization_method = "", rescale_grad = 0.5 : f32, use_nesterov = false} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @fc_1.w, %u#0 : tensor<4xf32>
  pd.set @v, %u#1 : tensor<4xf32>
}
