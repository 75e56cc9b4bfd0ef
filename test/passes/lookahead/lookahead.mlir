// Slow weights beside a parameter: counted where the update stands, two branches behind it. With
// k = 1 every step but the first moves.
// RUN: dtranspile-opt %s --lookahead | FileCheck %s
// RUN: dtranspile-opt %s --lookahead="lookahead_k=1 lookahead_alpha=0.75" | FileCheck %s --check-prefix=OPTIONS

// CHECK: dist.changes = [{lookahead_alpha = 5.000000e-01 : f64, lookahead_k = 5 : i64, pass = "lookahead"}]
// CHECK: pd.var @w : tensor<4xf32> {parameter}
// CHECK-NEXT: pd.var @"w@SLOW" : tensor<4xf32>
// CHECK: pd.program @startup
// CHECK: %[[W:.*]] = pd.get @w
// CHECK: %[[S:.*]] = pd.assign X(%[[W]]) -> Out("w@SLOW")
// CHECK: pd.set @"w@SLOW", %[[S]]
// CHECK: %[[Z:.*]] = pd.fill_constant -> Out("lookahead_step_0") {{.*}}value = 0.000000e+00
// CHECK: pd.set @lookahead_step_0, %[[Z]]
// CHECK: pd.program @main
// CHECK: pd.set @w
// CHECK: %[[BEFORE:.*]] = pd.get @lookahead_step_0
// CHECK: %[[N:.*]] = pd.increment X(%[[BEFORE]]) -> Out("lookahead_step_0") {op_role = 2 : i32, step = 1.000000e+00 : f32}
// CHECK: pd.set @lookahead_step_0, %[[N]]
// CHECK: %[[ONE:.*]] = pd.fill_constant {{.*}}value = 1.000000e+00
// CHECK: %[[FIRST:.*]] = pd.equal X(%[[N]]) Y(%[[ONE]])
// CHECK: %[[K:.*]] = pd.fill_constant {{.*}}value = 5.000000e+00
// CHECK: %[[REST:.*]] = pd.elementwise_mod X(%[[N]]) Y(%[[K]])
// CHECK: %[[DUE:.*]] = pd.equal X(%[[REST]])
// CHECK: pd.conditional_block {{.*}}Cond(%[[FIRST]])
// CHECK: %[[P:.*]] = pd.get @w
// CHECK: %[[C:.*]] = pd.assign X(%[[P]]) -> Out("w@SLOW")
// CHECK: pd.set @"w@SLOW", %[[C]]
// CHECK: pd.conditional_block {{.*}}Cond(%[[DUE]])
// CHECK: %[[P2:.*]] = pd.get @w
// CHECK: %[[A:.*]] = pd.scale X(%[[P2]]) {{.*}}scale = 5.000000e-01
// CHECK: %[[O:.*]] = pd.get @"w@SLOW"
// CHECK: %[[B:.*]] = pd.scale X(%[[O]]) {{.*}}scale = 5.000000e-01
// CHECK: %[[SUM:.*]] = pd.elementwise_add X(%[[A]]) Y(%[[B]]) -> Out("w")
// CHECK: pd.set @"w@SLOW", %[[SUM]]
// CHECK: pd.set @w, %[[SUM]]

// OPTIONS: %[[FIRST:.*]] = pd.equal
// OPTIONS-NOT: pd.elementwise_mod
// OPTIONS: %[[DUE:.*]] = pd.logical_not X(%[[FIRST]])
// OPTIONS: pd.conditional_block {{.*}}Cond(%[[FIRST]])
// OPTIONS: pd.conditional_block {{.*}}Cond(%[[DUE]])
// OPTIONS: pd.scale {{.*}}scale = 7.500000e-01
// OPTIONS: pd.scale {{.*}}scale = 2.500000e-01

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
  %a = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 4>, value = 1.0 : f32} : () -> tensor<4xf32>
  pd.set @w, %a : tensor<4xf32>
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %1 = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %1 : tensor<4xf32>
}
