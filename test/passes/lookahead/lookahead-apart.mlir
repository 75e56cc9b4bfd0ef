// Branches of each parameter by itself, which read one counter: for ranks that have some of the
// parameters each.
// RUN: dtranspile-opt %s --lookahead="apart=true" | FileCheck %s

// CHECK: pd.program @main
// CHECK-COUNT-1: pd.increment
// CHECK: %[[FIRST:.*]] = pd.equal
// CHECK: %[[DUE:.*]] = pd.equal
// CHECK: pd.conditional_block {{.*}}Cond(%[[FIRST]])
// CHECK: pd.set @"w@SLOW"
// CHECK-NEXT: pd.yield
// CHECK: pd.conditional_block {{.*}}Cond(%[[DUE]])
// CHECK: pd.set @"w@SLOW"
// CHECK-NEXT: pd.set @w,
// CHECK-NEXT: pd.yield
// CHECK: pd.conditional_block {{.*}}Cond(%[[FIRST]])
// CHECK: pd.set @"v@SLOW"
// CHECK-NEXT: pd.yield
// CHECK: pd.conditional_block {{.*}}Cond(%[[DUE]])
// CHECK: pd.set @"v@SLOW"
// CHECK-NEXT: pd.set @v,
// CHECK-NEXT: pd.yield
// CHECK-NOT: pd.conditional_block

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %1 = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %1 : tensor<4xf32>
  %2 = pd.sgd Grad(%v) LearningRate(%lr) Param(%v) -> ParamOut("v") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @v, %2 : tensor<4xf32>
}
