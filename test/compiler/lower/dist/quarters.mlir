// A variable cut along two dims has the memory of its part, which two slices fill.
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: slice x float32[4x6] -> x#1 float32[2x6] layout (even axes row dim 0 extent 4 whole 4 6)
// CHECK-NEXT: slice x#1 float32[2x6] -> x#2 float32[2x3] layout (even axes col dim 1 extent 6 whole 2 6)
// CHECK-NEXT: copy x#2 float32[2x3] -> w float32[2x3]

dist.mesh @grid [row = 2, col = 2]
dist.role @trainer on @grid {
  pd.var @w : tensor<2x3xf32> {dist.rel = #dist.rel<"w", col: S(1), row: S(0)>}
  pd.program @main {
    %x = pd.input "x" : tensor<4x6xf32>
    %a = dist.slice %x dim 0 layout <even(4)> over [row] : tensor<4x6xf32> -> tensor<2x6xf32>
    %b = dist.slice %a dim 1 layout <even(6)> over [col] : tensor<2x6xf32> -> tensor<2x3xf32>
    pd.set @w, %b : tensor<2x3xf32>
  }
}
