// All handlers of a server are in the text of its class; those who ask have the variable, and not
// the programs that answer.
// RUN: dtranspile-opt %s --specialize="role=server" 2>/dev/null | FileCheck %s --check-prefix=SERVER
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | FileCheck %s --check-prefix=TRAINER

// SERVER: dist.serve on @ps mode async {
// SERVER-NEXT: dist.handle push @A (%{{.*}}: tensor<1xi64>) {
// SERVER: dist.handle pull @A (%{{.*}}: tensor<1xi64>) {
// SERVER: dist.foreach_block @A
// SERVER: dist.handle lookup @A (%{{.*}}: tensor<?x1xi64>) {

// TRAINER: dist.role @server on @sv {
// TRAINER-NEXT: pd.var @A
// TRAINER-NEXT: {{^  }$}}
// TRAINER-NOT: dist.serve
// TRAINER: dist.pull @server::@A
// TRAINER: dist.lookup

dist.mesh @wk [dp = 2]
dist.mesh @sv [ps = 2]
dist.comm @ps on @wk over [dp] rpc @server
dist.role @trainer on @wk {
  pd.program @main {
    %i = pd.input "i" : tensor<2x1xi64>
    %w = dist.pull @server::@A on @ps : tensor<4x3xf32>
    %r = dist.lookup %i in @server::@A on @ps : tensor<2x1xi64> -> tensor<2x3xf32>
  }
}
dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.yield
      }
      dist.handle pull @A (%from: tensor<1xi64>) {
        dist.foreach_block @A (%k) {
          %a = pd.get @A : tensor<?x3xf32>
          pd.set @A, %a : tensor<?x3xf32>
          dist.yield
        }
        dist.yield
      }
      dist.handle lookup @A (%ids: tensor<?x1xi64>) {
        dist.yield
      }
    }
  }
}
