// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: dist.push: u is a list, or has extents that depend on data: not supported natively; ask for a dense table of known extents, or push its rows
// CHECK: dist.lookup: the width of the rows of @server::@B is not known: declare it in the type of the result
// CHECK: dist.pull: @server::@B is a list, or has extents that depend on data: not supported natively
// CHECK: dist.pull: @server::@Q is cut along several dims: tables are cut along one; keep it so
module attributes {dist.class = "trainer", dist.role = "trainer"} {
  dist.mesh @wk [dp = 2]
  dist.mesh @sv [ps = 2, col = 2]
  dist.role @server on @sv {
    pd.var @A : tensor<4xi64>
    pd.var @B : tensor<4x?xf32>
    pd.var @Q : tensor<2x3xf32> {dist.rel = #dist.rel<"Q", col: S(1), ps: S(0)>}
  }
  dist.comm @ps on @wk over [dp] rpc @server
  pd.program @push {
    %x = pd.input "x" : tensor<4x3xi1>
    %u = pd.where_index Condition(%x) -> Out("u") : (tensor<4x3xi1>) -> tensor<?x2xi64>
    dist.push %u to @server::@A merge sum on @ps : tensor<?x2xi64>
  }
  pd.program @lookup {
    %i = pd.input "i" : tensor<2x1xi64>
    %r = dist.lookup %i in @server::@B as "r" on @ps : tensor<2x1xi64> -> tensor<2x?xf32>
    %t = pd.relu X(%r) -> Out("t") : (tensor<2x?xf32>) -> tensor<2x?xf32>
  }
  pd.program @pull {
    %a = dist.pull @server::@B on @ps : tensor<4x?xf32>
    %t = pd.relu X(%a) -> Out("t") : (tensor<4x?xf32>) -> tensor<4x?xf32>
  }
  pd.program @quarters {
    %a = dist.pull @server::@Q on @ps : tensor<4x6xf32>
    %t = pd.relu X(%a) -> Out("t") : (tensor<4x6xf32>) -> tensor<4x6xf32>
  }
}
