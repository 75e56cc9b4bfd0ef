// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: persistable A is cut into blocks, which differ from rank to rank: it can be read and set in the dist.foreach_block of a variable with the same blocks only
// CHECK: a part by #dist.layout<blocks(4, per 2, first 0)> differs in extent from rank to rank; it can only be set to a variable of that layout
// CHECK: persistable A is not cut like the part that it is set to, #dist.layout<blocks(4, per 2, first 1)>
// CHECK: what arrives ('h') has extents of -1, which only the job knows: compile the job, or write them in the type
// CHECK: y is SelectedRows, a list, or has extents that depend on data: reduce_scatter (sum) of it is not supported natively; all_gather it `ragged`, along dim 0, or give it extents that are known
// CHECK: x has the same extents on every rank: leave out `ragged`
module attributes {dist.class = "server", dist.role = "server"} {
  dist.mesh @s [ps = 2]
  dist.comm @c on @s over [ps] group
  dist.comm @p on @s over [ps] pairs
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.program @read {
    %a = pd.get @A : tensor<?x3xf32>
    %t = pd.relu X(%a) -> Out("t") : (tensor<?x3xf32>) -> tensor<?x3xf32>
  }
  pd.program @uneven {
    %x = pd.input "x" : tensor<4x3xf32>
    %a = dist.slice %x dim 0 layout <blocks(4, per 2, first 0)> over [ps] : tensor<4x3xf32> -> tensor<?x3xf32>
    %t = pd.relu X(%a) -> Out("t") : (tensor<?x3xf32>) -> tensor<?x3xf32>
  }
  pd.program @other {
    %x = pd.input "x" : tensor<4x3xf32>
    %a = dist.slice %x dim 0 layout <blocks(4, per 2, first 1)> over [ps] : tensor<4x3xf32> -> tensor<?x3xf32>
    pd.set @A, %a : tensor<?x3xf32>
  }
  pd.program @received {
    %h = dist.recv on @p from 0 {variable = "h"} : tensor<?x3xf32>
    %t = pd.relu X(%h) -> Out("t") : (tensor<?x3xf32>) -> tensor<?x3xf32>
  }
  pd.program @value {
    %x = pd.input "x" : tensor<4x3xi1>
    %y = pd.where_index Condition(%x) -> Out("y") : (tensor<4x3xi1>) -> tensor<?x2xi64>
    %z = dist.reduce_scatter sum (%y) on @c dim 0 : (tensor<?x2xi64>) -> tensor<?x2xi64>
    %t = pd.relu X(%z) -> Out("t") : (tensor<?x2xi64>) -> tensor<?x2xi64>
  }
  pd.program @ragged {
    %x = pd.input "x" : tensor<4x3xf32>
    %y = dist.all_gather (%x) on @c dim 0 ragged : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %t = pd.relu X(%y) -> Out("t") : (tensor<4x3xf32>) -> tensor<4x3xf32>
  }
}
