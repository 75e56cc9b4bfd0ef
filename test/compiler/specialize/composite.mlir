// RUN: dtranspile-opt %s --specialize | FileCheck %s
// RUN: dtranspile-opt %s --specialize="composites=keep" | FileCheck %s --check-prefix=KEEP

// Native code gets the body, with its declarations at the top of the program; export keeps the op.
// CHECK: pd.program @main
// CHECK-NEXT: pd.decl "t"
// CHECK-NEXT: %[[X:.*]] = pd.input
// CHECK-NEXT: %[[T:.*]] = pd.square X(%[[X]]) -> Out("t")
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum(%[[T]])
// CHECK-NEXT: pd.relu X(%[[R]])
// KEEP: dist.composite "sync_batch_norm"
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
    %u = pd.relu X(%c) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
  }
}
