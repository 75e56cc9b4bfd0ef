// Averages when the loss says so: what is looked at in step 1, and what an average looks at to say when the next one is.
// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp adaptive_localsgd=true adaptive_localsgd_init_k_steps=3 adaptive_localsgd_begin_step=2" --declare-relations="axes=dp" | FileCheck %s
// One rank has nothing to average.
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp adaptive_localsgd=true" | FileCheck %s --check-prefix=ONE

// CHECK: dist.contracts = [{sites = ["w"], statement = "every rank updates on its own share; parameters are averaged in every step up to number 2, and from there on k steps after the last average; k is 3 at first{{.*}}", tag = "local_sgd"}]
// CHECK-LABEL: dist.role @trainer
// CHECK-DAG: pd.var @w : tensor<1xf32> {dist.rel = #dist.rel<"w", dp: X(local_sgd)>, parameter}
// CHECK-DAG: pd.var @local_sgd_k : tensor<1xi64>
// CHECK-NOT: X(
// CHECK: pd.program @main
// CHECK: %[[LOSS:.*]] = pd.mean
// CHECK: %[[STEP:.*]] = pd.increment X({{.*}}) -> Out("local_sgd_step")
// CHECK: %[[EARLY:.*]] = pd.less_equal X(%[[STEP]])
// CHECK: %[[LAST:.*]] = pd.get @local_sgd_last
// CHECK: %[[SINCE:.*]] = pd.elementwise_sub X(%[[STEP]]) Y(%[[LAST]])
// CHECK: %[[K:.*]] = pd.get @local_sgd_k
// CHECK: %[[DUE:.*]] = pd.equal X(%[[SINCE]]) Y(%[[K]])
// CHECK: %[[TAKEN:.*]] = pd.logical_or X(%[[EARLY]]) Y(%[[DUE]])
// CHECK: pd.conditional_block "$capture"() Cond(%[[TAKEN]])
// CHECK: %[[NOW:.*]] = pd.get @local_sgd_step
// CHECK-NEXT: pd.set @local_sgd_last, %[[NOW]]
// CHECK: dist.all_reduce sum
// CHECK: pd.set @w
// CHECK: %[[FIRST:.*]] = pd.equal X(%[[STEP]])
// CHECK: pd.conditional_block "$capture"(%[[LOSS]], {{.*}}) Cond(%[[FIRST]])
// CHECK: dist.all_reduce sum(%arg0)
// CHECK: pd.set @local_sgd_loss_1
// CHECK: pd.set @local_sgd_rate_1, %arg1
// CHECK: %[[LATE:.*]] = pd.logical_not X(%[[EARLY]])
// CHECK: %[[ADAPTS:.*]] = pd.logical_and X(%[[LATE]]) Y(%[[DUE]])
// CHECK: pd.conditional_block "$capture"(%[[LOSS]], {{.*}}) Cond(%[[ADAPTS]])
// CHECK: pd.elementwise_div
// CHECK: pd.elementwise_max
// CHECK: pd.elementwise_min
// CHECK: pd.sqrt
// CHECK: pd.ceil
// CHECK: %[[NEXT:.*]] = pd.cast
// CHECK: pd.set @local_sgd_k, %[[NEXT]]
// ONE: dist.role @trainer
// ONE-NOT: conditional_block
pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<1xf32>
  %p = pd.elementwise_mul X(%x) Y(%w) -> Out("p") {axis = -1 : i32, op_role = 0 : i32} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  %l = pd.mean X(%p) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @w, %0 : tensor<1xf32>
}
