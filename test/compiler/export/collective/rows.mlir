// A sum of SelectedRows is the gather form: ids and gradient rows of all ranks go into the embedding's gradient op.
// RUN: dtranspile-opt %s --specialize="composites=keep" --export-collective="rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s

// CHECK: %[[IDS:.*]] = pd.input "ids"
// CHECK: %[[AI:.*]] = pd.c_allgather X(%[[IDS]]) -> Out("ids.gathered") {nranks = 2 : i32, op_role = 1 : i32, ring_id = 0 : i32, use_calc_stream = true} : (tensor<?x1xi64>) -> tensor<?x1xi64>
// CHECK-NEXT: %[[AG:.*]] = pd.c_allgather X(%{{.*}}) -> Out("e@GRAD.gathered") {{.*}} : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: %[[A:.*]] = pd.lookup_table_grad Ids(%[[AI]]) "Out@GRAD"(%[[AG]])
// CHECK: %[[BI:.*]] = pd.c_allgather X(%[[IDS]]) -> Out("ids.gathered_0")
// CHECK: %[[B:.*]] = pd.lookup_table_grad Ids(%[[BI]])
// CHECK-NEXT: %[[S:.*]] = pd.sum X(%[[A]], %[[B]])
// CHECK-NEXT: pd.sgd Grad(%[[S]])
// CHECK-NOT: c_allreduce_sum
dist.mesh @world [dp = 2]
dist.comm @grad0 on @world over [dp] group
dist.role @trainer on @world {
  pd.var @w : tensor<100x8xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %ids = pd.input "ids" : tensor<?x1xi64>
    %e = pd.input "e@GRAD" : tensor<?x8xf32>
    %w = pd.get @w : tensor<100x8xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %a = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%e) W(%w) -> "W@GRAD"("w@GRAD@RENAME@0") {is_sparse = true, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x8xf32>, tensor<100x8xf32>) -> !pd.rows<tensor<100x8xf32>>
    %b = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%e) W(%w) -> "W@GRAD"("w@GRAD@RENAME@1") {is_sparse = true, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x8xf32>, tensor<100x8xf32>) -> !pd.rows<tensor<100x8xf32>>
    %s = pd.sum X(%a, %b) -> Out("w@GRAD") {op_role = 1 : i32} : (!pd.rows<tensor<100x8xf32>>, !pd.rows<tensor<100x8xf32>>) -> !pd.rows<tensor<100x8xf32>>
    %g = dist.all_reduce sum (%s) on @grad0 : (!pd.rows<tensor<100x8xf32>>) -> !pd.rows<tensor<100x8xf32>>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (!pd.rows<tensor<100x8xf32>>, tensor<1xf32>, tensor<100x8xf32>) -> tensor<100x8xf32>
    pd.set @w, %n : tensor<100x8xf32>
  }
  pd.program @startup {}
}
