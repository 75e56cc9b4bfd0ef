// A stage that has nothing to do in the backward part keeps as many copies of what it sends as its row
// of the schedule has micro-batches under way, idle entries included: that is what rung 3 has found
// free of deadlocks.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=LAST

// FIRST: micro micro micros 4 instances 2 order 0:0, 0:1, 0:2, 0:3 {
// FIRST: start send comm 0
// LAST: micro micro micros 4 instances 1 order 0:0, 1:0, 0:1, 1:1, 0:2, 1:2, 0:3, 1:3 {

dist.mesh @world [pp = 2] time [micro = 4]
dist.comm @fwd on @world over [pp] pairs
dist.role @trainer on @world {
  pd.var @w : tensor<2xf32> {dist.at = #dist.sel<pp = 1>}
  pd.program @main {
    %zero = dist.on <pp = 1> -> (!dist.at<tensor<2xf32>, pp = 1>) {
      %z = pd.fill_constant -> Out("w@GRAD") {dtype = 5 : i32, shape = array<i64: 2>, value = 0.0 : f32} : () -> tensor<2xf32>
      dist.yield %z : tensor<2xf32>
    }
    %sum = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%acc = %zero : !dist.at<tensor<2xf32>, pp = 1>) -> (!dist.at<tensor<2xf32>, pp = 1>) {
      %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<3x2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<3x2xf32>, pp = 0>) {
        %h = pd.tanh X(%x) -> Out("h") : (tensor<3x2xf32>) -> tensor<3x2xf32>
        dist.yield %h : tensor<3x2xf32>
      }
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<3x2xf32>, pp = 0> -> !dist.at<tensor<3x2xf32>, pp = 1>
      %f1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<3x2xf32>, pp = 1>) task F -> (!dist.at<tensor<3x2xf32>, pp = 1>) {
        %p = pd.get @w : tensor<2xf32>
        %o = pd.elementwise_mul X(%h) Y(%p) -> Out("o") : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
        dist.yield %o : tensor<3x2xf32>
      }
      %b1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<3x2xf32>, pp = 1>, %o = %f1 : !dist.at<tensor<3x2xf32>, pp = 1>, %a = %acc : !dist.at<tensor<2xf32>, pp = 1>) task B -> (!dist.at<tensor<2xf32>, pp = 1>) {
        %g = pd.elementwise_mul X(%h) Y(%o) -> Out("gx") : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        %gw = pd.reduce_sum X(%g) -> Out("w@GRAD") {dim = array<i32: 0>} : (tensor<3x2xf32>) -> tensor<2xf32>
        %s = pd.sum X(%a, %gw) -> Out("w@GRAD") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %s : tensor<2xf32>
      }
      dist.yield %b1 : !dist.at<tensor<2xf32>, pp = 1>
    }
    dist.on <pp = 1> with (%g = %sum : !dist.at<tensor<2xf32>, pp = 1>) {
      %w = pd.get @w : tensor<2xf32>
      %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      pd.set @w, %n : tensor<2xf32>
      dist.yield
    }
  }
}
