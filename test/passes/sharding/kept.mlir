// What stays whole, and why; what is set twice is put together once; what start-up does not set is cut
// where it is read.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding" 2>&1 | FileCheck %s
// Stage 3 leaves whole what start-up does not set.
// RUN: dtranspile-opt %s --reduce-gradients="axes=sharding" --sharding="axes=sharding sharding_stage=3" 2>/dev/null | FileCheck %s --check-prefix=THREE

// CHECK-DAG: remark: sharding: stays whole on every rank: rows@GRAD (is SelectedRows, which have no flat parts)
// CHECK-DAG: remark: sharding: stays whole on every rank: n@GRAD (clip_by_norm
// CHECK: dist.role @trainer
// CHECK: pd.var @w : tensor<4x4xf32>
// CHECK: pd.var @v : tensor<4x4xf32>
// CHECK: dist.reduce_scatter sum(%{{.*}}) on @grad0 dim flat : (tensor<4x4xf32>) -> tensor<8xf32>
// CHECK: dist.all_reduce sum(%{{.*}}) on @grad0 : (!pd.rows<tensor<9x2xf32>>)
// CHECK: dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: %[[W:.*]] = dist.slice %{{.*}} dim flat layout <even(16)> over [sharding] : tensor<4x4xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[DECAYED:.*]] = pd.elementwise_sub X(%[[W]])
// CHECK-NOT: pd.set @w,
// CHECK: %[[V:.*]] = dist.slice %{{.*}} dim flat
// CHECK: %[[U:.*]]:2 = pd.momentum {{.*}} Param(%[[DECAYED]]) Velocity(%[[V]])
// CHECK: %[[P:.*]] = dist.all_gather(%[[U]]#0, %[[U]]#1) on @grad0 dim flat
// CHECK: pd.sgd
// CHECK: pd.clip_by_norm
// CHECK: %[[ALL:.*]]:2 = dist.wait %[[P]]
// CHECK-NEXT: pd.set @w, %[[ALL]]#0 : tensor<4x4xf32>
// CHECK-NEXT: pd.set @v, %[[ALL]]#1 : tensor<4x4xf32>

// THREE: pd.var @w : tensor<4x4xf32>

dist.mesh @world [sharding = 2]
dist.comm @grad0 on @world over [sharding] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.var @v : tensor<4x4xf32> {dist.rel = #dist.rel<"v">}
  pd.var @n : tensor<4x4xf32> {parameter, dist.rel = #dist.rel<"n">}
  pd.var @rows : tensor<9x2xf32> {parameter, dist.rel = #dist.rel<"rows">}
  pd.var @lr : tensor<1xf32> {dist.rel = #dist.rel<"lr">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: sharding>} : tensor<?x4xf32>
    %ids = pd.input "ids" {dist.batch = #dist.batch<0: sharding>} : tensor<?x1xi64>
    %d = pd.input "d" {dist.batch = #dist.batch<0: sharding>} : tensor<?x2xf32>
    %w = pd.get @w : tensor<4x4xf32>
    %v = pd.get @v : tensor<4x4xf32>
    %n = pd.get @n : tensor<4x4xf32>
    %rows = pd.get @rows : tensor<9x2xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %gw = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gr = pd.lookup_table_v2_grad Ids(%ids) "Out@GRAD"(%d) W(%rows) -> "W@GRAD"("rows@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["rows", "rows@GRAD"]} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<9x2xf32>) -> !pd.rows<tensor<9x2xf32>>
    %gn = pd.mul_grad "Out@GRAD"(%x) X(%x) Y(%n) -> "Y@GRAD"("n@GRAD") {op_role = 1 : i32, op_role_var = ["n", "n@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %half = pd.scale X(%w) -> Out("half") {op_role = 2 : i32, scale = 5.000000e-01 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %decayed = pd.elementwise_sub X(%w) Y(%gw) -> Out("w") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @w, %decayed : tensor<4x4xf32>
    %u:2 = pd.momentum Grad(%gw) LearningRate(%lr) Param(%decayed) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    pd.set @w, %u#0 : tensor<4x4xf32>
    pd.set @v, %u#1 : tensor<4x4xf32>
    %r = pd.sgd Grad(%gr) LearningRate(%lr) Param(%rows) -> ParamOut("rows") {op_role = 2 : i32} : (!pd.rows<tensor<9x2xf32>>, tensor<1xf32>, tensor<9x2xf32>) -> tensor<9x2xf32>
    pd.set @rows, %r : tensor<9x2xf32>
    %c = pd.clip_by_norm X(%gn) -> Out("c") {max_norm = 0.0 : f32, op_role = 2 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = pd.sgd Grad(%c) LearningRate(%lr) Param(%n) -> ParamOut("n") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @n, %m : tensor<4x4xf32>
  }
}
