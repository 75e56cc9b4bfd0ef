// A task of several stages has one text and, in the schedule, a row for each: a class per stage.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>&1 | FileCheck %s

// CHECK-DAG: remark: class trainer[pp=0] has 1 ranks
// CHECK-DAG: remark: class trainer[pp=1] has 1 ranks
// CHECK-DAG: remark: class trainer[pp=2] has 1 ranks
// CHECK: dist.class = "trainer[pp=1]"
// CHECK: dist.on <pp in {0 to 1}> task F
// CHECK: pd.relu
// CHECK-NOT: pd.tanh

dist.mesh @w [pp = 3] time [micro = 2]
dist.role @trainer on @w {
  pd.program @main {
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      dist.on <pp in {0 to 1}> task F {
        %t = pd.relu X(%x) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.on <pp = 2> task F {
        %t = pd.tanh X(%x) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.yield
    }
  }
}
