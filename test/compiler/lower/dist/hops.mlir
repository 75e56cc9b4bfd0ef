// A value that is passed on lies in memory of its micro-batch: the next one may come while it is
// still being sent.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: micro micro
// CHECK: start recv comm 0 inputs  outputs h float32[2] ticket [[R:.*]]
// CHECK-NEXT: wait [[R]]
// CHECK: start send comm 0 root 2 inputs h float32[2] outputs

dist.mesh @w [pp = 3] time [micro = 4]
dist.comm @fwd on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    dist.micro over [micro] schedule ("F-then-B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<2xf32>, pp = 0>) {
        %h = pd.relu X(%x) -> Out("h") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %h : tensor<2xf32>
      }
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<2xf32>, pp = 0> -> !dist.at<tensor<2xf32>, pp = 1>
      %h2 = dist.transfer %h1 on @fwd : !dist.at<tensor<2xf32>, pp = 1> -> !dist.at<tensor<2xf32>, pp = 2>
      dist.on <pp = 1> task F { dist.yield }
      dist.on <pp = 2> with (%h = %h2 : !dist.at<tensor<2xf32>, pp = 2>) task F {
        %s = pd.sigmoid X(%h) -> Out("s") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.yield
    }
  }
}
