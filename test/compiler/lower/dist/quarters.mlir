// A variable cut along two dims has the memory of its part; how it lies is said once, in closed form.
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: w {{.*}}float32[2,3]
// CHECK: slice
// CHECK: slice

dist.mesh @w [row = 2, col = 2]
dist.role @trainer on @w {
  pd.var @w : tensor<2x3xf32> {dist.rel = #dist.rel<"w", col: S(1), row: S(0)>}
  pd.program @main {
    %x = pd.input "x" : tensor<4x6xf32>
    %a = dist.slice %x dim 0 layout <even(4)> over [row] : tensor<4x6xf32> -> tensor<2x6xf32>
    %b = dist.slice %a dim 1 layout <even(6)> over [col] : tensor<2x6xf32> -> tensor<2x3xf32>
    pd.set @w, %b : tensor<2x3xf32>
  }
}
