// What of dist.micro, of waits and of point-to-point communication has no native form.
// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: feed x is cut over time axis 'micro' outside of dist.micro
// CHECK: micro-batches over several time axes are not supported natively: cut the batch over one axis
// CHECK: has no task here
// CHECK: the schedule "1F1B" never runs task W
// CHECK: sum 'y' is SelectedRows, a list, or has extents that depend on data: not supported natively; sum dense values
// CHECK: y is SelectedRows, a list, or has extents that depend on data: sending it is not supported natively; keep what makes it and what takes it on one rank
// CHECK: feed x is ragged: cutting it into micro-batches is not supported natively; pad it into a dense feed
// CHECK: 'y' is SelectedRows, a list, or has extents that depend on data, and goes from one task to another while several micro-batches are under way: not supported natively; keep it in one task
module attributes {dist.class = "trainer[pp=0]", dist.ranks = #dist.sel<pp = 0>, dist.role = "trainer"} {
  dist.mesh @w [pp = 3] time [micro = 4, macro = 2]
  dist.comm @p on @w over [pp] pairs
  pd.program @outside {
    %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<3x2xf32>
    %t = pd.relu X(%x) -> Out("t") : (tensor<3x2xf32>) -> tensor<3x2xf32>
  }
  pd.program @axes {
    %x = pd.input "x" : tensor<2xf32>
    %s = dist.micro over [micro, macro] schedule("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %b = dist.on <pp = 0> task F -> (tensor<2xf32>) {
        %c = pd.sum X(%a, %x) -> Out("c") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %c : tensor<2xf32>
      }
      dist.yield %b : tensor<2xf32>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
  }
  pd.program @none {
    %x = pd.input "x" : tensor<2xf32>
    %s = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      dist.yield %a : tensor<2xf32>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
  }
  pd.program @never {
    %x = pd.input "x" : tensor<2xf32>
    %s = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %b = dist.on <pp = 0> task W -> (tensor<2xf32>) {
        %c = pd.sum X(%a, %x) -> Out("c") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %c : tensor<2xf32>
      }
      dist.yield %b : tensor<2xf32>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
  }
  pd.program @sum {
    %x = pd.input "x" : tensor<4x3xi1>
    %y = pd.where_index Condition(%x) -> Out("y") : (tensor<4x3xi1>) -> tensor<?x2xi64>
    %s = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %y : tensor<?x2xi64>) -> (tensor<?x2xi64>) {
      %b = dist.on <pp = 0> task F -> (tensor<?x2xi64>) {
        %c = pd.sum X(%a, %y) -> Out("c") : (tensor<?x2xi64>, tensor<?x2xi64>) -> tensor<?x2xi64>
        dist.yield %c : tensor<?x2xi64>
      }
      dist.yield %b : tensor<?x2xi64>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<?x2xi64>) -> tensor<?x2xi64>
  }
  pd.program @sent {
    %x = pd.input "x" : tensor<4x3xi1>
    %y = pd.where_index Condition(%x) -> Out("y") : (tensor<4x3xi1>) -> tensor<?x2xi64>
    dist.send %y on @p to 1 : tensor<?x2xi64>
  }
  pd.program @ragged {
    %y = pd.input "y" : tensor<1xf32>
    %s = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %y : tensor<1xf32>) -> (tensor<1xf32>) {
      %b = dist.on <pp = 0> task F -> (tensor<1xf32>) {
        %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : !pd.lod<tensor<?x8xf32>, 1>
        %p = pd.reduce_sum X(%x) -> Out("p") {dim = array<i32: 0>, keep_dim = false, reduce_all = true} : (!pd.lod<tensor<?x8xf32>, 1>) -> tensor<1xf32>
        %c = pd.sum X(%a, %p) -> Out("c") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        dist.yield %c : tensor<1xf32>
      }
      dist.yield %b : tensor<1xf32>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  }
  pd.program @handed {
    %x = pd.input "x" : tensor<4x3xi1>
    %z = pd.input "z" : tensor<2xi64>
    %s = dist.micro over [micro] schedule("F-then-B", chunks 1) iter(%a = %z : tensor<2xi64>) -> (tensor<2xi64>) {
      %y = dist.on <pp = 0> task F -> (tensor<?x2xi64>) {
        %w = pd.where_index Condition(%x) -> Out("y") : (tensor<4x3xi1>) -> tensor<?x2xi64>
        dist.yield %w : tensor<?x2xi64>
      }
      %b = dist.on <pp = 0> task B -> (tensor<2xi64>) {
        %r = pd.reduce_sum X(%y) -> Out("r") {dim = array<i32: 0>, keep_dim = false, reduce_all = false} : (tensor<?x2xi64>) -> tensor<2xi64>
        %c = pd.sum X(%a, %r) -> Out("c") : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
        dist.yield %c : tensor<2xi64>
      }
      dist.yield %b : tensor<2xi64>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<2xi64>) -> tensor<2xi64>
  }
}
