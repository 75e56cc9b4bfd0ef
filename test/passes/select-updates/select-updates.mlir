// Branches of updates become selections, whatever pass has made them.
// RUN: dtranspile-opt %s --lookahead="apart=true lookahead_k=3" --select-updates | FileCheck %s
// RUN: dtranspile-opt %s --lookahead="lookahead_k=3" --select-updates | FileCheck %s
// RUN: dtranspile-opt %s --select-updates | FileCheck %s --check-prefix=NONE

// CHECK: pd.program @main
// CHECK-DAG: pd.decl "w@NEXT"
// CHECK-DAG: pd.decl "w@SLOW@NEXT"
// CHECK-NOT: lookahead_first_scope
// CHECK: %[[SGD:.*]] = pd.sgd {{.*}} -> ParamOut("w")
// CHECK-NOT: pd.set @w
// CHECK: %[[FIRST:.*]] = pd.equal
// CHECK: %[[DUE:.*]] = pd.equal
// CHECK-NOT: pd.conditional_block
// CHECK: %[[ONE:.*]] = pd.cast X(%[[FIRST]]) -> Out("branch_taken{{.*}}") {in_dtype = 0 : i32, op_role = 2 : i32, out_dtype = 2 : i32} : (tensor<1xi1>) -> tensor<1xi32>
// CHECK: %[[COPY:.*]] = pd.assign X(%[[SGD]]) -> Out("w@SLOW@NEXT{{.*}}")
// CHECK: %[[OLD:.*]] = pd.get @"w@SLOW"
// CHECK: %[[SLOW:.*]] = pd.select_input X(%[[OLD]], %[[COPY]]) Mask(%[[ONE]]) -> Out("w@SLOW")
// CHECK-NOT: pd.set @"w@SLOW"
// One number per condition.
// CHECK: %[[K:.*]] = pd.cast X(%[[DUE]])
// CHECK: %[[SUM:.*]] = pd.elementwise_add {{.*}} -> Out("w@NEXT")
// CHECK: %[[S1:.*]] = pd.select_input X(%[[SLOW]], %[[SUM]]) Mask(%[[K]]) -> Out("w@SLOW")
// CHECK: pd.set @"w@SLOW", %[[S1]]
// CHECK: %[[W1:.*]] = pd.select_input X(%[[SGD]], %[[SUM]]) Mask(%[[K]]) -> Out("w")
// CHECK: pd.set @w, %[[W1]]
// CHECK-NOT: pd.conditional_block

// NONE-NOT: select_input

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %1 = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %1 : tensor<4xf32>
}
