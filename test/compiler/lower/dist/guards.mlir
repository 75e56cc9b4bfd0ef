// A guard that holds on some ranks of the class is a node `at`; what it yields is copied to buffers
// that all ranks have. Variables are written where they lie, what nobody reads is not computed.
// RUN: dtranspile-opt %s --specialize 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   at sharding 1:2 {
// CHECK-NEXT:     copy w float32[4] -> w#1 float32[4]
// CHECK-NEXT:   }
// CHECK-NEXT:   start broadcast comm 0 root 1 inputs w#1 float32[4] outputs w#2 float32[4] ticket 0
// CHECK-NEXT:   wait 0
// CHECK-NEXT:   kernel tanh(w#2 float32[4]) -> d float32[4]
// CHECK-NEXT:   start reduce comm 0 root 1 inputs d float32[4] outputs d#1 float32[4] ticket 1
// CHECK-NEXT:   wait 1
// CHECK-NEXT:   at sharding 1:2 {
// CHECK-NEXT:     kernel elementwise_sub(w float32[4], d#1 float32[4]) -> w float32[4]
// CHECK-NEXT:   }
// CHECK-NEXT:   at sharding 0:1:2:4 {
// CHECK-NEXT:     kernel square(d float32[4]) -> t float32[4]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     copy d float32[4] -> t#1 float32[4]
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel relu(t#1 float32[4]) -> u float32[4]

dist.mesh @m [sharding = 4]
dist.comm @s on @m over [sharding] group
dist.role @trainer on @m {
  pd.var @w : tensor<4xf32> {dist.at = #dist.sel<sharding = 1>}
  pd.program @main {
    %own = dist.on <sharding = 1> -> (!dist.at<tensor<4xf32>, sharding = 1>) {
      %w = pd.get @w : tensor<4xf32>
      dist.yield %w : tensor<4xf32>
    }
    %all = dist.broadcast (%own) on @s from <sharding = 1> : (!dist.at<tensor<4xf32>, sharding = 1>) -> tensor<4xf32>
    %d = pd.tanh X(%all) -> Out("d") : (tensor<4xf32>) -> tensor<4xf32>
    %g = dist.reduce sum (%d) on @s to <sharding = 1> : (tensor<4xf32>) -> !dist.at<tensor<4xf32>, sharding = 1>
    dist.on <sharding = 1> with (%own_g = %g : !dist.at<tensor<4xf32>, sharding = 1>) {
      %w = pd.get @w : tensor<4xf32>
      %n = pd.elementwise_sub X(%w) Y(%own_g) -> Out("w") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      pd.set @w, %n : tensor<4xf32>
      dist.yield
    }
    // Nobody reads this.
    %unread = dist.on <sharding = 2> -> (!dist.at<tensor<4xf32>, sharding = 2>) {
      %t = pd.exp X(%d) -> Out("t") : (tensor<4xf32>) -> tensor<4xf32>
      dist.yield %t : tensor<4xf32>
    }
    %part:2 = dist.on <sharding in {0, 2 to 3}> -> (tensor<4xf32>, tensor<4xf32>) {
      %t = pd.square X(%d) -> Out("t") : (tensor<4xf32>) -> tensor<4xf32>
      %unneeded = pd.exp X(%d) -> Out("e") : (tensor<4xf32>) -> tensor<4xf32>
      dist.yield %t, %unneeded : tensor<4xf32>, tensor<4xf32>
    } else {
      dist.yield %d, %d : tensor<4xf32>, tensor<4xf32>
    }
    %u = pd.relu X(%part#0) -> Out("u") : (tensor<4xf32>) -> tensor<4xf32>
  }
}
