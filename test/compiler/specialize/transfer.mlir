// A transfer is a send in the class of its source, a receive in that of its target, nothing in
// others; both ends cut the classes, guards around what they take need not.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>&1 | FileCheck %s --check-prefixes=ALL,SOURCE
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" | FileCheck %s --check-prefix=TARGET
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=2..9]" | FileCheck %s --check-prefix=OTHER

// ALL-DAG: remark: class trainer[pp=0] has 1 ranks
// ALL-DAG: remark: class trainer[pp=1] has 1 ranks
// ALL-DAG: remark: class trainer[pp=2..9] has 8 ranks

// SOURCE: dist.class
// SOURCE: %[[Y:.*]] = pd.relu
// SOURCE-NEXT: dist.send %[[Y]] on @next to 1 : tensor<2xf32>
// SOURCE-NOT: pd.tanh

// TARGET-NOT: pd.relu
// TARGET: %[[Y:.*]] = dist.recv on @next from 0 {number = 0 : i64, variable = "y"} : tensor<2xf32>
// TARGET-NEXT: pd.tanh X(%[[Y]])

// OTHER: pd.program @main
// OTHER-NEXT: pd.input
// OTHER-NEXT: }

dist.mesh @w [pp = 10]
dist.comm @next on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %y = dist.on <pp = 0> -> (!dist.at<tensor<2xf32>, pp = 0>) {
      %t = pd.relu X(%x) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %t : tensor<2xf32>
    }
    %z = dist.transfer %y on @next : !dist.at<tensor<2xf32>, pp = 0> -> !dist.at<tensor<2xf32>, pp = 1>
    dist.on <pp = 1> with (%in = %z : !dist.at<tensor<2xf32>, pp = 1>) {
      %t = pd.tanh X(%in) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
  }
}
