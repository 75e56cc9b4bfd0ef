// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp nccl_comm_num=2" --cut-batch="axes=dp" --reduce-gradients="axes=dp" | FileCheck %s

// The pieces of @w's gradient are not reduced, their sum is: the last op that lists the pair counts. Clip sees the reduced gradient, decay
// comes after it. SelectedRows are reduced as such. Communicators take turns. Nothing is reduced twice.
// CHECK-LABEL: dist.role @trainer
// CHECK: %[[P0:.*]] = pd.mean
// CHECK-NEXT: %[[P1:.*]] = pd.square
// CHECK-NEXT: %[[G:.*]] = pd.sum X(%[[P0]], %[[P1]]) -> Out("w@GRAD")
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum(%[[G]]) on @grad0 : (tensor<1xf32>) -> tensor<1xf32>
// CHECK: %[[S:.*]] = pd.lookup_table_grad
// CHECK-NEXT: %[[T:.*]] = dist.all_reduce sum(%[[S]]) on @grad1 : (!pd.rows<tensor<9x1xf32>>) -> !pd.rows<tensor<9x1xf32>>
// CHECK: %[[C:.*]] = pd.clip X(%[[R]])
// CHECK-NEXT: %[[D:.*]] = pd.scale
// CHECK-NEXT: %[[A:.*]] = pd.sum X(%[[C]], %[[D]])
// CHECK-NOT: dist.all_reduce
// CHECK: pd.sgd Grad(%[[A]])
// CHECK: pd.sgd Grad(%[[T]])
pd.var @w : tensor<1xf32> {parameter}
pd.var @e : tensor<9x1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %ids = pd.input "ids" : tensor<?x1xi64>
  %w = pd.get @w : tensor<1xf32>
  %e = pd.get @e : tensor<9x1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %o = pd.lookup_table Ids(%ids) W(%e) -> Out("o") {is_sparse = true} : (tensor<?x1xi64>, tensor<9x1xf32>) -> tensor<?x1xf32>
  %p0 = pd.mean X(%x) -> Out("w@GRAD@RENAME@0") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %p1 = pd.square X(%w) -> Out("w@GRAD@RENAME@1") {op_role = 1 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %g = pd.sum X(%p0, %p1) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%o) W(%e) -> "W@GRAD"("e@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["e", "e@GRAD"]} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<9x1xf32>) -> !pd.rows<tensor<9x1xf32>>
  %c = pd.clip X(%g) -> Out("w@GRAD") {min = -1.0 : f32, max = 1.0 : f32, op_role = 2 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.scale X(%w) -> Out("w@DECAY") {scale = 0.1 : f32, op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %a = pd.sum X(%c, %d) -> Out("w@GRAD") {op_role = 2 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %w1 = pd.sgd Grad(%a) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %w1 : tensor<1xf32>
  %e1 = pd.sgd Grad(%s) LearningRate(%lr) Param(%e) -> ParamOut("e") {op_role = 2 : i32} : (!pd.rows<tensor<9x1xf32>>, tensor<1xf32>, tensor<9x1xf32>) -> tensor<9x1xf32>
  pd.set @e, %e1 : tensor<9x1xf32>
}
