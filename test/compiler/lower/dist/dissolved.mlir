// What the text of a class has no longer: of a composite its body, of an assumption its operand.
// RUN: dtranspile-opt %s --specialize 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   kernel square(x float32[2]) -> t float32[2]
// CHECK-NEXT:   start all_reduce comm 0 inputs t float32[2] outputs t#1 float32[2] ticket 0
// CHECK-NEXT:   wait 0
// CHECK-NEXT:   kernel relu(t#1 float32[2]) -> u float32[2]

dist.mesh @w [dp = 2]
dist.comm @dp on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %c = dist.composite "sync_batch_norm" (X = %x : tensor<2xf32>) -> (Y as "y" : tensor<2xf32>) attrs {} {
    ^bb0(%a: tensor<2xf32>):
      pd.decl "t" tensor of float32 [2]
      %t = pd.square X(%a) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
      %r = dist.all_reduce sum (%t) on @dp : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %r : tensor<2xf32>
    }
    %known = dist.assume %c is <"y"> because "it was reduced" : tensor<2xf32>
    %u = pd.relu X(%known) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
  }
}
