// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: dist.foreach_block: the number of the block is read, and the rows of a cyclic layout are worked on all at once
// CHECK: dist.foreach_block: its value 'u' is no dense tensor of known extents
// CHECK: dist.handle push in mode sync: not supported natively; in mode sync the round takes what is pushed
module attributes {dist.class = "server", dist.role = "server"} {
  dist.mesh @sv [ps = 2]
  dist.mesh @wk [dp = 2]
  dist.comm @ps on @wk over [dp] rpc @server
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.var @C : tensor<?x3xf32> {dist.rel = #dist.rel<"C", ps: S(0, cyclic(4))>}
  pd.program @number {
    %x = pd.input "x" : tensor<1xi64>
    %s = dist.foreach_block @C (%k) iter(%a = %x : tensor<1xi64>) -> (tensor<1xi64>) {
      %t = pd.sum X(%a, %k) -> Out("t") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
      dist.yield %t : tensor<1xi64>
    }
    %u = pd.relu X(%s) -> Out("u") : (tensor<1xi64>) -> tensor<1xi64>
  }
  pd.program @value {
    %x = pd.input "x" : tensor<4x3xi1>
    %u = pd.where_index Condition(%x) -> Out("u") : (tensor<4x3xi1>) -> tensor<?x2xi64>
    %s = dist.foreach_block @A (%k) iter(%a = %u : tensor<?x2xi64>) -> (tensor<?x2xi64>) {
      dist.yield %a : tensor<?x2xi64>
    }
    %t = pd.relu X(%s) -> Out("t") : (tensor<?x2xi64>) -> tensor<?x2xi64>
  }
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round { dist.yield }
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}
