// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --specialize="class=trainer[pp=0]"

dist.mesh @w [pp = 2] time [micro = 2]
// expected-remark @+2 {{class trainer[pp=0] has 1 ranks}}
// expected-remark @+1 {{class trainer[pp=1] has 1 ranks}}
dist.role @trainer on @w {
  pd.program @main {
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      // expected-error @+1 {{is a task with an else-body}}
      %y = dist.on <pp = 0> task F -> (tensor<2xf32>) {
        dist.yield %x : tensor<2xf32>
      } else {
        dist.yield %x : tensor<2xf32>
      }
      dist.yield
    }
  }
}

// -----

dist.mesh @w [pp = 2] time [micro = 2]
// expected-remark @+2 {{class trainer[pp=0] has 1 ranks}}
// expected-remark @+1 {{class trainer[pp=1] has 1 ranks}}
dist.role @trainer on @w {
  pd.program @main {
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      %f = dist.on <pp = 0> task F -> (!dist.at<tensor<2xf32>, pp = 0>) {
        dist.yield %x : tensor<2xf32>
      }
      // expected-note @+1 {{which comes from a later task of trainer[pp=0]}}
      %b = dist.on <pp = 0> with (%y = %f : !dist.at<tensor<2xf32>, pp = 0>) task B -> (!dist.at<tensor<2xf32>, pp = 0>) {
        %t = pd.relu X(%y) -> Out("s") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield %t : tensor<2xf32>
      }
      // expected-error @+1 {{is part of a task that runs before what it takes}}
      dist.on <pp = 0> with (%y = %b : !dist.at<tensor<2xf32>, pp = 0>) task F {
        %t = pd.tanh X(%y) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
        dist.yield
      }
      dist.on <pp = 1> task F { dist.yield }
      dist.yield
    }
  }
}
