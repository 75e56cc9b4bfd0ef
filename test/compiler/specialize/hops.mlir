// What a stage passes on comes in with its first task after the one that has made the value, and
// leaves at the end of that task: in a later one it would wait for the stage that waits for it.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | FileCheck %s --check-prefix=MIDDLE
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=2]" 2>/dev/null | FileCheck %s --check-prefix=LAST

// MIDDLE: dist.on <pp = 1> task F
// MIDDLE-NEXT: %[[H:.*]] = dist.recv on @fwd from 0 {number = 0 : i64, variable = "h"} : tensor<2xf32>
// MIDDLE: pd.tanh
// MIDDLE-NEXT: dist.send %[[H]] on @fwd to 2 : tensor<2xf32>
// MIDDLE: dist.on <pp = 1> task B
// MIDDLE-NEXT: %[[G:.*]] = dist.recv on @bwd from 2 {number = 2 : i64, variable = "g"} : tensor<2xf32>
// MIDDLE-NEXT: pd.exp
// MIDDLE-NEXT: dist.send %[[G]] on @bwd to 0 : tensor<2xf32>

// LAST: %[[F:.*]] = dist.on <pp = 2> task F -> (tensor<2xf32>) {
// LAST-NEXT: %[[H:.*]] = dist.recv on @fwd from 1 {number = 1 : i64, variable = "h"} : tensor<2xf32>
// LAST-NEXT: pd.sigmoid X(%[[H]])
// LAST: dist.on <pp = 2> task B

dist.mesh @w [pp = 3] time [micro = 2]
dist.comm @fwd on @w over [pp] pairs
dist.comm @bwd on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<2xf32>, pp = 0>) {
        %h = pd.relu X(%x) -> Out("h") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %h : tensor<2xf32>
      }
      dist.on <pp = 1> task F {
        %t = pd.tanh X(%x) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      // Stands behind the task that it comes in with.
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<2xf32>, pp = 0> -> !dist.at<tensor<2xf32>, pp = 1>
      %h2 = dist.transfer %h1 on @fwd : !dist.at<tensor<2xf32>, pp = 1> -> !dist.at<tensor<2xf32>, pp = 2>
      %f2 = dist.on <pp = 2> with (%h = %h2 : !dist.at<tensor<2xf32>, pp = 2>) task F -> (!dist.at<tensor<2xf32>, pp = 2>) {
        %s = pd.sigmoid X(%h) -> Out("s") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %s : tensor<2xf32>
      }
      %b2 = dist.on <pp = 2> with (%s = %f2 : !dist.at<tensor<2xf32>, pp = 2>) task B -> (!dist.at<tensor<2xf32>, pp = 2>) {
        %g = pd.square X(%s) -> Out("g") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %g : tensor<2xf32>
      }
      %g1 = dist.transfer %b2 on @bwd : !dist.at<tensor<2xf32>, pp = 2> -> !dist.at<tensor<2xf32>, pp = 1>
      %g0 = dist.transfer %g1 on @bwd : !dist.at<tensor<2xf32>, pp = 1> -> !dist.at<tensor<2xf32>, pp = 0>
      dist.on <pp = 1> task B {
        %t = pd.exp X(%x) -> Out("e") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.on <pp = 0> with (%g = %g0 : !dist.at<tensor<2xf32>, pp = 0>) task B {
        %t = pd.square X(%g) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.yield
    }
  }
}
