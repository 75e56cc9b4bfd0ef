// A parameter that is updated in a branch of the update (a step that overflows leaves it out) is
// averaged as it is behind the branch.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --local-sgd="axes=dp" | FileCheck %s

// CHECK: dist.role
// CHECK: pd.program @main
// CHECK: pd.conditional_block
// CHECK: pd.sgd
// CHECK: pd.yield
// CHECK: %[[OLD:.*]] = pd.get @"w@SNAPSHOT"
// CHECK-NEXT: %[[NOW:.*]] = pd.get @w
// CHECK-NEXT: %[[DELTA:.*]] = pd.elementwise_sub X(%[[OLD]]) Y(%[[NOW]])
// CHECK: dist.all_reduce {{.*}}%[[DELTA]]
// CHECK: pd.set @w,
// CHECK: pd.set @"w@SNAPSHOT",

pd.var @w : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %c = pd.input "c" : tensor<1xi1>
  %t = pd.conditional_block "$capture"(%x) Cond(%c) -> Scope("tape") {sub_block = #pd.block<1>, is_scalar_condition = true, op_role = 2 : i32} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<1xf32>):
    %w = pd.get @w : tensor<1xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %u = pd.sgd Grad(%a) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    pd.set @w, %u : tensor<1xf32>
    pd.yield
  } : (tensor<1xf32>, tensor<1xi1>) -> !pd.tape
}
