// A sum in levels is one sum over the ring of all its ranks; the second communicator of a kind belongs to the second ring.
// RUN: dtranspile-opt %s --reduce-by-levels="axes=inter,intra" --specialize="composites=keep" --export-collective="rank=3 endpoints=a:1,b:1,c:1,d:1" 2>/dev/null | FileCheck %s

// CHECK: pd.program @main
// CHECK: %[[A:.*]] = pd.input "a"
// CHECK-NEXT: %[[S:.*]] = pd.c_sync_calc_stream X(%[[A]])
// CHECK-NEXT: %[[R:.*]] = pd.c_allreduce_sum X(%[[S]]) -> Out("a") {{.*}}ring_id = 0 : i32
// CHECK-NEXT: %[[B:.*]] = pd.input "b"
// CHECK-NEXT: %[[C:.*]]:3 = pd.coalesce_tensor Input(%[[B]], %[[B]])
// CHECK-NEXT: pd.c_sync_calc_stream X(%[[C]]#2)
// CHECK-NEXT: pd.c_allreduce_sum {{.*}}ring_id = 1 : i32
// CHECK-NEXT: pd.c_sync_comm_stream {{.*}}ring_id = 0 : i32
// CHECK-NEXT: pd.relu
// CHECK-NEXT: pd.c_sync_comm_stream {{.*}}ring_id = 1 : i32
// CHECK-NEXT: pd.relu X(%[[C]]#0)
// CHECK-NOT: dist.{{(all|reduce|wait)}}
// CHECK: pd.program @startup
// CHECK: pd.c_comm_init {{.*}}endpoints = "a:1,b:1,c:1,d:1", nranks = 4 : i32, op_role = 0 : i32, rank = 3 : i32, ring_id = 0 : i32
// CHECK: pd.c_comm_init {{.*}}ring_id = 1 : i32
// Rank 3 is (1, 1): its inner group is ranks 2 and 3, its outer one 1 and 3.
// CHECK: pd.c_comm_init {{.*}}endpoints = "c:1,d:1", nranks = 2 : i32, op_role = 0 : i32, rank = 1 : i32, ring_id = 2 : i32
// CHECK: pd.c_comm_init {{.*}}endpoints = "b:1,d:1", nranks = 2 : i32, op_role = 0 : i32, rank = 1 : i32, ring_id = 3 : i32

dist.mesh @world [inter = 2, intra = 2]
dist.comm @grad0 on @world over [inter, intra] group {carries = "gradients"}
dist.comm @grad1 on @world over [inter, intra] group {carries = "gradients"}
dist.comm @intra0 on @world over [intra] group {carries = "gradients within"}
dist.comm @inter0 on @world over [inter] group {carries = "gradients between"}
dist.comm @intra1 on @world over [intra] group {carries = "gradients within"}
dist.comm @inter1 on @world over [inter] group {carries = "gradients between"}
dist.role @trainer on @world {
  pd.program @main {
    %a = pd.input "a" : tensor<4xf32>
    %p = dist.all_reduce sum (%a) on @grad0 : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>
    %b = pd.input "b" : tensor<4xf32>
    %q = dist.all_reduce sum (%b, %b) on @grad1 : (tensor<4xf32>, tensor<4xf32>) -> !dist.pending<tensor<4xf32>, tensor<4xf32>>
    %r = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
    %u = pd.relu X(%r) -> Out("u") : (tensor<4xf32>) -> tensor<4xf32>
    %s:2 = dist.wait %q : (!dist.pending<tensor<4xf32>, tensor<4xf32>>) -> (tensor<4xf32>, tensor<4xf32>)
    %v = pd.relu X(%s#0) -> Out("v") : (tensor<4xf32>) -> tensor<4xf32>
  }
  pd.program @startup {}
}
