// A body per extent that blocks have, with the number of the block where it is read; a value that is
// handed on has one place for all blocks.
// RUN: dtranspile-opt %s --specialize="role=server" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main round
// CHECK-NEXT: copy peak float32[1] -> peak#1 float32[1]
// CHECK-NEXT: blocks
// CHECK-NEXT: 2 {
// CHECK-NEXT: coord to block int64[1]
// CHECK-NEXT: kernel scale(block int64[1])
// CHECK: elementwise_max(peak#1 float32[1], n float32[1]) -> peak#1 float32[1]
// CHECK: 1 {
// CHECK-NEXT: coord to block#1 int64[1]
// CHECK: elementwise_max(peak#1 float32[1], n#1 float32[1]) -> peak#1 float32[1]
// CHECK: copy peak#1 float32[1] -> peak float32[1]

dist.mesh @wk [dp = 2]
dist.mesh @sv [ps = 2]
dist.comm @ps on @wk over [dp] rpc @server
dist.role @trainer on @wk {
  pd.program @main {
    dist.phase push on @ps
    %w = dist.pull @server::@A on @ps : tensor<5x3xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(5, per 2, first 0))>}
  pd.var @peak : tensor<1xf32>
  pd.var @at : tensor<1xi64>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %begin = pd.get @peak : tensor<1xf32>
        %most = dist.foreach_block @A (%k) iter(%m = %begin : tensor<1xf32>) -> (tensor<1xf32>) {
          %a = pd.get @A : tensor<?x3xf32>
          %next = pd.scale X(%k) -> Out("at") {bias = 1.0 : f32, scale = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
          pd.set @at, %next : tensor<1xi64>
          %n = pd.squared_l2_norm X(%a) -> Out("n") : (tensor<?x3xf32>) -> tensor<1xf32>
          %max = pd.elementwise_max X(%m) Y(%n) -> Out("most") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
          dist.yield %max : tensor<1xf32>
        }
        pd.set @peak, %most : tensor<1xf32>
        dist.yield
      }
    }
  }
}
