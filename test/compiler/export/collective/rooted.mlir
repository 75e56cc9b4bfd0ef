// What goes to one rank, or comes from one: on the stream of communication, behind what was computed, and waited for where it is
// used. Rank 0 owns @w, rank 1 has room for it.
// RUN: dtranspile-opt %s --specialize="role=trainer rank=0" --export-collective="rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefixes=BOTH,OWNER
// RUN: dtranspile-opt %s --specialize="role=trainer rank=1" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefixes=BOTH,OTHER

// BOTH: pd.program @main
// OWNER: %[[W:.*]] = pd.get @w
// OTHER: %[[W:.*]] = pd.fill_constant
// BOTH: %[[S:.*]] = pd.c_sync_calc_stream X(%[[W]])
// BOTH-NEXT: %[[B:.*]] = pd.c_broadcast X(%[[S]]) {{.*}}{op_role = 0 : i32, ring_id = 0 : i32, root = 0 : i32, use_calc_stream = false}
// BOTH-NEXT: %[[M:.*]] = pd.relu
// BOTH-NEXT: %[[D:.*]] = pd.c_sync_comm_stream X(%[[B]]) {{.*}}{op_role = 0 : i32, ring_id = 0 : i32}
// BOTH-NEXT: %[[A:.*]] = pd.elementwise_mul X(%[[M]]) Y(%[[D]])
// BOTH: %[[C:.*]] = pd.c_sync_calc_stream X(%{{.*}}) -> Out("v@GRAD")
// BOTH-NEXT: %[[RW:.*]] = pd.c_reduce_sum X(%{{.*}}) -> Out("w@GRAD") {op_role = 1 : i32, ring_id = 0 : i32, root_id = 0 : i32, use_calc_stream = false}
// BOTH-NEXT: %[[RV:.*]] = pd.c_reduce_sum X(%[[C]]) -> Out("v@GRAD")
// BOTH-NEXT: pd.c_sync_comm_stream X(%[[RV]])
// OWNER: pd.sgd Grad(%[[RW]])
// OWNER: pd.set @w,
// A sum of a variable leaves the variable alone.
// BOTH: %[[COPY:.*]] = pd.assign X(%{{.*}}) -> Out("acc.reduced")
// BOTH-NEXT: pd.c_sync_calc_stream X(%[[COPY]]) -> Out("acc.reduced")
// BOTH-NEXT: pd.c_reduce_sum
// OTHER-NOT: pd.sgd

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<4xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"w", sharding: R at sharding = 0>}
  pd.var @acc : tensor<4xf32>
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    %o = dist.on <sharding = 0> -> (!dist.at<tensor<4xf32>, sharding = 0>) {
      %0 = pd.get @w : tensor<4xf32>
      dist.yield %0 : tensor<4xf32>
    }
    %p = dist.broadcast (%o) on @grad0 from <sharding = 0> : (!dist.at<tensor<4xf32>, sharding = 0>) -> !dist.pending<tensor<4xf32>>
    %m = pd.relu X(%x) -> Out("m") {op_role = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %w = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
    %a = pd.elementwise_mul X(%m) Y(%w) -> Out("a") {axis = -1 : i32, op_role = 0 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g = pd.relu X(%a) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %h = pd.relu X(%a) -> Out("v@GRAD") {op_role = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %q = dist.reduce sum (%g, %h) on @grad0 to <sharding = 0> : (tensor<4xf32>, tensor<4xf32>) -> !dist.pending<!dist.at<tensor<4xf32>, sharding = 0>, !dist.at<tensor<4xf32>, sharding = 0>>
    %r:2 = dist.wait %q : (!dist.pending<!dist.at<tensor<4xf32>, sharding = 0>, !dist.at<tensor<4xf32>, sharding = 0>>) -> (!dist.at<tensor<4xf32>, sharding = 0>, !dist.at<tensor<4xf32>, sharding = 0>)
    %lr = pd.get @lr : tensor<1xf32>
    dist.on <sharding = 0> with (%i = %r#0 : !dist.at<tensor<4xf32>, sharding = 0>) {
      %0 = pd.get @w : tensor<4xf32>
      %1 = pd.sgd Grad(%i) LearningRate(%lr) Param(%0) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
      pd.set @w, %1 : tensor<4xf32>
      dist.yield
    }
    %acc = pd.get @acc : tensor<4xf32>
    %s = dist.reduce sum (%acc) on @grad0 to <sharding = 0> : (tensor<4xf32>) -> !dist.pending<!dist.at<tensor<4xf32>, sharding = 0>>
    %t = dist.wait %s : (!dist.pending<!dist.at<tensor<4xf32>, sharding = 0>>) -> !dist.at<tensor<4xf32>, sharding = 0>
  }
}
