// Roles that ask others keep these beside them, with their variables; the other role keeps the mesh
// of those that ask.
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | FileCheck %s --check-prefix=TRAINER
// RUN: dtranspile-opt %s --specialize="role=server" 2>/dev/null | FileCheck %s --check-prefix=SERVER

// TRAINER: module attributes {dist.class = "trainer", dist.role = "trainer"} {
// TRAINER-NEXT: dist.mesh @wk
// TRAINER-NEXT: dist.mesh @sv
// TRAINER-NEXT: dist.role @server on @sv {
// TRAINER-NEXT: pd.var @A
// TRAINER-NEXT: {{^  }$}}
// TRAINER-NEXT: dist.comm @ps on @wk over [dp] rpc @server
// TRAINER-NEXT: pd.program @main {
// TRAINER: dist.push
// TRAINER-NEXT: dist.phase push
// TRAINER-NEXT: dist.pull
// TRAINER-NEXT: dist.lookup
// TRAINER-NEXT: dist.remote @server::@A
// TRAINER-NEXT: pd.lookup_table_grad
// TRAINER-NEXT: dist.push
// TRAINER-NEXT: dist.phase pull

// SERVER: module attributes {dist.class = "server", dist.role = "server"} {
// SERVER-NEXT: dist.mesh @sv
// SERVER-NEXT: dist.mesh @wk
// SERVER-NEXT: dist.comm @ps on @wk over [dp] rpc @server
// SERVER-NEXT: dist.comm @srv on @sv over [ps] group
// SERVER-NEXT: pd.var @A
// SERVER: dist.serve on @ps mode sync {
// SERVER-NEXT: dist.handle round {
// SERVER: dist.foreach_block @A
// SERVER: dist.merged @A
// SERVER: dist.all_reduce

dist.mesh @wk [dp = 2]
dist.mesh @sv [ps = 3]
dist.comm @ps on @wk over [dp] rpc @server
dist.comm @srv on @sv over [ps] group
dist.role @trainer on @wk {
  pd.program @main {
    %g = pd.input "g" : tensor<4x3xf32>
    %i = pd.input "i" : tensor<2x1xi64>
    dist.push %g to @server::@A merge mean on @ps : tensor<4x3xf32>
    dist.phase push on @ps
    %w = dist.pull @server::@A on @ps : tensor<4x3xf32>
    %r = dist.lookup %i in @server::@A on @ps : tensor<2x1xi64> -> tensor<2x3xf32>
    %t = dist.remote @server::@A : tensor<4x3xf32>
    %d = pd.lookup_table_grad Ids(%i) "Out@GRAD"(%r) W(%t) -> "W@GRAD"("A@GRAD") {is_sparse = true} : (tensor<2x1xi64>, tensor<2x3xf32>, tensor<4x3xf32>) -> !pd.rows<tensor<4x3xf32>>
    dist.push %d to @server::@A merge sum on @ps : !pd.rows<tensor<4x3xf32>>
    dist.phase pull on @ps
  }
}
dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xf32>
        %q = dist.foreach_block @A (%k) iter(%a = %z : tensor<1xf32>) -> (tensor<1xf32>) {
          %g = dist.merged @A : tensor<?x3xf32>
          %n = pd.squared_l2_norm X(%g) -> Out("n") : (tensor<?x3xf32>) -> tensor<1xf32>
          %s = pd.sum X(%a, %n) -> Out("s") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
          dist.yield %s : tensor<1xf32>
        }
        %t = dist.all_reduce sum (%q) on @srv : (tensor<1xf32>) -> tensor<1xf32>
        dist.yield
      }
    }
  }
}
