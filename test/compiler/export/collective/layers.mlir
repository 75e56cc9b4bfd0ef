// Layers that are split over ranks, in the ops that the framework's own parallel layers make; flags that are joined; what a rank holds is declared as its part.
// RUN: dtranspile-opt %s --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s

// CHECK: pd.var @w : tensor<4x2xf32>
// CHECK: pd.program @main
// CHECK: pd.decl "w" tensor of float32 [4, 2]
// CHECK: pd.decl "y" tensor of float32 [-1, 2]
// CHECK: %[[Y:.*]] = pd.mul
// CHECK: %[[A:.*]] = pd.c_concat X(%[[Y]]) -> Out("y.whole") {nranks = 2 : i32, op_role = 0 : i32, rank = 1 : i32, ring_id = 0 : i32, use_calc_stream = true, use_model_parallel = true} : (tensor<?x2xf32>) -> tensor<?x4xf32>
// CHECK: %[[R:.*]] = pd.relu X(%[[A]])
// CHECK: %[[P:.*]] = pd.c_allreduce_sum X(%[[R]]) -> Out("r") {op_role = 0 : i32, ring_id = 0 : i32, use_calc_stream = true, use_model_parallel = true}
// CHECK: %[[Q:.*]] = pd.c_allreduce_sum
// CHECK: %[[F:.*]] = pd.isinf X(%[[P]])
// CHECK: %[[N:.*]] = pd.cast X(%[[F]]) -> Out("f.number") {in_dtype = 0 : i32, op_role = 0 : i32, out_dtype = 2 : i32} : (tensor<1xi1>) -> tensor<1xi32>
// CHECK: %[[M:.*]] = pd.c_allreduce_max X(%[[N]]) -> Out("f.number") {op_role = 0 : i32, ring_id = 0 : i32, use_calc_stream = true}
// CHECK: %[[B:.*]] = pd.cast X(%[[M]]) -> Out("f.any") {in_dtype = 2 : i32, op_role = 0 : i32, out_dtype = 0 : i32} : (tensor<1xi32>) -> tensor<1xi1>
// CHECK: pd.logical_not X(%[[B]])
// CHECK: pd.c_allgather X({{.*}}) -> Out("w.whole") {nranks = 2 : i32, op_role = 0 : i32, ring_id = 0 : i32, use_calc_stream = true}
// CHECK: pd.program @startup
// CHECK: pd.decl "w" tensor of float32 [4, 2]
// CHECK: %[[W:.*]] = pd.uniform_random -> Out("w"){{.*}} tensor<4x4xf32>
// CHECK: pd.slice Input(%[[W]]) -> Out("w.part") {axes = array<i32: 1>, ends = array<i32: 4>, op_role = 0 : i32, starts = array<i32: 2>}
dist.mesh @world [mp = 2]
dist.comm @mp on @world over [mp] group {carries = "layers"}
dist.role @trainer on @world {
  pd.var @w : tensor<4x2xf32> {dist.rel = #dist.rel<"w", mp: S(1)>, parameter}
  pd.program @main {
    pd.decl "w" tensor of float32 [4, 4] lod 0 {persistable = true}
    pd.decl "y" tensor of float32 [-1, 4] lod 0
    %x = pd.input "x" : tensor<?x4xf32>
    %w = pd.get @w : tensor<4x2xf32>
    %y = pd.mul X(%x) Y(%w) -> Out("y") : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
    %a = dist.all_gather (%y) on @mp dim 1 : (tensor<?x2xf32>) -> tensor<?x4xf32>
    %r = pd.relu X(%a) -> Out("r") : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %s = pd.relu X(%a) -> Out("s") : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %p:2 = dist.all_reduce sum (%r, %s) on @mp : (tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
    %f = pd.isinf X(%p#0) -> Out("f") : (tensor<?x4xf32>) -> tensor<1xi1>
    %any = dist.all_reduce or (%f) on @mp : (tensor<1xi1>) -> tensor<1xi1>
    %n = pd.logical_not X(%any) -> Out("n") : (tensor<1xi1>) -> tensor<1xi1>
    %g = dist.all_gather (%w) on @mp dim 0 : (tensor<4x2xf32>) -> tensor<8x2xf32>
    %h = pd.relu X(%g) -> Out("h") : (tensor<8x2xf32>) -> tensor<8x2xf32>
  }
  pd.program @startup {
    pd.decl "w" tensor of float32 [4, 4] lod 0 {persistable = true}
    %0 = pd.uniform_random -> Out("w") {dtype = 5 : i32, shape = array<i64: 4, 4>} : () -> tensor<4x4xf32>
    %1 = dist.slice %0 dim 1 layout <even(4)> over [mp] : tensor<4x4xf32> -> tensor<4x2xf32>
    pd.set @w, %1 : tensor<4x2xf32>
  }
}
