// What trainers ask of servers, and what a round does with it: nodes of the plan by name, with the
// layout of the table. A remote variable is nothing natively: only its extents are looked at.
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=TRAINER
// RUN: dtranspile-opt %s --specialize="role=server" 2>/dev/null | dtranspile-lower - | FileCheck %s --check-prefix=SERVER

// TRAINER: program main
// TRAINER: lookup T
// TRAINER: push T
// TRAINER: push A
// TRAINER: phase push
// TRAINER: pull A
// TRAINER: phase pull

// SERVER: program{{.*}} round
// SERVER: merged A
// SERVER: merged T

dist.mesh @wk [dp = 2]
dist.mesh @sv [ps = 2]
dist.comm @ps on @wk over [dp] rpc @server
dist.role @trainer on @wk {
  pd.program @main {
    %g = pd.input "g" : tensor<4x3xf32>
    %i = pd.input "i" : tensor<2x1xi64>
    %t = dist.remote @server::@T : tensor<6x3xf32>
    %r = dist.lookup %i in @server::@T padding 0 as "r" on @ps : tensor<2x1xi64> -> tensor<2x3xf32>
    %d = pd.relu X(%r) -> Out("d") : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %w = pd.lookup_table_grad Ids(%i) "Out@GRAD"(%d) W(%t) -> "W@GRAD"("T@GRAD") {is_sparse = true, padding_idx = 0 : i64} : (tensor<2x1xi64>, tensor<2x3xf32>, tensor<6x3xf32>) -> !pd.rows<tensor<6x3xf32>>
    dist.push %w to @server::@T merge sum on @ps : !pd.rows<tensor<6x3xf32>>
    dist.push %g to @server::@A merge mean on @ps : tensor<4x3xf32>
    dist.phase push on @ps
    %a = dist.pull @server::@A on @ps : tensor<4x3xf32>
    dist.phase pull on @ps
    %u = pd.relu X(%a) -> Out("u") : (tensor<4x3xf32>) -> tensor<4x3xf32>
  }
}
dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.var @T : tensor<?x3xf32> {dist.rel = #dist.rel<"T", ps: S(0, cyclic(6))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @A (%k) {
          %g = dist.merged @A : tensor<?x3xf32>
          pd.set @A, %g : tensor<?x3xf32>
          dist.yield
        }
        dist.foreach_block @T (%k) {
          %g = dist.merged @T : tensor<?x3xf32>
          pd.set @T, %g : tensor<?x3xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}
