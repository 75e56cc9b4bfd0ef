// Handlers of a server are programs, each by the request that it is run for. What arrives is their
// argument: the number of the trainer, or the ids, of which only the request knows how many.
// RUN: dtranspile-opt %s --specialize="role=server" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main round
// CHECK-NEXT: program main pull A
// CHECK: blocks
// CHECK: copy from int64[1] -> last
// CHECK-NEXT: program main lookup A
// CHECK: reduce_max({{.*}} int64[?x1])
// CHECK-NOT: program

dist.mesh @wk [dp = 2]
dist.mesh @sv [ps = 2]
dist.comm @ps on @wk over [dp] rpc @server
dist.role @trainer on @wk {
  pd.program @main {
    dist.phase push on @ps
    %w = dist.pull @server::@A on @ps : tensor<4x3xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.var @B : tensor<?x3xf32> {dist.rel = #dist.rel<"B", ps: S(0, blocks(4, per 2, first 0))>}
  pd.var @last : tensor<1xi64>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.yield
      }
      dist.handle pull @A (%from: tensor<1xi64>) {
        dist.foreach_block @A (%k) {
          %b = pd.get @B : tensor<?x3xf32>
          %t = pd.relu X(%b) -> Out("t") : (tensor<?x3xf32>) -> tensor<?x3xf32>
          pd.set @A, %t : tensor<?x3xf32>
          dist.yield
        }
        pd.set @last, %from : tensor<1xi64>
        dist.yield
      }
      dist.handle lookup @A (%ids: tensor<?x1xi64>) {
        %most = pd.reduce_max X(%ids) -> Out("most") {dim = array<i32: 0>, keep_dim = false, reduce_all = true} : (tensor<?x1xi64>) -> tensor<1xi64>
        pd.set @last, %most : tensor<1xi64>
        dist.yield
      }
    }
  }
}
