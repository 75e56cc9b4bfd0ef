// A table that stays on two servers: the trainer asks for its rows, and start-up fakes the variable that the gradient names.
// RUN: dtranspile-opt %s --export-servers="role=trainer rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=TRAINER
// RUN: dtranspile-opt %s --export-servers="role=server rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=SERVER

// TRAINER: pd.var @t : tensor<5x4xf32> {parameter}
// TRAINER: pd.program @main
// TRAINER: %[[T:.*]] = pd.get @t : tensor<5x4xf32>
// TRAINER: %[[X:.*]] = pd.distributed_lookup_table Ids(%{{.*}}) W(%[[T]]) -> Outputs("x") {endpoints = ["h0:1", "h1:2"], height_sections = array<i64: 3, 2>, lookup_table_version = "lookup_table", op_role = 0 : i32, padding_idx = 2 : i64, table_names = ["t.block0", "t.block1"], trainer_id = 1 : i32}
// TRAINER: pd.lookup_table_grad {{.*}} W(%[[T]])
// TRAINER: pd.split_selected_rows {{.*}}height_sections = array<i64: 3, 2>
// TRAINER: pd.send
// TRAINER-NOT: recv
// TRAINER: pd.program @startup
// TRAINER: %[[F:.*]] = pd.fake_init -> Out("t") {op_role = 0 : i32, shape = array<i64: 5, 4>}
// TRAINER: pd.set @t, %[[F]]
// TRAINER: pd.fetch_barrier

// SERVER: pd.listen_and_serv
// SERVER: pd.sum {{.*}} : (!pd.rows<tensor<3x4xf32>>, !pd.rows<tensor<3x4xf32>>) -> !pd.rows<tensor<3x4xf32>>
// SERVER: pd.sgd Grad(%{{.*}}) {{.*}} : (!pd.rows<tensor<3x4xf32>>, tensor<1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    %t = dist.remote @server::@t : tensor<5x4xf32>
    %x = dist.composite "lookup_table" (W = %t : tensor<5x4xf32>, Ids = %i : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>) attrs {is_sparse = true, padding_idx = 2 : i64} {
    ^bb0(%w: tensor<5x4xf32>, %ids: tensor<?x1xi64>):
      %rows = dist.lookup %ids in @server::@t padding 2 as "x" on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
      dist.yield %rows : tensor<?x4xf32>
    }
    %g = pd.lookup_table_grad Ids(%i) "Out@GRAD"(%x) W(%t) -> "W@GRAD"("t@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["t", "t@GRAD"], padding_idx = 2 : i64} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<5x4xf32>) -> !pd.rows<tensor<5x4xf32>>
    dist.push %g to @server::@t merge mean on @ps : !pd.rows<tensor<5x4xf32>>
    dist.phase push on @ps
    dist.phase pull on @ps
  }
  pd.program @startup {
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @t : tensor<?x4xf32> {dist.rel = #dist.rel<"t", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @rate : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %r = pd.get @rate : tensor<1xf32>
        dist.foreach_block @t (%k) {
          %g = dist.merged @t : !pd.rows<tensor<?x4xf32>>
          %t = pd.get @t : tensor<?x4xf32>
          %new = pd.sgd Grad(%g) LearningRate(%r) Param(%t) -> ParamOut("t") {op_role = 2 : i32} : (!pd.rows<tensor<?x4xf32>>, tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @t, %new : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}
