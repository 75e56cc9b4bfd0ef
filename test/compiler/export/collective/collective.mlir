// RUN: dtranspile-opt %s --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s

// A bucket: one buffer, one operation on the ring's stream, waited for before the first use. Gradients keep their names.
// CHECK: pd.program @main
// CHECK: %[[C:.*]]:3 = pd.coalesce_tensor Input(%[[A:.*]], %[[B:.*]]) -> Output("a@GRAD", "b@GRAD") FusedOutput("FusedOutput_a@GRAD{{.*}}") {copy_data = true, dtype = 5 : i32, op_role = 1 : i32, use_align = true}
// CHECK-NEXT: %[[S:.*]] = pd.c_sync_calc_stream X(%[[C]]#2)
// CHECK-NEXT: %[[R:.*]] = pd.c_allreduce_sum X(%[[S]]) -> Out("FusedOutput_a@GRAD{{.*}}") {op_role = 1 : i32, ring_id = 0 : i32, use_calc_stream = false}
// CHECK-NEXT: %[[M:.*]] = pd.relu
// CHECK-NEXT: pd.c_sync_comm_stream X(%[[R]]) -> Out("FusedOutput_a@GRAD{{.*}}") {op_role = 1 : i32, ring_id = 0 : i32}
// CHECK-NEXT: pd.relu X(%[[C]]#0)
// A single value that blocks.
// CHECK: pd.c_allreduce_max X(%{{.*}}) -> Out("c") {op_role = 0 : i32, ring_id = 1 : i32, use_calc_stream = true}
// CHECK: pd.c_identity X(%{{.*}}) -> Out("y") {op_role = 0 : i32, ring_id = 1 : i32}
// Rings are made before the first communication.
// CHECK: pd.program @startup
// CHECK: pd.uniform_random
// CHECK: %[[ID:.*]] = pd.c_gen_nccl_id -> Out("[[NAME:.*]]") {endpoint = "h1:2", op_role = 0 : i32, other_endpoints = ["h0:1"], rank = 1 : i32, ring_id = 0 : i32}
// CHECK-NEXT: pd.c_comm_init X(%[[ID]]) {endpoints = "h0:1,h1:2", nranks = 2 : i32, op_role = 0 : i32, rank = 1 : i32, ring_id = 0 : i32}
// CHECK-NEXT: pd.c_gen_nccl_id {{.*}}ring_id = 1 : i32
// CHECK-NEXT: pd.c_comm_init
// CHECK-NEXT: %[[W:.*]] = pd.get @w
// CHECK-NEXT: %[[BC:.*]] = pd.c_broadcast X(%[[W]]) -> Out("w") {op_role = 0 : i32, ring_id = 0 : i32, root = 0 : i32, use_calc_stream = false}
// CHECK-NEXT: pd.c_sync_comm_stream X(%[[BC]]) -> Out("w")
// CHECK-NEXT: pd.set @w
// CHECK-NOT: dist.all_reduce
dist.mesh @world [dp = 2]
dist.comm @grad0 on @world over [dp] group
dist.comm @other on @world over [dp] group
dist.role @trainer on @world {
  pd.var @w : tensor<2xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %a = pd.relu X(%x) -> Out("a@GRAD") {op_role = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %b = pd.relu X(%x) -> Out("b@GRAD") {op_role = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    %p = dist.all_reduce sum (%a, %b) on @grad0 : (tensor<2xf32>, tensor<2xf32>) -> !dist.pending<tensor<2xf32>, tensor<2xf32>>
    %m = pd.relu X(%x) -> Out("m") : (tensor<2xf32>) -> tensor<2xf32>
    %r:2 = dist.wait %p : (!dist.pending<tensor<2xf32>, tensor<2xf32>>) -> (tensor<2xf32>, tensor<2xf32>)
    %u = pd.relu X(%r#0) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
    %c = pd.relu X(%x) -> Out("c") : (tensor<2xf32>) -> tensor<2xf32>
    %d = dist.all_reduce max (%c) on @other : (tensor<2xf32>) -> tensor<2xf32>
    %y = dist.composite "c_identity" (X = %d : tensor<2xf32>) -> (Out as "y" : tensor<2xf32>) attrs {ring_id = 1 : i32} {
    ^bb0(%i: tensor<2xf32>):
      dist.yield %i : tensor<2xf32>
    }
  }
  pd.program @startup {
    %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2>, dtype = 5 : i32} : () -> tensor<2xf32>
    pd.set @w, %0 : tensor<2xf32>
    %w = pd.get @w : tensor<2xf32>
    %1 = dist.broadcast (%w) on @grad0 from <dp = 0> : (tensor<2xf32>) -> tensor<2xf32>
    pd.set @w, %1 : tensor<2xf32>
  }
}
