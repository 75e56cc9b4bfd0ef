// A task belongs to one stage.
// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: a task of several stages is not supported natively: give each coordinate of axis 'pp' a task of its own
module attributes {dist.class = "trainer[pp=0..1]", dist.ranks = #dist.sel<pp in {0 to 1}>, dist.role = "trainer"} {
  dist.mesh @w [pp = 3] time [micro = 4]
  pd.program @span {
    %x = pd.input "x" : tensor<2xf32>
    %s = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %b = dist.on <pp in {0 to 1}> task F -> (tensor<2xf32>) {
        %c = pd.sum X(%a, %x) -> Out("c") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %c : tensor<2xf32>
      }
      dist.yield %b : tensor<2xf32>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
  }
}
