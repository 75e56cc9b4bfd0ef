// Stages that run one task: each by its own row of the schedule.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1]" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=LAST

// FIRST: micro micro micros 4 instances 3 order 0:0, 0:1, 0:2, 1:0, 0:3, 1:1, 1:2, 1:3 {
// LAST: micro micro micros 4 instances 2 order 0:0, 0:1, 1:0, 0:2, 1:1, 0:3, 1:2, 1:3 {

dist.mesh @w [pp = 3] time [micro = 4]
dist.role @trainer on @w {
  pd.var @s : tensor<2xf32>
  pd.program @main {
    %z = dist.on <pp in {0 to 1}> -> (!dist.at<tensor<2xf32>, pp in {0 to 1}>) {
      %c = pd.fill_constant -> Out("sum") {dtype = 5 : i32, shape = array<i64: 2>, value = 0.0 : f32} : () -> tensor<2xf32>
      dist.yield %c : tensor<2xf32>
    }
    %sum = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%acc = %z : !dist.at<tensor<2xf32>, pp in {0 to 1}>) -> (!dist.at<tensor<2xf32>, pp in {0 to 1}>) {
      %x = pd.input "x" : tensor<2xf32>
      %f = dist.on <pp in {0 to 1}> task F -> (!dist.at<tensor<2xf32>, pp in {0 to 1}>) {
        %t = pd.relu X(%x) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %t : tensor<2xf32>
      }
      %b = dist.on <pp in {0 to 1}> with (%v = %f : !dist.at<tensor<2xf32>, pp in {0 to 1}>, %a = %acc : !dist.at<tensor<2xf32>, pp in {0 to 1}>) task B -> (!dist.at<tensor<2xf32>, pp in {0 to 1}>) {
        %d = pd.square X(%v) -> Out("d") : (tensor<2xf32>) -> tensor<2xf32>
        %n = pd.sum X(%a, %d) -> Out("sum") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %n : tensor<2xf32>
      }
      dist.on <pp = 2> task F {
        %t = pd.tanh X(%x) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.yield %b : !dist.at<tensor<2xf32>, pp in {0 to 1}>
    }
    dist.on <pp in {0 to 1}> with (%v = %sum : !dist.at<tensor<2xf32>, pp in {0 to 1}>) {
      pd.set @s, %v : tensor<2xf32>
      dist.yield
    }
  }
}
