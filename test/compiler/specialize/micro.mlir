// A stage keeps its tasks. What stands between tasks is in one of them: receives at the head of the
// task that first reads them, sends at the end of the one that makes the value, sums where the term
// is made. Sums of other stages are gone.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>/dev/null | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | FileCheck %s --check-prefix=LAST

// FIRST: %[[Z:.*]] = pd.fill_constant
// FIRST-NEXT: %[[S:.*]] = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%[[A:.*]] = %[[Z]] : tensor<?x2xf32>) -> (tensor<?x2xf32>) {
// FIRST-NEXT: %[[F:.*]] = dist.on <pp = 0> task F -> (tensor<?x2xf32>) {
// FIRST-NEXT: %[[X:.*]] = pd.input "x"
// FIRST-NEXT: %[[H:.*]] = pd.relu X(%[[X]])
// FIRST-NEXT: dist.send %[[H]] on @fwd to 1 : tensor<?x2xf32>
// FIRST-NEXT: dist.yield %[[H]] : tensor<?x2xf32>
// FIRST-NEXT: }
// FIRST-NEXT: %[[B:.*]] = dist.on <pp = 0> task B -> (tensor<?x2xf32>) {
// FIRST-NEXT: %[[G:.*]] = dist.recv on @bwd from 1 {number = 1 : i64, variable = "h@GRAD"} : tensor<?x2xf32>
// FIRST-NEXT: %[[D:.*]] = pd.relu_grad Out(%[[F]]) "Out@GRAD"(%[[G]])
// FIRST-NEXT: %[[N:.*]] = pd.sum X(%[[A]], %[[D]])
// FIRST-NEXT: dist.yield %[[N]]
// FIRST-NEXT: }
// FIRST-NEXT: dist.yield %[[B]]
// FIRST-NEXT: }
// FIRST-NEXT: pd.square X(%[[S]])
// FIRST-NEXT: }

// LAST: dist.micro over [micro] schedule("1F1B", chunks 1) {
// LAST-NEXT: %[[F:.*]]:2 = dist.on <pp = 1> task F -> (tensor<?x2xf32>, tensor<?x2xf32>) {
// LAST-NEXT: %[[H:.*]] = dist.recv on @fwd from 0 {number = 0 : i64, variable = "h"} : tensor<?x2xf32>
// LAST-NEXT: %[[O:.*]] = pd.tanh X(%[[H]])
// LAST-NEXT: pd.square
// LAST-NEXT: dist.yield %[[H]], %[[O]]
// LAST-NEXT: }
// LAST-NEXT: dist.on <pp = 1> task B {
// LAST-NEXT: pd.elementwise_add X(%[[F]]#0)
// LAST-NEXT: %[[G:.*]] = pd.tanh_grad Out(%[[F]]#1)
// LAST-NEXT: dist.send %[[G]] on @bwd to 0 : tensor<?x2xf32>
// LAST-NEXT: dist.yield
// LAST-NEXT: }
// LAST-NEXT: dist.yield
// LAST-NEXT: }
// LAST-NOT: pd.square

dist.mesh @w [pp = 2] time [micro = 4]
dist.comm @fwd on @w over [pp] pairs
dist.comm @bwd on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %zero = dist.on <pp = 0> -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
      %z = pd.fill_constant -> Out("sum") {dtype = 5 : i32, shape = array<i64: 3, 2>, value = 0.0 : f32} : () -> tensor<?x2xf32>
      dist.yield %z : tensor<?x2xf32>
    }
    %sum = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%acc = %zero : !dist.at<tensor<?x2xf32>, pp = 0>) -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
      %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<?x2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
        %h = pd.relu X(%x) -> Out("h") : (tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %h : tensor<?x2xf32>
      }
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<?x2xf32>, pp = 0> -> !dist.at<tensor<?x2xf32>, pp = 1>
      %f1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<?x2xf32>, pp = 1>) task F -> (!dist.at<tensor<?x2xf32>, pp = 1>) {
        %o = pd.tanh X(%h) -> Out("o") : (tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %o : tensor<?x2xf32>
      }
      // Two regions of one task and chunk are one task.
      dist.on <pp = 1> with (%o = %f1 : !dist.at<tensor<?x2xf32>, pp = 1>) task F {
        %l = pd.square X(%o) -> Out("l") : (tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield
      }
      %b1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<?x2xf32>, pp = 1>, %o = %f1 : !dist.at<tensor<?x2xf32>, pp = 1>) task B -> (!dist.at<tensor<?x2xf32>, pp = 1>) {
        %s = pd.elementwise_add X(%h) Y(%h) -> Out("s") : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        %g = pd.tanh_grad Out(%o) "Out@GRAD"(%s) -> "X@GRAD"("h@GRAD") : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %g : tensor<?x2xf32>
      }
      %g0 = dist.transfer %b1 on @bwd : !dist.at<tensor<?x2xf32>, pp = 1> -> !dist.at<tensor<?x2xf32>, pp = 0>
      %b0 = dist.on <pp = 0> with (%g = %g0 : !dist.at<tensor<?x2xf32>, pp = 0>, %h = %f0 : !dist.at<tensor<?x2xf32>, pp = 0>) task B -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
        %d = pd.relu_grad Out(%h) "Out@GRAD"(%g) -> "X@GRAD"("x@GRAD") : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %d : tensor<?x2xf32>
      }
      %n = dist.on <pp = 0> with (%a = %acc : !dist.at<tensor<?x2xf32>, pp = 0>, %d = %b0 : !dist.at<tensor<?x2xf32>, pp = 0>) -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
        %s = pd.sum X(%a, %d) -> Out("sum") : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %s : tensor<?x2xf32>
      }
      dist.yield %n : !dist.at<tensor<?x2xf32>, pp = 0>
    }
    dist.on <pp = 0> with (%s = %sum : !dist.at<tensor<?x2xf32>, pp = 0>) {
      %u = pd.square X(%s) -> Out("u") : (tensor<?x2xf32>) -> tensor<?x2xf32>
      dist.yield
    }
  }
}
