// Collectives in branches and loops are lowered where they stand; what is started in a block is
// waited for in it.
// RUN: dtranspile-opt %s --specialize 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   copy due bool[1] -> more bool[1]
// CHECK-NEXT:   if more bool[1] {
// CHECK-NEXT:     start all_reduce comm 0 inputs sum float32[4] outputs sum#1 float32[4] ticket 0
// CHECK-NEXT:     wait 0
// CHECK-NEXT:     kernel elementwise_sub(w float32[4], sum#1 float32[4]) -> w#1 float32[4]
// CHECK-NEXT:     copy w#1 float32[4] -> w float32[4]
// CHECK-NEXT:   }
// CHECK-NEXT:   copy due bool[1] -> more#1 bool[1]
// CHECK-NEXT:   if more#1 bool[1] {
// CHECK-NEXT:     kernel tanh(x float32[4]) -> y float32[4]
// CHECK-NEXT:     start all_reduce comm 0 inputs y float32[4] outputs y#1 float32[4] ticket 1
// CHECK-NEXT:     wait 1
// CHECK-NEXT:     copy y#1 float32[4] -> y#2 float32[4]
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel relu(y#2 float32[4]) -> u float32[4]

dist.mesh @m [dp = 2]
dist.comm @c on @m over [dp] group
dist.role @trainer on @m {
  pd.var @sum : tensor<4xf32>
  pd.var @w : tensor<4xf32>
  pd.program @main {
    %due = pd.input "due" : tensor<1xi1>
    %x = pd.input "x" : tensor<4xf32>
    %scope = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("scope") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
      %own = pd.get @sum : tensor<4xf32>
      %p = dist.all_reduce sum (%own) on @c : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>
      %w = pd.get @w : tensor<4xf32>
      %all = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
      %n = pd.elementwise_sub X(%w) Y(%all) -> Out("w") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      pd.set @w, %n : tensor<4xf32>
      pd.yield
    } : (tensor<1xi1>) -> !pd.tape
    // The value of that name that the branch hands on is the reduced one.
    %old = pd.undef "y" : tensor<4xf32>
    %b:2 = pd.conditional_block "$capture"(%x, %old) Cond(%due) Input(%x) -> Out("y") Scope("tape") {is_scalar_condition = true, sub_block = #pd.block<2>} blocks [{captures = ["x", "y"], idx = 2 : i32, locals = [], parent = 0 : i32, saved = [], written = ["y"]}] {
    ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>):
      %t = pd.tanh X(%arg0) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
      %r = dist.all_reduce sum (%t) on @c : (tensor<4xf32>) -> tensor<4xf32>
      pd.yield %r : tensor<4xf32>
    } : (tensor<4xf32>, tensor<4xf32>, tensor<1xi1>, tensor<4xf32>) -> (tensor<4xf32>, !pd.tape)
    %u = pd.relu X(%b#0) -> Out("u") : (tensor<4xf32>) -> tensor<4xf32>
  }
}
