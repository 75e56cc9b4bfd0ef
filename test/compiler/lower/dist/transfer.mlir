// Sends and receives: a send is waited for at the end of its block, so that two ranks may send to
// each other.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=LAST

// FIRST: program main
// FIRST-NEXT:   kernel relu(x float32[2]) -> y float32[2]
// FIRST-NEXT:   start send comm 0 root 1 inputs y float32[2] outputs  ticket 0
// FIRST-NEXT:   start recv comm 0 root 1 inputs  outputs v float32[2] ticket 1
// FIRST-NEXT:   wait 1
// FIRST-NEXT:   kernel exp(v float32[2]) -> e float32[2]
// FIRST-NEXT:   wait 0

// LAST: program main
// LAST-NEXT:   start recv comm 0 inputs  outputs y float32[2] ticket 0
// LAST-NEXT:   wait 0
// LAST-NEXT:   kernel tanh(x float32[2]) -> v float32[2]
// LAST-NEXT:   start send comm 0 inputs v float32[2] outputs  ticket 1
// LAST-NEXT:   kernel square(y float32[2]) -> s float32[2]
// LAST-NEXT:   wait 1

dist.mesh @w [pp = 2]
dist.comm @next on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %y = dist.on <pp = 0> -> (!dist.at<tensor<2xf32>, pp = 0>) {
      %t = pd.relu X(%x) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %t : tensor<2xf32>
    }
    %z = dist.transfer %y on @next : !dist.at<tensor<2xf32>, pp = 0> -> !dist.at<tensor<2xf32>, pp = 1>
    %v = dist.on <pp = 1> -> (!dist.at<tensor<2xf32>, pp = 1>) {
      %t = pd.tanh X(%x) -> Out("v") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %t : tensor<2xf32>
    }
    %w = dist.transfer %v on @next : !dist.at<tensor<2xf32>, pp = 1> -> !dist.at<tensor<2xf32>, pp = 0>
    dist.on <pp = 0> with (%in = %w : !dist.at<tensor<2xf32>, pp = 0>) {
      %t = pd.exp X(%in) -> Out("e") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
    dist.on <pp = 1> with (%in = %z : !dist.at<tensor<2xf32>, pp = 1>) {
      %t = pd.square X(%in) -> Out("s") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
  }
}
