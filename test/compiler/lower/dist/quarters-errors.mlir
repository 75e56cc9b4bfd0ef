// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: variable @flat is cut along several dims, and not evenly along each of them: not supported natively; cut it along dim 0 only, or evenly along each dim by axes of its own
module attributes {dist.class = "trainer", dist.role = "trainer"} {
  dist.mesh @w [row = 2, col = 2]
  pd.var @flat : tensor<2x3xf32> {dist.rel = #dist.rel<"flat", col: S(1), row: S(0, blocks(4, per 2, first 0))>}
  pd.program @main {
    %x = pd.get @flat : tensor<2x3xf32>
    pd.set @flat, %x : tensor<2x3xf32>
  }
}
